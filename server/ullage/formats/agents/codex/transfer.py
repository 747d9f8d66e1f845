"""Threads that are made of Codex's: branches, and those that a bundle holds."""

from collections.abc import Sequence
from datetime import datetime

from ullage.core.change.edit import NewHeader, NewSession, UndoEdit
from ullage.core.transcript.context import Context
from ullage.core.transcript.entries import JsonObject, Lines
from ullage.formats.agent_info import Transfer
from ullage.formats.agents.codex.edit import Copier, file_name
from ullage.formats.json_line import object_of, objects_in, text_of, write_line

_ID_KEYS = ("id", "session_id", "thread_id")
_NO_TIME = "1970-01-01T00:00:00.000Z"
"""In a bundle; the thread that is made of it gets one."""


def _branch(lines: Lines, context: Context, header: NewHeader) -> NewSession:
    """Copy the live lines, as each change of a thread does."""
    copier = Copier(
        lines, context, UndoEdit(entry_id=header.session_id, timestamp=header.timestamp)
    )
    copier.add_live_lines({})
    return copier.new_session()


def _list_records(lines: Lines, context: Context) -> list[JsonObject] | None:
    if context.header.parent_session_id is not None:
        return None
    header = NewHeader(session_id="", timestamp=_NO_TIME, cwd="")
    return objects_in(_branch(lines, context, header).data)


def _make_session(records: Sequence[JsonObject], dialect: str, header: NewHeader) -> NewSession:
    """Give lines the id and the folder of the thread that they come to, in the folder of a day."""
    del dialect
    old_id = text_of(_payload_of(records[0]), "id") if records else None
    lines: list[bytes] = []
    for record in records:
        native, payload = record, _payload_of(record)
        own: JsonObject = {}
        if native.get("type") != "response_item" and old_id is not None:
            own = {key: header.session_id for key in _ID_KEYS if payload.get(key) == old_id}
            own |= {"cwd": header.cwd} if isinstance(payload.get("cwd"), str) else {}
        if native.get("type") == "session_meta":
            native = native | {"timestamp": header.timestamp}
            own["timestamp"] = header.timestamp
        lines.append(write_line(native | {"payload": payload | own} if own else native))
    began = datetime.fromisoformat(header.timestamp)
    return NewSession(
        session_id=header.session_id,
        name=f"{began.astimezone():%Y/%m/%d}/{file_name(began, header.session_id)}",
        data=b"".join(lines),
    )


def _payload_of(native: JsonObject) -> JsonObject:
    return object_of(native, "payload") or {}


TRANSFER = Transfer(branch=_branch, list_records=_list_records, make_session=_make_session)
