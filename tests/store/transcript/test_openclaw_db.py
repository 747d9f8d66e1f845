"""OpenClaw's database, read only, with its packed events."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from database_files import Json, add_event, openclaw_database
from ullage.errors import Unreadable
from ullage.store.transcript.openclaw_db import DAMAGED, PAGE_EVENTS, DatabaseLines, list_sessions

HEADER: Json = {"type": "session", "version": 4, "id": "one", "cwd": "/work/shop"}


def event(n: int, text: str = "hello") -> Json:
    message = {"role": "user", "content": text}
    return {"type": "message", "id": f"e{n}", "parentId": f"e{n - 1}", "message": message}


def test_sessions_are_listed_with_the_folder_of_their_first_event(tmp_path: Path) -> None:
    path = openclaw_database(
        tmp_path / "a.sqlite", {"one": [HEADER], "two": [HEADER | {"id": "two"}], "none": []}
    )
    found = list_sessions(path)
    assert [one.session_id for one in found] == ["none", "two", "one"]
    assert [one.directory for one in found] == [None, "/work/shop", "/work/shop"]
    assert {(one.title, one.parent_id) for one in found} == {("Shop", None)}


def test_a_subagent_names_the_session_that_spawned_it(tmp_path: Path) -> None:
    path = openclaw_database(tmp_path / "a.sqlite", {"one": [HEADER], "two": [HEADER]})
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(
            "UPDATE session_nodes SET entry_json = ? WHERE current_session_id = 'two'",
            ('{"spawnedBy":"agent:main:one"}',),
        )
    assert {one.session_id: one.parent_id for one in list_sessions(path)} == {
        "one": None,
        "two": "one",
    }
    assert [one.session_id for one in list_sessions(path, parent_id="one")] == ["two"]
    assert list_sessions(path, directories={"/elsewhere"}) == ()
    assert len(list_sessions(path, directories={"/work/shop"})) == 2


def test_lines_are_the_same_in_both_directions_and_from_every_start(tmp_path: Path) -> None:
    events = [HEADER, *(event(n, "x" * n * 3) for n in range(PAGE_EVENTS + 9))]
    lines = DatabaseLines(openclaw_database(tmp_path / "a.sqlite", {"one": events}), "one")
    forward = list(lines.forward())
    assert len(forward) == len(events) == lines.size_bytes
    assert list(lines.backward()) == forward[::-1]
    for start in (1, PAGE_EVENTS - 1, PAGE_EVENTS, len(forward) - 1, len(forward)):
        assert list(lines.forward(start)) == forward[start:]


def test_a_packed_event_reads_like_a_plain_one(tmp_path: Path) -> None:
    events = [HEADER, event(1, "日本 \u2028 " * 300)]
    read = [
        list(
            DatabaseLines(
                openclaw_database(tmp_path / f"{limit}", {"one": events}, packed_from=limit), "one"
            ).forward()
        )
        for limit in (0, 10_000)
    ]
    assert read[0] == read[1]


@pytest.mark.parametrize("frame", [b"", b"no zstd", b"\x28\xb5\x2f\xfd\x04"])
def test_a_damaged_event_is_a_line_that_is_no_json(tmp_path: Path, frame: bytes) -> None:
    path = openclaw_database(tmp_path / "a.sqlite", {"one": [HEADER]})
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(
            "INSERT INTO transcript_events VALUES ('one', 1, NULL, ?, 9, NULL)", (frame,)
        )
        connection.execute("INSERT INTO transcript_events VALUES ('one', 2, NULL, NULL, 9, NULL)")
        add_event(connection, "one", 7, event(7))
    lines = [line.raw for line in DatabaseLines(path, "one").forward(1)]
    assert lines[:2] == [DAMAGED + b"\n", DAMAGED + b"\n"]
    assert b'"e7"' in lines[2]


@pytest.mark.parametrize("number", [b"\x01", "one", 1.5, None])
def test_an_event_without_a_whole_number_is_passed_over(tmp_path: Path, number: object) -> None:
    path = openclaw_database(tmp_path / "a.sqlite", {"one": [HEADER, event(1)]})
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(
            "INSERT INTO transcript_events VALUES ('one', ?, '{}', NULL, 2, NULL)", (number,)
        )
    lines = DatabaseLines(path, "one")
    assert len(list(lines.forward())) == len(list(lines.backward())) == 2
    assert lines.size_bytes == 2


def test_a_session_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    path = openclaw_database(tmp_path / "a.sqlite", {"one": [HEADER]})
    with pytest.raises(Unreadable, match="has no session two"):
        DatabaseLines(path, "two")
