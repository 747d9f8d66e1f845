"""Whatever is wrong: one line that says what to do, its own exit code, and nothing written."""

import os
import sys
from pathlib import Path

import pytest

from claude_files import ClaudeFile
from pi_files import PiFile, conversation
from ullage.cli import options

COMMANDS = (
    ("context", "status"),
    ("context", "status", "--json"),
    ("context", "show"),
    ("context", "inspect"),
    ("context", "history"),
    ("compact", "--dry-run"),
    ("compact", "--yes", "--json"),
    ("undo",),
    ("checkpoint", "write"),
    ("context", "export", "out.json"),
    ("context", "branch"),
    ("doctor",),
    ("doctor", "--repair", "out.jsonl"),
)
FILES = {
    "empty.jsonl": b"",
    "blank.jsonl": b"\n\n",
    "binary.jsonl": bytes(range(256)) * 16,
    "text.jsonl": b"Dear diary,\n",
    "other.jsonl": b'{"messages": []}\n',
    "array.jsonl": b"[1, 2, 3]\n",
    "half.jsonl": b'{"type":"session","id":"x"',
    "utf16.jsonl": '{"type":"session","id":"x"}\n'.encode("utf-16"),
    "deep.jsonl": b"[" * 200_000,
}


def refused(place, *args: str | Path, exit_code: int, **env: str | None) -> str:
    """Run what must fail, and give its one line."""
    before = place.files()
    done = place.run(*args, **env)
    assert done.stdout == ""
    assert done.stderr.startswith("ullage: ")
    assert done.stderr.count("\n") == 1
    assert done.stderr.endswith("\n")
    assert done.returncode == exit_code
    after = place.files()
    if exit_code > 3:  # a session was read: what was counted may be kept
        before, after = (
            {name: files[name] for name in files if not is_cache(name)} for files in (before, after)
        )
    assert after == before
    assert "Traceback" not in done.stderr
    assert "a fault of Ullage" not in done.stderr
    return done.stderr


def is_cache(name: str) -> bool:
    return Path(name).parts[:2] in (("state",), ("state", "index"))


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_no_session_is_refused(place, name: str) -> None:
    place.write(name, FILES[name])
    assert name in refused(place, "context", "status", "--session", name, exit_code=3)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_refuses_a_folder_without_sessions(place, command: tuple[str, ...]) -> None:
    refused(place, *command, exit_code=3)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_refuses_a_wrong_file(place, command: tuple[str, ...]) -> None:
    place.write("text.jsonl", FILES["text.jsonl"])
    refused(place, *command, "--session", "text.jsonl", exit_code=3)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("missing.jsonl", "does not exist"),
        (".", "is a folder"),
        ("/", "is a folder"),
        ("", "is a folder"),
        ("abc", "too short"),
        ("deadbeef", "no session has the id"),
        ("no/such/folder/s.jsonl", "does not exist"),
        ("~nobody-here/s.jsonl", ""),
        ("x" * 300 + ".jsonl", ""),
        ("line\nbreak.jsonl", ""),
        ("line\u2028break.jsonl", ""),
        ("\x1b[31mred.jsonl", ""),
        ("caf\udce9.jsonl", ""),
        ("-", ""),
    ],
    ids=lambda value: ascii(value)[:30],
)
def test_a_name_that_leads_nowhere_is_refused(place, name: str, words: str) -> None:
    line = refused(place, "context", "status", "--session", name, exit_code=3)
    assert words in line
    assert "\x1b" not in line


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no named pipes in folders")
def test_a_named_pipe_is_refused_without_waiting_for_it(place) -> None:
    os.mkfifo(place.cwd / "pipe.jsonl")
    done = place.run("context", "status", "--session", "pipe.jsonl")
    assert done.returncode == 3
    assert "not a regular file" in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such file")
def test_a_device_is_refused(place) -> None:
    refused(place, "context", "status", "--session", "/dev/zero", exit_code=3)


def test_a_folder_without_sessions_says_where_to_run(place) -> None:
    line = refused(place, "context", "status", exit_code=3)
    assert str(place.cwd) in line
    assert "--session" in line


@pytest.mark.parametrize(
    "args",
    [
        ("--nonsense",),
        ("nonsense",),
        ("context", "nonsense"),
        ("context", "status", "--nonsense"),
        ("context", "status", "extra"),
        ("context", "status", "--window", "many"),
        ("context", "status", "--window", "5"),
        ("context", "status", "--session"),
        ("compact", "--layer", "none"),
        ("prune", "--all", "--item", "x"),
        ("autocompact", "maybe"),
        ("compact", "--layer"),
        ("context", "import"),
        ("context", "branch", "--at"),
        ("doctor", "--dry-run"),
    ],
    ids=" ".join,
)
def test_wrong_options_exit_with_2(place, args: tuple[str, ...]) -> None:
    refused(place, *args, exit_code=2)


def test_a_wrong_window_in_the_environment_is_told_and_ignored(place) -> None:
    place.write("s.jsonl", PiFile().data)
    done = place.run("context", "status", "--session", "s.jsonl", ULLAGE_CONTEXT_WINDOW="x")
    assert done.returncode == 0
    assert done.stderr == "ullage: a setting is ignored; `ullage config check` says why\n"


def test_a_subagent_is_not_compacted_by_itself(place) -> None:
    claude = ClaudeFile(cwd=str(place.cwd), agent_id="a1")
    claude.user("hello " * 50)
    claude.user("again")
    place.write("claude.jsonl", claude.data)
    for command in (("compact", "--yes"), ("undo",)):
        line = refused(place, *command, "--session", "claude.jsonl", exit_code=4)
        assert claude.session_id in line


@pytest.mark.parametrize("version", [1, 2, 4])
def test_a_pi_session_of_another_version_is_not_written_to(place, version: int) -> None:
    pi = PiFile(version=version)
    pi.user("hello " * 50)
    pi.user("again")
    place.write("s.jsonl", pi.data)
    for command in (("compact", "--yes"), ("undo",)):
        refused(place, *command, "--session", "s.jsonl", exit_code=4)


@pytest.mark.parametrize("name", ["missing.json", ".", *FILES])
def test_a_file_that_is_no_bundle_is_not_imported(place, name: str) -> None:
    if name in FILES:
        place.write(name, FILES[name])
    refused(place, "context", "import", name, exit_code=3)


@pytest.mark.parametrize(
    "args",
    [
        ("context", "export", "no/such/folder/out.json"),
        ("context", "export", "."),
        ("doctor", "--repair", "no/such/folder/out.jsonl"),
        ("doctor", "--repair", "x" * 300),
    ],
    ids=lambda args: " ".join(args)[:40],
)
def test_a_file_that_cannot_be_made_is_one_line(place, session: Path, args) -> None:
    code = 4 if args[-1] == "." else 5
    refused(place, *args, "--session", session, exit_code=code)


def test_a_session_is_not_branched_at_an_entry_that_is_not_there(place, session: Path) -> None:
    for entry_id in ("deadbeef", "000000", ""):
        args = ("context", "branch", "--session", session, "--at", entry_id)
        refused(place, *args, exit_code=4)


def test_there_is_nothing_to_undo_in_a_session_without_compactions(place) -> None:
    place.write("s.jsonl", conversation(2).data)
    line = refused(place, "undo", "--session", "s.jsonl", exit_code=4)
    assert "no compaction or prune to undo" in line


def test_a_compaction_with_messages_after_it_is_not_undone(place) -> None:
    pi = PiFile()
    kept = pi.user("one")
    pi.compaction("S", kept)
    pi.user("two")
    place.write("s.jsonl", pi.data)
    line = refused(place, "undo", "--session", "s.jsonl", exit_code=4)
    assert "went on after its last compaction" in line


def test_a_session_with_a_lock_beside_it_is_in_use(place, session: Path) -> None:
    place.write(f"{session.name}.lock", b"{}")
    done = place.run("compact", "--yes", "--session", session, "--window", "8000", "--json")
    assert (done.returncode, done.stdout) == (4, "")
    assert "end the agent's session first" in done.stderr


def test_a_state_folder_that_cannot_be_written_lets_the_status_work(place, session: Path) -> None:
    (place.root / "file").write_bytes(b"")
    state = str(place.root / "file" / "state")
    done = place.run("context", "status", "--session", session, ULLAGE_STATE_DIR=state)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    "args",
    [("compact", "--yes", "--json", "--window", "8000"), ("checkpoint", "write")],
    ids=" ".join,
)
def test_a_state_folder_that_cannot_be_written_stops_every_change(
    place, session: Path, args: tuple[str, ...]
) -> None:
    (place.root / "file").write_bytes(b"")
    state = str(place.root / "file" / "state")
    line = refused(place, *args, "--session", session, exit_code=5, ULLAGE_STATE_DIR=state)
    assert "ULLAGE_STATE_DIR" in line


def test_without_debugging_a_fault_is_one_line_too(place, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("the text of a transcript")

    monkeypatch.setattr(options, "current_config", broken)
    done = place.run("context", "status", "--json")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.count("\n") == 1
    assert "RuntimeError" in done.stderr
    assert "the text of a transcript" not in done.stderr
