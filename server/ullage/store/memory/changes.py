"""Changes of a workspace's memory: several files as one, each with its pre-image, to be undone.

A change is noted before its files are written (`change_records.py`). What a killed process began
is finished by whoever comes next, unless another program changed one of the files meanwhile: then
all stay as they are.
"""

import hashlib
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path

from msgspec.structs import replace

from ullage.core.memory.journal import Event, FileSeen
from ullage.core.memory.origin import is_memory_path, list_line_digests
from ullage.errors import ChangedMeanwhile, LogRefused, Refused, StorageError, UnknownItem
from ullage.store.change.session_lock import session_lock
from ullage.store.files.places import Places
from ullage.store.memory.change_records import (
    MemoryChange,
    begin_change,
    find_begun,
    list_memory_changes,
    record_path,
    remove_record,
    write_record,
)
from ullage.store.memory.daily_log import is_append_begun, settle_append
from ullage.store.memory.journal import append_events, hold_journal, read_journal
from ullage.store.memory.places import DREAMS, MEMORY
from ullage.store.memory.planned_files import (
    FileWrite,
    PlannedFile,
    find_memory_file,
    plan_back,
    plan_exactly,
    plan_forward,
    remove_leftovers,
    write_files,
)
from ullage.store.memory.seen import decode_text, keep_seen_texts, read_seen_texts
from ullage.store.memory.unlinked import find_unlinked


def make_memory_change(
    files: Iterable[PlannedFile], what: str, workspace: Path, places: Places
) -> MemoryChange:
    """Write files as one change, in their order; each must be as it was when that was planned.

    Where new lines of memory come from is to be noted before, as `record_lines` does. `what` is
    one line for people.

    Raises:
        ChangedMeanwhile: a file is not as it was; nothing was written.
        LogRefused: a file is no regular file, is too large, or links lead there.
        SessionLive: another Ullage is writing to the same memory.
        StorageError: the disk or the state folder does not take it; nothing was written, or the
            message says that it is begun.
    """
    with _hold_memory(workspace, places):
        recovered = _recover(workspace, places)
        changed = [file for file in files if file.before != file.after]
        writes = [plan_exactly(file, workspace, places) for file in changed]
        change = begin_change(changed, what, None, _now(), workspace, places)
        done = _write(change, writes, workspace, places)
    return _tell_recovered(done, recovered)


def undo_memory_change(workspace: Path, places: Places) -> MemoryChange:
    """Take back the newest change that was not taken back yet; give what did that.

    An interrupted undo is finished instead. What was added to a file since stays, behind its
    earlier content. Where a file was changed otherwise, sections that were taken out of it come
    back at its end, and a note says so.

    Raises:
        ChangedMeanwhile: a file was changed otherwise since, in which more than that was changed;
            nothing was written.
        UnknownItem: there is no change to take back.
        LogRefused: a file is no regular file any more, is too large, or links lead there.
        SessionLive: another Ullage is writing to the same memory.
        StorageError: the disk or the state folder does not take it; nothing was written, or the
            message says that it is begun.
    """
    with _hold_memory(workspace, places):
        recovered = _recover(workspace, places)
        if recovered and recovered.undoes and recovered.state == "done":
            return recovered
        change = find_undoable(workspace, places)
        if change is None:
            raise UnknownItem("no change of this folder's memory is left to take back")
        try:
            writes = [plan_back(file, workspace, places) for file in change.files]
        except ChangedMeanwhile as error:
            kept = record_path(change.change_id, workspace, places)
            raise ChangedMeanwhile(
                f"{error}, and nothing was changed: put it right by hand; its earlier text is kept"
                f" in {kept}"
            ) from None
        files = list(map(_as_written, change.files, writes))
        what = f"undo of “{change.what}”"
        notes = tuple(write.note for write in writes if write.note)
        undo = begin_change(files, what, change.change_id, _now(), workspace, places, notes)
        done = _write(undo, writes, workspace, places)
    return _tell_recovered(done, recovered)


def find_undoable(workspace: Path, places: Places) -> MemoryChange | None:
    """Find the newest change that was not taken back yet.

    Raises:
        StateUnwritable: the system does not list the changes.
    """
    changes = list_memory_changes(workspace, places).changes
    undoable = (change for change in changes if change.state == "done" and not change.undoes)
    return next(undoable, None)


def recover_memory_changes(workspace: Path, places: Places) -> tuple[str, ...]:
    """Finish what a killed process began, and put away a part of an item that it left.

    Gives what is to be told of it, in words for the user.

    Raises:
        LogRefused: links lead to the workspace's memory.
        SessionLive: another Ullage is writing to the same memory.
        StorageError: the disk or the state folder does not take it.
    """
    is_torn = is_append_begun(find_unlinked(workspace, DREAMS), places)
    if not is_torn and find_begun(workspace, places) is None:
        return ()
    with _hold_memory(workspace, places):
        recovered = _recover(workspace, places)
    return recovered.notes if recovered else ()


@contextmanager
def _hold_memory(workspace: Path, places: Places) -> Generator[None]:
    """Keep other changes and additions of ours away: `append_text` takes one of these locks."""
    dreams, memory = find_unlinked(workspace, DREAMS), find_unlinked(workspace, MEMORY)
    with session_lock(dreams, places), session_lock(memory, places):
        settle_append(dreams, places)
        yield


def _recover(workspace: Path, places: Places) -> MemoryChange | None:
    """Finish a change that was interrupted, or leave all as it is; give it with a note of that."""
    change = find_begun(workspace, places)
    if change is None:
        return None
    try:
        writes = [plan_forward(file, workspace, places) for file in change.files]
    except (ChangedMeanwhile, LogRefused) as error:
        for file in change.files:
            with suppress(LogRefused):
                remove_leftovers(find_memory_file(file.place, file.path, workspace, places))
        kept = record_path(change.change_id, workspace, places)
        left = f"it was interrupted, and is not finished: {error}; all texts are kept in {kept}"
        return _mark(replace(change, state="left"), left, workspace, places)
    write_files(writes)
    files = tuple(
        file if write.wanted == write.seen else _as_written(file, write)
        for file, write in zip(change.files, writes, strict=True)
    )
    _note_seen(files, workspace, places)
    finished = replace(change, files=files, state="done")
    return _mark(finished, "it was interrupted, and is finished now", workspace, places)


def _write(
    change: MemoryChange, writes: Sequence[FileWrite], workspace: Path, places: Places
) -> MemoryChange:
    """Write the files of a change that was begun; forget it where none of them was written."""
    try:
        write_files(writes)
        _note_seen(change.files, workspace, places)
        done = replace(change, state="done")
        write_record(done, workspace, places)
        return done
    except (Refused, StorageError) as error:
        is_written = any(_is_written(file, workspace, places) for file in change.files)
        if not is_written and remove_record(change, workspace, places):
            raise
        raise StorageError(
            f"{error}. The change is begun: the next change or undo finishes it first"
        ) from None


def _is_written(file: PlannedFile, workspace: Path, places: Places) -> bool:
    """Tell whether a file has its new content; one that cannot be looked at may have it."""
    try:
        write = plan_forward(file, workspace, places)
    except ChangedMeanwhile:
        return False
    except (LogRefused, StorageError):
        return True
    return write.wanted == write.seen


def _mark(change: MemoryChange, note: str, workspace: Path, places: Places) -> MemoryChange:
    marked = replace(change, notes=(*change.notes, f"{change.what}: {note}"))
    write_record(marked, workspace, places)
    return marked


def _tell_recovered(done: MemoryChange, recovered: MemoryChange | None) -> MemoryChange:
    return done if recovered is None else replace(done, notes=(*recovered.notes, *done.notes))


def _as_written(file: PlannedFile, write: FileWrite) -> PlannedFile:
    """Give a file of a change with what was added meanwhile."""
    return replace(file, before=write.seen, after=write.wanted)


def _note_seen(files: Sequence[PlannedFile], workspace: Path, places: Places) -> None:
    """Note that memory was changed by us: it is no change from outside.

    A file with a change from outside that waits for a person is left: it would be accepted unseen.
    """
    ours = [file for file in files if file.place == "workspace" and is_memory_path(file.path)]
    if not ours:
        return
    with hold_journal(workspace, places) as path:
        journal = read_journal(workspace, places)
        if journal.problem is not None and not journal.n_damaged:
            raise StorageError(journal.problem)
        if not journal.is_begun:
            # The first look takes everything for seen.
            return
        known, seen = journal.read_origins().lines, journal.read_seen()
        texts = read_seen_texts(workspace, places)
        ours = [
            file
            for file in ours
            if (file.path in seen and seen[file.path].sha256 == _digest(file.before))
            or _is_known(file.before, texts.get(file.path, ""), known)
        ]
        events: list[Event] = [
            FileSeen(path=file.path, sha256=_digest(file.after), at=_now(), how="accepted")
            for file in ours
        ]
        append_events(path, events)
        keep_seen_texts({file.path: _text(file.after) for file in ours}, workspace, places)


def _is_known(before: bytes | None, seen_text: str, known: Mapping[str, object]) -> bool:
    """Tell whether all that came since a file was seen is known, and nothing went."""
    lines = set(list_line_digests(_text(before)))
    return lines <= known.keys() and lines.issuperset(list_line_digests(seen_text))


def _text(data: bytes | None) -> str:
    return decode_text(data or b"")


def _digest(data: bytes | None) -> str:
    """Give the digest by which a file is known as seen; empty for one that is not there."""
    return "" if data is None else hashlib.sha256(data).hexdigest()


def _now() -> str:
    return datetime.now().astimezone().isoformat(timespec="seconds")
