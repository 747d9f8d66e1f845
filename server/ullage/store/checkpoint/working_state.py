"""The working state of a session on disk: four small files, each replaced whole.

A file that was last written before the session's latest checkpoint is held by that, and its
process was killed before it could say so: what it has is counted, and not told again. Each file is
judged by itself: by the checkpoint that it names as the latest one when it was written, and where
that is not known by the times of the files.

What is spooled beside them goes into them when one process writes them, under a lock.
"""

import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Generic, TypeAlias, TypeVar, cast

import msgspec

from ullage.core.checkpoint import working_state
from ullage.core.checkpoint.captured import Captured
from ullage.errors import StateBusy, StorageError
from ullage.store.checkpoint.spool import SpooledFile, spool, spooled_files
from ullage.store.files.atomic import remove_quietly
from ullage.store.files.places import Places, session_folder
from ullage.store.files.quick_lock import TIMEOUT_S, quick_lock
from ullage.store.files.quick_state import SPOOL_VERSION
from ullage.store.files.state_file import StateFile, read_state, replace_state, set_aside

VERSION = 1
LOCK_NAME = "capture.lock"
POINTER_NAME = "_latest.json"
"""Of the checkpoints, as in `store/checkpoint/files.py`, which needs YAML."""
WAIT_S = 0.05
"""Who writes is done in less than that, and what would wait longer is spooled (chosen)."""
_MAX_DIGITS = 20

Part: TypeAlias = (
    working_state.CapturedThread
    | working_state.Decisions
    | working_state.OpenItems
    | working_state.CapturedResources
)
P_co = TypeVar("P_co", bound=Part, covariant=True)


class PartFile(msgspec.Struct, Generic[P_co], frozen=True, kw_only=True):
    """The content of each of the files."""

    version: int
    state: P_co
    latest: str | None = None
    """The checkpoint that was the latest when this was written, empty where there was none."""


_PARTS: dict[str, type[PartFile[Part]]] = {
    "thread": PartFile[working_state.CapturedThread],
    "decisions": PartFile[working_state.Decisions],
    "open_items": PartFile[working_state.OpenItems],
    "resources": PartFile[working_state.CapturedResources],
}
"""Messages first: what they decide is found again from them where the process ends there."""


class _Pointer(msgspec.Struct, frozen=True):
    """What we read of a checkpoint's pointer."""

    checkpoint_id: str | None = None


class _Folders(msgspec.Struct, frozen=True):
    """Where the parts of a session's state are, and its checkpoints."""

    state: Path
    checkpoints: Path


class _OnDisk(msgspec.Struct, frozen=True, kw_only=True):
    """What is in the folder of a session."""

    folder: Path
    latest: str | None
    """The latest checkpoint, empty where there is none, None where it is not known."""
    parts: dict[str, StateFile[PartFile[Part]]]
    spooled: dict[Path, StateFile[SpooledFile]]
    state: working_state.WorkingState
    """Of both together."""


def read_working_state(session_key: str, places: Places) -> working_state.WorkingState:
    """Read what is captured and no checkpoint holds; nothing of a file that cannot be read.

    Raises:
        StorageError: the system does not tell which files there are, or when one was written.
    """
    return _read(_folders(session_key, places)).state


def add_to_working_state(session_key: str, captured: Captured, places: Places) -> tuple[str, ...]:
    """Add what was captured, or spool it while another process writes the state.

    Only the parts that it changes are replaced. Gives what was wrong with a file that had to be
    moved aside, in words for the user.

    Raises:
        StateUnwritable: the state folder does not take it; each file is old or new.
        StorageError: a newer version wrote a file, or it can be neither read nor moved.
    """
    folders = _folders(session_key, places)
    try:
        with quick_lock(folders.state / LOCK_NAME, timeout_s=WAIT_S):
            on_disk = _read(folders)
            return _write(on_disk, working_state.add_captured(on_disk.state, captured))
    except StateBusy:
        spool(session_key, captured, places)
        return ()


@contextmanager
def hold_working_state(session_key: str, places: Places) -> Generator[working_state.WorkingState]:
    """Hold the working state still for as long as a checkpoint takes that holds it then.

    Nothing is added in between, so that an event is in this checkpoint or in the next even where
    the process is killed. Where the block ends well, what was given is taken out of the state.

    Raises:
        StateBusy: another process writes it, for a second already.
        StorageError: as for a change, or a file cannot be read now.
    """
    folders = _folders(session_key, places)
    with quick_lock(folders.state / LOCK_NAME, timeout_s=TIMEOUT_S):
        on_disk = _read(folders)
        if on_disk.spooled:
            # On the disk before it is held: what still waited would be told again after a kill.
            _write(on_disk, on_disk.state)
            on_disk = _read(folders)
        for file in on_disk.parts.values():
            if file.is_unread and file.problem is not None:
                # What a checkpoint would lack would then be older than it, and count as held.
                raise StorageError(file.problem)
        yield on_disk.state
        latest, _ = _read_pointer(folders.checkpoints)
        _write(msgspec.structs.replace(on_disk, latest=latest), on_disk.state.held())


def _folders(session_key: str, places: Places) -> _Folders:
    state, checkpoints = (
        session_folder(kind, session_key, places) for kind in ("state", "checkpoints")
    )
    return _Folders(state, checkpoints)


def _read(folders: _Folders) -> _OnDisk:
    folder = folders.state
    latest, latest_ns = _read_pointer(folders.checkpoints)
    # Before the parts: what is added meanwhile is there twice then, which makes no difference.
    spooled = {path: read_state(path, SpooledFile, SPOOL_VERSION) for path in spooled_files(folder)}
    files: dict[str, StateFile[PartFile[Part]]] = {}
    parts: dict[str, Part] = {}
    for name, kind in _PARTS.items():
        path = folder / f"{name}.json"
        # Looked at before it is read: a file that is replaced in between counts as older.
        written_ns = _written_ns(path)
        files[name] = read_state(path, kind, VERSION)
        content = files[name].content
        if content is not None:
            is_known = content.latest is not None and latest is not None
            is_held = (
                _number(content.latest) < _number(latest) if is_known else written_ns < latest_ns
            )
            parts[name] = content.state.held() if is_held else content.state
    return _OnDisk(
        folder=folder,
        latest=latest,
        parts=files,
        spooled=spooled,
        state=working_state.add_captured(
            msgspec.structs.replace(working_state.WorkingState(), **parts),
            *(file.content.captured for file in spooled.values() if file.content is not None),
        ),
    )


def _read_pointer(folder: Path) -> tuple[str | None, int]:
    """Give the latest checkpoint, empty where there is none, None where it is not known; and when
    it was written.
    """
    path = folder / POINTER_NAME
    written_ns = _written_ns(path)
    if written_ns > time.time_ns():
        # The clock was set back: by it, whatever is captured now would be older.
        written_ns = 0
    try:
        return msgspec.json.decode(path.read_bytes(), type=_Pointer).checkpoint_id, written_ns
    except (FileNotFoundError, NotADirectoryError):
        return "", written_ns
    except (OSError, msgspec.DecodeError, UnicodeError, RecursionError):
        return None, written_ns


def _number(checkpoint_id: str | None) -> int:
    """Ids end in a number that grows; one is gone where the user deleted its file."""
    digits = (checkpoint_id or "").removeprefix("cp_")
    return int(digits) if digits.isdecimal() and len(digits) < _MAX_DIGITS else 0


def _written_ns(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except (FileNotFoundError, NotADirectoryError):
        return 0
    except OSError as error:
        raise StorageError(f"cannot look at {path}: {error.strerror}") from None


def _write(on_disk: _OnDisk, state: working_state.WorkingState) -> tuple[str, ...]:
    """Replace the parts that changed; what was spooled goes once it is in them."""
    problems: list[str | None] = []
    for name, file in on_disk.parts.items():
        part = cast("Part", getattr(state, name))
        before = type(part)() if file.content is None else file.content.state
        if part != before:
            new = PartFile(version=VERSION, state=part, latest=on_disk.latest)
            problems.append(replace_state(on_disk.folder / f"{name}.json", file, new))
    for path, file in on_disk.spooled.items():
        if file.content is not None:
            remove_quietly(path)
        elif not file.is_newer and not file.is_unread:
            problems.append(f"{file.problem}; it was moved to {set_aside(path).name}")
    return tuple(problem for problem in problems if problem is not None)
