"""Grounding: rules in a summary must come from the user, whatever a tool's output said.

What compacts well outlives every later compaction, and so does an instruction that somebody
planted in a file (research/reliability.md §4.7). A model is told not to take it over; this looks
whether it did.
"""

import re
from collections.abc import Iterator, Sequence

from ullage.core.earlier import SECTIONS
from ullage.core.material import Piece
from ullage.core.wording import is_directive

_WORD = re.compile(r"[^\W_]{3,}|\d+")
_FORGED_SHARE = 0.6
"""Share of a point's words in one instruction of a program from which it counts as taken over."""
_STATED_SHARE = 0.5
"""Share of a rule's words in one message of the user below which the user did not state it."""
_AUTHORITY = frozenset(("Goal", "Constraints", "Decisions", "Remaining"))
"""Sections that steer the agent."""
_USER_ONLY = frozenset(("Constraints",))


def without_forged(text: str, pieces: Sequence[Piece], earlier: str) -> tuple[str, int]:
    """Drop points that steer the agent and that no person wrote; say how many they were.

    `pieces` and `earlier` are what the model was shown; `earlier` was checked when it was made.
    """
    stated = [_words(piece.text) for piece in pieces if piece.origin == "user"]
    stated += [_words(line) for line in earlier.split("\n") if line.strip()]
    spoken = stated + [_words(piece.text) for piece in pieces if piece.origin == "assistant"]
    forgeries = list(_instructions(pieces))
    kept: list[str] = []
    n_dropped = 0
    section = ""
    for line in text.split("\n"):
        if line.startswith("## "):
            section = line[3:].strip()
        elif line.startswith("- ") and section in _AUTHORITY:
            words = _words(line)
            voices = stated if section in _USER_ONLY else spoken
            if _is_forged(words, voices, forgeries, must_be_stated=section in _USER_ONLY):
                n_dropped += 1
                continue
        kept.append(line)
    return _with_none("\n".join(kept)), n_dropped


def _is_forged(
    words: frozenset[str],
    voices: Sequence[frozenset[str]],
    forgeries: Sequence[frozenset[str]],
    *,
    must_be_stated: bool,
) -> bool:
    if not words:
        return False
    said = _best_share(words, voices)
    forged = _best_share(words, forgeries)
    if forged >= _FORGED_SHARE and forged > said:
        return True
    return must_be_stated and said < _STATED_SHARE


def _best_share(words: frozenset[str], texts: Sequence[frozenset[str]]) -> float:
    return max((len(words & text) for text in texts), default=0) / len(words)


def _instructions(pieces: Sequence[Piece]) -> Iterator[frozenset[str]]:
    """Give the words of each line of program output that speaks to the agent."""
    for piece in pieces:
        if piece.origin in ("user", "assistant"):
            continue
        for line in piece.text.split("\n"):
            if line.strip() and is_directive(line):
                yield _words(line)


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower()))


def _with_none(text: str) -> str:
    """Write `(none)` below a heading that lost its last point."""
    for name in SECTIONS:
        text = re.sub(rf"(## {name}\n)(?=\n|\Z)", r"\1(none)\n", text)
    return text
