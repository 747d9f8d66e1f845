"""The sections of an instruction file, and what each costs in every request."""

from collections.abc import Sequence
from itertools import pairwise

import msgspec

from ullage.core.text.markdown import Part, read_parts
from ullage.core.transcript.tokens import estimate_tokens


class TextSection(msgspec.Struct, frozen=True, kw_only=True):
    """A heading and all below it, up to the next one that is not deeper."""

    start: int
    heading_end: int
    end: int
    n_tokens: int
    """Estimated."""


def estimate_text(text: str) -> int:
    """Estimate what a file costs: as much as its sections and what stands before them.

    Every place that shows a file's cost takes it from here, so that they add up.
    """
    return sum(_estimate_stretches(text, _list_headings(text)))


def cut_text_sections(text: str) -> tuple[TextSection, ...]:
    headings = _list_headings(text)
    starts = [*(part.start for part in headings), len(text)]
    own = _estimate_stretches(text, headings)[1:]
    found: list[TextSection] = []
    for at, heading in enumerate(headings):
        after = range(at + 1, len(headings))
        last = next((to for to in after if headings[to].level <= heading.level), len(headings))
        found.append(
            TextSection(
                start=heading.start,
                heading_end=heading.end,
                end=starts[last],
                n_tokens=sum(own[at:last]),
            )
        )
    return tuple(found)


def _list_headings(text: str) -> list[Part]:
    return [part for part in read_parts(text) if part.kind == "heading"]


def _estimate_stretches(text: str, headings: Sequence[Part]) -> list[int]:
    """Estimate the text before the first heading, and from each one to the next."""
    # Each stretch is counted once, however deep it is nested.
    starts = [0, *(part.start for part in headings), len(text)]
    return [estimate_tokens(text[start:end]) for start, end in pairwise(starts)]
