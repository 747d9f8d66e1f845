"""Pins on disk: one small file for each session, replaced whole."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import msgspec

from ullage.core.pins import Pin
from ullage.core.session_key import folder_name
from ullage.errors import StorageError
from ullage.store.append import session_lock
from ullage.store.files import replace_file
from ullage.store.places import Places, make_folder, unwritable

VERSION = 1
FILE_NAME = "pins.json"
Change: TypeAlias = Callable[[tuple[Pin, ...]], tuple[Pin, ...]]


class StoredPin(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    text: str
    entry_id: str | None = None
    label: str | None = None


class PinsFile(msgspec.Struct, frozen=True, kw_only=True):
    """The content of `pins.json`."""

    version: int
    pins: tuple[StoredPin, ...]


class _Version(msgspec.Struct, frozen=True):
    version: int


class ReadPins(msgspec.Struct, frozen=True, kw_only=True):
    pins: tuple[Pin, ...]
    problem: str | None = None
    """Why there are no pins although there is a file, in words for the user."""
    is_newer: bool = False
    """Whether a later version of Ullage wrote the file, which is then left alone."""


def pins_path(session_key: str, places: Places) -> Path:
    return places.state_folder / "context" / "state" / folder_name(session_key) / FILE_NAME


def read_pins(path: Path) -> ReadPins:
    """Read the pins of a session; a file that cannot be read is told of, never an exception."""
    try:
        data = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return ReadPins(pins=())
    except OSError as error:
        reason = error.strerror or type(error).__name__
        return ReadPins(pins=(), problem=f"the pins in {path} cannot be read ({reason})")
    try:
        version = msgspec.json.decode(data, type=_Version).version
        if version > VERSION:
            problem = f"the pins in {path} are of a newer version of Ullage: update this one"
            return ReadPins(pins=(), problem=problem, is_newer=True)
        stored = msgspec.json.decode(data, type=PinsFile).pins
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return ReadPins(pins=(), problem=f"the pins in {path} are damaged")
    pins = (Pin(text=pin.text, entry_id=pin.entry_id, label=pin.label) for pin in stored)
    return ReadPins(pins=tuple(pins))


def change_pins(path: Path, change: Change, places: Places) -> ReadPins:
    """Replace the pins of a session by what `change` makes of them.

    A damaged file is moved aside first, and the answer says where it is. What `change` raises is
    passed on, and nothing is written.

    Raises:
        SessionLive: another Ullage changes the same pins.
        StateUnwritable: the state folder does not take them; the old file is intact.
        StorageError: a newer version wrote the file, or it cannot be read.
    """
    make_folder(path.parent)
    with session_lock(path, places):
        known = read_pins(path)
        pins = change(known.pins)
        problem = None
        if known.problem is not None:
            problem = f"{known.problem}; it was moved to {_move_aside(path, known).name}"
        stored = tuple(
            StoredPin(text=pin.text, entry_id=pin.entry_id, label=pin.label) for pin in pins
        )
        replace_file(path, msgspec.json.encode(PinsFile(version=VERSION, pins=stored)) + b"\n")
    return ReadPins(pins=pins, problem=problem)


def _move_aside(path: Path, known: ReadPins) -> Path:
    if known.is_newer:
        raise StorageError(known.problem or "")
    number = 1
    while (aside := path.with_name(f"{path.name}.corrupt-{number}")).exists():
        number += 1
    try:
        path.rename(aside)
    except OSError as error:
        raise unwritable(path, error) from None
    return aside
