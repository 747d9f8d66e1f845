"""Changes that a process did not see to their end: finished or taken back at the next start.

Each step may be killed in its turn, and doing it again goes on from there. What cannot be told
to be ours is left alone.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from ullage.core.text.prose import plural
from ullage.errors import SessionLive, StorageError, UllageError
from ullage.store.change.journal import (
    AppendIntent,
    CreateIntent,
    Entry,
    Journal,
    RemoveIntent,
    RewriteIntent,
    journal_folder,
    journaled_paths,
)
from ullage.store.change.new_session import has_digest, settle_removal
from ullage.store.change.own_bytes import parses, settle
from ullage.store.change.receipts import mark_done
from ullage.store.change.rewrite import exchange, withdraw
from ullage.store.change.session_lock import OpenTranscript, open_to_change, session_lock
from ullage.store.files.atomic import remove_stale_temporaries, write_all
from ullage.store.files.places import Places
from ullage.store.transcript import reader

MAX_LEVEL = 8
"""Repairs of repairs; each level needs a process killed in the repair of the one before."""


class Recovery(msgspec.Struct, frozen=True, kw_only=True):
    notes: tuple[str, ...]
    """What was done, in words for the user."""
    is_complete: bool
    """Whether nothing is left that a new change would hide."""


def recover(places: Places) -> tuple[str, ...]:
    """See every interrupted change to its end; say what was done, in words for the user."""
    notes: list[str] = []
    for path in journaled_paths(places):
        try:
            with session_lock(path, places):
                notes.extend(recover_session(path, places).notes)
        except UllageError as error:
            notes.append(str(error))
    remove_stale_temporaries(journal_folder(places))
    return tuple(notes)


def recover_session(path: Path, places: Places) -> Recovery:
    """See the interrupted changes of one transcript to their end; the caller holds its lock."""
    # Releases up to 0.1.0 left copies of a session that no journal names.
    remove_stale_temporaries(path.parent, of=".jsonl")
    notes: list[str] = []
    # The repair of a change comes before the change, which is then looked at anew.
    for level in reversed(range(MAX_LEVEL)):
        journal = Journal(path, places, level=level)
        entry = journal.read()
        if entry is None:
            continue
        journal.receipt = (entry.session_key, entry.receipt_id, entry.undoes)
        try:
            notes.extend(_recover_one(entry, journal, places))
        except SessionLive:
            notes.append(f"an interrupted change of {path.name} waits until no program has it open")
            return Recovery(notes=tuple(notes), is_complete=False)
        except (OSError, UllageError) as error:
            notes.append(f"an interrupted change of {path.name} is not seen to: {error}")
            return Recovery(notes=tuple(notes), is_complete=False)
    return Recovery(notes=tuple(notes), is_complete=True)


def _recover_one(entry: Entry, journal: Journal, places: Places) -> Iterator[str]:
    match entry.intent:
        case AppendIntent() as intent:
            yield from _recover_append(entry, intent, journal, places)
        case RewriteIntent() as intent:
            yield from _recover_rewrite(entry, intent, journal, places)
        case CreateIntent() as intent:
            yield from _recover_creation(entry, intent, journal, places)
        case RemoveIntent() as intent:
            if settle_removal(journal.path, intent):
                yield f"{journal.path.name} went on while it was taken away, and was put back"
            journal.clear()


def _recover_append(
    entry: Entry, intent: AppendIntent, journal: Journal, places: Places
) -> Iterator[str]:
    path = journal.path
    if not os.path.lexists(path):
        journal.clear()
        return
    with open_to_change(path) as file:
        now = os.fstat(file.fd)
        is_same = (now.st_dev, now.st_ino) == (intent.device, intent.inode)
        outcome = settle(file, intent) if is_same else "absent"
    if outcome == "whole":
        _mark(entry, places)
        yield f"an interrupted change of {path.name} was found done"
    elif outcome == "withdrawn":
        yield f"an interrupted change of {path.name} was taken back"
    elif outcome == "unclear":
        yield (
            f"{path.name} has an unfinished line of Ullage after byte {intent.offset}, and the"
            " agent went on behind it: it was left as it is"
        )
    journal.clear()


def _recover_creation(
    entry: Entry, intent: CreateIntent, journal: Journal, places: Places
) -> Iterator[str]:
    path = journal.path
    path.with_name(intent.temporary).unlink(missing_ok=True)
    created = path.with_name(intent.created)
    if has_digest(created, intent.sha256):
        _mark(entry, places)
        yield f"an interrupted change was found done: the session goes on in {created.name}"
    journal.clear()


def _recover_rewrite(
    entry: Entry, intent: RewriteIntent, journal: Journal, places: Places
) -> Iterator[str]:
    path = journal.path
    if not intent.is_settled and withdraw(path, journal):
        journal.clear()
        yield f"an interrupted change of {path.name} was taken back"
        return
    try:
        now = reader.look_at(path)
    except UllageError:
        journal.clear()
        return
    if (now.device, now.inode) == (intent.device, intent.inode):
        if intent.is_settled:
            journal.clear()
            return
        raise StorageError(f"{path.name} still has files of it beside it that do not go away")
    n_late = _merge_late(path, intent, journal)
    _mark(entry, places, backup=intent.backup)
    if not intent.is_settled:
        yield f"an interrupted change of {path.name} was found done"
    if n_late:
        yield f"carried over: {plural(n_late, 'byte')} that were written to the old {path.name}"
    journal.clear()


def _mark(entry: Entry, places: Places, *, backup: str | None = None) -> None:
    if entry.receipt_id:
        mark_done(entry.session_key, entry.receipt_id, entry.undoes, places, backup=backup)


def _merge_late(path: Path, intent: RewriteIntent, journal: Journal) -> int:
    """Put what came late into the old file where it belongs in the new; give its bytes.

    It goes before what was written to the new file since, as that follows it.

    Raises:
        SessionLive: someone has one of the files open.
        OSError: the disk does not take it.
    """
    backup = path.with_name(intent.backup or "")
    try:
        kept = reader.look_at(backup)
    except UllageError:
        return 0
    if kept.inode != intent.inode or kept.size_bytes <= intent.size_bytes:
        return 0
    with open_to_change(backup) as old:
        n_bytes = os.fstat(old.fd).st_size - intent.size_bytes
        late = reader.read_at(old.fd, intent.size_bytes, n_bytes)
        with open_to_change(path) as new:
            seen = reader.fingerprint_of(os.fstat(new.fd))
            start = intent.new_size_bytes
            there = reader.read_at(new.fd, start, len(late))
            pairs = zip(there, late, strict=False)
            n_alike = next((at for at, (a, b) in enumerate(pairs) if a != b), len(there))
            if n_alike == len(late):
                return 0
            if new.is_exclusive and seen.size_bytes == start + n_alike:
                os.lseek(new.fd, 0, os.SEEK_END)
                write_all(new.fd, late[n_alike:])
                os.fsync(new.fd)
                return len(late)
            begin = late.rfind(b"\n", 0, n_alike) + 1
            n_torn = _n_torn(new, start + begin, n_alike - begin)
        rest = late[begin:] if late.endswith(b"\n") else late[begin:] + b"\n"
        exchange(
            path,
            seen,
            _inserted(path, start + begin, rest, n_torn, seen.size_bytes),
            journal.next_level(),
        )
    return len(late)


def _n_torn(new: OpenTranscript, offset: int, n_alike: int) -> int:
    """Count the bytes of a late line that was copied in part, to which an agent appended."""
    if not n_alike:
        return 0
    line = bytearray()
    while block := reader.read_at(new.fd, offset + len(line), reader.BLOCK_BYTES):
        line += block
        if (end := line.find(b"\n")) >= 0:
            del line[end:]
            break
    for n_torn in range(n_alike + 1):
        if parses(bytes(line[n_torn:])):
            return n_torn
    return n_alike if len(line) == n_alike else 0


def _inserted(path: Path, at: int, rest: bytes, n_torn: int, size: int) -> Iterator[bytes]:
    with reader.open_to_read(path) as file:
        yield from reader.read_blocks(file.fileno(), 0, at)
        yield rest
        yield from reader.read_blocks(file.fileno(), at + n_torn, size)
