"""What a killed process left is seen to at the next start, and said."""

import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from store.changing import (
    APPEND,
    KEY,
    NEW_SESSION,
    OLD,
    OURS,
    REWRITE,
    REWRITTEN,
    occasion,
    old_session,
    record,
)
from ullage.errors import SessionLive, WriteNotSupported
from ullage.store.change.journal import Journal, RewriteIntent, journal_folder
from ullage.store.change.make import apply_change
from ullage.store.change.new_session import create_apart
from ullage.store.change.receipts import list_receipts
from ullage.store.change.recovery import recover
from ullage.store.files.places import Places
from ullage.store.transcript.reader import look_at

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has leases")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return old_session(tmp_path / "agent")


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ullage.store.change.session_lock.PATIENCE_S", 0.05)
    monkeypatch.setattr("ullage.store.change.session_lock.DRAIN_S", 0.1)


KILLED = """
import os, sys
from pathlib import Path
from types import SimpleNamespace
import ullage.store.change.{module} as module
from store.changing import APPEND, NEW_SESSION, REWRITE, occasion
from ullage.store.change.make import apply_change
from ullage.store.files.places import Places
from ullage.store.transcript.reader import look_at
def end(*_, **__):
    os._exit(9)
if {function!r} in vars(module):
    module.{function} = end
else:  # of this module's calls alone: the journal is written by the same function
    module.atomic = SimpleNamespace(**(vars(module.atomic) | {{{function!r}: end}}))
root = Path(sys.argv[1])
places = Places(cwd=root, home=root, env={{}}, state_folder=root / "state")
path = root / "agent" / "s.jsonl"
apply_change(path, look_at(path), {change}, occasion(), places)
"""


def killed(root: Path, module: str, function: str, change: str) -> None:
    """Make a change in a process that ends where it would call a function."""
    tests = str(Path(__file__).parents[2])
    env = dict(os.environ) | {
        "PYTHONPATH": os.pathsep.join([tests, os.environ.get("PYTHONPATH", "")])
    }
    source = KILLED.format(module=module, function=function, change=change)
    done = subprocess.run([sys.executable, "-c", source, str(root)], env=env, check=False)
    assert done.returncode == 9


@pytest.mark.parametrize(
    ("module", "function", "change"),
    [
        ("make", "_write", "APPEND"),
        ("rewrite", "_keep_old", "REWRITE"),
        ("rewrite", "_swap", "REWRITE"),
        ("rewrite", "rename_over", "REWRITE"),
        ("new_session", "publish", "NEW_SESSION"),
    ],
)
def test_a_change_that_was_not_made_is_taken_back(
    path: Path, places: Places, module: str, function: str, change: str
) -> None:
    killed(places.cwd, module, function, change)
    said = recover(places)
    assert [one.name for one in path.parent.iterdir()] == ["s.jsonl"]
    assert path.read_bytes() == OLD
    assert [one.state for one in list_receipts(KEY, places).receipts] == ["planned"]
    assert all("s.jsonl" in one for one in said)
    assert recover(places) == ()


@pytest.mark.parametrize(
    ("module", "function", "change", "expected"),
    [
        ("make", "_stands", "APPEND", OLD + OURS),
        ("session_lock", "drain", "REWRITE", REWRITTEN),
        ("make", "mark_done", "REWRITE", REWRITTEN),
        ("make", "mark_done", "APPEND", OLD + OURS),
        ("make", "mark_done", "NEW_SESSION", OLD),
    ],
)
def test_a_change_that_was_made_is_noted(
    path: Path, places: Places, module: str, function: str, change: str, expected: bytes
) -> None:
    if function == "drain" and sys.platform != "linux":
        pytest.skip("without leases the rename is finished elsewhere")
    killed(places.cwd, module, function, change)
    assert [one.state for one in list_receipts(KEY, places).receipts] == ["planned"]
    said = recover(places)
    assert path.read_bytes() == expected
    assert [one.state for one in list_receipts(KEY, places).receipts] == ["done"]
    if change == "NEW_SESSION":
        assert path.with_name(NEW_SESSION.name).read_bytes() == NEW_SESSION.data
    elif (module, change) != ("make", "REWRITE"):
        assert "found done" in said[0]
    assert recover(places) == ()


@pytest.mark.parametrize("n_carried", [0, 10, 60, 100])
def test_what_came_late_into_the_old_file_goes_before_what_came_since(
    path: Path, places: Places, n_carried: int
) -> None:
    late = record("a1", "e3") + record("a2", "a1")
    apply_change(path, look_at(path), REWRITE, occasion(), places)
    with path.with_name("s.jsonl.bak").open("ab") as file:
        file.write(late)
    since = record("a3", "a2")
    with path.open("ab") as file:
        # A process that was killed had carried over a part, and an agent went on behind it.
        file.write(late[:n_carried] + since)
    said = recover(places)
    assert path.read_bytes() == REWRITTEN + late + since
    assert "carried over" in said[0]
    recover(places)
    assert recover(places) == ()
    assert path.read_bytes() == REWRITTEN + late + since


def test_what_came_late_is_carried_over_before_the_next_change(path: Path, places: Places) -> None:
    apply_change(path, look_at(path), REWRITE, occasion(), places)
    with path.with_name("s.jsonl.bak").open("ab") as file:
        file.write(record("a1", "e3"))
    recover(places)
    assert path.read_bytes() == REWRITTEN + record("a1", "e3")


@linux_only
def test_an_interrupted_change_waits_for_who_has_the_file_open(path: Path, places: Places) -> None:
    killed(places.cwd, "make", "_stands", "APPEND")
    with path.open("ab"):
        assert "waits until" in recover(places)[0]
        with pytest.raises(SessionLive, match="waits until"):
            apply_change(path, look_at(path), REWRITE, occasion(), places)
    assert "found done" in recover(places)[0]


def test_a_session_that_another_works_on_is_left_to_it(
    path: Path, places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed(places.cwd, "make", "_stands", "APPEND")

    def taken(*_: object) -> None:
        raise SessionLive("another Ullage is working on s.jsonl: wait for it, then try again")

    monkeypatch.setattr("ullage.store.change.recovery.session_lock", taken)
    assert "another Ullage" in recover(places)[0]
    monkeypatch.undo()
    assert "found done" in recover(places)[0]


def test_a_journal_of_a_newer_version_stays(path: Path, places: Places) -> None:
    journal = Journal(path, places)
    journal.write(RewriteIntent(device=0, inode=0, size_bytes=0, temporary="important.jsonl"))
    (file,) = journal_folder(places).glob("*.json")
    newer = msgspec.json.decode(file.read_bytes())
    newer["version"] = 99
    file.write_bytes(msgspec.json.encode(newer))
    assert recover(places) == ()
    with pytest.raises(WriteNotSupported, match="newer Ullage"):
        apply_change(path, look_at(path), APPEND, occasion(), places)
    assert msgspec.json.decode(file.read_bytes()) == newer
    assert path.read_bytes() == OLD


def test_a_transcript_that_is_gone_has_nothing_to_recover(path: Path, places: Places) -> None:
    killed(places.cwd, "make", "_stands", "APPEND")
    path.unlink()
    assert recover(places) == ()
    assert not path.exists()


@pytest.mark.parametrize("is_apart", [False, True])
def test_an_old_copy_of_a_session_that_no_journal_names_goes(
    path: Path, places: Places, is_apart: bool
) -> None:
    names = (
        ".s.jsonl.0a1b2c3d4e5f.tmp",
        ".s.jsonl.0a1b2c3d4e5g.tmp",
        ".s.jsonl.0a1b2c.tmp",
        "s.jsonl.0a1b2c3d4e5f.tmp",
        ".s.json.0a1b2c3d4e5f.tmp",
        ".s.jsonl.0a1b2c3d4e5f.bak",
    )
    for name in names:
        path.with_name(name).write_bytes(OLD)
        os.utime(path.with_name(name), (0, 0))
    new = path.with_name(".t.jsonl.0a1b2c3d4e5f.tmp")
    new.write_bytes(OLD)
    if is_apart:
        create_apart(path.with_name("other.jsonl"), OLD, places)
    else:
        apply_change(path, look_at(path), APPEND, occasion(), places)
    assert [path.with_name(name).exists() for name in names] == [False, *[True] * 5]
    assert new.exists()
