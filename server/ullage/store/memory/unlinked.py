"""Memory files of a workspace, opened through no link.

A repository may bring links, by which a text would go into a file of its code or its hooks.
"""

import os
import stat
import sys
from contextlib import suppress
from pathlib import Path

from ullage.errors import LogRefused, StorageError
from ullage.store.memory.places import FOLDER
from ullage.store.memory.seen import MAX_FILE_BYTES
from ullage.store.transcript.reader import read_at

if sys.platform == "win32":

    def _open_unfollowed(path: Path, flags: int) -> int:
        fd = os.open(path, flags | os.O_BINARY | os.O_NOINHERIT, 0o600)
        # No flag keeps links out here: what was opened must be what has the name.
        if not os.path.samestat(os.fstat(fd), path.lstat()) or path.parent.resolve() != path.parent:
            os.close(fd)
            raise _linked(path)
        return fd

else:

    def _open_unfollowed(path: Path, flags: int) -> int:
        of_folder = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
        folder = os.open(path.parent, of_folder)
        try:
            # Without O_NONBLOCK a pipe that comes in the file's place would hold us for ever.
            flags |= os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            return os.open(path.name, flags, 0o600, dir_fd=folder)
        finally:
            os.close(folder)


def is_folder(path: Path) -> bool:
    """Whether there is a folder that can be entered; what cannot be looked at is none."""
    try:
        return path.is_dir()
    except OSError:
        return False


def find_unlinked(workspace: Path, name: str) -> Path:
    """Give the path of a memory file, by which links lead to the workspace and none on from there.

    Raises:
        LogRefused: there is no such workspace, or its `memory` is no folder of its own.
    """
    if not workspace.is_absolute() or not is_folder(workspace):
        raise LogRefused(
            f"the session's workspace {workspace} is no folder here, so that no memory can be"
            " kept in it"
        )
    try:
        path = workspace.resolve() / name
        folder = path.parent
        # A junction of Windows is no link by its mode, but leads elsewhere.
        if folder.is_symlink() or folder.resolve() != folder:
            raise _linked(folder)
        if path.is_symlink():
            raise _linked(path)
        is_other = os.path.lexists(folder) and not folder.is_dir()
    except (OSError, RuntimeError) as error:
        reason = type(error).__name__
        raise LogRefused(f"{workspace / FOLDER} cannot be entered ({reason}): mend it") from None
    if is_other:
        raise LogRefused(f"{folder} is no folder, so that no memory can be kept there: move it")
    return path


def open_unlinked(path: Path, flags: int) -> int:
    """Open a memory file that is a regular file of a real folder: neither can be a link.

    Raises:
        LogRefused: it is something else, which is not touched.
        OSError: the system does not let us, or there is none.
    """
    with suppress(FileNotFoundError):
        _refuse_other(path, path.lstat())
    fd = _open_unfollowed(path, flags)
    try:
        _refuse_other(path, os.fstat(fd))
    except BaseException:
        os.close(fd)
        raise
    return fd


def read_unlinked(path: Path) -> bytes | None:
    """Read a memory file whole; None where there is none.

    Raises:
        LogRefused: it is no regular file of a real folder, or too large.
        StorageError: it cannot be read.
    """
    try:
        fd = open_unlinked(path, os.O_RDONLY)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise _unreadable(path, error) from None
    try:
        size_bytes = os.fstat(fd).st_size
        if size_bytes > MAX_FILE_BYTES:
            raise LogRefused(
                f"{path} has {size_bytes:,} bytes, and {MAX_FILE_BYTES:,} are read at most: make"
                " it smaller"
            )
        return read_at(fd, 0, size_bytes)
    except OSError as error:
        raise _unreadable(path, error) from None
    finally:
        with suppress(OSError):
            os.close(fd)


def unwritable_file(path: Path, error: OSError) -> StorageError:
    reason = error.strerror or str(error)
    return StorageError(f"cannot write {path}: {reason}. Make room, or make it writable")


def _refuse_other(path: Path, status: os.stat_result) -> None:
    if stat.S_ISLNK(status.st_mode):
        raise _linked(path)
    if not stat.S_ISREG(status.st_mode):
        what = "a folder" if stat.S_ISDIR(status.st_mode) else "no regular file"
        raise LogRefused(f"{path} is {what}, so that no memory can be kept there: move it away")


def _linked(path: Path) -> LogRefused:
    return LogRefused(
        f"{path} is a link, and memory is written through none: put a folder or file of the"
        " workspace's own in its place"
    )


def _unreadable(path: Path, error: OSError) -> StorageError:
    reason = error.strerror or type(error).__name__
    return StorageError(f"cannot read {path}: {reason}. Check its permissions")
