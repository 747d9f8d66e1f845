"""Small files that are not what they were: bytes that are no text, what is nested without end."""

from pathlib import Path

import pytest

from pi_files import conversation
from ullage.core.transcript.lineage import EMPTY_INDEX
from ullage.store.change.journal import journal_folder, journaled_paths
from ullage.store.files.places import Places
from ullage.store.files.processes import running_sessions
from ullage.store.memory import daily_log
from ullage.store.transcript import index
from ullage.store.transcript.reader import FileLines

DAMAGED = (b"", b'{"version":"\xe2."}', b'{"\xe2":1}', b"[" * 100_000, b'{"pid":"\\ud800"}')
every_damage = pytest.mark.parametrize("data", DAMAGED, ids=range(len(DAMAGED)))


@every_damage
def test_a_damaged_journal_is_none(places: Places, data: bytes) -> None:
    journal_folder(places).mkdir(parents=True)
    (journal_folder(places) / "a.0.json").write_bytes(data)
    assert journaled_paths(places) == ()


@every_damage
def test_a_damaged_register_of_an_agent_names_no_session(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "1.json").write_bytes(data)
    assert running_sessions((tmp_path,)) == frozenset()


@every_damage
def test_a_damaged_index_is_read_anew(places: Places, data: bytes) -> None:
    path = places.cwd / "s.jsonl"
    path.write_bytes(conversation(1).data)
    kept = index._index_path(path, places)
    kept.parent.mkdir(parents=True)
    kept.write_bytes(data)
    assert index.read_index(FileLines(path), places) == EMPTY_INDEX


@every_damage
def test_a_damaged_note_of_an_addition_takes_nothing_back(places: Places, data: bytes) -> None:
    path = daily_log.log_path(places.cwd, "2026-11-28")
    path.parent.mkdir(parents=True)
    path.write_bytes(b"# mine\n")
    note = daily_log._intent_path(path, places)
    note.parent.mkdir(parents=True, exist_ok=True)
    note.write_bytes(data)
    daily_log.settle_append(path, places)
    assert path.read_bytes() == b"# mine\n"
