"""Whatever is damaged in one agent's store is said there, and every other session answers."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from running import Place
from siege.damage import DAMAGES, NAMES, Damage, lay, lay_neighbors, try_out

STRIDE = 9_700
"""As much as every run can afford; `python -m siege.damage 97` tries a hundred times as much."""


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
@pytest.mark.parametrize("name", NAMES)
def test_a_damaged_store_stops_no_other_session(name: str, damage: Damage) -> None:
    assert [tried.failure for tried in try_out(name, damage, STRIDE) if tried.failure] == []


def told_of(place: Place, *args: str | Path) -> str:
    """Run what must be refused, and give its one line."""
    done = place.run(*args)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.count("\n") == 1
    return done.stderr


def test_a_schema_that_is_no_text_is_damage_of_its_database_alone(place: Place) -> None:
    store, neighbors = lay("opencode/opencode.db", place), lay_neighbors(place)
    data = bytearray(store.path.read_bytes())
    data[data.index(b"CREATE TABLE `session`") + len("CREATE ")] = 0x86
    store.path.write_bytes(data)
    listed = place.run("sessions").stdout
    assert f"Not listed: cannot read {store.path}: it is damaged." in listed
    assert all(session_id[-8:] in listed for session_id in neighbors)
    assert "it is damaged" in told_of(place, "context", "status", "--session", store.path)


def test_a_locked_database_is_said_to_be_locked_whatever_is_asked(place: Place) -> None:
    store = lay("opencode/opencode.db", place)
    with closing(sqlite3.connect(store.path)) as writer:
        writer.execute("BEGIN EXCLUSIVE")
        for named in (
            (),
            ("--session", "ses_e0417b3beffeMCkRqmXlWzNcx4"),
            ("--session", store.path),
        ):
            assert "locked" in told_of(place, "context", "status", *named)
        assert "locked" in place.run("sessions").stdout
        writer.rollback()


def test_a_database_with_other_tables_is_said_to_be_another(place: Place) -> None:
    store = lay("opencode/opencode.db", place)
    with closing(sqlite3.connect(store.path)) as connection, connection:
        connection.execute("ALTER TABLE session RENAME TO conversation")
    assert "another database" in told_of(place, "context", "status")


def test_a_damaged_database_of_openclaw_is_not_taken_for_another_one(place: Place) -> None:
    store = lay("openclaw-agent.sqlite", place)
    data = store.path.read_bytes()
    store.path.write_bytes(data[: len(data) // 2])
    assert "it is damaged" in told_of(place, "context", "status", "--session", store.path)


def test_a_session_that_breaks_while_it_is_measured_leaves_the_list_of_others(place: Place) -> None:
    store, neighbors = lay("opencode/opencode.db", place), lay_neighbors(place)
    with closing(sqlite3.connect(store.path)) as connection, connection:
        connection.execute("ALTER TABLE part RENAME TO piece")
    listed = place.run("sessions").stdout
    assert "no such table: part" in listed
    assert all(session_id[-8:] in listed for session_id in neighbors)
