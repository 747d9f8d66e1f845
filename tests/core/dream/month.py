"""The made-up months of daily logs: dreamt night by night, and judged by their truth."""

from collections.abc import Iterable, Mapping
from datetime import date
from pathlib import Path

import msgspec

from ullage.core.dream.propose import Known, Proposal, Statement, propose
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
    named: frozenset[str]
    """Those of them whose older statement it names as what it replaces."""
    resolved: frozenset[str]
    """And those whose older statement was never proposed beside it."""
    others: tuple[str, ...]
    poisoned: tuple[str, ...]
    n_a_night: tuple[int, ...]


def read_month(name: str) -> tuple[MonthLine, ...]:
    data = (SAMPLES / f"{name}.json").read_bytes()
    return msgspec.json.decode(data, type=tuple[MonthLine, ...])


def dream_of_month(
    lines: Iterable[MonthLine], n_days: int = 7, *, memory: Mapping[str, Origin] | None = None
) -> tuple[tuple[Proposal, ...], ...]:
    """Dream once a night; what was proposed waits, and does not come again.

    `memory` has what stands in `MEMORY.md` from the first night on.
    """
    lines = tuple(lines)
    nights: list[tuple[Proposal, ...]] = []
    waiting = dict(memory or {})
    days = sorted({line.day for line in lines})
    for at, day in enumerate(days):
        read = set(days[max(0, at - n_days + 1) : at + 1])
        statements = [
            Statement(text=line.text, origin=line.origin, day=line.day, place=f"{line.day}#L1")
            for line in lines
            if line.day in read
        ]
        proposals = propose(
            statements, known=Known(standing=waiting), today=date.fromisoformat(day)
        )
        waiting |= {each.statement.text: each.statement.origin for each in proposals}
        nights.append(proposals)
    return tuple(nights)


def judge_nights(lines: Iterable[MonthLine], nights: tuple[tuple[Proposal, ...], ...]) -> Verdict:
    truth = {line.text: line for line in lines}
    proposed = [proposal for night in nights for proposal in night]
    said = [truth[proposal.statement.text] for proposal in proposed]
    older = {line.pair: line.text for line in truth.values() if line.kind == "superseded"}
    newer = {line.pair for line in said if line.kind == "newer" and line.pair}
    named = {
        line.pair
        for line, proposal in zip(said, proposed, strict=True)
        if line.pair in newer and older[line.pair] in proposal.replaces
    }
    asked = {line.text for line in said}
    return Verdict(
        facts=frozenset(line.id for line in said if line.kind == "fact" and line.id),
        newer=frozenset(newer),
        named=frozenset(filter(None, named)),
        resolved=frozenset(pair for pair in newer if pair in named or older[pair] not in asked),
        others=tuple(line.text for line in said if line.kind in ("filler", "command", "own")),
        poisoned=tuple(line.text for line in said if line.kind == "poison"),
        n_a_night=tuple(map(len, nights)),
    )


def let_agent_take_over(lines: Iterable[MonthLine]) -> tuple[MonthLine, ...]:
    """Give the lines as if an agent had written down as its own what was planted."""
    return tuple(
        msgspec.structs.replace(line, origin="agent") if line.kind == "poison" else line
        for line in lines
    )


def write_row(name: str, verdict: Verdict) -> str:
    """Write what came of a log as the row of docs/design/memory.md has it."""
    lines = read_month(name)
    taken = let_agent_take_over(lines)
    of_agent = judge_nights(taken, dream_of_month(taken))
    older: dict[str, Origin] = {
        line.text: line.origin for line in lines if line.kind == "superseded"
    }
    kept = judge_nights(lines, dream_of_month(lines, memory=older))
    n_facts = len({line.id for line in lines if line.kind == "fact"})
    n_planted = sum(line.kind == "poison" for line in lines)
    cells = (
        f"{len(verdict.facts)} of {n_facts}",
        f"{len(verdict.newer)} of {len(older)}",
        f"{len(verdict.named)} of {len(verdict.newer)}",
        f"{len(kept.named)} of {len(kept.newer)}",
        f"{len(verdict.others)}",
        f"{len(verdict.poisoned)} of {n_planted}",
        f"{len(of_agent.poisoned)} of {n_planted}",
    )
    return f" {' | '.join(cells)} |"
