"""Files written whole: a reader sees the old bytes or the new, never a part."""

import errno
import os
import stat
import sys
import time
from contextlib import suppress
from itertools import chain, takewhile
from pathlib import Path

from ullage.errors import FileExists, StateUnwritable, StorageError

RENAME_TRIES = 25
"""Windows lets no one rename over a file that a scanner holds open; it lets go within seconds."""
RENAME_PAUSE_S = 0.1
TEMPORARY_SUFFIX = ".tmp"
TOKEN_BYTES = 6
"""Of chance in a temporary name (chosen)."""
STALE_S = 3600.0
"""None of our writes takes an hour: an older temporary file is abandoned."""
NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK, errno.EINVAL)
"""What systems answer where a file system has no hard links."""
_HELD_ERRORS = (5, 32, 33)
"""ERROR_ACCESS_DENIED, _SHARING_VIOLATION, _LOCK_VIOLATION (docs/safety.md, "A rewrite")."""


def replace_file(path: Path, data: bytes) -> None:
    """Write a file whole: temporary file, sync, read back, rename, sync of the folder.

    Raises:
        StateUnwritable: the folder or the disk does not take it; the old file is intact.
    """
    make_folder(path.parent)
    temporary = temporary_beside(path)
    try:
        write_new_file(temporary, data)
        rename_over(temporary, path)
    except OSError as error:
        remove_quietly(temporary)
        raise unwritable(path, error) from None
    sync_folder(path.parent)


def create_file(path: Path, data: bytes) -> None:
    """Write a whole file under a new name, so that no reader sees a part of it.

    Raises:
        FileExistsError: the name is taken; what has it is untouched.
        OSError: the folder or the disk does not take it.
        StorageError: it is there, but the disk did not confirm it.
    """
    temporary = temporary_beside(path)
    try:
        write_new_file(temporary, data)
        publish(temporary, path)
    except OSError:
        remove_quietly(temporary)
        raise
    sync_folder(path.parent)


def create_state_file(path: Path, data: bytes) -> None:
    """Write a file of our state under a name that nobody has, and tidy its folder.

    Raises:
        FileExistsError: the name is taken; what has it is untouched.
        StateUnwritable: the folder or the disk does not take it.
        StorageError: it is there, but the disk did not confirm it.
    """
    make_folder(path.parent)
    try:
        create_file(path, data)
    except FileExistsError:
        raise
    except OSError as error:
        raise unwritable(path, error) from None
    remove_stale_temporaries(path.parent)


def publish(temporary: Path, path: Path) -> None:
    """Give a finished file its name without taking the name from another.

    Raises:
        FileExistsError: the name is taken.
    """
    try:
        os.link(temporary, path)
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        # exFAT and some network disks. Windows refuses to rename over a file; elsewhere a file
        # of this name could come between the look and the rename, and names are new UUIDs.
        if os.path.lexists(path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path)) from None
        temporary.rename(path)
    else:
        remove_quietly(temporary)


def temporary_beside(path: Path) -> Path:
    return path.with_name(f".{path.name}.{os.urandom(TOKEN_BYTES).hex()}{TEMPORARY_SUFFIX}")


def unused_backup(path: Path) -> Path:
    """Give the first name for an old file, `<name>.bak`, that no file has."""
    number = 1
    while os.path.lexists(backup := path.with_name(f"{path.name}.bak{_counted(number)}")):
        number += 1
    return backup


def _counted(number: int) -> str:
    return "" if number == 1 else f".{number}"


def remove_quietly(path: Path) -> None:
    """Remove one of our files that no one misses; where that fails, it stays."""
    with suppress(OSError):
        path.unlink()


def is_temporary(name: str, *, of: str = "") -> bool:
    """Whether `temporary_beside` gives such a name, to a file whose name ends in `of`."""
    beside, _, token = name.removesuffix(TEMPORARY_SUFFIX).rpartition(".")
    is_ours = name.startswith(".") and name.endswith(TEMPORARY_SUFFIX) and beside.endswith(of)
    return is_ours and len(token) == 2 * TOKEN_BYTES and set(token) <= set("0123456789abcdef")


def remove_stale_temporaries(folder: Path, *, of: str = "") -> None:
    """Remove what a killed process left, in a folder of ours or beside an agent's files."""
    try:
        temporaries = [path for path in folder.iterdir() if is_temporary(path.name, of=of)]
    except OSError:
        return
    for path in temporaries:
        with suppress(OSError):
            if time.time() - path.stat().st_mtime > STALE_S:
                path.unlink()


def make_private_file(path: Path) -> None:
    """Make an empty file that its user alone reads, unless it is there: SQLite's are for all.

    One that is there is closed to others: releases up to 0.1.0 left SQLite's open to read.

    Raises:
        OSError: the folder does not take it.
    """
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        # Another process may have made it just now.
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        return
    if stat.S_ISLNK(mode):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
    # It is not opened: who closes a file gives up all locks that the process has on it, and with
    # them SQLite's (sqlite.org/howtocorrupt.html §2.2).
    if sys.platform != "win32" and mode & 0o077:
        path.chmod(0o600)


def write_new_file(path: Path, data: bytes) -> None:
    """Create a file that must not exist, and check what arrived on disk."""
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL
    flags |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    fd = os.open(path, flags, 0o600)
    try:
        write_all(fd, data)
        os.fsync(fd)
        os.lseek(fd, 0, os.SEEK_SET)
        with os.fdopen(os.dup(fd), "rb") as file:
            if file.read() != data:
                raise OSError(f"what was read back from {path} is not what was written")
    finally:
        os.close(fd)


def write_all(fd: int, data: bytes) -> None:
    """Write all bytes; the system may take fewer at a time than it was given."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def give_owner(new: Path, like: Path) -> None:
    """Let the user who owns a file own a new one too, where root runs Ullage."""
    if sys.platform == "win32":
        return
    owner, ours = like.stat(), new.stat()
    if (owner.st_uid, owner.st_gid) != (ours.st_uid, ours.st_gid):
        os.chown(new, owner.st_uid, owner.st_gid)


def sync_folder(folder: Path) -> None:
    """Make a rename last over a power cut. Windows has no such call and needs none."""
    if sys.platform == "win32":
        return
    try:
        fd = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)
    except OSError as error:
        raise StorageError(
            f"{folder} was written, but the disk did not confirm it ({error.strerror}):"
            " check the disk"
        ) from None


def rename_over(source: Path, target: Path) -> None:
    """Put a file in the place of another; on Windows, wait while others hold it."""
    for tries_left in reversed(range(RENAME_TRIES)):
        try:
            source.replace(target)
            return
        except OSError as error:
            if getattr(error, "winerror", None) not in _HELD_ERRORS or not tries_left:
                raise
            time.sleep(RENAME_PAUSE_S)


def make_folder(folder: Path) -> None:
    """Make a folder of our state that only the user may enter.

    Raises:
        StateUnwritable: the system does not let us.
    """
    try:
        _make_private_folders(folder)
    except OSError as error:
        raise unwritable(folder, error) from None


def _make_private_folders(folder: Path) -> None:
    folders = chain((folder,), folder.parents)
    missing = [*takewhile(lambda path: not path.is_dir(), folders)]
    for path in reversed(missing):
        path.mkdir(mode=0o700, exist_ok=True)


def unwritable(path: Path, error: OSError) -> StateUnwritable:
    reason = error.strerror or type(error).__name__
    return StateUnwritable(
        f"cannot write {path}: {reason}. Make it writable, or set ULLAGE_STATE_DIR to a folder"
        " that is"
    )


def create_named_file(path: Path, data: bytes) -> None:
    """Write a file that must not exist, mode 0600.

    Raises:
        FileExists: there is something of that name; it is untouched.
        StorageError: the folder or the disk does not take it, and nothing is left.
    """
    try:
        create_file(path, data)
    except FileExistsError:
        raise FileExists(f"{path} exists already: name another file") from None
    except ValueError:
        raise StorageError(f"{str(path)!r} is no name for a file: name another one") from None
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise StorageError(f"cannot write {path}: {reason}. Name a file that can be") from None


def make_session_folder(folder: Path) -> None:
    """Make the folder of a workspace's sessions, as its agent would at its first session.

    Raises:
        StorageError: the system does not let us.
    """
    try:
        _make_private_folders(folder)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise StorageError(f"cannot make {folder}: {reason}. Make it yourself") from None
