"""What is settled by what is said of the thing at hand."""

import pytest

from factories import assistant, numbered, user
from ullage.core.facts.collect import collect_facts
from ullage.core.transcript.context import ContextItem


def settled(*talk: ContextItem) -> list[str]:
    return [choice.text for choice in collect_facts(numbered(talk)).choices]


@pytest.mark.parametrize(
    "said",
    [
        "the labels must end at the first comma",
        "i want the table to fill the page",
        "a load of tabs is overkill",
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


def test_what_a_first_request_wants_is_no_decision_yet() -> None:
    assert settled(user("Build a list. It must load in a second, and rows should be short.")) == []


@pytest.mark.parametrize(
    "said",
    [
        "I'll leave the other columns unchanged.",
        "I'm going to send the first page only.",
        "I'll cache the prices because the till is slow.",
        "Best solution: one table for both.",
        "Ich lasse die Spalten unverändert.",
        "Voy a usar una tabla porque hay dos monedas.",
        "**Decision: one table for both**",
    ],
)
def test_an_agents_way_with_its_limit_or_ground_is_a_decision(said: str) -> None:
    assert settled(user("Build the price list."), assistant(said)) == [said.strip("*")]


@pytest.mark.parametrize(
    "said",
    [
        "I'll read the file.",
        "Let me check the rows because the sum is wrong.",
        "I'm going to look at the first page only.",
        "I'll write the columns now.",
        "Voy a revisar la tabla porque falla.",
    ],
)
def test_a_next_action_is_no_decision(said: str) -> None:
    assert settled(user("Build the price list."), assistant(said)) == []


def test_a_question_that_is_asked_again_was_not_answered() -> None:
    asked = "Which currency?"
    talk = [user("Build it."), assistant(asked), user("hm so"), assistant(asked), user("euro")]
    assert settled(*talk) == [f"euro (in reply to: {asked})"]
