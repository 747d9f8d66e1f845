"""Topic, next step and what is open follow from who spoke last and from the agent's plan."""

import msgspec
import pytest

from factories import assistant, harness, numbered, summary, tool_result, user
from ullage.core.facts.collect import collect_facts
from ullage.core.facts.facts import Facts
from ullage.core.facts.task_state import Quote, TaskState, cut_clauses, read_task_state
from ullage.core.transcript.context import ContextItem
from ullage.core.transcript.entries import Speech, Text

READ = ("c1", "read", {"path": "src/totals.py"})


def facts_of(*items: ContextItem) -> Facts:
    return collect_facts(numbered(items))


def state_of(*items: ContextItem) -> TaskState:
    return read_task_state(facts_of(*items))


def fates(*items: ContextItem) -> list[str]:
    return [turn.fate for turn in facts_of(*items).turns]


def open_texts(*items: ContextItem) -> list[str]:
    return [item.text for item in state_of(*items).open_items]


def to_program(text: str, *, ends_turn: bool | None) -> ContextItem:
    spoken = Text(text=text, speech=(Speech(speaker="harness", text=text),))
    item = assistant(text)
    message = msgspec.structs.replace(item.message, blocks=(spoken,), ends_turn=ends_turn)
    return msgspec.structs.replace(item, message=message)


def ending(item: ContextItem, *, ends_turn: bool) -> ContextItem:
    message = msgspec.structs.replace(item.message, ends_turn=ends_turn)
    return msgspec.structs.replace(item, message=message)


def typed_while_working(text: str) -> ContextItem:
    return msgspec.structs.replace(assistant("", [READ]), queued=(text,))


def todo(call_id: str, *steps: tuple[str, str]) -> list[ContextItem]:
    todos = [{"content": text, "status": status} for text, status in steps]
    call = (call_id, "TodoWrite", {"todos": todos})
    return [assistant("", [call]), tool_result("ok", call_id, "TodoWrite")]


ASKED_TEXT = "Make the totals of the invoice right for Japan."
ASKED = user(ASKED_TEXT)
LOOKED = (assistant("", [READ]), tool_result("…", "c1", "read"))


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ((ASKED,), ["asked"]),
        ((ASKED, assistant("", [READ])), ["in progress"]),
        ((ASKED, *LOOKED), ["in progress"]),
        ((ASKED, *LOOKED, assistant("They are right now.")), ["answered"]),
        # It announces: the record was cut before the call.
        ((ASKED, *LOOKED, assistant("Now let me change the rounding.")), ["in progress"]),
        ((ASKED, assistant("Here is what I change:")), ["in progress"]),
        # What the record says of the end counts more than words.
        ((ASKED, ending(assistant("It is done."), ends_turn=False)), ["in progress"]),
        ((ASKED, ending(assistant("Let me know."), ends_turn=True)), ["answered"]),
        ((ASKED, to_program("NO_REPLY", ends_turn=True)), ["answered"]),
        ((ASKED, to_program("NO_REPLY", ends_turn=None)), ["asked"]),
        # Whoever is spoken to had ended its turn with its last words.
        ((ASKED, assistant("Let me see."), user("And the dates of the export?")),
         ["answered", "asked"]),
        # What is typed while the agent works belongs to the same turn.
        ((ASKED, *LOOKED, user("And mind the dates of the export."), *LOOKED),
         ["in progress", "in progress"]),
        ((ASKED, *LOOKED, user("And mind the dates, please."), *LOOKED, assistant("Both done.")),
         ["answered", "answered"]),
        # The agent went on by itself after what looked like the end.
        ((ASKED, assistant("Found it."), *LOOKED), ["in progress"]),
    ],
)  # fmt: skip
def test_what_became_of_a_request(items: tuple[ContextItem, ...], expected: list[str]) -> None:
    assert fates(*items) == expected


@pytest.mark.parametrize("word", ["retry", "yes", "go on", "ㄱㄱ", "继续", "oui, vas-y", "A, B, C"])
def test_a_few_words_name_no_task(word: str) -> None:
    state = state_of(ASKED, *LOOKED, assistant("Shall I?"), user(word))
    assert state.topic == "Make the totals of the invoice right for Japan."


@pytest.mark.parametrize(
    "task", ["Plan a trip to Japan", "バックエンドは必要ですか？", "修复登录页面的错误"]
)
def test_a_short_task_is_one(task: str) -> None:
    topic = state_of(ASKED, assistant("Done."), user(task)).topic
    assert topic == f"{ASKED_TEXT} (now: {task})"


def test_the_topic_is_a_whole_clause() -> None:
    text = (
        "Move the parser into its own module, keep the old grammar working for version 1 files, "
        * 3
    )
    assert state_of(user(text)).topic == (
        "Move the parser into its own module, keep the old grammar working for version 1 files"
    )
    assert cut_clauses("word " * 40, 30) == "word word word word word…"
    # A few words alone say too little, and none of them nothing.
    assert cut_clauses(
        "Great! Login works now. I want the chat command, and a menu for it.", 55
    ) == ("Login works now. I want the chat command")


def test_the_plans_step_stands_with_the_topic_where_there_is_room() -> None:
    steps = todo("c2", ("Read the code", "completed"), ("Round half up", "in_progress"))
    topic = "Make the totals of the invoice right for Japan."
    assert state_of(ASKED, *steps).topic == f"{topic} (Round half up)"
    steps = todo("c2", ("Round half up in every currency without decimals " * 2, "in_progress"))
    assert state_of(ASKED, *steps).topic == topic


@pytest.mark.parametrize(
    ("items", "step"),
    [
        ((ASKED,), Quote(text="Make the totals of the invoice right for Japan.", by="user")),
        ((ASKED, *LOOKED),
         Quote(text="Make the totals of the invoice right for Japan.", by="user")),
        (
            (ASKED, assistant("The rounding is wrong. Now I change it in src/totals.py, half up.",
                              [READ])),
            Quote(text="Now I change it in src/totals.py, half up.", by="agent"),
        ),
        # A short announcement says what of in the sentence before it.
        ((ASKED, assistant("Yen have no decimals. Let me fix this.", [READ])),
         Quote(text="Yen have no decimals. Let me fix this.", by="agent")),
        # One word announces nothing.
        ((ASKED, assistant("Great!", [READ])), Quote(text=ASKED_TEXT, by="user")),
        ((ASKED, assistant("I look.", [READ]), *todo("c2", ("Round half up", "in_progress"))),
         Quote(text="Round half up", by="plan")),
        ((ASKED, assistant("I look.", [READ]), *todo("c2", ("Round half up", "in_progress")),
          user("Thanks, and mind the dates of the export."), *LOOKED),
         Quote(text="Round half up", by="plan")),
        # After the end of a turn only the plan or the report says what comes.
        ((ASKED, assistant("It is right now.")), None),
        ((ASKED, *todo("c2", ("Round", "completed"), ("Write the tests", "pending")),
          assistant("Rounded.")),
         Quote(text="Write the tests", by="plan")),
        ((ASKED, assistant("Rounded. Still to do: the credit notes of the old shop.")),
         Quote(text="Still to do: the credit notes of the old shop.", by="agent")),
    ],
)  # fmt: skip
def test_the_next_step_is_quoted_with_who_said_it(
    items: tuple[ContextItem, ...], step: Quote | None
) -> None:
    assert state_of(*items).next_step == step


def test_open_are_request_steps_failures_and_what_the_report_leaves() -> None:
    run = assistant("", [("c3", "bash", {"command": "pytest tests/totals"})])
    failed = tool_result("2 failed, 3 passed\nexit code: 1", "c3", is_error=True)
    steps = todo("c2", ("Read the code", "completed"), ("Round half up", "in_progress"))
    assert open_texts(ASKED, *steps, run, failed) == [
        "Make the totals of the invoice right for Japan.",
        "Round half up",
        "failing: pytest tests/totals → 2 failed",
    ]


def test_a_plan_of_a_former_task_is_left() -> None:
    steps = todo("c2", ("Round half up", "in_progress"))
    items = [ASKED, *steps, assistant("All is right now.")]
    assert open_texts(*items) == ["Round half up"]
    later = user("Write the notes for the release of May.")
    assert open_texts(*items, later, *LOOKED, assistant("They are written.")) == []


def test_a_later_list_of_what_is_left_takes_the_place_of_an_earlier_one() -> None:
    first = assistant("Rounded. Still to do: the credit notes and the refunds.")
    second = assistant("Credit notes are right. Still to do: the refunds of May.")
    assert open_texts(ASKED, first, user("Then do the credit notes now."), second) == [
        "Still to do: the refunds of May."
    ]
    carried = summary("## Goal\nTotals\n\n## Next Steps\n1. Write the refund notes\n")
    assert open_texts(carried, user("Go on with the credit notes."), assistant("Done.")) == [
        "Write the refund notes"
    ]
    assert open_texts(carried, user("Go on with the credit notes."), second) == [
        "Still to do: the refunds of May."
    ]


def test_the_question_that_a_turn_ends_with_is_open() -> None:
    asked = assistant("Both ways work.\n\nShall I round per line or per invoice?")
    state = state_of(ASKED, asked)
    assert state.question == "Shall I round per line or per invoice?"
    assert [item.state for item in state.open_items] == ["question"]
    assert open_texts(user("hi"), assistant("Hello! What can I do for you?")) == []


@pytest.mark.parametrize("before", [(user("Fix the login."),), (user("Fix it"), *LOOKED)])
def test_a_question_is_open_however_few_words_asked_for_the_task(
    before: tuple[ContextItem, ...],
) -> None:
    asked = assistant("The login works. Shall I remove the old key as well?")
    assert open_texts(*before, asked) == ["Shall I remove the old key as well?"]


def test_task_tools_change_one_step_at_a_time() -> None:
    def call(n: int, name: str, result: str, **arguments: str) -> list[ContextItem]:
        return [
            assistant("", [(f"c{n}", name, arguments)]),
            tool_result(result, f"c{n}", name),
        ]

    items = [
        *call(1, "TaskCreate", "Task #7 created successfully: Parse", subject="Parse"),
        *call(2, "TaskCreate", "Task #8 created successfully: Print", subject="Print"),
        *call(3, "TaskCreate", "Task #9 created successfully: Check", subject="Check"),
        *call(4, "TaskUpdate", "Updated task #7", taskId="7", status="completed"),
        *call(5, "TaskUpdate", "Updated task #8", taskId="8", status="in_progress"),
        *call(6, "TaskUpdate", "Updated task #9", taskId="9", status="deleted"),
    ]
    assert [(s.text, s.state) for s in facts_of(ASKED, *items).plan] == [
        ("Parse", "done"),
        ("Print", "in progress"),
    ]


def written(n: int, text: str) -> list[ContextItem]:
    call = (f"w{n}", "write", {"path": "tasks.md", "content": text})
    return [assistant("", [call]), tool_result("ok", f"w{n}", "write")]


def test_a_task_file_counts_once_a_box_of_it_was_ticked() -> None:
    boxes = "- [ ] T1 Parse\n- [ ] T2 Print\n- [{}] T3 Check\n- [ ] T4 Ship"
    template = "- [ ] No words of implementation\n- [ ] Testable"
    begun = (*written(1, template), *written(2, boxes.format(" ")), *written(3, "# Notes"))
    assert facts_of(ASKED, *begun).tasks == ()
    # What is behind the last box that was ticked comes first.
    edit = ("e1", "edit", {"path": "tasks.md", "newText": "- [x] T3 Check"})
    ticked = (*begun, assistant("", [edit]), tool_result("ok", "e1", "edit"))
    assert open_texts(ASKED, *ticked, assistant("Checked.")) == ["T4 Ship"]
    shown = tool_result(f"1\t{boxes.format('x')}", "r1", "read")
    assert open_texts(ASKED, *begun, assistant("", [READ]), shown, assistant("Checked.")) == [
        "T4 Ship"
    ]
    all_ticked = written(4, boxes.replace("[ ]", "[x]").format("x"))
    assert open_texts(ASKED, *ticked, *all_ticked, assistant("All done.")) == []


def kept(item: ContextItem) -> ContextItem:
    return msgspec.structs.replace(item, is_after_boundary=False)


def test_messages_that_a_compaction_kept_were_answered_before_it() -> None:
    before = (kept(ASKED), kept(user("And the dates of the export, please.")))
    assert fates(*before) == ["answered", "asked"]
    assert fates(*before, *LOOKED) == ["answered", "in progress"]
    assert fates(*before, user("Now write the notes of May.")) == ["answered", "answered", "asked"]


def test_what_is_said_again_before_the_agent_did_anything_replaces_it() -> None:
    again = user("Make the totals of the invoice right for Japan and Korea.")
    assert fates(ASKED, again) == ["replaced", "asked"]
    assert fates(ASKED, user("And the dates of the export, please.")) == ["asked", "asked"]


def test_a_question_is_answered_by_words_within_the_turn() -> None:
    why = user("Why is it wrong for yen?")
    assert fates(ASKED, *LOOKED, why, assistant("Yen have no decimals."), *LOOKED) == [
        "in progress",
        "answered",
    ]


def test_a_few_words_go_on_with_the_task_before_them() -> None:
    # A yes goes on with the task, or with what it approves; what is asked in a few words does not.
    assert open_texts(ASKED, assistant("Shall I?"), user("oh yes"), *LOOKED) == [ASKED_TEXT]
    approved = open_texts(ASKED, assistant("Shall I round half up?"), user("ok"), *LOOKED)
    assert approved == ["Shall I round half up? (approved: ok)"]
    assert open_texts(ASKED, assistant("Rounded."), user("push it"), *LOOKED) == ["push it"]
    assert open_texts(ASKED, assistant("US1, US2?"), user("US1"), *LOOKED) == [ASKED_TEXT]


def test_what_a_person_copied_from_the_agent_asks_nothing() -> None:
    step = "Change the rounding in src/totals.py to half up"
    items = (ASKED, assistant(f"Two ways:\n\n- **{step}**\n- Leave it"), user(f"- {step}"))
    assert state_of(*items).topic == ASKED_TEXT
    items = (*items[:-1], user(f"Take this one, and tell me when it is done:\n- {step}"))
    assert state_of(*items).topic.endswith("(now: Take this one, and tell me when it is done:)")


def test_words_that_ended_a_turn_announce_nothing() -> None:
    # A hook or a task in the background had the agent go on.
    items = (ASKED, assistant("The totals are right now."), harness("[task done]"), *LOOKED)
    assert state_of(*items).next_step is None


def test_only_the_newest_calls_are_running() -> None:
    stopped = assistant("", [("c8", "edit", {"path": "src/old.py"})])
    running = assistant("", [("c9", "bash", {"command": "make all"})])
    facts = facts_of(ASKED, stopped, user("Not that file, the totals."), running)
    assert facts.pending_calls == (("bash", "make all"),)
    facts = facts_of(ASKED, stopped, *LOOKED, running)
    assert facts.pending_calls == (("bash", "make all"),)


def test_a_command_of_the_program_begins_a_turn_of_its_own() -> None:
    command = harness("Session plan: write the plan of the release.")
    items = (ASKED, *LOOKED, assistant("The totals are right now."), command)
    assert fates(*items, *LOOKED, assistant("Now let me write the plan.", [READ])) == ["answered"]
    assert state_of(*items).open_items == ()
    assert facts_of(*items).is_turn_ended


def test_a_short_request_is_told_with_the_task_before_it() -> None:
    rounded = (ASKED, *LOOKED, assistant("Rounded."))
    topic = state_of(*rounded, user("/commit-commands:commit")).topic
    assert topic == f"{ASKED_TEXT} (now: /commit-commands:commit)"
    named = user("Write the refund notes of the Japanese invoices.")
    topic = state_of(*rounded, named, *LOOKED).topic
    assert topic == "Write the refund notes of the Japanese invoices."
    asks = (user("What is next for the Japanese invoices?"), *LOOKED, assistant("The notes."))
    assert state_of(*rounded, *asks, user("draft refund notes")).topic == "draft refund notes"
    # A reply or a rule says no more of a task than it does.
    agreed = (assistant("Shall I round half up?"), user("yes, half up like banks"), *LOOKED)
    topic = state_of(ASKED, *agreed, assistant("Done."), user("commit that work")).topic
    assert topic == f"{ASKED_TEXT} (now: commit that work)"


def test_a_result_that_stands_before_its_call_is_seen() -> None:
    result, call = tool_result("…", "c1", "read"), assistant("", [READ])
    assert facts_of(ASKED, result, call).pending_calls == ()
    assert len(facts_of(ASKED, result, call, call).pending_calls) == 1


def test_words_that_were_approved_name_the_task() -> None:
    remark = user("the yen are rounded twice now")
    told = (ASKED, *LOOKED, assistant("Done."), remark, assistant("So they are. Shall I?"))
    assert state_of(*told).topic == ASKED_TEXT
    assert "(now: the yen are rounded twice now" in state_of(*told, user("yes"), *LOOKED).topic


def test_a_rule_in_the_midst_of_a_turn_names_no_task() -> None:
    rule = user("Never touch the generated files.")
    assert state_of(ASKED, *LOOKED, rule, *LOOKED).topic == ASKED_TEXT


def test_what_a_person_adds_is_closed_by_what_they_add_next() -> None:
    first = typed_while_working("use the helper of the parser module")
    second = typed_while_working("and write the tests in a folder of their own")
    seen = assistant("There is one. I use it.", [READ])
    assert fates(ASKED, *LOOKED, first, seen, second, *LOOKED) == [
        "in progress",
        "answered",
        "in progress",
    ]


def test_a_command_without_words_is_told_by_what_the_agent_says_of_it() -> None:
    command = harness("You **MUST** consider the user input before proceeding.")
    items = (ASKED, assistant("They are right now."), command)
    said = assistant("I begin with the plan of the release.", [READ])
    assert state_of(*items, said, tool_result("…", "c1", "read")).topic == (
        f"{ASKED_TEXT} (now: I begin with the plan of the release.)"
    )


def test_whoever_asks_at_the_end_waits() -> None:
    answer = "The rest comes later.\n\nShall I round half up? 🤔\n\nOr tell me what banks do."
    state = state_of(ASKED, *LOOKED, assistant(answer))
    assert state.question == "Shall I round half up?"
    sources = assistant("It is rounded.\n\n- [Why do banks round?](https://example.org)")
    assert state_of(ASKED, *LOOKED, sources).question == ""
    assert state.next_step is None
    assert facts_of(ASKED, *LOOKED, assistant("Let me know once it is free.")).is_turn_ended


def test_a_nod_is_told_with_what_it_approves() -> None:
    offer = assistant("Shall I move the rounding into a helper of its own?")
    state = state_of(user("hi"), offer, user("yes"))
    assert state.topic.startswith("Shall I move the rounding into a helper")
    assert state.next_step is not None
    assert "move the rounding" in state.next_step.text


def test_a_plan_takes_the_place_of_what_a_summary_left() -> None:
    carried = summary("## Goal\nTotals\n\n## Next Steps\n1. Write the refund notes\n")
    go_on = user("Go on with what is left of it.")
    steps = todo("c2", ("Write the refund notes", "completed"))
    assert open_texts(carried, go_on, *steps, assistant("They are written.")) == []
    assert open_texts(carried, go_on, *steps, *todo("c3"), assistant("All is done.")) == []


def test_a_look_that_has_its_results_comes_no_more() -> None:
    look = assistant("Let me read the tests of the totals.", [READ])
    seen = tool_result("…", "c1", "read")
    assert state_of(ASKED, look).next_step == Quote(
        text="Let me read the tests of the totals.", by="agent"
    )
    assert state_of(ASKED, look, seen).next_step == Quote(text=ASKED_TEXT, by="user")
    both = assistant("I'll round half up everywhere. Let me read the tests.", [READ])
    step = state_of(ASKED, both, seen).next_step
    assert step == Quote(text="I'll round half up everywhere.", by="agent")


def test_a_command_that_failed_last_is_open_and_comes_next() -> None:
    lint = assistant("Now let me check the style.", [("c5", "bash", {"command": "mise lint"})])
    failed = tool_result("setup.go: returned error is bare", "c5", is_error=True)
    state = state_of(ASKED, lint, failed)
    assert state.next_step == Quote(text="failing: mise lint", by="call")
    assert "failing: mise lint" in [item.text for item in state.open_items]
    assert "failing: mise lint" not in open_texts(ASKED, lint, failed, *LOOKED)
    script = assistant("I check.", [("c5", "bash", {"command": "python - <<'E'\n1/0\nE"})])
    assert facts_of(ASKED, script, failed).last_failure is None


def test_a_report_leaves_what_says_so_in_plain_words() -> None:
    report = (
        "- What is the next step here?\n"
        "- Next.js (version 15) renders them\n"
        "- Remaining: the dates of the export\n\n"
        "The totals are right.\nSo are the taxes.\n"
    )
    assert open_texts(ASKED, *LOOKED, assistant(report)) == ["Remaining: the dates of the export"]


def test_a_long_proposal_that_was_approved_leaves_room_for_what_was_asked() -> None:
    offer = "I recommend to round half up, to keep the old totals, and to tell the bank of Japan."
    state = state_of(ASKED, *LOOKED, assistant(f"{offer} Shall I?"), user("yes"), *LOOKED)
    assert state.topic.startswith("Make the totals of the invoice right")
    assert "(now: I recommend to round half up" in state.topic


@pytest.mark.parametrize(
    ("end", "left"),
    [
        ("Nothing is left to do.", []),
        ("There is nothing left to do here.", []),
        ("None of the tasks remain open.", []),
        ("Nothing is left to do but the changelog.", ["Nothing is left to do but the changelog."]),
    ],
)
def test_that_nothing_is_left_is_no_open_item(end: str, left: list[str]) -> None:
    report = f"The parser is ported and all 41 tests pass.\n\n{end}"
    assert open_texts(ASKED, *LOOKED, assistant(report)) == left
    next_step = state_of(ASKED, *LOOKED, assistant(report)).next_step
    assert ([next_step.text] if next_step else []) == left


def test_of_many_requests_in_one_turn_all_share_its_end() -> None:
    asked = [user(f"Please look at module number {number} as well.") for number in range(150)]
    worked = [part for request in asked for part in (request, assistant("", [READ]))]
    assert set(fates(*worked)) == {"in progress"}
    assert set(fates(*worked, assistant("All of that is done."))) == {"answered"}
