"""Changes of an agent's files: done whole and noted, or not at all."""

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from running import WAIT_S
from store.changing import (
    APPEND,
    HEADER,
    KEY,
    LINES,
    NEW_SESSION,
    OLD,
    OURS,
    REWRITE,
    REWRITTEN,
    occasion,
    old_session,
    record,
)
from ullage.core.change.edit import Append, FileChange, LineChange, Rewrite
from ullage.errors import ChangedMeanwhile, Refused, SessionLive, StorageError, WriteNotSupported
from ullage.store.change.make import apply_change
from ullage.store.change.new_session import bring_back, remove_new_session
from ullage.store.change.receipts import list_receipts, receipts_folder
from ullage.store.change.recovery import recover
from ullage.store.change.session_lock import session_lock
from ullage.store.files.places import Places
from ullage.store.transcript.reader import look_at

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="Windows has other permissions")
CHANGES: dict[str, FileChange] = {
    "append": APPEND,
    "rewrite": REWRITE,
    "new session": NEW_SESSION,
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return old_session(tmp_path / "agent")


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ullage.store.change.session_lock.PATIENCE_S", 0.05)


def names(folder: Path) -> list[str]:
    return sorted(one.name for one in folder.iterdir())


def test_an_append_is_on_disk_and_noted(path: Path, places: Places) -> None:
    written = apply_change(path, look_at(path), APPEND, occasion(), places)
    assert path.read_bytes() == OLD + OURS
    assert names(path.parent) == ["s.jsonl"]
    (receipt,) = list_receipts(KEY, places).receipts
    assert (receipt.receipt_id, receipt.state) == (written.receipt_id, "done")
    assert receipt.before.size_bytes == len(OLD)


def test_a_rewrite_keeps_the_old_file_and_the_lines(path: Path, places: Places) -> None:
    inode = path.stat().st_ino
    written = apply_change(path, look_at(path), REWRITE, occasion("prune"), places)
    assert path.read_bytes() == REWRITTEN
    assert written.backup == path.with_name("s.jsonl.bak")
    assert written.backup.read_bytes() == OLD
    assert written.backup.stat().st_ino == inode
    assert names(path.parent) == ["s.jsonl", "s.jsonl.bak"]
    (receipt,) = list_receipts(KEY, places).receipts
    assert receipt.originals == REWRITE.changes
    assert receipt.backup == "s.jsonl.bak"


def test_a_new_session_leaves_the_old_one(path: Path, places: Places) -> None:
    seen = look_at(path)
    written = apply_change(path, seen, NEW_SESSION, occasion(), places)
    assert written.path.read_bytes() == NEW_SESSION.data
    assert look_at(path) == seen
    assert names(path.parent) == ["n.jsonl", "s.jsonl"]
    (receipt,) = list_receipts(KEY, places).receipts
    assert receipt.new_path == str(written.path)


@posix_only
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644, 0o666])
def test_a_rewritten_file_has_the_permissions_of_the_old(
    path: Path, places: Places, mode: int
) -> None:
    path.chmod(mode)
    apply_change(path, look_at(path), REWRITE, occasion(), places)
    assert stat.S_IMODE(path.stat().st_mode) == mode


@posix_only
def test_a_new_session_and_a_receipt_are_for_the_user_alone(path: Path, places: Places) -> None:
    before = os.umask(0)
    try:
        written = apply_change(path, look_at(path), NEW_SESSION, occasion(), places)
    finally:
        os.umask(before)
    receipt = receipts_folder(KEY, places) / f"{written.receipt_id}.json"
    assert stat.S_IMODE(written.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(receipt.stat().st_mode) == 0o600
    assert stat.S_IMODE(receipt.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_file_that_changed_is_left_alone(path: Path, places: Places, change: FileChange) -> None:
    seen = look_at(path)
    old_session(path.parent, OLD + record("e4", "e3"))
    with pytest.raises(ChangedMeanwhile):
        apply_change(path, seen, change, occasion(), places)
    assert path.read_bytes() == OLD + record("e4", "e3")
    assert names(path.parent) == ["s.jsonl"]
    assert list_receipts(KEY, places).receipts == ()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has leases")
@pytest.mark.parametrize("change", [APPEND, REWRITE], ids=["append", "rewrite"])
def test_a_file_that_another_has_open_is_left_alone(
    path: Path, places: Places, change: FileChange
) -> None:
    with path.open("ab"), pytest.raises(SessionLive, match="another program has"):
        apply_change(path, look_at(path), change, occasion(), places)
    assert path.read_bytes() == OLD
    assert names(path.parent) == ["s.jsonl"]
    assert recover(places) == ()


def test_earlier_backups_are_never_overwritten(path: Path, places: Places) -> None:
    path.with_name("s.jsonl.bak").write_bytes(b"of the user")
    apply_change(path, look_at(path), REWRITE, occasion(), places)
    assert path.with_name("s.jsonl.bak").read_bytes() == b"of the user"
    assert path.with_name("s.jsonl.bak.2").read_bytes() == OLD


def test_a_session_that_exists_is_never_overwritten(path: Path, places: Places) -> None:
    path.with_name("n.jsonl").write_bytes(b"of the agent")
    with pytest.raises(WriteNotSupported, match="exists"):
        apply_change(path, look_at(path), NEW_SESSION, occasion(), places)
    assert path.with_name("n.jsonl").read_bytes() == b"of the agent"
    assert names(path.parent) == ["n.jsonl", "s.jsonl"]


@pytest.mark.parametrize("name", ["../n.jsonl", "s.jsonl", "a/n.jsonl", ""])
def test_a_new_session_lies_beside_the_old_one(path: Path, places: Places, name: str) -> None:
    change = type(NEW_SESSION)(session_id="n", name=name, data=b"{}\n")
    with pytest.raises(WriteNotSupported):
        apply_change(path, look_at(path), change, occasion(), places)
    assert path.read_bytes() == OLD


def test_a_line_that_is_not_the_planned_one_is_not_changed(path: Path, places: Places) -> None:
    wrong = Rewrite(changes=(LineChange(offset=0, old=LINES[1], new=b""),), appended=b"")
    with pytest.raises(ChangedMeanwhile):
        apply_change(path, look_at(path), wrong, occasion(), places)
    assert path.read_bytes() == OLD
    assert names(path.parent) == ["s.jsonl"]


def test_an_undo_marks_what_it_undid(path: Path, places: Places) -> None:
    first = apply_change(path, look_at(path), APPEND, occasion(), places)
    back = Append(data=record("u1", "e3"))
    old_session(path.parent, path.read_bytes())
    apply_change(path, look_at(path), back, occasion("undo", undoes=first.receipt_id), places)
    states = [one.state for one in list_receipts(KEY, places).receipts]
    assert states == ["done", "undone"]


def test_a_rewrite_behind_a_link_changes_the_file_and_keeps_the_link(
    path: Path, places: Places, tmp_path: Path
) -> None:
    link = tmp_path / "link.jsonl"
    link.symlink_to(path)
    apply_change(link, look_at(link), REWRITE, occasion(), places)
    assert link.is_symlink()
    assert path.read_bytes() == REWRITTEN


def test_a_change_inside_the_lock_of_a_longer_task_goes_on(path: Path, places: Places) -> None:
    with session_lock(path, places):
        apply_change(path, look_at(path), APPEND, occasion(), places)
    assert path.read_bytes() == OLD + OURS


def test_a_new_session_is_taken_away_as_long_as_it_is_ours(path: Path, places: Places) -> None:
    written = apply_change(path, look_at(path), NEW_SESSION, occasion(), places)
    (receipt,) = list_receipts(KEY, places).receipts
    assert receipt.new_sha256
    kept = _remove(written.path, receipt.new_sha256, written.receipt_id, places)
    assert not written.path.exists()
    assert kept.parent == receipts_folder(KEY, places)
    assert kept.read_bytes() == NEW_SESSION.data
    assert _remove(written.path, receipt.new_sha256, written.receipt_id, places) == kept


def test_a_new_session_that_went_on_stays(path: Path, places: Places) -> None:
    written = apply_change(path, look_at(path), NEW_SESSION, occasion(), places)
    (receipt,) = list_receipts(KEY, places).receipts
    with written.path.open("ab") as file:
        file.write(record("n2", "n1"))
    with pytest.raises(Refused, match="went on"):
        _remove(written.path, receipt.new_sha256 or "", written.receipt_id, places)
    assert written.path.read_bytes() == NEW_SESSION.data + record("n2", "n1")


def test_a_session_comes_back_where_no_other_has_its_place(path: Path, places: Places) -> None:
    made = apply_change(path, look_at(path), NEW_SESSION, occasion(), places)
    (receipt,) = list_receipts(KEY, places).receipts
    sha256 = receipt.new_sha256 or ""
    _remove(made.path, sha256, made.receipt_id, places)
    made.path.write_bytes(OLD)
    with pytest.raises(Refused, match="holds what came since"):
        _bring_back(made.path, sha256, made.receipt_id, places)
    assert made.path.read_bytes() == OLD
    made.path.unlink()
    for _ in range(2):
        _bring_back(made.path, sha256, made.receipt_id, places)
        assert made.path.read_bytes() == NEW_SESSION.data


def _bring_back(path: Path, sha256: str, receipt_id: str, places: Places) -> None:
    bring_back(path, sha256, session_key=KEY, receipt_id=receipt_id, places=places)


def _remove(path: Path, sha256: str, receipt_id: str, places: Places) -> Path:
    return remove_new_session(path, sha256, session_key=KEY, receipt_id=receipt_id, places=places)


@pytest.mark.parametrize(("change", "left"), [(APPEND, OLD + OURS), (REWRITE, OLD)])
def test_a_second_name_of_a_transcript_is_as_where_its_agent_writes(
    path: Path, places: Places, change: FileChange, left: bytes
) -> None:
    """An append goes to both; a rewrite parts them, and the second name keeps the old file."""
    second = path.with_name("kept.jsonl")
    second.hardlink_to(path)
    apply_change(path, look_at(path), change, occasion(), places)
    assert second.read_bytes() == left
    assert path.read_bytes() == {APPEND: OLD + OURS, REWRITE: REWRITTEN}[change]


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_disk_without_hard_links_is_good_enough(
    path: Path, places: Places, change: FileChange, monkeypatch: pytest.MonkeyPatch
) -> None:
    def link(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    with monkeypatch.context() as patch:
        patch.setattr(os, "link", link)
        written = apply_change(path, look_at(path), change, occasion(), places)
    if written.backup:
        assert written.backup.read_bytes() == OLD
        assert path.read_bytes() == REWRITTEN
    assert [one.state for one in list_receipts(KEY, places).receipts] == ["done"]
    assert not [name for name in names(path.parent) if name.endswith(".tmp")]


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_system_without_leases_is_good_enough(
    path: Path, places: Places, change: FileChange, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ullage.store.change.session_lock._ask_for_lease", lambda _: "no leases")
    written = apply_change(path, look_at(path), change, occasion(), places)
    expected = {APPEND: OLD + OURS, REWRITE: REWRITTEN, NEW_SESSION: NEW_SESSION.data}
    assert written.path.read_bytes() == expected[change]
    assert recover(places) == ()


def test_a_state_folder_that_takes_nothing_stops_a_change_before_it_begins(
    path: Path, tmp_path: Path
) -> None:
    (tmp_path / "state").write_bytes(b"a file")
    places = Places(cwd=tmp_path, home=tmp_path, env={}, state_folder=tmp_path / "state")
    with pytest.raises(StorageError, match="ULLAGE_STATE_DIR"):
        apply_change(path, look_at(path), APPEND, occasion(), places)
    assert path.read_bytes() == OLD


def test_nothing_is_to_recover_where_nothing_was_interrupted(path: Path, places: Places) -> None:
    assert recover(places) == ()
    for change in CHANGES.values():
        apply_change(path, look_at(path), change, occasion(), places)
        old_session(path.parent)
    assert recover(places) == ()
    assert recover(places) == ()


def test_two_threads_at_once_make_one_change(path: Path, places: Places) -> None:
    seen = look_at(path)
    said: list[str] = []
    start = threading.Barrier(2)

    def change() -> None:
        start.wait()
        try:
            apply_change(path, seen, APPEND, occasion(), places)
        except Refused:
            said.append("refused")
        else:
            said.append("made")

    threads = [threading.Thread(target=change) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(said) == ["made", "refused"]
    assert path.read_bytes() == OLD + OURS


RACER = """
import sys
from pathlib import Path
from store.changing import APPEND, REWRITE, NEW_SESSION, occasion
from ullage.errors import Refused
from ullage.store.change.make import apply_change
from ullage.store.files.places import Places
from ullage.store.transcript.reader import look_at
root = Path(sys.argv[1])
places = Places(cwd=root, home=root, env={}, state_folder=root / "state")
path = root / "agent" / "s.jsonl"
seen = look_at(path)
print("ready", flush=True)
sys.stdin.readline()
change = {"append": APPEND, "rewrite": REWRITE, "new session": NEW_SESSION}[sys.argv[2]]
try:
    apply_change(path, seen, change, occasion(), places)
except Refused as error:
    print(type(error).__name__)
else:
    print("made")
"""


@pytest.mark.parametrize("kind", CHANGES)
def test_two_processes_at_once_make_one_change(path: Path, places: Places, kind: str) -> None:
    tests = str(Path(__file__).parents[2])
    env = dict(os.environ) | {
        "PYTHONPATH": os.pathsep.join([tests, os.environ.get("PYTHONPATH", "")])
    }
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", RACER, str(places.cwd), kind],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=env,
            encoding="utf-8",
        )
        for _ in range(2)
    ]
    for racer in racers:
        assert racer.stdout
        assert racer.stdout.readline() == "ready\n"
    for racer in racers:
        assert racer.stdin
        racer.stdin.write("go\n")
        racer.stdin.flush()
    said = sorted(racer.communicate(timeout=WAIT_S)[0].strip() for racer in racers)
    assert said[1] == "made"
    assert said[0] in ("ChangedMeanwhile", "SessionLive", "WriteNotSupported")
    data = path.read_bytes()
    assert data.startswith(HEADER)
    assert data.count(b'"c1"') == (kind != "new session")
    states = [one.state for one in list_receipts(KEY, places).receipts]
    assert states == ["done"]
