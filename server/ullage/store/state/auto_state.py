"""Whether a session is compacted automatically, and the outcome: one small file each."""

from collections.abc import Callable
from contextlib import AbstractContextManager

import msgspec

from ullage.core.change.breaker import Breaker
from ullage.core.gauge.gauge import Layer
from ullage.core.gauge.nudge import Nudges
from ullage.store.files.places import Places
from ullage.store.files.quick_lock import quick_lock
from ullage.store.files.state_file import SessionFile, replace_state


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


AUTO_FILE = SessionFile("autocompact.json", AutoFile)


def read_auto_state(session_key: str, places: Places) -> AutoState:
    """Read the state of a session; a file that cannot be read counts as none."""
    content = AUTO_FILE.read(session_key, places).content
    if content is None:
        return AutoState()
    breaker = msgspec.convert(content, Breaker, from_attributes=True)
    return AutoState(is_on=content.is_on, breaker=breaker, nudges=content.nudges)


def change_auto_state(
    session_key: str, change: Callable[[AutoState], AutoState], places: Places
) -> AutoState:
    """Change the state of a session while no other Ullage does; give the state after it.

    `change` gives the same value where nothing is to be written.

    Raises:
        StateBusy: another Ullage is writing for longer than we wait.
        StateUnwritable: the state folder does not take it; the old file is intact.
        StorageError: a newer version wrote the file.
    """
    path = AUTO_FILE.path(session_key, places)
    with quick_lock(path.with_suffix(".lock")):
        before = read_auto_state(session_key, places)
        after = change(before)
        if after != before:
            content = {
                "version": AUTO_FILE.version,
                "is_on": after.is_on,
                **msgspec.structs.asdict(after.breaker),
                "nudges": after.nudges,
            }
            file = msgspec.convert(content, AutoFile)
            replace_state(path, AUTO_FILE.read(session_key, places), file)
    return after


def change_breaker(session_key: str, change: Callable[[Breaker], Breaker], places: Places) -> None:
    """Remember something of a session's automatic runs.

    Raises:
        StorageError: as `change_auto_state`.
    """
    change_auto_state(
        session_key,
        lambda state: msgspec.structs.replace(state, breaker=change(state.breaker)),
        places,
    )


def automatic_run(session_key: str, places: Places) -> AbstractContextManager[None]:
    """Hold the right to run automatically; it goes with the process.

    Raises:
        StateBusy: another Ullage holds it.
        StateUnwritable: the state folder does not take a lock.
    """
    return quick_lock(AUTO_FILE.path(session_key, places).with_name("run.lock"), timeout_s=0)
