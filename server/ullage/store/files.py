"""Files of ours, replaced whole: a reader sees the old bytes or the new, never a part."""

import os
import secrets
import sys
import time
from pathlib import Path

from ullage.errors import StorageError
from ullage.store.places import make_folder, unwritable

RENAME_TRIES = 25
"""Windows lets no one rename over a file that a scanner holds open; it lets go within seconds."""
RENAME_PAUSE_S = 0.1
_HELD_ERRORS = (5, 32, 33)
"""ERROR_ACCESS_DENIED, _SHARING_VIOLATION, _LOCK_VIOLATION (research/reliability.md D19)."""


def replace_file(path: Path, data: bytes) -> None:
    """Write a file whole: temporary file, sync, read back, rename, sync of the folder.

    Raises:
        StateUnwritable: the folder or the disk does not take it; the old file is intact.
    """
    make_folder(path.parent)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}.tmp")
    try:
        try:
            write_new_file(temporary, data)
            _rename(temporary, path)
        except OSError as error:
            raise unwritable(path, error) from None
    finally:
        temporary.unlink(missing_ok=True)
    sync_folder(path.parent)


def write_new_file(path: Path, data: bytes) -> None:
    """Create a file that must not exist, mode 0600, and check what arrived on disk."""
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


def _rename(source: Path, target: Path) -> None:
    for tries_left in reversed(range(RENAME_TRIES)):
        try:
            source.replace(target)
            return
        except OSError as error:
            if getattr(error, "winerror", None) not in _HELD_ERRORS or not tries_left:
                raise
            time.sleep(RENAME_PAUSE_S)
