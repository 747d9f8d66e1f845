"""Pin texts and messages of a session, list the pins, and remove them."""

import time
from collections.abc import Sequence
from datetime import datetime
from textwrap import wrap
from typing import Literal

import msgspec

from ullage.app.sessions.load import read
from ullage.app.sessions.secrets import secrets_for
from ullage.app.sessions.session import Session
from ullage.core.facts.pins import (
    Pin,
    PinnedBy,
    clean_pin,
    pick_pins,
    read_pinnable_text,
    refuse_pin,
)
from ullage.core.gauge.status import rfc3339
from ullage.core.secrets.scan import mask
from ullage.core.text.prose import gist, write_age
from ullage.core.transcript.context import ContextItem
from ullage.errors import EntryNotFound, PinRefused
from ullage.store.files.places import Places
from ullage.store.state.pins import ReadPins, change_pins, pins_path, read_pins

_INDENT_CHARS = 5
_TOLD_CHARS = 60
_WHERE: dict[PinnedBy, str] = {"command line": "on the command line", "editor": "in the editor"}


class PinReport(msgspec.Struct, frozen=True, kw_only=True):
    number: int | None = None
    """What `ullage pin --remove` takes; null for a pin of the configuration."""
    source: Literal["session", "configuration"]
    text: str
    entry_id: str | None = None
    label: str | None = None
    session_id: str | None = None
    """The session in which it was pinned, which may have gone on in this one."""
    at: str | None = None
    """RFC 3339; null for a pin of the configuration, and for one of an earlier version."""
    by: PinnedBy | None = None


class PinsReport(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `ullage pin --list --json`."""

    session_id: str
    path: str
    pins: list[PinReport]
    problem: str | None
    """Why pins that were set cannot be read."""


def pin_text(
    session: Session, text: str, places: Places, *, by: PinnedBy, label: str | None = None
) -> ReadPins:
    """Pin a text that the user gave; secrets in it are masked, as in every summary.

    Raises:
        PinRefused: it is empty, too long or pinned already.
        StorageError: the state folder does not take it.
    """
    text = mask(clean_pin(text), secrets_for(session.header, places))
    return _add(session, Pin(text=text, label=label, by=by), places)


def pin_entry(
    session: Session, entry: str, places: Places, *, by: PinnedBy, label: str | None = None
) -> ReadPins:
    """Pin a message of the context, given by its entry's id or by its number from 1.

    Raises:
        EntryNotFound: no message of the context has this id or number.
        PinRefused: it has no text, is too long or is pinned already.
        StorageError: the state folder does not take it.
    """
    item = _find(read(session, places).context.items, entry)
    # A message that is pinned is copied into the state folder, where no secret may be.
    text = mask(clean_pin(read_pinnable_text(item)), secrets_for(session.header, places))
    return _add(session, Pin(text=text, entry_id=item.entry_id, label=label, by=by), places)


def find_pin(session: Session, number: int, places: Places) -> str:
    """Give the text of the pin that has a number in the list.

    Raises:
        PinRefused: there is no such pin.
    """
    pins = read_pins(pins_path(session.state_key, places)).pins
    if number > len(pins):
        shown = session.command("pin --list")
        raise PinRefused(f"there is no pin {number}: `{shown}` shows them all")
    return pins[number - 1].text


def unpin(session: Session, text: str, places: Places) -> ReadPins:
    """Remove a pin by its text, wherever that stands by now.

    Raises:
        PinRefused: there is no such pin.
        StorageError: the state folder does not take the change.
    """

    def without(pins: tuple[Pin, ...]) -> tuple[Pin, ...]:
        others = tuple(pin for pin in pins if pin.text != text)
        if len(others) == len(pins):
            raise PinRefused("this is not pinned any more")
        return others

    return change_pins(pins_path(session.state_key, places), without, places)


def carry_pins(
    session: Session,
    configured: Sequence[str],
    kept: Sequence[ContextItem],
    places: Places,
    known_secrets: tuple[str, ...],
) -> tuple[str, ...]:
    """Give the pins that the summary of a compaction has to hold, without secrets; `kept` is what
    stays.

    Raises:
        PinRefused: there are pins that cannot be read, so that they would be lost.
    """
    stored = read_pins(pins_path(session.state_key, places))
    if stored.problem is not None:
        raise PinRefused(f"{stored.problem}. Repair or delete the file first")
    masked = [mask(text, known_secrets) for text in configured]
    return pick_pins(stored.pins, masked, kept)


def report_pins(session: Session, configured: Sequence[str], places: Places) -> PinsReport:
    stored = read_pins(pins_path(session.state_key, places))
    pins = [
        PinReport(
            number=number,
            source="session",
            text=pin.text,
            entry_id=pin.entry_id,
            label=pin.label,
            session_id=pin.session_id,
            at=rfc3339(pin.at_ms),
            by=pin.by,
        )
        for number, pin in enumerate(stored.pins, 1)
    ]
    pins += [PinReport(source="configuration", text=text) for text in configured]
    return PinsReport(
        session_id=session.header.session_id,
        path=str(session.path),
        pins=pins,
        problem=stored.problem,
    )


def pins_text(report: PinsReport, n_columns: int) -> str:
    lines = [line for pin in report.pins for line in _pin_lines(pin, report, n_columns)]
    lines = lines or ["Nothing is pinned in this session."]
    if report.problem is not None:
        lines.append(f"Warning: {report.problem}")
    return "\n".join(lines)


def _pin_lines(pin: PinReport, report: PinsReport, n_columns: int) -> list[str]:
    """Write a pin on its line, and below it where it comes from."""
    number = "  -" if pin.number is None else f"{pin.number:>3}"
    origin = wrap(origin_text(pin, report), n_columns - _INDENT_CHARS)
    below = [f"{'':{_INDENT_CHARS}}{line}" for line in origin]
    return [f"{number}. {gist(pin.text, n_columns - _INDENT_CHARS)}", *below]


def quote_pin(text: str) -> str:
    """Quote the beginning of a pin, to tell of it."""
    return f"“{gist(text, _TOLD_CHARS)}”"


def origin_text(pin: PinReport, report: PinsReport) -> str:
    """Say where a pin comes from: its label, its message, where and when, in which session."""
    noted = [pin.label] if pin.label else []
    if pin.entry_id is not None:
        noted.append(f"message {pin.entry_id}")
    if pin.source == "configuration":
        noted.append("from the configuration")
    if pin.by is not None:
        noted.append(_WHERE[pin.by])
    if pin.at is not None:
        noted.append(write_age(time.time() - datetime.fromisoformat(pin.at).timestamp()))
    if pin.session_id not in (None, report.session_id):
        noted.append(f"in session {pin.session_id}")
    return ", ".join(noted)


def _add(session: Session, given: Pin, places: Places) -> ReadPins:
    session_id, at_ms = session.header.session_id, round(time.time() * 1000)
    pin = msgspec.structs.replace(given, session_id=session_id, at_ms=at_ms)

    def added(pins: tuple[Pin, ...]) -> tuple[Pin, ...]:
        if any(present.text == pin.text for present in pins):
            shown = session.command("pin --list")
            raise PinRefused(f"this is pinned already: `{shown}` shows it")
        reason = refuse_pin(pin, pins)
        if reason is not None:
            raise PinRefused(f"not pinned: {reason}")
        return (*pins, pin)

    return change_pins(pins_path(session.state_key, places), added, places)


def _find(items: Sequence[ContextItem], entry: str) -> ContextItem:
    for item in items:
        if item.entry_id == entry:
            return item
    if entry.isdecimal() and 1 <= int(entry) <= len(items):
        return items[int(entry) - 1]
    raise EntryNotFound(
        f"no message of the context has the id or number {entry[:40]!r}:"
        " `ullage context show` shows them all"
    )
