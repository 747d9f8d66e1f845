"""How much a session has lost to its compactions (docs/design/gauge.md, "Degradation")."""

from typing import Literal, TypeAlias

import msgspec

Risk: TypeAlias = Literal["low", "medium", "high", "critical"]

MEDIUM_COMPACTIONS = 2
HIGH_COMPACTIONS = 3
CRITICAL_COMPACTIONS = 5
DEATH_SPIRAL_COMPACTIONS = 3
LOSS_PERCENT = 10
"""Rough loss of one compaction."""
MAX_LOSS_PERCENT = 90


class Degradation(msgspec.Struct, frozen=True, kw_only=True):
    n_compactions: int
    risk: Risk
    loss_percent: int
    """An estimate by the count alone, 0 to 90."""
    recommendation: str


def evaluate(n_compactions: int) -> Degradation:
    """Judge a session by how often it was compacted."""
    return Degradation(
        n_compactions=n_compactions,
        risk=_risk(n_compactions),
        loss_percent=min(MAX_LOSS_PERCENT, n_compactions * LOSS_PERCENT),
        recommendation=_recommendation(n_compactions),
    )


def _risk(n_compactions: int) -> Risk:
    if n_compactions >= CRITICAL_COMPACTIONS:
        return "critical"
    if n_compactions >= HIGH_COMPACTIONS:
        return "high"
    return "medium" if n_compactions >= MEDIUM_COMPACTIONS else "low"


def _recommendation(n_compactions: int) -> str:
    if n_compactions >= CRITICAL_COMPACTIONS:
        return (
            f"CRITICAL: {n_compactions} compactions. Context quality significantly degraded.\n"
            "Strongly recommend:\n"
            "  1. ullage context export backup.json\n"
            "  2. Start fresh session\n"
            "  3. ullage context import backup.json"
        )
    if n_compactions >= HIGH_COMPACTIONS:
        return (
            f"Session compacted {n_compactions} times. Quality may be degrading.\n"
            "Consider: ullage context export → fresh session → import"
        )
    return "Context quality is healthy."


def is_death_spiral(n_compactions: int) -> bool:
    """Whether a session is compacted so often that each summary is one of summaries."""
    return n_compactions > DEATH_SPIRAL_COMPACTIONS
