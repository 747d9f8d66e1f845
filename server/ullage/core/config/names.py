"""Which names there are in a configuration, and which was probably meant by another."""

from collections.abc import Iterable

from ullage.core.config.key import OVERRIDES
from ullage.core.config.settings import SPELLINGS

SECTIONS: frozenset[str] = frozenset(
    name[:at] for name in SPELLINGS for at, char in enumerate(name) if char == "."
) | {"agents.defaults.compaction", OVERRIDES}
"""Names below which keys stand."""
KNOWN_NAMES = dict.fromkeys(sorted(SECTIONS | SPELLINGS.keys()))

LISTED_SECTIONS = {"compaction.layers": "layer", "dreaming.triggers": "type"}
"""Sections that can also be lists, and the field that names each part."""

OPENCLAW_KEYS = frozenset(
    f"compaction.{name}"
    for name in (
        "mode provider model thinkingLevel timeoutSeconds recentTurnsPreserve"
        " identifierPolicy qualityGuard midTurnPrecheck postIndexSync postCompactionSections"
        " maxActiveTranscriptBytes notifyUser maxHistoryShare truncateAfterCompaction"
        " memoryFlush.model memoryFlush.forceFlushTranscriptBytes"
    ).split()
) | {"memory.backend", "memory.citations", "memory.qmd"}
"""OpenClaw's own keys beside ours, retired ones too (read in its source)."""

CLOSE = 0.75
VERY_CLOSE = 0.85
"""Shares of letters in common, as difflib takes them (chosen)."""
_MAX_SLIP_CHARS = 100
"""A longer name is no typing slip, and comparing costs the product of both lengths."""


def nearest_name(name: str, names: Iterable[str], *, is_strict: bool = False) -> str | None:
    """Find the name whose last part is most like this one's; strictly, at the same place."""
    from difflib import SequenceMatcher

    cutoff = VERY_CLOSE if is_strict else CLOSE
    parent, _, last = name.lower().rpartition(".")
    matcher = SequenceMatcher(None, b=last)

    def likeness(candidate: str) -> float:
        its_parent, _, its_last = candidate.lower().rpartition(".")
        matcher.set_seq1(its_last)
        if matcher.real_quick_ratio() < cutoff or matcher.quick_ratio() < cutoff:
            return 0
        # Among equals, the one that would stand at the same place.
        return matcher.ratio() + (0.1 if its_parent == parent else 0)

    if len(name) > _MAX_SLIP_CHARS:
        return None
    if is_strict:
        names = [near for near in names if near.lower().rpartition(".")[0] == parent]
    best = max(names, key=likeness, default="")
    return best if best and likeness(best) >= cutoff else None
