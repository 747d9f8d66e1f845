"""Whether a session is compacted by itself, and what came of it: one small file for each."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import msgspec

from ullage.core.change.breaker import Breaker
from ullage.core.gauge.nudge import Nudges
from ullage.core.gauge.policy import Layer
from ullage.store.files.places import Places, session_folder
from ullage.store.files.quick_lock import quick_lock
from ullage.store.files.state_file import StateFile, read_state, replace_state

VERSION = 1
FILE_NAME = "autocompact.json"


class AutoState(msgspec.Struct, frozen=True, kw_only=True):
    is_on: bool | None = None
    """The session's own switch; None where the configuration decides."""
    breaker: Breaker = Breaker()
    nudges: Nudges = Nudges()


class AutoFile(msgspec.Struct, frozen=True, kw_only=True):
    """The content of `autocompact.json`."""

    version: int
    is_on: bool | None
    epoch: int
    last_prune_ms: int | None
    last_compaction_ms: int | None
    strikes_ms: tuple[int, ...]
    held_layer: Layer | None
    held_until_tokens: int
    is_warned: bool
    nudges: Nudges = Nudges()
    """Missing in files of the first versions."""


def auto_path(session_key: str, places: Places) -> Path:
    return session_folder("state", session_key, places) / FILE_NAME


def read_auto_state(session_key: str, places: Places) -> AutoState:
    """Read the state of a session; a file that cannot be read counts as none."""
    content = _read(session_key, places).content
    if content is None:
        return AutoState()
    breaker = Breaker(
        epoch=content.epoch,
        last_prune_ms=content.last_prune_ms,
        last_compaction_ms=content.last_compaction_ms,
        strikes_ms=content.strikes_ms,
        held_layer=content.held_layer,
        held_until_tokens=content.held_until_tokens,
        is_warned=content.is_warned,
    )
    return AutoState(is_on=content.is_on, breaker=breaker, nudges=content.nudges)


def write_auto_state(session_key: str, state: AutoState, places: Places) -> None:
    """Replace the state of a session.

    Raises:
        StateUnwritable: the state folder does not take it; the old file is intact.
        StorageError: a newer version wrote the file.
    """
    breaker = state.breaker
    content = AutoFile(
        version=VERSION,
        is_on=state.is_on,
        epoch=breaker.epoch,
        last_prune_ms=breaker.last_prune_ms,
        last_compaction_ms=breaker.last_compaction_ms,
        strikes_ms=breaker.strikes_ms,
        held_layer=breaker.held_layer,
        held_until_tokens=breaker.held_until_tokens,
        is_warned=breaker.is_warned,
        nudges=state.nudges,
    )
    replace_state(auto_path(session_key, places), _read(session_key, places), content)


def change_auto_state(
    session_key: str, changed: Callable[[AutoState], AutoState], places: Places
) -> AutoState:
    """Change the state of a session while no other Ullage does; give the state after it.

    `changed` gives the same value where nothing is to be written.

    Raises:
        StateBusy: another Ullage is writing for longer than we wait.
        StateUnwritable: the state folder does not take it; the old file is intact.
        StorageError: a newer version wrote the file.
    """
    with quick_lock(auto_path(session_key, places).with_suffix(".lock")):
        before = read_auto_state(session_key, places)
        after = changed(before)
        if after != before:
            write_auto_state(session_key, after, places)
    return after


def automatic_run(session_key: str, places: Places) -> AbstractContextManager[None]:
    """Hold the right to do by itself what is due; it goes with the process.

    Raises:
        StateBusy: another Ullage holds it.
        StateUnwritable: the state folder does not take a lock.
    """
    return quick_lock(auto_path(session_key, places).with_name("run.lock"), timeout_s=0)


def _read(session_key: str, places: Places) -> StateFile[AutoFile]:
    return read_state(auto_path(session_key, places), AutoFile, VERSION)
