"""The sections of an instruction file, and what each costs in every request."""

import msgspec

from ullage.core.markdown_parts import read_parts
from ullage.core.token_estimate import estimate_tokens


class TextSection(msgspec.Struct, frozen=True, kw_only=True):
    """A heading and all below it, up to the next one that is not deeper."""

    start: int
    heading_end: int
    end: int
    n_tokens: int
    """Estimated."""


def text_sections(text: str) -> tuple[TextSection, ...]:
    headings = [part for part in read_parts(text) if part.kind == "heading"]
    starts = [*(part.start for part in headings), len(text)]
    # Each stretch between two headings is counted once, however deep it is nested.
    own = [estimate_tokens(text[starts[at] : starts[at + 1]]) for at in range(len(headings))]
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
