"""An error is told with what cured it, or with that nothing did."""

from factories import assistant, numbered, tool_result, user
from ullage.core.facts.errors import Error, find_errors
from ullage.core.facts.facts import collect_facts
from ullage.core.facts.made import list_made
from ullage.core.transcript.context import ContextItem


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


def test_looking_around_and_reading_files_are_no_errors() -> None:
    read = [
        assistant("", [("c3", "read", {"path": "log.txt"})]),
        tool_result("fatal: the disk is full\nTraceback (most recent call last)", "c3", "read"),
    ]
    refused = [
        assistant("", [("c4", "edit", {"path": "a.py"})]),
        tool_result("The text stands nowhere.", "c4", "edit", is_error=True),
    ]
    assert (
        errors_of(
            refused,
            edit("a.py"),
            run("grep -r foo src", "", is_error=True),
            run("git log -3", "fatal: bad revision fixed"),
            read,
            run("ls", "a.py"),
        )
        == []
    )


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
