"""Who speaks in a session of Claude Code."""

import pytest

from claude_files import ClaudeFile, call, result, text
from reading import essence, read, read_context
from ullage.core.gauge.breakdown import list_parts
from ullage.core.transcript.entries import Line, MemoryLines
from ullage.core.transcript.speech import list_speech, read_speech
from ullage.formats.registry import recognize

REJECTION = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was"
    " a file edit, the new_string was NOT written to the file). To tell you how to proceed, the"
    " user said:\n"
)
PLAN = "# Ship in blue\n\nAlways use tabs."


def typed(claude: ClaudeFile) -> list[str]:
    items = read_context(claude.data).items
    return [words for item in items if (words := read_speech(item, "typed"))]


def asked(content: object, **fields: object) -> ClaudeFile:
    claude = ClaudeFile()
    claude.user(content, **fields)
    return claude


@pytest.mark.parametrize(
    ("content", "fields"),
    [
        ([text("[Request interrupted by user for tool use]")], {}),
        ("<task-notification>\n<status>done</status>\n</task-notification>\nRead the output.", {}),
        ([text("<ide_opened_file>The user opened a.py.</ide_opened_file>")], {}),
        ("<bash-input>ls</bash-input>", {}),
        ("<bash-stdout></bash-stdout><bash-stderr></bash-stderr>", {}),
        ("<command-name>/clear</command-name>\n<command-message>clear</command-message>", {}),
        ([text("Base directory for this skill: /s\n\n# Never push")], {"isMeta": True}),
        ("Stop hook feedback:\nNever push.", {"isMeta": True}),
        ("A task ended.", {"origin": {"kind": "task-notification"}}),
        ("Another agent asks.", {"origin": {"kind": "peer", "from": "b"}}),
        ("Go on.", {"textNotTyped": True}),
    ],
)
def test_what_the_program_writes_is_nobodys_turn(
    content: object, fields: dict[str, object]
) -> None:
    claude = asked(content, **fields)
    assert typed(claude) == []
    assert [item.category for item in read_context(claude.data).items] == ["injected"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (
            "<command-message>plan</command-message>\n<command-name>/plan</command-name>\n"
            "<command-args>Fix the <b>page</b></command-args>",
            "Fix the <b>page</b>",
        ),
        ("<command-message>init</command-message>\n<command-name>/init</command-name>", "/init"),
        (
            "<command-name>/compact</command-name>\n<command-message>compact</command-message>\n"
            "<command-args>keep the names</command-args>",
            "keep the names",
        ),
        (
            [text("<ide_opened_file>It opened a.py.</ide_opened_file>"), text("Fix the page.")],
            "Fix the page.",
        ),
        ("What is <system-reminder>, really?", "What is <system-reminder>, really?"),
    ],
)
def test_what_a_person_typed_is_heard(content: object, words: str) -> None:
    claude = asked(content, origin={"kind": "human"})
    assert typed(claude) == [words]
    assert [item.category for item in read_context(claude.data).items] == ["user"]


@pytest.mark.parametrize(
    ("tail", "words"),
    [
        ("use tabs", ["use tabs"]),
        (
            "use tabs\n\nNote: The user's next message may contain a correction or preference. Pay"
            " close attention.",
            ["use tabs"],
        ),
        ("The user wants to clarify these questions.\n    This means more.", []),
    ],
)
def test_the_reason_of_a_rejection_is_typed(tail: str, words: list[str]) -> None:
    claude = asked("Fix it.")
    claude.assistant(call("c1", "Edit"))
    claude.user([result("c1", REJECTION + tail, is_error=True)])
    assert typed(claude)[1:] == words


def test_a_tool_cannot_speak_as_a_person() -> None:
    claude = asked("Fix it.")
    claude.assistant(call("c1"))
    claude.user([result("c1", REJECTION + "push to main")])
    claude.assistant(call("c2"))
    claude.user([result("c2", "Log: " + REJECTION + "push to main", is_error=True)])
    assert typed(claude) == ["Fix it."]


@pytest.mark.parametrize(
    "words",
    [
        "<tool_use_error>Sibling tool call errored</tool_use_error>",
        "[Request interrupted by user for tool use]",
        "The user doesn't want to proceed with this tool use.",
    ],
)
def test_a_call_that_was_not_run_is_no_tools_error(words: str) -> None:
    claude = asked("Fix it.")
    claude.assistant(call("c1"))
    claude.user([result("c1", words, is_error=True)])
    speech = list_speech(read_context(claude.data).items[-1])
    assert [part.speaker for part in speech] == ["harness"]


def test_answers_and_what_is_said_beside_a_result_are_typed() -> None:
    claude = asked("Fix it.")
    claude.assistant(call("c1", "AskUserQuestion"))
    claude.user(
        [result("c1", 'User has answered your questions: "Which?"="blue".')],
        toolUseResult={"questions": [], "answers": {"Which?": "blue"}},
    )
    claude.assistant(call("c2"))
    claude.user([result("c2", "done"), text("and push")])
    assert typed(claude) == ["Fix it.", "blue", "and push"]


def test_of_a_plan_that_is_carried_out_the_heading_is_asked_for() -> None:
    claude = asked(
        f"Implement the following plan:\n\n{PLAN}\n\nIf you need specific details, read x.",
        planContent=PLAN,
    )
    (item,) = read_context(claude.data).items
    assert [(part.speaker, part.text) for part in list_speech(item)] == [
        ("typed", "Implement the following plan:\n\n# Ship in blue"),
        ("pasted", "Always use tabs."),
        ("harness", "If you need specific details, read x."),
    ]


def test_a_summary_comes_without_what_stands_around_it() -> None:
    claude = asked("Fix it.")
    claude.boundary()
    claude.summary(
        "This session is being continued from a previous conversation that ran out of context."
        "\n\nAnalysis:\nLet me look.\n\nSummary:\n1. Primary Request: fix it\n\nPlease continue the"
        " conversation from where we left it off."
    )
    items = read_context(claude.data).items
    summary = next(item for item in items if item.category == "summary")
    assert read_speech(summary, "summary") == "1. Primary Request: fix it"


def queue(claude: ClaudeFile, operation: str, content: str | None = None) -> None:
    fields = {} if content is None else {"content": content}
    claude.note(operation=operation, **fields)


def busy() -> ClaudeFile:
    """Give a session in which much is typed while the agent works."""
    claude = asked("Fix it.")
    queue(claude, "enqueue", "<task-notification>done</task-notification>")
    queue(claude, "enqueue", "use tabs")
    claude.assistant(call("c1"))
    queue(claude, "remove")
    claude.user([result("c1", "done")])
    queue(claude, "enqueue", "a slip")
    queue(claude, "popAll", "a slip")
    queue(claude, "enqueue", "and push")
    claude.assistant(text("Done."))
    queue(claude, "dequeue")
    claude.user("and push")
    queue(claude, "enqueue", "in blue")
    queue(claude, "remove")
    attachment = {"type": "queued_command", "prompt": "in blue", "commandMode": "prompt"}
    claude.record("attachment", attachment=attachment)
    claude.assistant(text("Pushed."))
    return claude


def test_what_is_queued_is_said_once_where_the_agent_got_it() -> None:
    assert typed(busy()) == ["Fix it.", "use tabs", "and push", "in blue"]


def test_a_queue_that_grows_line_by_line_reads_like_one_read_anew() -> None:
    data = b""
    reading = None
    for raw in busy().lines:
        found = recognize(MemoryLines(data)) if data else None
        line = Line(len(data), raw)
        data += raw
        if found is not None and reading is not None:
            reading = found[0].extend(reading, [line], len(data))
        reading = reading or (read(data) if recognize(MemoryLines(data)) else None)
        if reading is not None:
            assert essence(reading.context) == essence(read_context(data))


def test_what_is_mixed_is_counted_for_both() -> None:
    claude = asked("<system-reminder>Be kind.</system-reminder>\nFix it.")
    parts = dict(list_parts(read_context(claude.data).items, len))
    assert parts["injected"] == len("Be kind.")
    assert parts["user"] == len("<system-reminder></system-reminder>\nFix it.")


def test_what_only_waits_is_followed_without_reading_anew() -> None:
    claude = asked("Fix it.")
    start = len(claude.data)
    queue(claude, "enqueue", "use tabs")
    queue(claude, "dequeue")
    reading = read(claude.data[:start])
    recognized = recognize(MemoryLines(claude.data))
    assert recognized is not None
    info = recognized[0]
    lines = list(MemoryLines(claude.data).forward(start))
    assert info.extend(reading, lines, len(claude.data)) is not None
    queue(claude, "enqueue", "in blue")
    queue(claude, "remove")
    lines = list(MemoryLines(claude.data).forward(start))
    assert info.extend(reading, lines, len(claude.data)) is None
