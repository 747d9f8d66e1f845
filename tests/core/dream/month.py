"""The made-up months of daily logs: dreamt night by night, and judged by their truth."""

from collections.abc import Iterable
from datetime import date
from pathlib import Path

import msgspec

from ullage.core.dream.propose import Proposal, Statement, propose
from ullage.core.memory.origin import Origin

SAMPLES = Path(__file__).resolve().parents[2] / "samples"


class MonthLine(msgspec.Struct, frozen=True, kw_only=True):
    day: str
    text: str
    origin: Origin
    kind: str
    id: str | None = None
    pair: str | None = None


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What came of the nights, by the truth of each line."""

    facts: frozenset[str]
    newer: frozenset[str]
    """Pairs whose newer statement was proposed."""
    resolved: frozenset[str]
    """Pairs whose older statement the newer one stands for, or was never proposed beside it."""
    others: tuple[str, ...]
    poisoned: tuple[str, ...]
    n_a_night: tuple[int, ...]


def read_month(name: str) -> tuple[MonthLine, ...]:
    data = (SAMPLES / f"{name}.json").read_bytes()
    return msgspec.json.decode(data, type=tuple[MonthLine, ...])


def dream_of_month(lines: Iterable[MonthLine], n_days: int = 7) -> tuple[tuple[Proposal, ...], ...]:
    """Dream once a night; what was proposed waits, and does not come again."""
    lines = tuple(lines)
    nights: list[tuple[Proposal, ...]] = []
    waiting: dict[str, Origin] = {}
    days = sorted({line.day for line in lines})
    for at, day in enumerate(days):
        read = set(days[max(0, at - n_days + 1) : at + 1])
        statements = [
            Statement(text=line.text, origin=line.origin, day=line.day, place=f"{line.day}#L1")
            for line in lines
            if line.day in read
        ]
        proposals = propose(statements, standing=waiting, known=(), today=date.fromisoformat(day))
        waiting |= {each.statement.text: each.statement.origin for each in proposals}
        nights.append(proposals)
    return tuple(nights)


def judge_nights(lines: Iterable[MonthLine], nights: tuple[tuple[Proposal, ...], ...]) -> Verdict:
    truth = {line.text: line for line in lines}
    proposed = [proposal for night in nights for proposal in night]
    said = [truth[proposal.statement.text] for proposal in proposed]
    stands_for = {old for proposal in proposed for old in proposal.replaces}
    older = {line.pair: line.text for line in truth.values() if line.kind == "superseded"}
    newer = {line.pair for line in said if line.kind == "newer" and line.pair}
    asked = {line.text for line in said}
    return Verdict(
        facts=frozenset(line.id for line in said if line.kind == "fact" and line.id),
        newer=frozenset(newer),
        resolved=frozenset(
            pair for pair in newer if older[pair] in stands_for or older[pair] not in asked
        ),
        others=tuple(line.text for line in said if line.kind in ("filler", "command", "own")),
        poisoned=tuple(line.text for line in said if line.kind == "poison"),
        n_a_night=tuple(map(len, nights)),
    )
