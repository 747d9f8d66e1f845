"""The working state of a session on disk: four small files, each replaced whole (S1 §7.1).

A file that was last written before the session's latest checkpoint was bundled by it, and its
process was killed before it could say so: what it holds is counted, and not told again (S1 §12).
Each file is judged by itself.
"""

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Generic, TypeAlias, TypeVar

import msgspec

from ullage.core.working_state import (
    CapturedResources,
    CapturedThread,
    Decisions,
    OpenItems,
    WorkingState,
    decisions_without,
    open_items_without,
    resources_without,
    thread_without,
    without,
)
from ullage.errors import StorageError
from ullage.store.places import Places, session_folder
from ullage.store.quick_lock import quick_lock
from ullage.store.state_file import StateFile, read_state, replace_state

VERSION = 1
LOCK_NAME = "capture.lock"
LATEST_NAME = "_latest.json"
"""The pointer of `store/checkpoints.py`, which a hook does not import: it needs YAML."""

P = TypeVar("P", Decisions, CapturedThread, CapturedResources, OpenItems)


class PartFile(msgspec.Struct, Generic[P], frozen=True, kw_only=True):
    """The content of each of the files."""

    version: int
    state: P


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
        StorageError: the system does not tell when a file was written.
    """
    parts = _find_all(session_key, places)
    problems = tuple(one.problem for one in _known(parts) if one.problem is not None)
    return ReadWorkingState(state=_state_of(parts), problems=problems)


def _known(parts: _Parts) -> tuple[_Known, ...]:
    return (
        parts.thread.known,
        parts.decisions.known,
        parts.resources.known,
        parts.open_items.known,
    )


def change_working_state(
    session_key: str, change: Callable[[WorkingState], WorkingState], places: Places
) -> tuple[str, ...]:
    """Replace the working state by what `change` makes of it; only the parts that it changed.

    Gives what was wrong with a file that had to be moved aside, in words for the user.

    Raises:
        StateBusy: another process writes it.
        StateUnwritable: the state folder does not take it; each file is old or new.
        StorageError: a newer version wrote a file, or it can be neither read nor moved.
    """
    with _locked(session_key, places):
        return _change(session_key, change, places)


@contextmanager
def held_working_state(session_key: str, places: Places) -> Generator[WorkingState]:
    """Hold the working state still for as long as a checkpoint takes that bundles it.

    Where that ends well, what was given is taken away from it.

    Raises:
        StateBusy: another process writes it.
        StorageError: as for a change, or a file cannot be read now.
    """
    with _locked(session_key, places):
        parts = _find_all(session_key, places)
        for known in _known(parts):
            if known.is_unread and known.problem is not None:
                # What a checkpoint would lack would then be older than it, and count as bundled.
                raise StorageError(known.problem)
        bundled = _state_of(parts)
        yield bundled
        _change(session_key, lambda state: without(state, bundled), places)


@contextmanager
def _locked(session_key: str, places: Places) -> Generator[None]:
    with quick_lock(session_folder("state", session_key, places) / LOCK_NAME):
        yield


def _change(
    session_key: str, change: Callable[[WorkingState], WorkingState], places: Places
) -> tuple[str, ...]:
    parts = _find_all(session_key, places)
    state = change(_state_of(parts))
    # Messages first: what they decide is found again from them where the process ends here.
    problems = (
        _replace(parts.thread, state.thread, _THREAD),
        _replace(parts.decisions, state.decisions, _DECISIONS),
        _replace(parts.resources, state.resources, _RESOURCES),
        _replace(parts.open_items, state.open_items, _OPEN_ITEMS),
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
    latest = session_folder("checkpoints", session_key, places) / LATEST_NAME
    bundled_ns = _written_ns(latest)
    if bundled_ns > time.time_ns():
        # The clock was set back: by it, whatever is captured now would be older.
        bundled_ns = 0
    return _Parts(
        _find(_DECISIONS, folder, bundled_ns),
        _find(_THREAD, folder, bundled_ns),
        _find(_RESOURCES, folder, bundled_ns),
        _find(_OPEN_ITEMS, folder, bundled_ns),
    )


def _find(part: _Part[P], folder: Path, bundled_ns: int) -> _Found[P]:
    path = folder / part.file_name
    # Looked at before it is read: a file that is replaced in between counts as older, not newer.
    written_ns = _written_ns(path)
    known = read_state(path, part.content, VERSION)
    state = part.empty if known.content is None else known.content.state
    if written_ns < bundled_ns:
        state = part.without(state, state)
    return _Found(path, known, state)


def _written_ns(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except (FileNotFoundError, NotADirectoryError):
        return 0
    except OSError as error:
        raise StorageError(f"cannot look at {path}: {error.strerror}") from None


def _replace(found: _Found[P], state: P, part: _Part[P]) -> str | None:
    content = found.known.content
    before = part.empty if content is None else content.state
    if state == before:
        return None
    return replace_state(found.path, found.known, PartFile(version=VERSION, state=state))
