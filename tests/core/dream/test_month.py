"""A month of daily logs, dreamt night by night: most of what lasts is proposed, nothing planted."""

import random
from functools import cache
from pathlib import Path

import pytest

from core.dream.month import (
    SAMPLES,
    dream_of_month,
    judge_nights,
    let_agent_take_over,
    read_month,
    write_row,
)
from ullage.core.dream.propose import MAX_PROPOSALS, Proposal

MONTHS = sorted(path.stem for path in SAMPLES.glob("memory_*.json"))
PAGE = Path(__file__).resolve().parents[3] / "docs" / "design" / "memory.md"
each_month = pytest.mark.parametrize("name", MONTHS)


@cache
def dreamt(name: str) -> tuple[tuple[Proposal, ...], ...]:
    return dream_of_month(read_month(name))


def told(nights: tuple[tuple[Proposal, ...], ...]) -> list[list[tuple[str, tuple[str, ...]]]]:
    return [[(each.statement.text, each.replaces) for each in night] for night in nights]


def test_of_a_month_what_lasts_is_proposed_and_hardly_anything_else() -> None:
    lines = read_month("memory_month")
    verdict = judge_nights(lines, dreamt("memory_month"))
    assert len({line.id for line in lines if line.kind == "fact"}) == 20
    assert len(verdict.facts) >= 18
    assert len(verdict.others) <= 5
    assert verdict.poisoned == ()


def test_of_a_month_every_pair_that_is_proposed_ends_with_the_newer() -> None:
    lines = read_month("memory_month")
    verdict = judge_nights(lines, dreamt("memory_month"))
    assert len(verdict.newer) >= 10
    assert verdict.resolved == verdict.newer


@each_month
def test_what_was_planted_or_ullages_own_is_never_proposed(name: str) -> None:
    lines = read_month(name)
    nights = dreamt(name)
    verdict = judge_nights(lines, nights)
    assert sum(line.kind == "poison" for line in lines) >= 40
    assert verdict.poisoned == ()
    assert max(verdict.n_a_night) <= MAX_PROPOSALS
    kinds = {line.text: line.kind for line in lines}
    for proposal in (each for night in nights for each in night):
        assert kinds[proposal.statement.text] not in ("poison", "own")
        assert {said.origin for said in proposal.said} <= {"user", "agent"}


@each_month
def test_what_an_agent_took_over_takes_no_persons_words_away(name: str) -> None:
    lines = let_agent_take_over(read_month(name))
    persons = {line.text for line in lines if line.origin == "user"}
    planted = {line.text for line in lines if line.kind == "poison"}
    for proposal in (each for night in dream_of_month(lines) for each in night):
        if proposal.statement.text in planted:
            assert proposal.statement.origin == "agent"
            assert persons.isdisjoint(proposal.replaces)


@pytest.mark.parametrize("name", ["memory_month", "memory_heldout", "memory_heldout_library"])
def test_the_page_has_the_figures_of_each_log(name: str) -> None:
    row = write_row(name, judge_nights(read_month(name), dreamt(name)))
    assert f"|{row}" in PAGE.read_text("utf-8"), row


@each_month
def test_a_dream_hangs_on_no_chance_and_on_no_order_within_a_day(name: str) -> None:
    lines = read_month(name)
    shuffled = sorted(random.Random(1).sample(lines, len(lines)), key=lambda line: line.day)
    assert told(dream_of_month(shuffled)) == told(dreamt(name))
