"""What the last dream of a workspace saw, which sessions were backfilled, and who dreams now."""

from collections.abc import Generator, Iterable
from contextlib import ExitStack, contextmanager
from pathlib import Path

import msgspec
from msgspec.structs import replace

from ullage.core.dream.dream_state import DreamState
from ullage.errors import StateBusy, StorageError
from ullage.store.files.atomic import replace_file
from ullage.store.files.places import Places
from ullage.store.files.quick_lock import quick_lock
from ullage.store.files.state_file import StateFile, read_state, replace_state
from ullage.store.files.text_files import read_text_file
from ullage.store.memory.places import memory_folder

NAME = "dreaming.json"
LOG_NAME = "dreams.log"
MAX_LINES = 1000
"""Of a file of lines, the newest; chosen: a dream a night for almost three years."""


class _Remembered(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The content of `dreaming.json`."""

    version: int = 1
    last_dream: DreamState = DreamState()
    backfilled: dict[str, str] = {}
    """Fingerprints of sessions as they were read, by their keys."""


def read_dream_state(workspace: Path, places: Places) -> DreamState:
    """Read what the last dream saw; a damaged file counts as none.

    Raises:
        StorageError: a newer version wrote the file, or it could not be read: nobody could note
            that a dream took place, and each look would begin another.
    """
    return _content(_read(workspace, places)).last_dream


def read_backfilled(workspace: Path, places: Places) -> dict[str, str]:
    """Read the fingerprints of sessions as they were backfilled, by their keys.

    Raises:
        StorageError: a newer version wrote the file, or it could not be read.
    """
    return _content(_read(workspace, places)).backfilled


def record_dream(state: DreamState, workspace: Path, places: Places) -> None:
    """Remember what a dream saw, while `dream_lock` is held.

    Raises:
        StateUnwritable: the state folder does not take it; the old file is intact.
        StorageError: a newer version wrote the file, or it could not be read.
    """
    stored = _read(workspace, places)
    remembered = replace(_content(stored), last_dream=state)
    replace_state(memory_folder(workspace, places) / NAME, stored, remembered)


def record_backfilled(key: str, fingerprint: str, workspace: Path, places: Places) -> None:
    """Remember that a session was backfilled as it was, while `dream_lock` is held.

    Raises:
        StateUnwritable: the state folder does not take it; the old file is intact.
        StorageError: a newer version wrote the file, or it could not be read.
    """
    stored = _read(workspace, places)
    before = _content(stored)
    remembered = replace(before, backfilled=before.backfilled | {key: fingerprint})
    replace_state(memory_folder(workspace, places) / NAME, stored, remembered)


@contextmanager
def dream_lock(workspace: Path, places: Places) -> Generator[None]:
    """Dream alone: one dream of a workspace at a time, over all processes.

    Raises:
        StateBusy: another is under way.
        StateUnwritable: the state folder does not take a lock.
    """
    with ExitStack() as held:
        try:
            path = memory_folder(workspace, places) / "dreaming.lock"
            held.enter_context(quick_lock(path, timeout_s=0))
        except StateBusy:
            raise StateBusy("another dream of this folder is under way: wait for its end") from None
        yield


def read_last_dream(workspace: Path, places: Places) -> str | None:
    """Read the newest line of the log of dreams; None where there is none."""
    lines = (read_text_file(memory_folder(workspace, places) / LOG_NAME) or "").split("\n")
    return next((line for line in reversed(lines) if line), None)


def append_dream_log(line: str, workspace: Path, places: Places) -> None:
    """Add a line to the log of dreams, for people, while `dream_lock` is held.

    Raises:
        StateUnwritable: the state folder does not take it; the old file is intact.
    """
    append_lines(LOG_NAME, (" ".join(line.split()),), workspace, places)


def append_lines(name: str, lines: Iterable[str], workspace: Path, places: Places) -> None:
    """Add lines to a file of our memory folder, while `dream_lock` is held.

    Raises:
        StateUnwritable: the state folder does not take it; the old file is intact.
    """
    path = memory_folder(workspace, places) / name
    before = filter(None, (read_text_file(path) or "").split("\n"))
    kept = (*before, *lines)[-MAX_LINES:]
    replace_file(path, "".join(f"{each}\n" for each in kept).encode("utf-8", "replace"))


def _read(workspace: Path, places: Places) -> StateFile[_Remembered]:
    return read_state(memory_folder(workspace, places) / NAME, _Remembered, _Remembered().version)


def _content(stored: StateFile[_Remembered]) -> _Remembered:
    if stored.problem is not None and (stored.is_newer or stored.is_unread):
        raise StorageError(stored.problem)
    return stored.content or _Remembered()
