"""Whatever Ullage writes is its user's alone, also where new files are open to all."""

import os
import sqlite3
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from claude_files import SESSION_ID, ClaudeFile
from claude_files import text as claude_text
from hook_inputs import claude
from hook_inputs import data as hook_data
from pi_files import conversation
from running import Place, idle
from ullage.store.files.atomic import make_private_file

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="modes are of POSIX")
OF_A_SESSION = ("context", "pin", "checkpoint", "autocompact", "compact", "undo", "prune")
COMMANDS = (
    ("context", "status"),
    ("context", "history"),
    ("pin", "Never touch prod."),
    ("checkpoint", "write"),
    ("context", "export", "out.json"),
    ("context", "branch"),
    ("autocompact", "off"),
    ("compact", "--dry-run", "--window", "8000"),
    ("compact", "--yes", "--window", "8000"),
    ("undo", "--yes"),
    ("prune", "--yes", "--window", "8000"),
    ("sessions",),
    ("memory", "flush", "--yes", "--session", "s.jsonl"),
    ("memory", "dream"),
    ("memory", "store", "We always use tabs."),
    ("memory", "search", "tabs"),
    ("memory", "backfill", "--yes"),
    ("install", "claude-code", "--yes"),
    ("install", "pi", "--yes"),
    ("uninstall", "pi", "--yes"),
)


@pytest.fixture(autouse=True)
def _nothing_is_masked() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def open_to_others(root: Path) -> list[str]:
    return [
        f"{path.relative_to(root)} {stat.S_IMODE(path.stat().st_mode):o}"
        for path in sorted(root.rglob("*"))
        if not path.is_symlink() and path.stat().st_mode & 0o077
    ]


def use_hooks(place: Place) -> None:
    file = ClaudeFile(cwd=str(place.cwd))
    file.user("Never touch the migrations folder.")
    file.assistant(claude_text("We decided to use sqlite."), usage=162_000)
    path = place.write("live.jsonl", file.data)
    path.chmod(0o600)
    told = {"session_id": SESSION_ID, "transcript_path": str(path), "cwd": str(place.cwd)}
    for event in (
        claude("SessionStart", source="startup"),
        claude("UserPromptSubmit", prompt="go on"),
        claude("PostToolUse", tool_name="Bash", tool_input={"command": "ls"}, tool_response="a"),
        claude("PreCompact", trigger="manual"),
    ):
        program = ("-P", "-m", "ullage", "hook")
        place.run_process("claude-code", stdin=hook_data(event | told), program=program)


def test_what_commands_and_hooks_write_is_private(place: Place) -> None:
    data = conversation(10, chars=2400, usage=7_000, cwd=str(place.cwd)).data
    session = place.write("s.jsonl", data)
    place.write("MEMORY.md", b"# Memory\n\n- We always use tabs.\n")
    for name in (".claude", ".pi/agent"):
        (place.home / name).mkdir(parents=True)
    for path in (place.root, *place.root.rglob("*")):
        path.chmod(0o700 if path.is_dir() else 0o600)
    for command in COMMANDS:
        idle(session)
        chosen = ("--session", session) if command[0] in OF_A_SESSION else ()
        done = place.run(*command, *chosen)
        assert (command, done.returncode) == (command, 0), done.stderr
    use_hooks(place)
    assert (place.state / "context").is_dir()
    assert open_to_others(place.root) == []


def test_what_sqlite_lays_beside_a_file_is_as_private(tmp_path: Path) -> None:
    make_private_file(tmp_path / "x.sqlite")
    with sqlite3.connect(tmp_path / "x.sqlite") as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE t (a)")
        assert {path.name for path in tmp_path.iterdir()} >= {"x.sqlite-wal", "x.sqlite-shm"}
        assert open_to_others(tmp_path) == []
    connection.close()


def test_a_file_that_an_earlier_release_left_open_is_closed(tmp_path: Path) -> None:
    path = tmp_path / "tokens.sqlite"
    path.write_bytes(b"counts")
    make_private_file(path)
    assert (stat.S_IMODE(path.stat().st_mode), path.read_bytes()) == (0o600, b"counts")
