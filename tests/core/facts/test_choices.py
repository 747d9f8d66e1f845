"""What is settled by what answers what."""

import msgspec
import pytest

from factories import assistant, numbered, tool_result, user
from ullage.core.facts.choices import Answer, write_answer
from ullage.core.facts.facts import collect_facts
from ullage.core.transcript.context import ContextItem
from ullage.core.transcript.entries import Speech, Text, ToolResult

MENU = "Which one shall I take?\n\n1. The CSV importer\n2. **Retry** of uploads\n3. Dark mode"
TABLE = "| Option | What |\n|---|---|\n| A | Keep the cache |\n| B | Drop it |\n\nYour choice?"
TWICE = (
    "Question 1: which rows?\nA) leaves only\nB) every row\n\n"
    "Question 2: in which order?\nA) as shown\nB) by name"
)
WORK = assistant("", calls=[("c1", "write", {"path": "a.py", "content": "x"})])


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
        (MENU, "do 1 and 3", "The CSV importer; Dark mode (chosen: do 1 and 3"),
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


@pytest.mark.parametrize(
    "reply",
    [
        *("this reads well, go ahead", "plan is fine, sounds good", "oh yes. as you wish"),
        "plan is fine, go ahead. two things: keep the keys for three days, and skip the last step",
    ],
)
def test_an_approval_may_follow_a_remark(reply: str) -> None:
    assert replies("All green. Shall I drop the old table?", reply) == [
        f"Shall I drop the old table? (approved: {reply})"
    ]


def test_an_approval_without_a_question_stands_with_the_last_words() -> None:
    assert replies("It is slow. I would move the index to RAM.", "do it") == [
        "It is slow. I would move the index to RAM. (approved: do it)"
    ]


def test_a_bare_continue_approves_an_offer_that_it_answers() -> None:
    assert replies("Phase one stands. Shall I go on with phase two?", "continue") == [
        "Phase one stands. Shall I go on with phase two? (approved: continue)"
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


@pytest.mark.parametrize(
    "reply",
    [
        "1. that one reads commas alone\n2. it is slow",
        "for 2: as far as I remember it was about uploads that never end, and not about their size",
        "what about 1 and 3?",
    ],
)
def test_what_speaks_of_the_points_picks_none(reply: str) -> None:
    assert not [text for text in replies(MENU, reply) if "(chosen: " in text]


def test_a_label_of_two_lists_is_read_by_the_words_beside_it() -> None:
    asked = (
        "1. Sort the rows\n2. Hide the totals\n\nI see:\n\n1. Slow page\n2. Wrong unit\n\nWhich?"
    )
    (choice,) = replies(asked, "2, hide the totals")
    assert choice.startswith("Hide the totals (chosen: ")


@pytest.mark.parametrize("reply", ["stop", "wait"])
def test_a_bare_stop_says_not_what_shall_be(reply: str) -> None:
    assert replies("I'll write the importer now:", reply) == []


@pytest.mark.parametrize("is_settled", [True, False])
def test_a_figure_answers_a_question_for_a_thing(is_settled: bool) -> None:
    question = "How long do they live?" if is_settled else "Want me to go on?"
    assert bool(replies(question, "the other team has #37 as a draft")) is is_settled


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


def refused(said: str) -> list[str]:
    calls = [("c1", "bash", {"command": "git add notes.md"})]
    item = tool_result("…", "c1", "bash", is_error=True)
    (block,) = item.message.blocks
    assert isinstance(block, ToolResult)
    speech = (Speech(speaker="typed", text=said),)
    block = msgspec.structs.replace(block, content=(Text(text="…", speech=speech),))
    message = msgspec.structs.replace(item.message, blocks=(block,))
    return choices(assistant("", calls), msgspec.structs.replace(item, message=message))


def test_why_a_call_was_refused_stands_with_the_call() -> None:
    assert refused("leave that file out") == [
        "leave that file out (against: bash: git add notes.md)"
    ]


def test_a_question_in_place_of_a_permission_settles_nothing() -> None:
    assert refused("is that file needed at all?") == []


def test_why_a_call_was_refused_stands_alone_where_the_call_is_gone() -> None:
    answer = Answer(text="use the staging box", question="", call_id="c1")
    assert write_answer(answer, "") == "use the staging box"


@pytest.mark.parametrize("words", ["I have read it.", ""])
def test_a_yes_that_nothing_came_of_is_no_decision(words: str) -> None:
    calls = [] if words else [("c1", "bash", {"command": "make"})]
    talk = [assistant("Is that the row you mean?"), user("yes"), assistant(words, calls)]
    assert bool(choices(*talk, user("Now the next one."))) is not bool(words)


def test_a_short_question_stands_with_what_it_asks_about() -> None:
    before = "The build takes nine minutes since the cache was moved to the slow disk. " * 4
    talk = f"{before}\n\nI would put it back on the fast one. Want me to do that?"
    assert replies(talk, "yes") == [
        "I would put it back on the fast one. Want me to do that? (approved: yes)"
    ]


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
def test_what_a_person_asks_for_or_suggests_is_not_settled_yet(said: str) -> None:
    assert choices(user(said)) == []


@pytest.mark.parametrize("speaks", [True, False])
def test_an_agents_way_is_taken_once_it_acts(speaks: bool) -> None:
    way = "Let me skip the helper for now, it saves three lines."
    between = [user("Is it slow?")] if speaks else []
    talk = [assistant(way), *between, assistant("", [("c1", "edit", {"path": "a.py"})])]
    assert choices(*talk) == ([] if speaks else [way])


@pytest.mark.parametrize(
    "said",
    [
        "I'll plan the second page instead.",
        "I'll run it as a quick test rather than guess.",
        "Research/decisions: `docs/plan.md`",
        "I'll add a check that helps to skip what exists.",
    ],
)
def test_an_announcement_is_no_choice(said: str) -> None:
    assert choices(assistant(said, [("c1", "edit", {"path": "a.py"})])) == []


@pytest.mark.parametrize("heading", ["What the last decision of the hook rests on", "Decision"])
def test_points_of_what_is_called_a_decision_are_none(heading: str) -> None:
    assert choices(assistant(f"## {heading}\n- Files of the last run.\n- New files.")) == []


def test_the_reasons_below_a_decision_are_none_themselves() -> None:
    said = "Key decision: call the tool rather than add its library:\n- It is installed.\n- No key."
    assert choices(assistant(said)) == ["Key decision: call the tool rather than add its library:"]


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


def test_a_pick_that_rules_something_too_stands_with_its_option() -> None:
    (choice,) = replies(MENU, "1. never run the slow checks for it, though")
    assert choice.startswith("The CSV importer (chosen: ")


@pytest.mark.parametrize("reply", ["yes", "yes, please do what you think is right"])
def test_a_question_for_a_thing_is_not_approved(reply: str) -> None:
    asked = "The importer fails. How do you want to handle the importer?"
    assert not choices(assistant(asked), user(reply), WORK)


def test_what_is_approved_stands_with_its_points_in_short() -> None:
    plan = "The notes need care. " * 12 + "\n\n1. Name the template\n2. Drop the branch example"
    asked = f"{plan}\n\nWould you like me to apply these fixes now?"
    assert choices(assistant(asked), user("yes, but leave the title"), WORK) == [
        "Would you like me to apply these fixes now? [1. Name the template; 2. Drop the branch"
        " example] (approved: yes, but leave the title)"
    ]


def test_an_option_is_picked_by_its_name_within_a_clause() -> None:
    menu = "Option 1: one file\n\nOption 2: a file a day\n\nWhich do you like?"
    reply = "I do like Option 2, as nobody reads the old ones and they only take up room here"
    assert replies(menu, reply)[0].startswith("a file a day (chosen: I do like Option 2, as")


def test_a_point_of_their_own_picks_no_option_of_a_report() -> None:
    report = "All of it is in place:\n\n1. A page on the tests\n2. Checks of the format"
    assert not replies(report, "2. Make the rewind deterministic and assert what comes of it all")


@pytest.mark.parametrize(
    ("answer", "is_settled"),
    [
        ("SQLite", True),
        ("8085", True),
        ("the one in the cellar", True),
        ("yes, and keep whatever the others wrote there, they are going to look at it again", True),
        ("idk", False),
        ("fine, but how about the backups?", False),
        (
            "we see it in many ways, such as in the other program, with all the fun",
            False,
        ),
    ],
)
def test_an_answer_to_a_tool_settles_something_or_is_none(answer: str, is_settled: bool) -> None:
    options = [{"label": "SQLite"}, {"label": "Postgres"}]
    asked = assistant("", calls=[("c1", "AskUserQuestion", {"options": options})])
    speech = (Speech(speaker="tool", text="Where?"), Speech(speaker="typed", text=answer))
    item = tool_result("…", "c1", "AskUserQuestion")
    (block,) = item.message.blocks
    assert isinstance(block, ToolResult)
    answered = msgspec.structs.replace(block, content=(Text(text="…", speech=speech),))
    message = msgspec.structs.replace(item.message, blocks=(answered,))
    settled = [f"{answer} (asked: Where?)"] if is_settled else []
    assert choices(asked, msgspec.structs.replace(item, message=message)) == settled


@pytest.mark.parametrize(
    "text",
    [
        "I'll wait for the last line rather than guess.",
        "If the page asks for a login, I'll show the prompt instead of the form.",
    ],
)
def test_what_an_agent_says_of_its_conduct_is_no_choice(text: str) -> None:
    assert not choices(assistant(text), WORK)


@pytest.mark.parametrize(
    ("asked", "reply"),
    [
        ("次は画面の実装まで進めますか？", "Phase4"),
        ("次は画面の実装から始めますか？", "画面の実装から始めますが、資料を直してください。" * 4),
        (
            "Shall the boss or the crew open the door first?",
            "the terminal of the other level shows a small letter and crowded rows, where people"
            " cannot read anything, so the crew wants bigger fonts behind the door",
        ),
    ],
)
def test_a_reply_that_asks_for_something_else_is_no_answer(asked: str, reply: str) -> None:
    assert not replies(asked, reply)
