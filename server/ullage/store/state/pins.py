"""Pins on disk: one small file for each session, replaced whole."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import msgspec

from ullage.core.facts.pins import Pin
from ullage.store.files.atomic import make_folder
from ullage.store.files.places import Places
from ullage.store.files.state_file import SessionFile, read_state, replace_state

Change: TypeAlias = Callable[[tuple[Pin, ...]], tuple[Pin, ...]]


class PinsFile(msgspec.Struct, frozen=True, kw_only=True):
    """The content of `pins.json`."""

    version: int
    pins: tuple[Pin, ...]


PINS_FILE = SessionFile("pins.json", PinsFile)


class ReadPins(msgspec.Struct, frozen=True, kw_only=True):
    pins: tuple[Pin, ...]
    problem: str | None = None
    """Why there are no pins although there is a file, in words for the user."""


def pins_path(session_key: str, places: Places) -> Path:
    return PINS_FILE.path(session_key, places)


def read_pins(path: Path) -> ReadPins:
    """Read the pins of a session; a file that cannot be read is a problem, never an exception."""
    stored = read_state(path, PinsFile, PINS_FILE.version)
    return ReadPins(pins=_pins_of(stored.content), problem=stored.problem)


def change_pins(path: Path, change: Change, places: Places) -> ReadPins:
    """Replace the pins of a session by what `change` makes of them.

    A damaged file is moved aside first, and the answer says where it is. What `change` raises is
    passed on, and nothing is written.

    Raises:
        SessionLive: another Ullage changes the same pins.
        StateUnwritable: the state folder does not take them; the old file is intact.
        StorageError: a newer version wrote the file, or it cannot be read.
    """
    from ullage.store.change.session_lock import session_lock

    make_folder(path.parent)
    with session_lock(path, places):
        stored = read_state(path, PinsFile, PINS_FILE.version)
        pins = change(_pins_of(stored.content))
        problem = replace_state(path, stored, PinsFile(version=PINS_FILE.version, pins=pins))
    return ReadPins(pins=pins, problem=problem)


def _pins_of(content: PinsFile | None) -> tuple[Pin, ...]:
    return () if content is None else content.pins
