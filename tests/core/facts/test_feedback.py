"""What is settled by what is said of the thing at hand."""

import pytest

from factories import assistant, numbered, user
from ullage.core.facts.facts import collect_facts
from ullage.core.transcript.context import ContextItem


def settled(*talk: ContextItem) -> list[str]:
    return [choice.text for choice in collect_facts(numbered(talk)).choices]


@pytest.mark.parametrize(
    "said",
    [
        "the labels must end at the first comma",
        "skip the animation",
        "Der Rand soll dünner sein",
        "El título debe ir en negrita",
        "don't call it draft, just call it offer",
    ],
)
def test_what_a_person_says_of_the_thing_at_hand_is_a_decision(said: str) -> None:
    talk = [user("Build the price list."), assistant("The price list is drawn."), user(said)]
    facts = collect_facts(numbered(talk))
    assert [choice.text.partition(" (against: ")[0] for choice in facts.choices] == [said]
    assert not facts.rules


@pytest.mark.parametrize(
    "said",
    [
        "never print the prices twice",
        "From now on name the unit.",
        "Every column must have a title.",
        "You must ask before you delete a row.",
    ],
)
def test_what_outlives_the_thing_at_hand_stays_a_rule(said: str) -> None:
    talk = [user("Build the price list."), assistant("The price list is drawn."), user(said)]
    facts = collect_facts(numbered(talk))
    assert [rule.text for rule in facts.rules] == [said]
    assert not facts.choices


def test_a_reply_that_rules_is_a_constraint_alone_and_the_rest_settles() -> None:
    asked = "Shall I commit the list as one file?"
    talk = [user("Build the price list."), assistant(asked), user("don't commit it")]
    facts = collect_facts(numbered(talk))
    assert [rule.text for rule in facts.rules] == ["don't commit it"]
    assert not facts.choices
    (choice,) = settled(*talk[:2], user("yes. Never push it."))
    assert choice == f"{asked} (approved: yes.)"


def test_what_a_first_request_wants_is_no_decision_yet() -> None:
    assert settled(user("Build a list. It must load in a second, and rows should be short.")) == []


@pytest.mark.parametrize(
    "said",
    [
        "i want the table to fill the page",
        "we should add a second page too",
        "propose where each of the columns should go",
        "it should be 40",
    ],
)
def test_a_request_and_what_only_points_are_no_decisions(said: str) -> None:
    assert settled(user("Build the price list."), assistant("It is drawn."), user(said)) == []


@pytest.mark.parametrize("said", ["Best solution: one table for both.", "**Decision: one table**"])
def test_what_an_agent_calls_a_decision_is_one(said: str) -> None:
    assert settled(user("Build the price list."), assistant(said)) == [said.strip("*")]


@pytest.mark.parametrize(
    "said",
    [
        "I'll read the file.",
        "Let me check the rows because the sum is wrong.",
        "I'm going to look at the first page only.",
        "I'll write the columns now.",
        "I'll leave the other columns unchanged.",
        "I'll cache the prices because the till is slow.",
        "Voy a revisar la tabla porque falla.",
    ],
)
def test_a_next_action_is_no_decision(said: str) -> None:
    assert settled(user("Build the price list."), assistant(said)) == []


def test_a_report_that_a_person_shows_is_no_decision() -> None:
    said = "The export walks each page, instead of the index, no page is left out. " * 5
    assert settled(user("Build the price list."), assistant("It is drawn."), user(said)) == []


def test_a_question_that_is_asked_again_was_not_answered() -> None:
    asked = "Which currency?"
    talk = [user("Build it."), assistant(asked), user("hm so"), assistant(asked), user("euro")]
    assert settled(*talk) == [f"euro (in reply to: {asked})"]
