"""Store one item in memory: in the inbox, for a person to look at, or in today's log.

The log is taken where the user's own configuration allows it. Only a person states preferences: an
agent's wait in the inbox in any case.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from ullage.app.config.load import refuse_read_only, refuse_without_memory
from ullage.app.memory.origins import begin_memory, record_lines
from ullage.app.sessions.secrets import secrets_in
from ullage.core.config.settings import Config
from ullage.core.memory import log_text
from ullage.core.memory.inbox import TITLE, InboxItem, format_item, propose_item, read_items
from ullage.core.memory.journal import Kind, Stored
from ullage.core.memory.likeness import Likeness
from ullage.core.memory.origin import digest_line
from ullage.core.memory.quoted import cite_lines
from ullage.core.secrets.scan import MARKER, mask
from ullage.core.text.prose import remove_list_mark
from ullage.core.text.quoting import quote_as_data
from ullage.core.transcript.recalled import MEMORY_TAG
from ullage.errors import Refused
from ullage.store.files.places import Places
from ullage.store.memory.daily_log import append_text, is_log_path
from ullage.store.memory.journal import record_events
from ullage.store.memory.pages import read_page
from ullage.store.memory.places import DREAMS, FOLDER, SUPERSEDED
from ullage.store.memory.seen import read_memory_files

MAX_CHARS = log_text.MAX_POINT_CHARS
MAX_SOURCE_CHARS = 200
STORED = "Stored memory"
By: TypeAlias = Literal["user", "agent"]
_SECTIONS: dict[Kind, log_text.Section] = {
    "fact": "Notes",
    "decision": "Important Decisions",
    "preference": "User Preferences",
    "command": "Notes",
    "dead-end": "Issues Found",
}


class StoredItem(msgspec.Struct, frozen=True, kw_only=True):
    """What became of an item."""

    path: str | None
    """The file that has it now, relative to the workspace; None where nothing was written."""
    text: str
    """The item as it stands there: one line, without secrets."""
    note: str
    """What was done, in words."""


def store_memory(
    text: str,
    kind: Kind,
    source: str,
    workspace: Path,
    config: Config,
    places: Places,
    *,
    by: By,
    recalled: Iterable[str] = (),
    now: datetime | None = None,
) -> StoredItem:
    """Store an item, unless memory or the inbox says it, or it was only recalled.

    `source` says where it comes from, such as a session. `recalled` has the texts that memory
    handed out in this session; `now` is local, else the moment of the call.

    Raises:
        Refused: it is no single item or a secret alone, memory is switched off, or the file
            cannot be added to.
        StorageError: the disk or the state folder does not take it.
    """
    refuse_without_memory(config)
    refuse_read_only(config.policy)
    workspace, now = workspace.resolve(), now or datetime.now().astimezone()
    secrets = secrets_in((workspace,), places)
    item, source = _read_item(text, secrets), _quote(source, secrets)[:MAX_SOURCE_CHARS]
    alike = Likeness(item)
    # A person's word is worth more than a log's line, which anybody may have written.
    place = _find_alike(alike, recalled, workspace, is_log_enough=by == "agent")
    if place is not None:
        return StoredItem(path=None, text=item, note=f"not stored again: {place} says it")
    begin_memory(workspace, places)
    is_log = config.memory.store == "log" and not (kind == "preference" and by == "agent")
    name, title = (f"{FOLDER}/{now:%Y-%m-%d}.md", f"{now:%Y-%m-%d}") if is_log else (DREAMS, TITLE)
    # Also of the inbox: a person who looks it over copies the line into MEMORY.md.
    waiting = _propose(item, kind, by, source, now)
    record_lines({digest_line(item): by, waiting.item_id: by}, source, workspace, places)

    def compose(before: str) -> str:
        if any(map(alike.is_said_by, before.split("\n"))):
            return ""
        if is_log:
            return _write_log(item, kind, by, now)
        return format_item(waiting, before)

    if not append_text(workspace, name, title, compose, places):
        return StoredItem(path=None, text=item, note=f"not stored again: {name} says it")
    stored = Stored(
        kind=kind, by=by, path=name, line=digest_line(item), session=source, at=now.isoformat()
    )
    record_events((stored,), workspace, places)
    where = "" if is_log else ", where it waits for a person to look at it"
    masked = "; a secret in it was masked" if item != remove_list_mark(_flatten(text)) else ""
    return StoredItem(path=name, text=item, note=f"stored in {name}{where}{masked}")


def _write_log(item: str, kind: Kind, by: By, now: datetime) -> str:
    point = log_text.make_point(_SECTIONS[kind], item)
    marker = log_text.write_store_marker(by)
    return log_text.format_block((point,), time=f"{now:%H:%M}", title=STORED, marker=marker)


def _propose(item: str, kind: Kind, by: By, source: str, now: datetime) -> InboxItem:
    said = ", ".join(filter(None, (kind, by, source)))
    return propose_item(kind, item, day=f"{now:%Y-%m-%d}", title=f"Stored by the {by}", source=said)


def _find_alike(
    alike: Likeness, recalled: Iterable[str], workspace: Path, *, is_log_enough: bool
) -> str | None:
    """Name the place that says an item already; a daily log, where that is enough."""
    for text in recalled:
        if any(map(alike.is_said_by, text.split("\n"))):
            return "what was recalled"
    known = (
        place
        for place, line in _list_known(workspace, with_logs=is_log_enough)
        if alike.is_said_by(line)
    )
    return next(known, None)


def _read_item(text: str, secrets: tuple[str, ...]) -> str:
    """Bring an item onto one line without secrets.

    Raises:
        Refused: it is none, several, a secret alone, or too long.
    """
    if MEMORY_TAG in text:
        raise Refused("this was recalled from memory, which has it already: store what is new")
    lines = [line for line in text.split("\n") if line.strip()]
    if sum(remove_list_mark(line.strip()) != line.strip() for line in lines) > 1:
        raise Refused("these are several items: store one at a time")
    item = remove_list_mark(_quote(text, secrets))
    if not item:
        raise Refused("there is nothing to store: name what is to be remembered")
    if MARKER.search(item) and not any(map(str.isalnum, MARKER.sub("", item))):
        raise Refused(
            "this is a secret and nothing else, which memory does not keep: store where it is found"
        )
    if len(item) > MAX_CHARS:
        raise Refused(
            f"{len(item):,} characters are no single item (at most {MAX_CHARS:,}): store the part"
            " that lasts"
        )
    return item


def _quote(text: str, secrets: tuple[str, ...]) -> str:
    """Bring a text onto one line of data; a secret may show only when it is whole."""
    return mask(_flatten(mask(text, secrets)), secrets)


def _flatten(text: str) -> str:
    return " ".join(quote_as_data(text).split())


def _list_known(workspace: Path, *, with_logs: bool) -> Iterator[tuple[str, str]]:
    """Give the lines of memory and the items of the inbox, each with its place."""
    for file in read_memory_files(workspace):
        if file.path == SUPERSEDED or (not with_logs and is_log_path(file.path)):
            continue
        for number, line in enumerate(file.text.split("\n"), 1):
            if line.strip():
                yield cite_lines(file.path, number, number), line
    for item in read_items(read_page(workspace, DREAMS) or ""):
        yield DREAMS, item.finding
