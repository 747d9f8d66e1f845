"""Learnings are facts about the user and the project, not what an agent reports."""

from collections.abc import Iterable

import pytest

from factories import assistant, numbered, tool_result, user
from ullage.core.facts.collect import collect_facts
from ullage.core.facts.learnings import find_dead_ends, find_learnings
from ullage.core.transcript.context import ContextItem


def learned(items: Iterable[ContextItem]) -> tuple[str, ...]:
    return find_learnings(collect_facts(numbered(items)))


@pytest.mark.parametrize(
    "said",
    [
        "We have an API spec at /docs/api-spec.yaml.",
        "The seating chart lives in plans/hall-2.svg",
        "I really don't like emoji in code comments.",
        "btw we use pnpm here, not npm",
        "I'm pretty price-sensitive, so always ask me about budget first",
        "Wir nutzen pnpm statt npm.",
        "Nos tests tournent avec pytest, pas unittest.",
        "Nuestro servidor está en https://tienda.example/api",
        "我们的文档放在 docs/api.yaml",
        "私たちは pnpm を使っています。",
        "우리는 pnpm을 씁니다.",
    ],
)
def test_what_a_person_states_of_themselves_and_the_project_is_learned(said: str) -> None:
    assert learned([user(f"Add the route for refunds. {said}")]) == (said,)


@pytest.mark.parametrize(
    "said",
    [
        "Fix our tests.",
        "My guess is that the cache is stale.",
        "Do we use pnpm here?",
        "The bug is in src/refunds.py",
        "We have a problem with the refund page.",
        "I like option two.",
        "Wake up, my friend!",
        "> We use tabs in every file here.",
    ],
)
def test_requests_guesses_questions_and_complaints_are_not_learned(said: str) -> None:
    assert learned([user(f"Add the route for refunds.\n\n{said}")]) == ()


def test_reports_of_agents_and_tools_are_not_learned() -> None:
    talk = [
        user("Build it."),
        assistant("All builds pass. We use pnpm here. The root cause was a stale lock file."),
        tool_result("Note: we use tabs. I prefer spaces."),
    ]
    assert learned(talk) == ()


def test_what_the_agent_states_as_a_lesson_is_learned() -> None:
    lesson = "Gotcha: the staging queue drops messages above 64 KB."
    assert learned([user("Send it."), assistant(f"It is sent. {lesson}")]) == (lesson,)


def test_a_reply_to_a_question_is_learned() -> None:
    talk = [
        user("Plan my trip."),
        assistant("Which passport do you have?"),
        user("I have a Serbian passport"),
    ]
    assert learned(talk) == ("I have a Serbian passport",)


def test_what_led_nowhere_is_the_agents_report_and_no_complaint() -> None:
    report = "Turning the cache off did not work."
    talk = [user("The page doesn't work."), assistant(f"{report} I put it back.")]
    assert find_dead_ends(collect_facts(numbered(talk))) == (report,)
