"""What was probably meant by a name that does not exist."""

from collections.abc import Iterable

MAX_NAME_CHARS = 100
"""A longer name is nobody's slip, and comparing takes the product of both lengths."""
CLOSE = 0.75
VERY_CLOSE = 0.85
"""Shares of letters in common, as difflib takes them (chosen)."""


def nearest_key(name: str, known: Iterable[str], *, is_strict: bool = False) -> str | None:
    """Find the known name whose last part is most like this one's; strictly, at the same place."""
    if len(name) > MAX_NAME_CHARS:
        return None
    from difflib import SequenceMatcher

    cutoff = VERY_CLOSE if is_strict else CLOSE
    parent, _, last = name.lower().rpartition(".")
    best: tuple[float, str] | None = None
    matcher = SequenceMatcher(None, b=last)
    for candidate in known:
        its_parent, _, its_last = candidate.lower().rpartition(".")
        if is_strict and its_parent != parent:
            continue
        matcher.set_seq1(its_last)
        if matcher.real_quick_ratio() < cutoff or matcher.quick_ratio() < cutoff:
            continue
        # Among equals, the one that would stand at the same place.
        ratio = matcher.ratio() + (0.1 if its_parent == parent else 0.0)
        if ratio >= cutoff and (best is None or ratio > best[0]):
            best = (ratio, candidate)
    return None if best is None else best[1]
