"""The made-up month of daily logs has the lines and the form that its judge counts on.

What the kinds mean stands in the samples' README.
"""

import re
from collections import Counter, defaultdict
from datetime import date, timedelta
from functools import cache
from pathlib import Path
from typing import Literal

import msgspec
import pytest

from ullage.core.memory.log_text import SECTIONS, LogPoint, Section, format_block, list_digests
from ullage.core.memory.origin import Origin, digest_line
from ullage.core.memory.quoted import quote_memory

MONTH = Path(__file__).parent / "samples" / "memory_month.json"
DAYS = [(date(2026, 10, 1) + timedelta(days=n)).isoformat() for n in range(30)]
Kind = Literal["filler", "fact", "superseded", "newer", "poison", "command", "own"]


class MonthLine(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    day: str
    time: str
    section: Section
    text: str
    origin: Origin
    kind: Kind
    id: str | None = None
    pair: str | None = None


@cache
def month() -> tuple[MonthLine, ...]:
    return msgspec.json.decode(MONTH.read_bytes(), type=tuple[MonthLine, ...])


def of_kind(*kinds: Kind) -> list[MonthLine]:
    return [line for line in month() if line.kind in kinds]


def test_there_are_as_many_lines_of_each_kind_as_the_judge_counts_on() -> None:
    counts = Counter(line.kind for line in month())
    assert counts.pop("filler") + counts.pop("fact") + sum(counts.values()) == 1000
    assert counts == {"superseded": 12, "newer": 12, "poison": 100, "command": 40, "own": 30}
    facts = Counter(line.id for line in of_kind("fact"))
    assert sorted(filter(None, facts)) == [f"F{n:02}" for n in range(1, 21)]
    assert sum(n > 1 for n in facts.values()) >= 5


def test_only_facts_have_an_id_and_only_contradictions_a_pair() -> None:
    for line in month():
        assert (line.id is not None) is (line.kind == "fact"), line
        assert (line.pair is not None) is (line.kind in {"superseded", "newer"}), line


def test_a_contradiction_is_one_statement_and_a_later_one() -> None:
    said: dict[str | None, list[str]] = defaultdict(list)
    for line in of_kind("superseded", "newer"):
        said[line.pair].append(line.kind)
    assert sorted(filter(None, said)) == [f"P{n:02}" for n in range(1, 13)]
    # The lines are in order, and both of a pair never stand on one day.
    assert {tuple(kinds) for kinds in said.values()} == {("superseded", "newer")}
    days = {(line.pair, line.day) for line in of_kind("superseded", "newer")}
    assert len(days) == 24


def test_origins_say_who_may_be_believed_and_not_what_is_worth_keeping() -> None:
    assert {line.origin for line in of_kind("poison")} == {"tool", "web"}
    assert {line.origin for line in of_kind("fact", "superseded", "newer")} == {"user", "agent"}
    assert {line.origin for line in of_kind("filler")} >= {"user", "agent", "tool"}
    # An origin is kept by the words of a line: the same words cannot have two.
    truths = {(digest_line(line.text), line.origin, line.kind) for line in month()}
    assert len(truths) == len({digest for digest, _, _ in truths})


@pytest.mark.parametrize("kinds", [("fact",), ("poison",), ("filler",)])
def test_every_section_has_some_of_it(kinds: tuple[Kind, ...]) -> None:
    assert {line.section for line in of_kind(*kinds)} == set(SECTIONS)


def test_no_line_worth_keeping_is_changed_where_it_is_handed_out() -> None:
    for line in of_kind("fact", "superseded", "newer"):
        assert quote_memory(line.text, ()) == line.text


def test_the_lines_make_daily_logs_of_the_documented_form() -> None:
    assert sorted({line.day for line in month()}) == DAYS
    places = [(line.day, line.time, SECTIONS.index(line.section)) for line in month()]
    assert places == sorted(places)
    blocks: dict[tuple[str, str], list[LogPoint]] = defaultdict(list)
    for line in month():
        assert re.fullmatch(r"[01]\d:[0-5]\d|2[0-3]:[0-5]\d", line.time)
        assert line.text == line.text.strip()
        assert "\n" not in line.text
        point = LogPoint(section=line.section, text=line.text, origin=line.origin)
        blocks[line.day, line.time].append(point)
    for day in DAYS:
        log = f"# {day}\n\n" + "\n".join(
            format_block(points, time=time, title="Compaction Pre-flush", marker="<!-- x -->")
            for (of_day, time), points in blocks.items()
            if of_day == day
        )
        digests = list(list_digests(log))
        assert len(digests) == sum(line.day == day for line in month())
        assert len(set(digests)) == len(digests), day
