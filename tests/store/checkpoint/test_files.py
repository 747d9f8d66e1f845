"""Checkpoints on disk: numbered, five of them, and the newest intact one is found."""

import json
import stat
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from factories import assistant, context_of, meta, user
from running import WAIT_S
from ullage.core.checkpoint.build import build
from ullage.core.checkpoint.checkpoint import Checkpoint
from ullage.errors import CorruptCheckpoint, StateUnwritable, StorageError
from ullage.store.checkpoint.files import (
    POINTER_NAME,
    carry,
    carry_latest,
    list_ids,
    next_id,
    point_to_newest,
    read_checkpoint,
    read_latest,
    save,
)
from ullage.store.checkpoint.yaml_file import dump, load
from ullage.store.files.places import Places, session_folder


def checkpoint(checkpoint_id: str, text: str = "Fix the parser.") -> Checkpoint:
    return build(
        context_of([user(text), assistant("I fixed it.")]),
        meta(checkpoint_id),
    )


@pytest.fixture
def folder(places: Places) -> Path:
    return session_folder("checkpoints", "openclaw:s1", places)


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
    one, other = (session_folder("checkpoints", key, places) for key in ("a:b", "a_b"))
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
    monkeypatch.setattr("ullage.store.checkpoint.files.atomic.make_folder", lambda _: None)
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


@pytest.mark.parametrize(
    "pointer",
    [
        None,
        b"",
        b"{",
        b"\0" * 50,
        b'{"checkpoint_id":"cp_001","path":"cp_001.yaml"}',
        b'{"checkpoint_id":"cp_009","path":"../../etc/passwd"}',
        b"[]",
    ],
    ids=repr,
)
def test_whatever_the_pointer_says_the_newest_is_found_and_pointed_to_again(
    folder: Path, pointer: bytes | None
) -> None:
    save_several(folder, 2)
    path = folder / POINTER_NAME
    path.unlink()
    if pointer is not None:
        path.write_bytes(pointer)
    assert newest_id(folder) == "cp_002"
    point_to_newest(folder)
    assert json.loads(path.read_bytes()) == {"checkpoint_id": "cp_002", "path": "cp_002.yaml"}


def test_a_pointer_that_is_right_is_not_written_again(folder: Path) -> None:
    save_several(folder, 1)
    before = (folder / POINTER_NAME).stat()
    point_to_newest(folder)
    after = (folder / POINTER_NAME).stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_what_was_passed_over_is_told_in_one_line(folder: Path) -> None:
    save_several(folder, 4)
    assert read_latest(folder).problem is None
    (folder / "cp_004.yaml").write_bytes(b"a: [")
    (folder / "cp_002.yaml").write_bytes(b"")
    latest = read_latest(folder)
    assert latest.problem is not None
    assert latest.problem.startswith("cp_004.yaml is damaged: the checkpoint is not YAML")
    assert latest.problem.endswith("; cp_003 is used")
    (folder / "cp_003.yaml").write_bytes(b"\0")
    problem = read_latest(folder).problem or ""
    assert [name in problem for name in ("cp_004", "cp_003", "cp_002")] == [True] * 3
    assert problem.endswith("; cp_001 is used")
    assert "\n" not in problem
    (folder / "cp_001.yaml").write_bytes(b"")
    assert (read_latest(folder).problem or "").endswith("; there is no earlier one")


def newer(path: Path) -> bytes:
    data = path.read_bytes().replace(b"schema_version: 1", b"schema_version: 2")
    path.write_bytes(data)
    return data


def test_a_checkpoint_of_a_newer_ullage_is_told_of_and_left_alone(folder: Path) -> None:
    save_several(folder, 2)
    data = newer(folder / "cp_002.yaml")
    latest = read_latest(folder)
    assert latest.problem == (
        "cp_002.yaml: schema version 2 is of a newer Ullage: update this one; cp_001 is used"
    )
    save_several(folder, 9)
    assert (folder / "cp_002.yaml").read_bytes() == data
    assert list_ids(folder) == ("cp_002", "cp_007", "cp_008", "cp_009", "cp_010", "cp_011")


def test_a_damaged_checkpoint_goes_when_its_turn_has_come(folder: Path) -> None:
    save_several(folder, 1)
    (folder / "cp_001.yaml").write_bytes(b"\0")
    save_several(folder, 5)
    assert list_ids(folder) == ("cp_002", "cp_003", "cp_004", "cp_005", "cp_006")


def test_unknown_keys_of_the_same_version_do_no_harm(folder: Path) -> None:
    save_several(folder, 1)
    path = folder / "cp_001.yaml"
    known = load(path.read_bytes())
    path.write_bytes(path.read_bytes() + b"mood: good\nmetrics:\n  a: [1, 2]\n")
    assert load(path.read_bytes()) == known


def test_as_many_are_kept_as_was_asked_for(folder: Path) -> None:
    for _ in range(3):
        save(checkpoint(next_id(folder)), folder, n_kept=1)
    assert list_ids(folder) == ("cp_003",)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such permissions")
def test_nobody_else_may_look(folder: Path, places: Places) -> None:
    save_several(folder, 2)
    for path in (folder, *folder.iterdir()):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600)


def test_the_latest_goes_along_to_another_session(folder: Path, places: Places) -> None:
    save_several(folder, 3)
    (folder / "cp_003.yaml").write_bytes(b"")
    other = session_folder("checkpoints", "openclaw:s2", places)
    carry_latest(folder, other)
    carry_latest(folder, other)
    assert list_ids(other) == ("cp_002",)
    assert (other / "cp_002.yaml").read_bytes() == (folder / "cp_002.yaml").read_bytes()
    assert (other / POINTER_NAME).is_file()
    carry_latest(session_folder("checkpoints", "openclaw:none", places), other)
    assert list_ids(other) == ("cp_002",)


def test_a_checkpoint_goes_along_once(folder: Path) -> None:
    carry(checkpoint("cp_003", "one"), folder)
    carry(checkpoint("cp_003", "other"), folder)
    assert newest_id(folder) == "cp_003"
    assert (folder / POINTER_NAME).is_file()
    assert read_checkpoint(folder / "cp_003.yaml").working.topic == "one"


@pytest.mark.parametrize("found", ["../../../victim", "/victim", "cp_777", "cp_002", ""])
def test_a_file_that_names_itself_otherwise_is_damaged(
    found: str, folder: Path, places: Places
) -> None:
    save_several(folder, 2)
    path = folder / "cp_002.yaml"
    path.write_bytes(dump(checkpoint(found)) if found != "cp_002" else path.read_bytes())
    if found == "cp_002":
        path = path.rename(folder / "cp_003.yaml")
    with pytest.raises(CorruptCheckpoint, match="is damaged: its id is not that of its file"):
        read_checkpoint(path)
    assert newest_id(folder) == "cp_001"
    other = session_folder("checkpoints", "openclaw:s2", places)
    carry_latest(folder, other)
    assert list_ids(other) == ("cp_001",)
    written = places.state_folder.parent.rglob("*victim*")
    assert not list(written)


def test_only_regular_files_with_names_of_ours_are_checkpoints(folder: Path) -> None:
    save_several(folder, 1)
    data = (folder / "cp_001.yaml").read_bytes()
    for name in ("cp_٠٠٩.yaml", "cp_0009.yaml", "cp_02.yaml", "cp_003.yaml.bak", "xcp_004.yaml"):
        (folder / name).write_bytes(data)
    (folder / "cp_002.yaml").mkdir()
    assert list_ids(folder) == ("cp_001",)
    assert next_id(folder) == "cp_003"


@pytest.mark.skipif(sys.platform == "win32", reason="links need a right there")
def test_a_folder_that_cannot_be_listed_is_named(folder: Path) -> None:
    folder.parent.mkdir(parents=True)
    folder.symlink_to(folder.name)
    for look in (list_ids, next_id):
        with pytest.raises(StorageError, match="cannot list") as raised:
            look(folder)
        assert str(folder) in str(raised.value)
    latest = read_latest(folder)
    assert latest.checkpoint is None
    assert str(folder) in (latest.problem or "")
    with pytest.raises(StateUnwritable):
        save(checkpoint("cp_001"), folder, n_kept=5)


def newest_id(folder: Path) -> str | None:
    found = read_latest(folder).checkpoint
    return None if found is None else found.meta.checkpoint_id


WRITER = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from store.checkpoint.test_files import checkpoint
from ullage.store.checkpoint.files import next_id, save
folder, name = Path(sys.argv[2]), sys.argv[3]
made = 0
while made < 10:
    try:
        save(checkpoint(next_id(folder), f"{name} {made}"), folder, n_kept=1000)
    except FileExistsError:
        continue
    made += 1
"""


def test_processes_that_write_at_once_replace_nothing_of_each_other(folder: Path) -> None:
    tests = str(Path(__file__).parents[2])
    names = ("a", "b")
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, tests, str(folder), name]) for name in names
    ]
    assert [writer.wait(timeout=WAIT_S) for writer in writers] == [0] * 2
    ids = list_ids(folder)
    assert ids == tuple(f"cp_{number:03}" for number in range(1, 21))
    topics = {load((folder / f"{one}.yaml").read_bytes()).working.topic for one in ids}
    assert topics == {f"{name} {made}" for name in names for made in range(10)}
    assert json.loads((folder / POINTER_NAME).read_bytes())["checkpoint_id"] == "cp_020"
    assert not list(folder.glob(".*"))
