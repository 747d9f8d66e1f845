"""The journal of a workspace's memory: lines of JSON, only added to, and folded as a whole.

It is derived from nothing and never rebuilt. Each append is one write behind the last line; a part
of a line, with which a process was killed or which a full disk took, is marked as left by the next
append, so that nothing is ever glued to it.
"""

import os
import re
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from datetime import date
from pathlib import Path

import msgspec

from ullage.core.memory.journal import SMALL_BYTES, Event, Journal, add_origins, fold_events
from ullage.core.memory.origin import KnownOrigins
from ullage.core.text.prose import plural
from ullage.errors import StorageError
from ullage.store.files.atomic import replace_file, sync_folder, unwritable, write_all
from ullage.store.files.places import Places
from ullage.store.files.quick_lock import quick_lock
from ullage.store.memory.places import memory_folder
from ullage.store.transcript.reader import read_at

VERSION = 1
FOLD_BYTES = SMALL_BYTES
NAME = "journal.jsonl"
_LEFT = b"\x18"
"""CAN ends a line that was not written to its end: JSON holds no such byte."""
_HEAD = re.compile(rb'^\{"type":"journal","version":(\d{1,9}),"folded":(\d{1,15})\}$', re.MULTILINE)
_HEAD_BYTES = 512
_OF_ORIGINS = re.compile(rb'\{"type":"(?:lines|begun)".*\n')
"""A line that tells of origins; most are of files that were seen."""
_FLAGS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
_ENCODER = msgspec.json.Encoder()
_DECODER: msgspec.json.Decoder[Event] = msgspec.json.Decoder(Event)


def journal_path(workspace: Path, places: Places) -> Path:
    return memory_folder(workspace, places) / NAME


def measure_journal(workspace: Path, places: Places) -> int:
    """Give the size of a journal in bytes: another one says that something was added."""
    try:
        return journal_path(workspace, places).stat().st_size
    except OSError:
        return 0


def read_journal(workspace: Path, places: Places) -> Journal:
    """Read a journal; what cannot be read is a problem, never an exception."""
    path = journal_path(workspace, places)
    try:
        data = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return Journal()
    except OSError as error:
        reason = error.strerror or type(error).__name__
        return Journal(problem=f"{path} cannot be read ({reason}): check its permissions")
    if _read_version(data) > VERSION:
        return Journal(problem=_of_newer(path))
    events, damaged = _read_lines(data)
    n_damaged = len(damaged)
    problem = None
    if damaged:
        problem = (
            f"{path} has {plural(n_damaged, 'damaged line')}: what stood there of origins and"
            " recalls is not known any more, unless you restore the file"
        )
    size_bytes = data.rfind(b"\n") + 1
    return Journal(
        events=tuple(events), n_damaged=n_damaged, problem=problem, size_bytes=size_bytes
    )


class OriginReader:
    """Reads the origins of one journal, and later only what was added meanwhile."""

    def __init__(self, workspace: Path, places: Places) -> None:
        self._workspace, self._places = workspace, places
        self._known = KnownOrigins(lines={}, is_begun=False)
        self._head = b""
        self._end = 0
        """Behind the last line that was read; 0 too where a journal has no head."""

    def read(self) -> KnownOrigins:
        """Give what is known by now.

        Raises:
            StorageError: the journal cannot be read.
        """
        path = journal_path(self._workspace, self._places)
        try:
            with path.open("rb", buffering=0) as file:
                head = _HEAD.search(file.read(_HEAD_BYTES))
                is_same = head is not None and head[0] == self._head
                if not is_same or file.seek(0, os.SEEK_END) < self._end:
                    self._forget()
                file.seek(self._end)
                added = file.read()
        except (FileNotFoundError, NotADirectoryError):
            self._forget()
            return self._known
        except OSError as error:
            raise unwritable(path, error) from None
        if head is not None:
            if int(head[1]) > VERSION:
                raise StorageError(_of_newer(path))
            self._head = head[0]
            self._end += added.rfind(b"\n") + 1
        events, _ = _read_lines(b"".join(_OF_ORIGINS.findall(added)))
        self._known = add_origins(self._known, events)
        return self._known

    def _forget(self) -> None:
        self._known = KnownOrigins(lines={}, is_begun=False)
        self._head, self._end = b"", 0


def record_recall(event: Event, workspace: Path, places: Places) -> None:
    """Add what may be lost by a power cut: a search does not wait for the disk.

    Raises:
        StateBusy: another Ullage is writing for longer than we wait.
        StateUnwritable: the state folder does not take it.
        StorageError: a newer version wrote the journal.
    """
    path = journal_path(workspace, places)
    with quick_lock(path.with_suffix(".lock")):
        _append(path, (event,), is_durable=False)


def record_events(events: Sequence[Event], workspace: Path, places: Places) -> None:
    """Add events that last.

    Raises:
        StateBusy: another Ullage is writing for longer than we wait.
        StateUnwritable: the state folder does not take it.
        StorageError: a newer version wrote the journal.
    """
    with hold_journal(workspace, places) as path:
        append_events(path, events)


@contextmanager
def hold_journal(workspace: Path, places: Places) -> Generator[Path]:
    """Keep others from changing a journal, and what lies beside it.

    Raises:
        StateBusy: another Ullage is writing for longer than we wait.
        StateUnwritable: the state folder does not take the lock.
    """
    path = journal_path(workspace, places)
    with quick_lock(path.with_suffix(".lock")):
        yield path


def append_events(path: Path, events: Sequence[Event]) -> None:
    """Add events to a journal that is held.

    Raises:
        StateUnwritable: the state folder does not take it.
        StorageError: a newer version wrote the journal.
    """
    if events:
        _append(path, events, is_durable=True)


def _append(path: Path, events: Sequence[Event], *, is_durable: bool) -> None:
    data = _ENCODER.encode_lines(events)
    try:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | _FLAGS, 0o600)
        try:
            size_bytes = os.fstat(fd).st_size
            head = read_at(fd, 0, min(size_bytes, _HEAD_BYTES))
            if _read_version(head) > VERSION:
                raise StorageError(_of_newer(path))
            if b"\n" not in head:
                # There is no first line yet, or not the whole of it.
                data = _write_head(0) + data
            if size_bytes and read_at(fd, size_bytes - 1, 1) != b"\n":
                data = _LEFT + b"\n" + data
            write_all(fd, data)
            if is_durable:
                os.fsync(fd)
        finally:
            with suppress(OSError):
                os.close(fd)
    except OSError as error:
        raise unwritable(path, error) from None
    if is_durable and not size_bytes:
        sync_folder(path.parent)
    if size_bytes + len(data) > max(FOLD_BYTES, 2 * _read_folded(head)):
        _fold(path)


def _fold(path: Path) -> None:
    """Replace a journal by a smaller one that says as much; what is damaged stays as it is."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise unwritable(path, error) from None
    events, damaged = _read_lines(data)
    folded = _ENCODER.encode_lines(fold_events(events, date.today()))
    folded += b"".join(line + b"\n" for line in damaged)
    replace_file(path, _write_head(len(folded)) + folded)


def _read_lines(data: bytes) -> tuple[list[Event], list[bytes]]:
    """Give the events, and the lines that are none."""
    head = _HEAD.match(data)
    try:
        return _DECODER.decode_lines(data[head.end() if head else 0 : data.rfind(b"\n") + 1]), []
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        pass
    *lines, _ = data.split(b"\n")
    whole = [line for line in lines if line and not line.endswith(_LEFT) and not _HEAD.match(line)]
    events: list[Event] = []
    damaged: list[bytes] = []
    for line in whole:
        try:
            events.append(_DECODER.decode(line))
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            damaged.append(line)
    return events, damaged


def _write_head(folded_bytes: int) -> bytes:
    return b'{"type":"journal","version":%d,"folded":%d}\n' % (VERSION, folded_bytes)


def _read_version(data: bytes) -> int:
    head = _HEAD.search(data[:_HEAD_BYTES])
    return int(head[1]) if head else VERSION


def _read_folded(data: bytes) -> int:
    head = _HEAD.search(data[:_HEAD_BYTES])
    return int(head[2]) if head else 0


def _of_newer(path: Path) -> str:
    return f"{path} is of a newer version of Ullage: update this one"
