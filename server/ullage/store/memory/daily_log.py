"""The daily log of a workspace, `memory/YYYY-MM-DD.md`: the user's own file, only added to.

The agent, an editor and our other processes may write to the same log. A block is added by
one write at the end, whatever the end is by then; what stands there is never touched. When the
disk takes only a part of a block, blanks are put in its place: cutting could take what another
wrote behind it. Where a kill came before that, the next flush does it, by a note of what was meant.
"""

import os
import re
from collections.abc import Callable
from contextlib import suppress
from itertools import islice
from pathlib import Path

import msgspec

from ullage.errors import LogRefused, StorageError
from ullage.store.change.own_bytes import blank
from ullage.store.change.session_lock import path_digest, session_lock
from ullage.store.files.atomic import remove_quietly, replace_file, sync_folder
from ullage.store.files.places import Places
from ullage.store.memory.places import FOLDER, MEMORY
from ullage.store.memory.unlinked import find_unlinked, is_folder, open_unlinked, unwritable_file
from ullage.store.transcript.reader import read_at, read_bounded

MAX_READ_BYTES = 1024 * 1024
"""How much of a log's end is read, or of a memory file's beginning; chosen: 20 times the size
that calls for consolidation.
"""
MAX_LOGS = 30
"""Of a month: older ones are consolidated, or not sought in a list (chosen)."""
MAX_FOLDER_ENTRIES = 10_000
_NAME = re.compile(r"\d{4}-\d\d-\d\d\.md\Z")
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_BOM = b"\xef\xbb\xbf"


class _Intent(msgspec.Struct, frozen=True, kw_only=True):
    """A block that was to be written, noted before."""

    offset: int
    data: bytes


def _name_log(day: str) -> str:
    return f"{FOLDER}/{day}.md"


def is_log_path(path: str) -> bool:
    """Whether a file of a workspace is a daily log, by its path with `/`."""
    folder, _, name = path.rpartition("/")
    return folder == FOLDER and _NAME.match(name) is not None


def log_path(workspace: Path, day: str) -> Path:
    """Give the path of a day's log; `day` is `YYYY-MM-DD` by the local clock."""
    return workspace / _name_log(day)


def keeps_memory(workspace: Path) -> bool:
    """Whether a workspace has a memory already, begun by any program."""
    if is_folder(workspace / FOLDER):
        return True
    try:
        return (workspace / MEMORY).is_file()
    except OSError:
        return False


def read_logs(workspace: Path, day: str) -> tuple[str, str]:
    """Read the log of a day, and the last one from before it; empty where there is none.

    Raises:
        LogRefused: the log of the day must not be added to.
        StorageError: it cannot be read.
    """
    path = find_unlinked(workspace, _name_log(day))
    today = _read(path)
    with suppress(OSError, LogRefused, StorageError):
        names = [entry.name for entry in path.parent.iterdir() if _NAME.match(entry.name)]
        earlier = [name for name in names if name < path.name]
        if earlier:
            return today, _read(path.with_name(max(earlier)))
    return today, ""


def log_to_add_to(workspace: Path, day: str) -> Path:
    """Give the path of a day's log to the agent, which adds to it by its own tools.

    Raises:
        LogRefused: the log is no file of the workspace's own folder, or is no text.
        StorageError: it cannot be read.
    """
    _read(find_unlinked(workspace, _name_log(day)))
    return log_path(workspace, day)


def append_block(workspace: Path, day: str, compose: Callable[[str], str], places: Places) -> str:
    """Add a block to the log of a day, as `append_text` does."""
    return append_text(workspace, _name_log(day), day, compose, places)


def append_text(
    workspace: Path, name: str, title: str, compose: Callable[[str], str], places: Places
) -> str:
    """Add a text to a memory file and give it; empty where there was nothing to add.

    `name` is the file's path in the workspace, `title` heads a new file. `compose` makes the text
    of what stands in the file by then (the end of it, with LF), while no other Ullage writes there.
    It has LF and ends with one.

    Raises:
        LogRefused: the log is no file of the workspace's own folder, or is no text.
        SessionLive: another Ullage is writing to the same log.
        StorageError: the disk or the folder does not take it; a part of the block that is left
            goes with the next flush.
    """
    path = find_unlinked(workspace, name)
    intent_path = _intent_path(path, places)
    with session_lock(path, places):
        settle_append(path, places)
        block = compose(_read(path))
        if not block:
            return ""
        try:
            if path.parent.name == FOLDER:
                # Not `parents`: a workspace that went away is not made again.
                path.parent.mkdir(mode=0o700, exist_ok=True)
            fd = open_unlinked(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
            try:
                _append(fd, path, _join(_tail(fd, path), block, title), intent_path)
            finally:
                with suppress(OSError):
                    os.close(fd)
        except OSError as error:
            raise unwritable_file(path, error) from None
        sync_folder(path.parent)
    return block


def is_append_begun(path: Path, places: Places) -> bool:
    """Whether a file may end in a part of a block, by a killed process or one that is writing."""
    with suppress(OSError):
        return _intent_path(path, places).exists()
    return True


def settle_append(path: Path, places: Places) -> None:
    """Put blanks in the place of a part of a block with which a process was killed.

    Only where nothing follows it: else its bytes might be another's, who began alike. The file's
    lock is held.

    Raises:
        LogRefused: it is no regular file of a real folder.
        StorageError: the disk does not take it.
    """
    intent_path = _intent_path(path, places)
    try:
        intent = msgspec.json.decode(intent_path.read_bytes(), type=_Intent)
    except (OSError, ValueError, RecursionError):
        return
    try:
        with suppress(FileNotFoundError):
            fd = open_unlinked(path, os.O_RDONLY)
            try:
                there = read_at(fd, intent.offset, len(intent.data))
            finally:
                os.close(fd)
            if len(there) < len(intent.data) and intent.data.startswith(there):
                _take_back(path, intent.offset, there)
    except OSError as error:
        raise unwritable_file(path, error) from None
    remove_quietly(intent_path)


def _intent_path(path: Path, places: Places) -> Path:
    return places.state_folder / "context" / "logs" / f"{path_digest(path)}.json"


def _append(fd: int, path: Path, data: bytes, intent_path: Path) -> None:
    intent = _Intent(offset=os.fstat(fd).st_size, data=data)
    replace_file(intent_path, msgspec.json.encode(intent))
    n_written = os.write(fd, data)
    if n_written < len(data):
        # Another may write before we could continue: no second half then.
        begin = os.lseek(fd, 0, os.SEEK_CUR) - n_written
        _take_back(path, begin, data[:n_written])
        raise OSError("the disk took a part only")
    os.fsync(fd)
    remove_quietly(intent_path)


def _take_back(path: Path, begin: int, ours: bytes) -> None:
    """Put blanks in the place of our own bytes, not by the descriptor that writes at the end."""
    fd = open_unlinked(path, os.O_RDWR)
    try:
        if read_at(fd, begin, len(ours)) == ours:
            blank(fd, begin, ours)
    finally:
        os.close(fd)


def _join(tail: bytes, block: str, title: str) -> bytes:
    """Give a block as it is to follow what stands in the log, with the log's line ends."""
    at = tail.rfind(b"\n")
    line_end = "\r\n" if at > 0 and tail[at - 1 : at] == b"\r" else "\n"
    if not tail.removeprefix(_BOM).strip():
        block = f"# {title}\n\n{block}"
    elif at < len(tail) - 1:
        block = f"\n\n{block}"
    elif not tail.endswith((b"\n\n", b"\n\r\n")):
        block = f"\n{block}"
    return block.replace("\n", line_end).encode("utf-8", "replace")


def _read(path: Path) -> str:
    try:
        fd = open_unlinked(path, os.O_RDONLY)
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise StorageError(f"cannot read {path}: {reason}. Check its permissions") from None
    try:
        return _tail(fd, path).decode("utf-8", "replace").replace("\r\n", "\n")
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror}. Check the disk") from None
    finally:
        with suppress(OSError):
            os.close(fd)


def _tail(fd: int, path: Path) -> bytes:
    size_bytes = os.fstat(fd).st_size
    begin = max(0, size_bytes - MAX_READ_BYTES)
    tail = read_at(fd, begin, size_bytes - begin)
    if b"\0" in tail or read_at(fd, 0, 2) in _UTF_16:
        raise LogRefused(f"{path} is no UTF-8 text: save it as UTF-8, or move it away")
    return tail


def list_logs(workspace: Path) -> tuple[Path, ...]:
    """List the newest Markdown files of the memory folder by their names, newest first."""
    try:
        entries = list(islice((workspace / FOLDER).iterdir(), MAX_FOLDER_ENTRIES))
    except OSError:
        return ()
    logs = sorted((path for path in entries if path.suffix == ".md"), reverse=True)
    return tuple(logs[:MAX_LOGS])


def read_text(path: Path) -> str:
    """Read the beginning of a text file; what is no UTF-8 is replaced.

    Raises:
        Unreadable: it is missing, no regular file, or not ours to read.
    """
    return read_bounded(path, MAX_READ_BYTES).decode("utf-8-sig", "replace")
