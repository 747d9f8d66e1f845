"""What is settled by what answers what."""

import msgspec
import pytest

from factories import assistant, numbered, tool_result, user
from ullage.core.facts.choices import Answer, write_answer
from ullage.core.facts.collect import collect_facts
from ullage.core.transcript.context import ContextItem
from ullage.core.transcript.entries import Speech, Text, ToolResult

MENU = "Which one shall I take?\n\n1. The CSV importer\n2. **Retry** of uploads\n3. Dark mode"
TABLE = "| Option | What |\n|---|---|\n| A | Keep the cache |\n| B | Drop it |\n\nYour choice?"
TWICE = (
    "Question 1: which rows?\nA) leaves only\nB) every row\n\n"
    "Question 2: in which order?\nA) as shown\nB) by name"
)


def choices(*talk: ContextItem) -> list[str]:
    return [choice.text for choice in collect_facts(numbered([user("Go."), *talk])).choices]


def replies(answer: str, reply: str) -> list[str]:
    return choices(assistant(answer), user(reply))


@pytest.mark.parametrize(
    ("answer", "reply", "chosen"),
    [
        (MENU, "2", "Retry of uploads (chosen: 2; asked: Which one shall I take?)"),
        (MENU, "3 looks like fun", "Dark mode (chosen: 3 looks like fun"),
        (TABLE, "B", "Drop it (chosen: B; asked: Your choice?)"),
        (TABLE, "ok a", "Keep the cache (chosen: ok a"),
        (
            TABLE,
            "I think B, it is empty anyway. And please keep to the names that we have there.",
            "Drop it",
        ),
        (MENU, "2번이요. 나머지는 다음에 합니다", "Retry of uploads (chosen: 2번이요."),
        ("[CR] Code review\n[DS] Write the story\n\nType a command.", "CR", "Code review (chosen"),
        (TWICE, "Q1: B, Q2: A", "1. every row; 2. as shown (chosen: Q1: B, Q2: A)"),
    ],
)
def test_a_pick_stands_with_the_text_of_its_option(answer: str, reply: str, chosen: str) -> None:
    (found,) = replies(answer, reply)
    assert found.startswith(chosen)


@pytest.mark.parametrize(
    "reply", ["yes", "ok", "LGTM", "go ahead", "ja", "да", "允许", "ㄱㄱ", "はい", "oui", "sí"]
)
def test_an_approval_stands_with_what_it_approves(reply: str) -> None:
    assert replies("All green. Shall I drop the old table?", reply) == [
        f"Shall I drop the old table? (approved: {reply})"
    ]


@pytest.mark.parametrize("reply", ["this reads well, go ahead", "plan is fine, sounds good"])
def test_an_approval_may_follow_a_remark(reply: str) -> None:
    assert replies("All green. Shall I drop the old table?", reply) == [
        f"Shall I drop the old table? (approved: {reply})"
    ]


def test_an_approval_without_a_question_stands_with_the_last_words() -> None:
    assert replies("It is slow. I would move the index to RAM.", "do it") == [
        "I would move the index to RAM. (approved: do it)"
    ]


def test_a_bare_continue_approves_an_offer_that_it_answers() -> None:
    assert replies("Phase one stands. Shall I go on with phase two?", "continue") == [
        "Shall I go on with phase two? (approved: continue)"
    ]


@pytest.mark.parametrize(
    "reply",
    [
        "list the workers of the pool",
        "How many of them are there?",
        "/clear",
        "ok lets get back to the main branch",
        "The page is white since this morning, have a look at it",
    ],
)
def test_a_new_request_is_no_choice(reply: str) -> None:
    assert replies("Done. The importer reads semicolons now.", reply) == []


def test_a_question_back_answers_nothing() -> None:
    assert replies("Shall I drop the old table?", "What is in the old table?") == []


def test_what_takes_up_the_words_of_the_question_is_an_answer() -> None:
    assert replies(
        "Shall the report go to Lagos or to Kisumu?", "the report to Kisumu, please"
    ) == ["the report to Kisumu, please (in reply to: Shall the report go to Lagos or to Kisumu?)"]


@pytest.mark.parametrize("reply", ["no, that is ugly", "nein, lieber nicht", "不是这样"])
def test_an_objection_stands_with_what_it_is_against(reply: str) -> None:
    assert replies("I put the helpers into lib/. Shall I go on so?", reply) == [
        f"{reply} (against: I put the helpers into lib/. Shall I go on so?)"
    ]


def test_an_answer_to_a_question_tool_stands_with_its_question() -> None:
    speech = (
        Speech(speaker="tool", text="Which database?"),
        Speech(speaker="typed", text="SQLite"),
        Speech(speaker="tool", text="Which port?"),
        Speech(speaker="typed", text="8085"),
    )
    item = tool_result("ask", "…")
    (block,) = item.message.blocks
    assert isinstance(block, ToolResult)
    answered = msgspec.structs.replace(block, content=(Text(text="…", speech=speech),))
    message = msgspec.structs.replace(item.message, blocks=(answered,))
    assert choices(msgspec.structs.replace(item, message=message)) == [
        "SQLite (asked: Which database?)",
        "8085 (asked: Which port?)",
    ]


def test_why_a_call_was_refused_stands_alone() -> None:
    assert write_answer(Answer(text="use the staging box", question="")) == "use the staging box"


@pytest.mark.parametrize(
    "said",
    [
        "I'll add it to the first migration rather than creating a new one.",
        "Let me skip the helper for now, it saves three lines.",
        "Decision: the cache stays in memory.",
        "Ich nehme Redis statt Memcached.",
        "我们决定采用 SQLite。",
    ],
)
def test_a_sentence_that_takes_a_way_is_a_choice(said: str) -> None:
    assert choices(assistant(said)) == [said]


@pytest.mark.parametrize(
    "said",
    [
        "The regex uses a capture group instead of the whole match.",
        "Let me read the migration.",
        "If you prefer a separate migration, I can create one instead.",
        "Created and switched to the new branch.",
        "Two tests are skipped, one is chosen at random.",
    ],
)
def test_a_finding_a_report_and_an_offer_are_none(said: str) -> None:
    assert choices(assistant(said)) == []


def test_points_below_a_heading_of_decisions_are_choices() -> None:
    said = "## Decisions\n- Retries stop after five.\n- Logs stay on disk.\n\nThe rest is open."
    assert choices(assistant(said)) == ["Retries stop after five.", "Logs stay on disk."]


@pytest.mark.parametrize(
    "said", ["Use Redis for the queue.", "can't we get that from the settings?", "不如用 SQLite？"]
)
def test_a_person_proposes_a_way(said: str) -> None:
    assert choices(user(said)) == [said]


def test_a_reply_with_a_figure_answers_a_question_in_whatever_words() -> None:
    talk = [
        user("Issue tokens for the shop."),
        assistant("How long should they live?"),
        user("15 minutes, and 7 days where one stays signed in"),
    ]
    (choice,) = collect_facts(numbered(talk)).choices
    assert choice.text.startswith("15 minutes, and 7 days where one stays signed in (in reply to:")


def test_what_is_asked_beside_an_approval_is_open() -> None:
    talk = [
        user("Plan the trip."),
        assistant("Two weeks, Tokyo first. Does that fit?"),
        user("Looks good! What are the visa requirements?"),
    ]
    facts = collect_facts(numbered(talk))
    assert facts.choices[0].text.startswith("Two weeks, Tokyo first. Does that fit?")
    assert "What are the visa requirements?" in facts.turns[-1].ask
