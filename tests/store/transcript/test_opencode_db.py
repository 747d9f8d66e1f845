"""opencode's database, read only and by pages."""

import sqlite3
import subprocess
import sys
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from database_files import OPENCODE_SAMPLE, OPENCODE_SAMPLE_ID, OpencodeSession
from ullage.errors import Unreadable
from ullage.store.transcript import opencode_db
from ullage.store.transcript.database import find_databases, look_at_database
from ullage.store.transcript.open import open_lines
from ullage.store.transcript.opencode_db import PAGE_MESSAGES, DatabaseLines, list_sessions
from ullage.store.transcript.sqlite_reading import reading


def test_the_sample_lists_its_session() -> None:
    (session,) = list_sessions(OPENCODE_SAMPLE)
    assert session.session_id == OPENCODE_SAMPLE_ID
    assert session.directory == "/home/user/proj"
    assert session.title == "Synthetic answer."
    assert session.updated_ms == 1795227757195
    assert session.parent_id is None


def test_the_sessions_of_some_folders_or_of_one_session_are_listed_alone(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    for session_id, parent_id in (("ses_1", None), ("ses_2", "ses_1"), ("ses_3", None)):
        session = OpencodeSession(path, session_id, parent_id)
    session.execute("UPDATE session SET directory = '/work/bar' WHERE id = 'ses_3'")

    def ids(**wanted: object) -> list[str]:
        return [one.session_id for one in list_sessions(path, **wanted)]

    assert ids() == ["ses_3", "ses_2", "ses_1"]
    assert ids(directories={"/work/shop", "/no\udcffwhere"}) == ["ses_2", "ses_1"]
    assert ids(directories={"/work/bar"}) == ["ses_3"]
    assert ids(parent_id="ses_1") == ["ses_2"]


def test_reading_leaves_no_trace(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    path.write_bytes(OPENCODE_SAMPLE.read_bytes())
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = wal")
    before = path.read_bytes()
    list(DatabaseLines(path, OPENCODE_SAMPLE_ID).forward())
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["opencode.db"]


LOCK = """
import fcntl, sys
with open(sys.argv[1], "rb+") as file:
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 510, 0x40000002)
    except OSError:
        print("held")
"""
"""Takes SQLite's shared locks of a file (sqlite.org/src, `SHARED_FIRST`) from another process."""


@pytest.mark.skipif(sys.platform == "win32", reason="a lock is of a handle there")
def test_a_reading_keeps_its_lock_while_others_open_the_file(tmp_path: Path) -> None:
    """On POSIX, closing a file drops all locks that the process has on it."""
    path = OpencodeSession(tmp_path / "opencode.db").path

    def is_held() -> bool:
        command = [sys.executable, "-c", LOCK, str(path)]
        return subprocess.run(command, capture_output=True, check=True).stdout == b"held\n"

    with closing(sqlite3.connect(path)) as agent:
        agent.execute("PRAGMA journal_mode = wal")
        agent.execute("CREATE TABLE of_the_agent (id)")
        with reading(path) as connection:
            connection.execute("SELECT * FROM session").fetchall()
            assert is_held()
            with reading(path):
                pass
            open_lines(path)
            assert is_held()


def test_lines_are_the_same_in_both_directions_and_from_every_start(tmp_path: Path) -> None:
    session = OpencodeSession(tmp_path / "opencode.db")
    for n in range(PAGE_MESSAGES + 7):
        session.user(f"message {n}")
    OpencodeSession(session.path, "ses_other").user("of another session")
    lines = DatabaseLines(session.path, "ses_1")
    forward = list(lines.forward())
    assert list(lines.backward()) == forward[::-1]
    assert [line.offset for line in forward] == list(range(lines.size_bytes))
    assert not any(line.is_torn or b"\n" in line.raw[:-1] for line in forward)
    for start in (1, 2, PAGE_MESSAGES, PAGE_MESSAGES + 1, len(forward) - 1, len(forward)):
        assert list(lines.forward(start)) == forward[start:]


def test_messages_come_by_time_then_id_and_parts_by_id(tmp_path: Path) -> None:
    session = OpencodeSession(tmp_path / "opencode.db")
    last, first = session.user("last"), session.user("first")
    session.execute("UPDATE message SET time_created = 5 WHERE id = ?", first)
    session.execute("UPDATE part SET id = 'prt_b' WHERE message_id = ?", last)
    session.execute(
        "INSERT INTO part VALUES ('prt_a', ?, 'ses_1', 9, 9, '{\"type\":\"text\"}')", last
    )
    texts = [line.raw for line in DatabaseLines(session.path, "ses_1").forward(1)]
    assert first.encode() in texts[0]
    assert texts[1].index(b"prt_a") < texts[1].index(b"prt_b")


def test_what_is_written_while_reading_is_not_part_of_it(tmp_path: Path) -> None:
    session = OpencodeSession(tmp_path / "opencode.db")
    session.execute("PRAGMA journal_mode = wal")
    session.user("before")
    lines = DatabaseLines(session.path, "ses_1")
    found = lines.backward()
    fingerprints = look_at_database(session.path)
    with closing(sqlite3.connect(session.path)) as writer, writer:
        writer.execute("INSERT INTO message VALUES ('msg_z', 'ses_1', 9e15, 9, '{}')")
        writer.commit()
        assert look_at_database(session.path) != fingerprints
        assert [line.offset for line in found] == [1, 0]
        assert DatabaseLines(session.path, "ses_1").size_bytes == 3


@pytest.mark.parametrize("data", ["", "null", "[]", "{", '{"type":"text"', "{\n}", "\ud7ff", "{}}"])
def test_a_damaged_part_does_not_take_its_message_with_it(tmp_path: Path, data: str) -> None:
    session = OpencodeSession(tmp_path / "opencode.db")
    session.message({"role": "user"}, {"type": "text", "text": "whole"}, data)
    (line,) = DatabaseLines(session.path, "ses_1").forward(1)
    assert b'"whole"' in line.raw
    assert line.raw.count(b"\n") == 1


def test_a_locked_database_is_an_error_of_one_line(tmp_path: Path) -> None:
    session = OpencodeSession(tmp_path / "opencode.db")
    with closing(sqlite3.connect(session.path)) as writer:
        writer.execute("BEGIN EXCLUSIVE")
        with pytest.raises(Unreadable, match=r"is writing to it\. Try again in a moment") as caught:
            list_sessions(session.path)
        writer.rollback()
    assert "\n" not in str(caught.value)


def test_what_is_no_database_of_opencode_is_an_error_of_one_line(tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    with closing(sqlite3.connect(other)) as connection, connection:
        connection.execute("CREATE TABLE notes (id)")
    (tmp_path / "text.db").write_text("not a database, but long enough to have a header " * 9)
    for name, reason in (
        ("other.db", "no such table: session. It is another database"),
        ("text.db", "it is damaged"),
        ("missing.db", "does not exist"),
    ):
        with pytest.raises(Unreadable, match=reason) as caught:
            list_sessions(tmp_path / name)
        assert "\n" not in str(caught.value)


def test_a_session_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    session = OpencodeSession(tmp_path / "opencode.db")
    with pytest.raises(Unreadable, match="has no session ses_2"):
        DatabaseLines(session.path, "ses_2")


def test_databases_are_found_by_folder_and_name(tmp_path: Path) -> None:
    for name in ("opencode.db", "opencode-beta.db", "opencode.db-wal", "auth.json"):
        (tmp_path / name).touch()
    patterns = [(tmp_path, "opencode.db"), (tmp_path, "opencode-*.db"), (tmp_path / "no", "*")]
    assert [path.name for path in find_databases(patterns)] == ["opencode.db", "opencode-beta.db"]


def test_a_page_takes_the_same_however_long_the_session_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    n_steps: list[int] = []

    @contextmanager
    def counting(path: Path) -> Generator[sqlite3.Connection]:
        with reading(path) as connection:
            n_steps.append(0)
            connection.set_progress_handler(lambda: n_steps.append(n_steps.pop() + 1), 1)
            yield connection

    session = OpencodeSession(tmp_path / "opencode.db")
    # These are opencode's own.
    session.execute("CREATE INDEX m ON message (session_id, time_created, id)")
    session.execute("CREATE INDEX p ON part (message_id, id)")
    session.execute("CREATE INDEX s ON part (session_id)")
    made = (
        "WITH RECURSIVE n(i) AS (SELECT ? UNION ALL SELECT i + 1 FROM n WHERE i < ?) INSERT INTO"
        " {} SELECT printf('m%04d', i), {} 'ses_1', i, i, '{{\"role\":\"user\"}}' FROM n"
    )
    n_worst: list[list[int]] = []
    n_before = 0
    for n_messages in (PAGE_MESSAGES, 4 * PAGE_MESSAGES):
        session.execute(made.format("message", ""), n_before + 1, n_messages)
        session.execute(made.format("part", "printf('m%04d', i),"), n_before + 1, n_messages)
        n_before = n_messages
        lines = DatabaseLines(session.path, session.session_id)
        n_worst.append([])
        for read in (lines.forward, lines.backward):
            with monkeypatch.context() as patch:
                patch.setattr(opencode_db, "reading", counting)
                n_steps.clear()
                assert len(list(read())) == 1 + n_messages
            n_worst[-1].append(max(n_steps))
    assert all(n_worst[1][at] < 1.2 * n_worst[0][at] for at in (0, 1))


def test_ids_that_are_no_text_do_not_keep_reading(tmp_path: Path) -> None:
    session = OpencodeSession(tmp_path / "opencode.db")
    session.user("one")
    session.execute("UPDATE message SET id = x'6d'")
    lines = DatabaseLines(session.path, session.session_id)
    assert len(list(lines.forward())) <= 2
    assert len(list(lines.backward())) <= 2
