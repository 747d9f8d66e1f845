"""The index of a transcript: kept where it saves reading, thrown away when in doubt."""

import json
import os
from pathlib import Path

import pytest

from ullage.core.transcript.lineage import EMPTY_INDEX, CompactionRef, Index
from ullage.store.files.places import Places
from ullage.store.transcript.index import MIN_GAIN_BYTES, read_index, write_index
from ullage.store.transcript.reader import FileLines

LINE = b'{"type":"custom","text":"' + b"x" * 990 + b'"}\n'


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "s.jsonl"
    path.write_bytes(LINE * (MIN_GAIN_BYTES // len(LINE) + 10))
    return path


@pytest.fixture
def index(path: Path, places: Places) -> Index:
    """The index of the file, written."""
    lines = FileLines(path)
    ref = CompactionRef(entry_id="k", previous_id=None, at_ms=5, offset=7, size_bytes=9)
    index = Index(covered_bytes=lines.size_bytes, n_entries=3, compactions=(ref,))
    write_index(lines, index, EMPTY_INDEX, places)
    return index


def read(path: Path, places: Places) -> Index:
    return read_index(FileLines(path), places)


def test_a_file_that_is_the_same_has_its_index(path: Path, places: Places, index: Index) -> None:
    assert read(path, places) == index


def test_a_file_that_grew_has_its_index(path: Path, places: Places, index: Index) -> None:
    with path.open("ab") as file:
        file.write(LINE)
    assert read(path, places) == index


def shrink(path: Path) -> None:
    os.truncate(path, path.stat().st_size - 1)


def change_head(path: Path) -> None:
    with path.open("r+b") as file:
        file.write(b"[")


def change_tail(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(-3, os.SEEK_END)
        file.write(b"y")


def replace(path: Path) -> None:
    other = path.with_name("other")
    other.write_bytes(path.read_bytes())
    other.replace(path)


@pytest.mark.parametrize("change", [shrink, change_head, change_tail, replace])
def test_a_file_that_is_not_the_same_has_none(
    path: Path, places: Places, index: Index, change
) -> None:
    change(path)
    assert read(path, places) == EMPTY_INDEX


def test_another_file_has_none(path: Path, places: Places, index: Index) -> None:
    other = path.with_name("other.jsonl")
    other.write_bytes(path.read_bytes())
    assert read(other, places) == EMPTY_INDEX


def index_file(places: Places) -> Path:
    (found,) = (places.state_folder / "index").glob("*.json")
    return found


@pytest.mark.parametrize("damage", [b"", b"{}", b"null", b"\0\0", b"[1]", b"{" * 9000], ids=repr)
def test_a_damaged_index_is_none(path: Path, places: Places, index: Index, damage: bytes) -> None:
    index_file(places).write_bytes(damage[:100])
    assert read(path, places) == EMPTY_INDEX


def test_an_index_of_another_version_is_none(path: Path, places: Places, index: Index) -> None:
    stored = json.loads(index_file(places).read_bytes())
    index_file(places).write_text(json.dumps(stored | {"version": 99}))
    assert read(path, places) == EMPTY_INDEX


def test_what_saves_little_is_not_written(tmp_path: Path, places: Places) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(LINE)
    lines = FileLines(path)
    known = Index(covered_bytes=lines.size_bytes, n_entries=1, compactions=())
    write_index(lines, known, EMPTY_INDEX, places)
    assert not places.state_folder.exists()


def test_a_state_folder_that_cannot_be_written_keeps_none(path: Path, places: Places) -> None:
    places.state_folder.write_bytes(b"a file")
    lines = FileLines(path)
    index = Index(covered_bytes=lines.size_bytes, n_entries=1, compactions=())
    write_index(lines, index, EMPTY_INDEX, places)
    assert read(path, places) == EMPTY_INDEX


def test_no_text_of_the_transcript_is_in_the_index(
    path: Path, places: Places, index: Index
) -> None:
    assert b"xxxx" not in index_file(places).read_bytes()
