"""The `.env` files of a workspace, read for nothing but to know what must not get out of it."""

import os
import stat
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from ullage.store.files.quick_state import MAX_ENV_BYTES

MAX_ENV_FILES = 20
MAX_LISTED = 10_000
"""In a folder with more names than this, only `.env` itself is sure to be found (chosen)."""


def read_env_files(folder: Path) -> tuple[str, ...]:
    """Give the texts of `.env` and `.env.*` in a folder; what cannot be read is passed over."""
    names = dict.fromkeys((".env", *_names_in(folder)))
    texts = (_read(folder / name) for name in islice(names, MAX_ENV_FILES))
    return tuple(text for text in texts if text)


def _names_in(folder: Path) -> Iterator[str]:
    try:
        with os.scandir(folder) as entries:
            names = (entry.name for entry in islice(entries, MAX_LISTED))
            yield from sorted(name for name in names if name.startswith(".env."))
    except (OSError, ValueError):
        # A name in a transcript need not be one that the system takes.
        return


def _read(path: Path) -> str:
    """Read the beginning of a regular file; a pipe or a device could make us wait."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return ""
        with path.open("rb") as file:
            return file.read(MAX_ENV_BYTES).decode("utf-8-sig", "replace")
    except (OSError, ValueError):
        return ""
