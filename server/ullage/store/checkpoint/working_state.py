"""The working state of a session on disk: four small files, each replaced whole.

A file that was last written before the session's latest checkpoint was bundled by it, and its
process was killed before it could say so: what it holds is counted, and not told again.
Each file is judged by itself: by the checkpoint that it names as the latest one when it was
written, and where that is not known by the times of the files.

What cannot be added at once, because another process writes, is laid beside them in a file of its
own. Whoever holds the lock next adds it; that an event counts once makes it safe to add it twice.
"""

import os
import re
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Generic, TypeAlias, TypeVar

import msgspec

from ullage.core.checkpoint.bundled_state import (
    decisions_without,
    open_items_without,
    resources_without,
    thread_without,
    without,
)
from ullage.core.checkpoint.working_state import (
    CapturedResources,
    CapturedThread,
    Decisions,
    OpenItems,
    Taken,
    WorkingState,
    add,
)
from ullage.errors import StateBusy, StorageError
from ullage.store.files.atomic import create_file, remove_quietly, unwritable
from ullage.store.files.places import Places, session_folder
from ullage.store.files.quick_lock import TIMEOUT_S, quick_lock
from ullage.store.files.state_file import StateFile, read_state, replace_state, set_aside

VERSION = 1
LOCK_NAME = "capture.lock"
LATEST_NAME = "_latest.json"
"""The pointer of `store/checkpoint/files.py`, which a hook does not import: it needs YAML."""

WAIT_S = 0.05
"""A hook stands in the way of the agent's work; who writes is done in less than that (chosen)."""
_WAITING = re.compile(r"waiting-\w+\.json")
_MAX_DIGITS = 20

P = TypeVar("P", Decisions, CapturedThread, CapturedResources, OpenItems)


class PartFile(msgspec.Struct, Generic[P], frozen=True, kw_only=True):
    """The content of each of the files."""

    version: int
    state: P
    latest: str | None = None
    """The checkpoint that was the latest when this was written, empty where there was none."""


class WaitingFile(msgspec.Struct, frozen=True, kw_only=True):
    """The content of a file that waits to be added."""

    version: int
    taken: Taken


class _Pointer(msgspec.Struct, frozen=True):
    """What we read of a checkpoint's pointer."""

    checkpoint_id: str | None = None


class _Latest(msgspec.Struct, frozen=True):
    """The latest checkpoint."""

    checkpoint_id: str | None
    """Empty where there is none, None where it is not known."""
    written_ns: int


class ReadWorkingState(msgspec.Struct, frozen=True, kw_only=True):
    state: WorkingState
    problems: tuple[str, ...]
    """Why a part is empty although there is a file, in words for the user."""


class _Part(msgspec.Struct, Generic[P], frozen=True):
    file_name: str
    content: type[PartFile[P]]
    empty: P
    without: Callable[[P, P], P]


class _Found(msgspec.Struct, Generic[P], frozen=True):
    path: Path
    known: StateFile[PartFile[P]]
    state: P


class _Parts(msgspec.Struct, frozen=True):
    latest: _Latest
    decisions: _Found[Decisions]
    thread: _Found[CapturedThread]
    resources: _Found[CapturedResources]
    open_items: _Found[OpenItems]


_Known: TypeAlias = (
    StateFile[PartFile[Decisions]]
    | StateFile[PartFile[CapturedThread]]
    | StateFile[PartFile[CapturedResources]]
    | StateFile[PartFile[OpenItems]]
)

_DECISIONS = _Part("decisions.json", PartFile[Decisions], Decisions(), decisions_without)
_THREAD = _Part("thread.json", PartFile[CapturedThread], CapturedThread(), thread_without)
_RESOURCES = _Part(
    "resources.json", PartFile[CapturedResources], CapturedResources(), resources_without
)
_OPEN_ITEMS = _Part("open_items.json", PartFile[OpenItems], OpenItems(), open_items_without)


def read_working_state(session_key: str, places: Places) -> ReadWorkingState:
    """Read what is captured and not bundled; a file that cannot be read is told of.

    Raises:
        StorageError: the system does not tell which files there are, or when one was written.
    """
    # Before the parts: what is added meanwhile is there twice then, which makes no difference.
    waiting = _find_waiting(session_key, places)
    parts = _find_all(session_key, places)
    files = (*_known(parts), *waiting.values())
    problems = tuple(one.problem for one in files if one.problem is not None)
    return ReadWorkingState(state=_with_waiting(_state_of(parts), waiting), problems=problems)


def _known(parts: _Parts) -> tuple[_Known, ...]:
    return (
        parts.thread.known,
        parts.decisions.known,
        parts.resources.known,
        parts.open_items.known,
    )


def add_to_working_state(session_key: str, taken: Taken, places: Places) -> tuple[str, ...]:
    """Add what was taken of events, or lay it beside the state while another process writes that.

    Only the parts that it changes are replaced. Gives what was wrong with a file that had to be
    moved aside, in words for the user.

    Raises:
        StateUnwritable: the state folder does not take it; each file is old or new.
        StorageError: a newer version wrote a file, or it can be neither read nor moved.
    """
    try:
        with _locked(session_key, places, timeout_s=WAIT_S):
            return _add(session_key, taken, places)
    except StateBusy:
        folder = session_folder("state", session_key, places)
        path = folder / f"waiting-{os.urandom(8).hex()}.json"
        try:
            create_file(path, msgspec.json.encode(WaitingFile(version=VERSION, taken=taken)))
        except OSError as error:
            raise unwritable(path, error) from None
        return ()


@contextmanager
def held_working_state(session_key: str, places: Places) -> Generator[WorkingState]:
    """Hold the working state still for as long as a checkpoint takes that bundles it.

    Where that ends well, what was given is taken away from it.

    Raises:
        StateBusy: another process writes it.
        StorageError: as for a change, or a file cannot be read now.
    """
    with _locked(session_key, places, timeout_s=TIMEOUT_S):
        # On the disk before it is bundled: what still waited would be told again after a kill.
        if _find_waiting(session_key, places):
            _add(session_key, Taken(), places)
        parts = _find_all(session_key, places)
        for known in _known(parts):
            if known.is_unread and known.problem is not None:
                # What a checkpoint would lack would then be older than it, and count as bundled.
                raise StorageError(known.problem)
        bundled = _state_of(parts)
        yield bundled
        _change(session_key, lambda state: without(state, bundled), places)


@contextmanager
def _locked(session_key: str, places: Places, *, timeout_s: float) -> Generator[None]:
    path = session_folder("state", session_key, places) / LOCK_NAME
    with quick_lock(path, timeout_s=timeout_s):
        yield


def _add(session_key: str, taken: Taken, places: Places) -> tuple[str, ...]:
    """Add what waits as well; it goes once it is in the state."""
    waiting = _find_waiting(session_key, places)
    problems = _change(session_key, lambda state: _with_waiting(add(state, taken), waiting), places)
    for path, known in waiting.items():
        if known.content is not None:
            remove_quietly(path)
        elif not known.is_newer and not known.is_unread:
            problems += (f"{known.problem}; it was moved to {set_aside(path).name}",)
    return problems


def _find_waiting(session_key: str, places: Places) -> dict[Path, StateFile[WaitingFile]]:
    folder = session_folder("state", session_key, places)
    try:
        paths = [path for path in folder.iterdir() if _WAITING.fullmatch(path.name)]
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise StorageError(f"cannot look at {folder}: {error.strerror}") from None
    return {path: read_state(path, WaitingFile, VERSION) for path in paths}


def _with_waiting(state: WorkingState, waiting: dict[Path, StateFile[WaitingFile]]) -> WorkingState:
    for known in waiting.values():
        if known.content is not None:
            state = add(state, known.content.taken)
    return state


def _change(
    session_key: str, change: Callable[[WorkingState], WorkingState], places: Places
) -> tuple[str, ...]:
    parts = _find_all(session_key, places)
    state = change(_state_of(parts))
    # Messages first: what they decide is found again from them where the process ends here.
    problems = (
        _replace(parts.thread, parts.latest, state.thread, _THREAD),
        _replace(parts.decisions, parts.latest, state.decisions, _DECISIONS),
        _replace(parts.resources, parts.latest, state.resources, _RESOURCES),
        _replace(parts.open_items, parts.latest, state.open_items, _OPEN_ITEMS),
    )
    return tuple(problem for problem in problems if problem is not None)


def _state_of(parts: _Parts) -> WorkingState:
    return WorkingState(
        decisions=parts.decisions.state,
        thread=parts.thread.state,
        resources=parts.resources.state,
        open_items=parts.open_items.state,
    )


def _find_all(session_key: str, places: Places) -> _Parts:
    folder = session_folder("state", session_key, places)
    latest = _find_latest(session_folder("checkpoints", session_key, places) / LATEST_NAME)
    return _Parts(
        latest,
        _find(_DECISIONS, folder, latest),
        _find(_THREAD, folder, latest),
        _find(_RESOURCES, folder, latest),
        _find(_OPEN_ITEMS, folder, latest),
    )


def _find_latest(pointer: Path) -> _Latest:
    written_ns = _written_ns(pointer)
    if written_ns > time.time_ns():
        # The clock was set back: by it, whatever is captured now would be older.
        written_ns = 0
    try:
        checkpoint_id = msgspec.json.decode(pointer.read_bytes(), type=_Pointer).checkpoint_id
    except (FileNotFoundError, NotADirectoryError):
        checkpoint_id = ""
    except (OSError, msgspec.DecodeError, UnicodeError, RecursionError):
        checkpoint_id = None
    return _Latest(checkpoint_id, written_ns)


def _find(part: _Part[P], folder: Path, latest: _Latest) -> _Found[P]:
    path = folder / part.file_name
    # Looked at before it is read: a file that is replaced in between counts as older, not newer.
    written_ns = _written_ns(path)
    known = read_state(path, part.content, VERSION)
    if known.content is None:
        return _Found(path, known, part.empty)
    state, marked = known.content.state, known.content.latest
    if marked is None or latest.checkpoint_id is None:
        is_bundled = written_ns < latest.written_ns
    else:
        # Ids end in a number that grows; one is gone where the user deleted its file.
        is_bundled = _number(marked) < _number(latest.checkpoint_id)
    return _Found(path, known, part.without(state, state) if is_bundled else state)


def _number(checkpoint_id: str) -> int:
    digits = checkpoint_id.removeprefix("cp_")
    return int(digits) if digits.isdecimal() and len(digits) < _MAX_DIGITS else 0


def _written_ns(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except (FileNotFoundError, NotADirectoryError):
        return 0
    except OSError as error:
        raise StorageError(f"cannot look at {path}: {error.strerror}") from None


def _replace(found: _Found[P], latest: _Latest, state: P, part: _Part[P]) -> str | None:
    content = found.known.content
    before = part.empty if content is None else content.state
    if state == before:
        return None
    new = PartFile(version=VERSION, state=state, latest=latest.checkpoint_id)
    return replace_state(found.path, found.known, new)
