"""An error is told with what cured it, or with that nothing did."""

import msgspec

from factories import assistant, numbered, tool_result, user
from ullage.core.facts.collect import collect_facts
from ullage.core.facts.errors import Error, find_errors
from ullage.core.facts.made import list_made
from ullage.core.transcript.context import ContextItem
from ullage.core.transcript.entries import Speech, Text, ToolResult


def run(command: str, answer: str, *, is_error: bool = False) -> list[ContextItem]:
    call = assistant("", [("c1", "bash", {"command": command})])
    return [call, tool_result(answer, "c1", "bash", is_error=is_error)]


def edit(path: str) -> list[ContextItem]:
    call = assistant("", [("c2", "edit", {"path": path, "oldText": "a", "newText": "b"})])
    return [call, tool_result("ok", "c2", "edit")]


def errors_of(*parts: list[ContextItem]) -> list[Error]:
    items = numbered([user("Make it work."), *(item for part in parts for item in part)])
    return list(find_errors(collect_facts(items).runs, items))


def test_a_check_was_cured_by_what_was_edited_before_it_passed() -> None:
    (error,) = errors_of(
        edit("src/before.py"),
        run("pytest tests", "E  KeyError: 'tz'\n1 failed, 3 passed", is_error=True),
        edit("src/dates.py"),
        run("git status", "nothing"),
        run("pytest tests", "4 passed"),
        edit("src/after.py"),
    )
    assert (error.is_cured, error.cure) == (True, "edited src/dates.py")
    assert "KeyError: 'tz'" in error.outcome


def test_where_nothing_was_edited_the_last_other_command_cured_it() -> None:
    (error,) = errors_of(
        run("git checkout main", "fatal: Unable to create '.git/index.lock': File exists."),
        run("rm .git/index.lock", ""),
        run("git checkout main", "Switched to branch 'main'"),
    )
    assert error.cure == "ran rm .git/index.lock"


def test_a_command_that_was_not_found_is_told_with_what_took_its_place() -> None:
    (error,) = errors_of(
        run("python -V", "zsh:1: command not found: python"), run("python3 -V", "Python 3.12.1")
    )
    assert error.outcome == "zsh:1: command not found: python"
    assert error.cure == "ran python3 -V"


def test_a_failing_check_is_not_cured_by_another() -> None:
    (error,) = errors_of(
        run("pytest tests", "1 failed", is_error=True), run("ruff check .", "All checks passed!")
    )
    assert not error.is_cured
    assert error.cure == ""


def use(
    name: str, arguments: dict[str, object], answer: str, *, is_error: bool
) -> list[ContextItem]:
    call = assistant("", [("c5", name, arguments)])
    return [call, tool_result(answer, "c5", name, is_error=is_error)]


def test_looking_around_and_reading_files_are_no_errors() -> None:
    assert (
        errors_of(
            run("grep -r foo src", "", is_error=True),
            run("git log -3", "fatal: bad revision fixed"),
            use("read", {"path": "log.txt"}, "fatal: the disk is full", is_error=False),
            run("ls", "a.py"),
        )
        == []
    )


def test_a_program_that_is_not_there_is_an_error_even_to_look_around() -> None:
    (error,) = errors_of(
        run("rg foo src", "/bin/bash: line 1: rg: command not found", is_error=True),
        run("grep -r foo src", "src/a.py: foo"),
    )
    assert error.outcome == "/bin/bash: line 1: rg: command not found"


def test_another_tools_error_is_told_once_where_it_worked_later() -> None:
    def edit_at(path: str, answer: str = "") -> list[ContextItem]:
        return use("edit", {"path": path}, answer or "ok", is_error=bool(answer))

    said = "<tool_error>It stands nowhere.</tool_error>"
    unsent = '{\n  "status": "error",\n  "error": "no channel"\n}'
    other = use("send", {"to": "ann"}, unsent, is_error=True)
    (error,) = errors_of(
        edit_at("a.py", said), edit_at("b.py", said), other, edit_at("b.py"), edit_at("a.py")
    )
    assert (error.command, error.outcome) == ("edit a.py", "It stands nowhere.")
    assert error.cure == "edited b.py"
    (sent,) = errors_of(other, use("send", {"to": "ann"}, "sent", is_error=False))
    assert (sent.command, sent.outcome, sent.cure) == ("send", "no channel", "")


def test_a_call_that_a_person_refused_is_no_error() -> None:
    call, answer = run("npm publish", "The user does not want it.", is_error=True)
    (result,) = answer.message.blocks
    assert isinstance(result, ToolResult)
    speech = (Speech(speaker="harness", text="The user does not want it."),)
    content = (Text(text="The user does not want it.", speech=speech),)
    blocks = (msgspec.structs.replace(result, content=content),)
    message = msgspec.structs.replace(answer.message, blocks=blocks)
    refused = msgspec.structs.replace(answer, message=message)
    assert errors_of([call, refused], run("npm publish", "ok")) == []


def test_the_last_line_that_tells_more_than_an_exit_code_is_the_error() -> None:
    (error,) = errors_of(
        run("node server.js", "端口 3000 已被占用\n\n(Command exited with code 1)", is_error=True),
        run("node server.js", "listening"),
    )
    assert error.outcome == "端口 3000 已被占用"


def test_the_message_of_an_errors_object_is_its_line() -> None:
    (error,) = errors_of(
        run(
            "gh api graphql",
            '{"errors":[{"path":["q"],"message":"Field x is unknown"}]}',
            is_error=True,
        ),
        run("gh api rest", "{}"),
    )
    assert error.outcome == "Field x is unknown"


def test_commits_and_addresses_are_made_where_the_command_says_so() -> None:
    items = numbered(
        [
            user("Commit it."),
            *run("git commit -m 'Add dates'", "[main 3bb8701] Add dates\n 1 file changed"),
            *run('git commit -qm "Fix the clock\n\nIt was late."', ""),
            *run("git commit -qm 'Lost'", "", is_error=True),
            *run("gh pr create --fill", "Creating\nhttps://github.com/o/r/pull/17"),
            *run("git log", "[main 1234567] not made now"),
        ]
    )
    assert [made for _, made in list_made(items)] == [
        "committed 3bb8701: Add dates",
        "committed: Fix the clock",
        "created https://github.com/o/r/pull/17",
    ]


def test_a_cure_is_looked_for_among_the_last_calls_before_the_pass() -> None:
    edits = [edit(f"src/part{number}.py") for number in range(300)]
    (error,) = errors_of(
        run("pytest tests", "1 failed", is_error=True), *edits, run("pytest tests", "4 passed")
    )
    assert error.cure == "edited src/part297.py, src/part298.py, src/part299.py and 197 more"
