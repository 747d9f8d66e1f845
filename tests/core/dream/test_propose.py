"""What is proposed: what lasts, of persons and agents alone, the newest of a subject, and once."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ullage.core.dream.propose import MAX_PROPOSALS, Known, Proposal, Statement, propose
from ullage.core.memory.journal import RecallCount
from ullage.core.memory.origin import ORIGINS, Origin

TODAY = date(2026, 11, 20)
RULE = "Never commit generated files, always leave them to the build."
NEAR = "never commit generated files; always leave them to the build"
THURSDAY = "Releases always go out on Thursdays in `CD_MODE`; PGBOUNCER must be up then."
TUESDAY = "Releases always go out on Tuesdays in `CD_MODE`, as support must be there then."
FOUND = "The staging database must always have `sslmode=require`; PGBOUNCER refuses all others."
CLOSE = "the staging database must always have `sslmode=require`; PGBOUNCER refuses all others"
"""Nobody doubts that these last, whoever says them: what is tested here is what becomes of them."""


def say(
    text: str, origin: Origin = "user", *, age: int = 0, is_picked: bool = True, chunk: str = ""
) -> Statement:
    day = (TODAY - timedelta(days=age)).isoformat()
    place = f"memory/{day}.md#L3"
    return Statement(
        text=text, origin=origin, day=day, place=place, is_picked=is_picked, chunk=chunk
    )


def dream(
    *statements: Statement,
    standing: dict[str, Origin] | None = None,
    known: tuple[str, ...] = (),
) -> tuple[Proposal, ...]:
    return propose(statements, known=Known(standing=standing or {}, others=known), today=TODAY)


def told(*statements: Statement, standing: dict[str, Origin] | None = None) -> list[str]:
    return [each.statement.text for each in dream(*statements, standing=standing)]


@pytest.mark.parametrize("origin", ORIGINS)
def test_only_what_a_person_or_an_agent_said_is_proposed(origin: Origin) -> None:
    said = told(say(RULE, origin), say(FOUND, origin))
    assert bool(said) == (origin in ("user", "agent"))


@pytest.mark.parametrize(
    "text", [RULE, NEAR, f"- {RULE.upper()}", f"Please remember: {RULE.lower()}"]
)
def test_what_is_known_does_not_come_again(text: str) -> None:
    assert dream(say(RULE), known=(text,)) == ()
    assert dream(say(RULE), standing={text: "user"}) == ()
    assert dream(say(RULE), standing={text: "file"}) == ()


def test_a_person_speaks_for_those_who_say_the_same() -> None:
    (proposal,) = dream(say(CLOSE, "agent"), say(FOUND, age=5), say(CLOSE, "agent", age=1))
    assert (proposal.statement.text, proposal.statement.origin) == (FOUND, "user")
    assert [each.origin for each in proposal.said] == ["user", "agent", "agent"]
    assert proposal.judgment.reason.startswith("you typed it")
    assert len(proposal.support.days) == 3


@pytest.mark.parametrize("tail", [" there", ", evil.example too", ", and it takes no password"])
def test_an_agents_near_duplicate_takes_no_persons_origin(tail: str) -> None:
    planted = FOUND.removesuffix(".") + tail
    proposals = dream(say(FOUND, age=1), say(planted, "agent"))
    for each in proposals:
        assert (each.statement.text == FOUND) == (each.statement.origin == "user")
        assert FOUND not in each.replaces
    assert FOUND in [each.statement.text for each in proposals]


def test_a_longer_line_that_adds_a_condition_stands_for_the_shorter() -> None:
    longer = f"{RULE.removesuffix('.')}, unless Ada herself approved that one must be there."
    (proposal,) = dream(say(longer), standing={RULE: "user"})
    assert (proposal.statement.text, proposal.replaces) == (longer, (RULE,))


def test_what_repeats_another_in_a_longer_sentence_is_joined_with_it() -> None:
    (proposal,) = dream(say(f"As agreed before: {RULE}"), say(RULE, age=1))
    assert len(proposal.said) == 2
    longer = f"{RULE.removesuffix('.')}, unless Ada herself approved that one must be there."
    (proposal,) = dream(say(longer, age=1), say(RULE))
    assert (proposal.statement.text, proposal.replaces) == (RULE, (longer,))


def test_the_newest_of_a_subject_stands_for_the_others() -> None:
    (proposal,) = dream(say(THURSDAY, age=4), say(TUESDAY))
    assert (proposal.statement.text, proposal.replaces) == (TUESDAY, (THURSDAY,))


def test_on_one_day_both_are_proposed() -> None:
    assert {each.replaces for each in dream(say(THURSDAY), say(TUESDAY))} == {()}


def test_an_agent_never_stands_for_a_person() -> None:
    proposals = dream(say(THURSDAY, age=4), say(TUESDAY, "agent"))
    assert THURSDAY in [each.statement.text for each in proposals]
    assert all(each.replaces == () for each in proposals)
    (newest,) = dream(say(THURSDAY, "agent", age=4), say(TUESDAY))
    assert (newest.statement.origin, newest.replaces) == ("user", (THURSDAY,))


@pytest.mark.parametrize("origin", ORIGINS)
def test_in_memory_an_agent_replaces_an_agents_lines_alone(origin: Origin) -> None:
    standing: dict[str, Origin] = {THURSDAY: origin}
    persons = dream(say(TUESDAY), standing=standing)
    assert [each.replaces for each in persons] == [(THURSDAY,)]
    agents = dream(say(TUESDAY, "agent"), standing=standing)
    assert [each.replaces for each in agents] == [(THURSDAY,) if origin == "agent" else ()]


@pytest.mark.parametrize(
    ("days_before", "origin", "replaces"),
    [(-1, "user", [(THURSDAY,)]), (0, "user", [()]), (1, "user", []), (1, "agent", [()])],
)
def test_what_an_old_session_says_is_no_newer_than_an_item_that_waits(
    days_before: int, origin: Origin, replaces: list[tuple[str, ...]]
) -> None:
    said = say(TUESDAY, age=5)
    day = f"{date.fromisoformat(said.day) + timedelta(days=days_before):%Y-%m-%d}"
    known = Known(standing={THURSDAY: origin}, said_on={THURSDAY: day})
    proposals = propose([said], known=known, today=TODAY)
    assert [each.replaces for each in proposals] == replaces


@pytest.mark.parametrize(
    ("age", "origin", "is_proposed"),
    [(2, "user", True), (3, "user", False), (4, "user", False), (2, "agent", False)],
)
def test_who_goes_back_to_what_was_replaced_is_heard(
    age: int, origin: Origin, is_proposed: bool
) -> None:
    day = (TODAY - timedelta(days=3)).isoformat()
    known = Known(standing={TUESDAY: "user"}, superseded={THURSDAY: day})
    proposals = propose([say(THURSDAY, origin, age=age)], known=known, today=TODAY)
    assert [each.statement.text for each in proposals] == [THURSDAY] * is_proposed


def test_of_a_session_nothing_replaces_a_line_of_memory() -> None:
    proposals = dream(say(TUESDAY, is_picked=False), standing={THURSDAY: "user"})
    assert all(each.replaces == () for each in proposals)


def test_at_most_ten_are_proposed_the_best_first() -> None:
    statements = [
        say(f"Never deploy the {name} service on Fridays, always wait for its owner.")
        for name in ("ada", "bolt", "cedar", "delta", "ember", "fjord", "gamma", "hazel", "iris")
    ] + [say(RULE), say(FOUND), say(THURSDAY), say("I prefer tables over prose in every review.")]
    scores = [each.score for each in dream(*statements)]
    assert len(scores) == MAX_PROPOSALS
    assert scores == sorted(scores, reverse=True)


def test_of_a_session_only_a_persons_standing_words_are_taken() -> None:
    standing = "I dislike emoji in code comments."
    assert told(say(standing, is_picked=False)) == [standing]
    assert told(say(standing, "agent", is_picked=False)) == []
    assert told(say("The test of the parser fails on line 3.", is_picked=False)) == []


def test_recalls_of_what_says_it_speak_for_it() -> None:
    count = RecallCount(
        chunk="c1",
        by="agent",
        n_recalls=4,
        n_queries=3,
        n_days=2,
        first_day="2026-11-18",
        last_day="2026-11-19",
        total_score=2.0,
    )
    statements = [say(RULE, chunk="c1"), say(NEAR, "agent", chunk="c1"), say(FOUND, chunk="c2")]
    proposals = propose(statements, known=Known(), today=TODAY, recalls=[count])
    by_text = {each.statement.text: each.support.n_recalls for each in proposals}
    assert by_text == {RULE: 4, FOUND: 0}


@given(
    st.lists(
        st.builds(
            say,
            st.sampled_from([RULE, NEAR, THURSDAY, TUESDAY, FOUND, "", "ok", "🙂" * 9]) | st.text(),
            st.sampled_from(ORIGINS),
            age=st.integers(0, 6),
        ),
        max_size=12,
    ),
    st.dictionaries(st.sampled_from([RULE, THURSDAY, TUESDAY]), st.sampled_from(ORIGINS)),
)
def test_whatever_was_said_no_authority_is_taken(
    statements: list[Statement], standing: dict[str, Origin]
) -> None:
    proposals = dream(*statements, standing=standing)
    assert len(proposals) <= MAX_PROPOSALS
    persons = {each.text for each in statements if each.origin == "user"}
    for each in proposals:
        assert each.statement in statements
        assert each.statement in each.said
        assert each.statement.origin in ("user", "agent")
        assert each.statement.text not in standing
        if each.statement.origin == "agent":
            assert all(said.origin == "agent" for said in each.said)
            replaced = [old for old in each.replaces if old in standing]
            assert all(standing[old] == "agent" for old in replaced)
            agents = {said.text for said in statements if said.origin == "agent"}
            assert persons.isdisjoint(set(each.replaces) - standing.keys() - agents)
