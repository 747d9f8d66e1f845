"""Checkpoints on disk: numbered, five of them, and the newest intact one is found."""

import json
from pathlib import Path

import msgspec
import pytest

from factories import assistant, context_of, user
from ullage.core.checkpoint import Checkpoint, build
from ullage.errors import StateUnwritable
from ullage.store.checkpoint_yaml import load
from ullage.store.checkpoints import (
    POINTER_NAME,
    checkpoint_folder,
    list_ids,
    next_id,
    read_latest,
    save,
)
from ullage.store.places import Places


def checkpoint(checkpoint_id: str, text: str = "Fix the parser.") -> Checkpoint:
    return build(
        context_of([user(text), assistant("I fixed it.")]),
        checkpoint_id=checkpoint_id,
        session_key="openclaw:s1",
        session_file="/work/shop/s1.jsonl",
        created_at="2026-02-03T10:00:00Z",
        trigger="manual",
        n_input_tokens=100,
        n_window_tokens=1000,
        previous_checkpoint=None,
        channel="cli",
        agent_id="openclaw",
        is_split_turn=False,
    )


@pytest.fixture
def folder(places: Places) -> Path:
    return checkpoint_folder("openclaw:s1", places)


def save_several(folder: Path, count: int) -> None:
    for _ in range(count):
        save(checkpoint(next_id(folder)), folder, n_kept=5)


def test_a_checkpoint_is_read_back_as_it_was_saved(folder: Path) -> None:
    saved = checkpoint("cp_001", "Fix the parser.\n\n```\ncode: [1, 2]\n```\n")
    path = save(saved, folder, n_kept=5)
    assert path == folder / "cp_001.yaml"
    assert read_latest(folder).checkpoint == saved
    assert load(path.read_bytes()) == saved


def test_a_folder_that_does_not_exist_has_none(folder: Path) -> None:
    assert list_ids(folder) == ()
    assert next_id(folder) == "cp_001"
    assert read_latest(folder).checkpoint is None
    assert not folder.exists()


def test_a_session_has_a_folder_of_its_own(places: Places) -> None:
    one, other = (checkpoint_folder(key, places) for key in ("a:b", "a_b"))
    assert one != other
    assert one.is_relative_to(places.state_folder / "context" / "checkpoints")


def test_the_newest_five_are_kept_and_numbers_go_on(folder: Path) -> None:
    save_several(folder, 8)
    assert list_ids(folder) == ("cp_004", "cp_005", "cp_006", "cp_007", "cp_008")
    assert next_id(folder) == "cp_009"


def test_the_pointer_names_the_newest(folder: Path) -> None:
    save_several(folder, 3)
    pointer = json.loads((folder / POINTER_NAME).read_bytes())
    assert pointer == {"checkpoint_id": "cp_003", "path": "cp_003.yaml"}
    assert (folder / pointer["path"]).is_file()


def test_numbers_beyond_999_are_in_order(folder: Path) -> None:
    save(checkpoint("cp_999"), folder, n_kept=5)
    save(checkpoint(next_id(folder)), folder, n_kept=5)
    assert list_ids(folder) == ("cp_999", "cp_1000")
    assert next_id(folder) == "cp_1001"


def test_files_of_others_are_neither_counted_nor_deleted(folder: Path) -> None:
    folder.mkdir(parents=True)
    others = ("notes.txt", "cp_1.yaml", "cp_abc.yaml", "cp_900.yaml.bak", ".cp_005.yaml.x.tmp")
    for name in others:
        (folder / name).write_bytes(b"x")
    save_several(folder, 7)
    assert next_id(folder) == "cp_008"
    assert all((folder / name).read_bytes() == b"x" for name in others)


@pytest.mark.parametrize(
    "damage",
    [b"", b"\0" * 100, b"schema: other\n", b"[" * 5000, b"a: &a [*a]\n", b"\xff\xfe", b"- 1\n"],
    ids=repr,
)
def test_where_the_newest_is_damaged_the_one_before_it_serves(folder: Path, damage: bytes) -> None:
    save_several(folder, 3)
    (folder / "cp_003.yaml").write_bytes(damage)
    latest = read_latest(folder).checkpoint
    assert latest is not None
    assert latest.meta.checkpoint_id == "cp_002"
    assert next_id(folder) == "cp_004"


def test_a_half_written_checkpoint_is_passed_over(folder: Path) -> None:
    save_several(folder, 2)
    newest = folder / "cp_002.yaml"
    newest.write_bytes(newest.read_bytes()[:200])
    latest = read_latest(folder).checkpoint
    assert latest is not None
    assert latest.meta.checkpoint_id == "cp_001"


def test_where_all_are_damaged_there_is_none(folder: Path) -> None:
    save_several(folder, 2)
    for path in folder.glob("*.yaml"):
        path.write_bytes(b"")
    assert read_latest(folder).checkpoint is None


def test_a_checkpoint_whose_file_is_a_folder_is_passed_over(folder: Path) -> None:
    save_several(folder, 1)
    (folder / "cp_002.yaml").mkdir()
    latest = read_latest(folder).checkpoint
    assert latest is not None
    assert latest.meta.checkpoint_id == "cp_001"


def test_a_failure_leaves_the_earlier_ones_alone(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_several(folder, 2)
    monkeypatch.setattr("ullage.store.checkpoints.make_folder", lambda _: None)
    with pytest.raises(StateUnwritable):
        save(checkpoint("no/such/folder"), folder, n_kept=5)
    latest = read_latest(folder).checkpoint
    assert latest is not None
    assert latest.meta.checkpoint_id == "cp_002"


def test_a_number_that_is_taken_is_never_written_again(folder: Path) -> None:
    first = checkpoint("cp_001")
    path = save(first, folder, n_kept=5)
    with pytest.raises(FileExistsError):
        save(checkpoint("cp_001", "Other words."), folder, n_kept=5)
    assert load(path.read_bytes()) == first


def test_text_that_yaml_would_read_otherwise_comes_back(folder: Path) -> None:
    for text in ("no", "2026-01-01", "1e5", ": x", "- a", "a\u0085b", "\u2028", "'\"", "#x", "~"):
        saved = checkpoint(next_id(folder), text)
        save(saved, folder, n_kept=5)
        assert read_latest(folder).checkpoint == saved, ascii(text)


def test_a_lone_surrogate_does_not_stop_a_checkpoint(folder: Path) -> None:
    save(checkpoint("cp_001", "a\ud800b"), folder, n_kept=5)
    latest = read_latest(folder).checkpoint
    assert latest is not None
    assert "\ud800" not in msgspec.json.encode(latest).decode()
