"""Grounding: rules in a summary must come from the user, whatever a tool's output said.

What compacts well outlives every later compaction, and so does an instruction that somebody
planted in a file (docs/safety.md, "Text of tools that poses as the user's"). A model is told not
to take it over; this looks whether it did.
"""

import re
from collections.abc import Iterator, Sequence

import msgspec

from ullage.core.facts.summary_sections import SECTION_NAMES, SECTIONS
from ullage.core.summary.model_input import Excerpt
from ullage.core.text.wording import is_directive

_WORD = re.compile(r"[^\W_]{3,}|\d+")
_FORGED_SHARE = 0.6
"""Share of a point's words in one instruction of a program from which it counts as taken over."""
_STATED_SHARE = 0.5
"""Share of a rule's words in one message of the user below which the user did not state it."""
_AUTHORITY = frozenset(section.name for section in SECTIONS if section.is_steering)
_USER_ONLY = frozenset(("Constraints",))


class SpeakerWords(msgspec.Struct, frozen=True, kw_only=True):
    """The words of what a model was shown, by who has the authority to say them."""

    stated: tuple[frozenset[str], ...]
    """By the user."""
    spoken: tuple[frozenset[str], ...]
    """By the user or the agent."""
    forgeries: tuple[frozenset[str], ...]
    """By programs, in lines that speak to the agent."""


def collect_speaker_words(pieces: Sequence[Excerpt], earlier: str = "") -> SpeakerWords:
    """Part what a model was shown; `earlier` is a summary that was checked when it was made."""
    stated = [_split_words(piece.text) for piece in pieces if piece.origin == "user"]
    stated += [_split_words(line) for line in earlier.split("\n") if line.strip()]
    spoken = stated + [_split_words(piece.text) for piece in pieces if piece.origin == "assistant"]
    return SpeakerWords(
        stated=tuple(stated), spoken=tuple(spoken), forgeries=tuple(_list_instructions(pieces))
    )


def drop_forged(text: str, pieces: Sequence[Excerpt], earlier: str) -> tuple[str, int]:
    """Drop points that steer the agent and that no person wrote; say how many they were."""
    voices = collect_speaker_words(pieces, earlier)
    kept: list[str] = []
    n_dropped = 0
    section = ""
    for line in text.split("\n"):
        if line.startswith("## "):
            section = line[3:].strip()
        is_steering = line.startswith("- ") and section in _AUTHORITY
        if is_steering and is_forged(line, voices, must_be_stated=section in _USER_ONLY):
            n_dropped += 1
            continue
        kept.append(line)
    return _mark_empty("\n".join(kept)), n_dropped


def is_forged(point: str, voices: SpeakerWords, *, must_be_stated: bool) -> bool:
    """Tell whether a point comes from a program rather than from who may say such a thing.

    `must_be_stated`: whether only the user may.
    """
    words = _split_words(point)
    if not words:
        return False
    genuine = _find_best_share(words, voices.stated if must_be_stated else voices.spoken)
    forged = _find_best_share(words, voices.forgeries)
    if forged >= _FORGED_SHARE and forged > genuine:
        return True
    return must_be_stated and genuine < _STATED_SHARE


def _find_best_share(words: frozenset[str], texts: Sequence[frozenset[str]]) -> float:
    return max((len(words & text) for text in texts), default=0) / len(words)


def _list_instructions(pieces: Sequence[Excerpt]) -> Iterator[frozenset[str]]:
    """Give the words of each line of program output that speaks to the agent."""
    for piece in pieces:
        if piece.origin in ("user", "assistant"):
            continue
        for line in piece.text.split("\n"):
            if line.strip() and is_directive(line):
                yield _split_words(line)


def _split_words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower()))


def _mark_empty(text: str) -> str:
    """Write `(none)` below a heading that lost its last point."""
    for name in SECTION_NAMES:
        text = re.sub(rf"(## {name}\n)(?=\n|\Z)", r"\1(none)\n", text)
    return text
