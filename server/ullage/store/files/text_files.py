"""Small text files of a workspace, and what files there are in it; nothing here fails."""

import os
import stat
from collections.abc import Set
from pathlib import Path

MAX_TEXT_BYTES = 2 * 1024 * 1024
"""A larger file is no instructions and no configuration (chosen)."""
_BLOCK_BYTES = 64 * 1024
"""Most files are read by one call, and another finds the end: calls cost more than bytes."""
_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
"""A link or a pipe may come in a file's place."""
MAX_ENTRIES = 20_000
"""Of a workspace; listing this many takes 0.1 s (chosen)."""


def read_text_file(path: Path) -> str | None:
    """Read a text as an editor shows it; None for what is none, or too large."""
    try:
        info = path.stat()
        if not stat.S_ISREG(info.st_mode) or info.st_size > MAX_TEXT_BYTES:
            return None
        with path.open("rb") as file:
            data = file.read(MAX_TEXT_BYTES + 1)
    except (OSError, ValueError):
        return None
    return data.decode("utf-8-sig", "replace")


def is_too_large(path: Path) -> bool:
    """Whether a file has more than what is read of a text."""
    try:
        return path.stat().st_size > MAX_TEXT_BYTES
    except (OSError, ValueError):
        return False


def read_plain_file(path: Path, max_bytes: int) -> bytes | None:
    """Read a regular file up to a number of bytes, through no link; None for anything else."""
    pieces: list[bytes] = []
    rest = max_bytes
    try:
        fd = os.open(path, _FLAGS)
        try:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                return None
            while rest > 0 and (piece := os.read(fd, min(rest, _BLOCK_BYTES))):
                pieces.append(piece)
                rest -= len(piece)
        finally:
            os.close(fd)
    except (OSError, ValueError):
        return None
    return b"".join(pieces)


def read_text_inside(folder: Path, name: str, max_bytes: int = MAX_TEXT_BYTES) -> str | None:
    """Read the beginning of a text of a folder; None for what leads out of it, or is no text."""
    try:
        path = (folder / name).resolve()
        is_inside = path.is_relative_to(folder.resolve())
    except (OSError, ValueError, RuntimeError):  # the last for links in a circle
        return None
    data = read_plain_file(path, max_bytes) if is_inside else None
    if data is None or b"\0" in data:
        return None
    return data.decode("utf-8-sig", "replace")


def exists(path: Path) -> bool:
    """Whether something is there; a path that the system refuses to look at is."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError):
        return True
    return True


def is_unicode(name: str) -> bool:
    """Tell whether the name of a file can be shown and kept: on Linux one may be any bytes."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def is_same_file(first: Path, second: Path) -> bool:
    try:
        return first.samefile(second)
    except (OSError, ValueError):
        return first == second


def list_names(root: Path, passed_over: Set[str]) -> tuple[str, ...] | None:
    """List the files and folders below a folder, relative, with slashes; folders end with one.

    None where there are more than we look at. Links to folders are not followed.
    """
    names: list[str] = []
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if name not in passed_over]
        parent = Path(folder).relative_to(root).as_posix()
        prefix = "" if parent == "." else f"{parent}/"
        names += [f"{prefix}{name}/" for name in folders]
        names += [f"{prefix}{name}" for name in files]
        if len(names) > MAX_ENTRIES:
            return None
    return tuple(names)
