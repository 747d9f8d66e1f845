"""What a doctor must know of pi's records."""

from ullage.core.transcript.context import ContextItem
from ullage.core.transcript.entries import Header
from ullage.core.transcript.lineage import Node
from ullage.core.transcript.message import JsonObject
from ullage.formats.agents.openclaw.entries import FLAT
from ullage.formats.doctor import Records
from ullage.formats.json_line import iso_ms, object_of, text_of

NO_RESULT = "[no result was recorded]"


def _is_record(native: JsonObject) -> bool:
    return _is_header(native) or (
        text_of(native, "type") is not None
        and text_of(native, "id") is not None
        and "parentId" in native
    )


def _is_header(native: JsonObject) -> bool:
    return native.get("type") == "session" and text_of(native, "id") is not None


def _make_header(session_id: str, cwd: str, timestamp: str) -> JsonObject:
    return {
        "type": "session",
        "version": 3,
        "id": session_id,
        "timestamp": timestamp,
        "cwd": cwd,
    }


def _session_id_field(native: JsonObject) -> tuple[str, ...]:
    return ("id",) if _is_header(native) else ()


def _find_fault(native: JsonObject) -> str | None:
    if text_of(native, "type") is None:
        return "type"
    if _is_header(native):
        return None
    if not text_of(native, "id"):
        return "id"
    parent_id = native.get("parentId")
    if parent_id is not None and not isinstance(parent_id, str):
        return "parentId"
    if native["type"] == "message":
        message = object_of(native, "message")
        if message is None:
            return "message"
        if text_of(message, "role") is None:
            return "message.role"
        content = message.get("content")
        if content is not None and not isinstance(content, str | list):
            return "message.content"
    return None


def _node(native: JsonObject) -> Node | None:
    entry_id = text_of(native, "id")
    if _is_header(native) or not entry_id:
        return None
    return Node(entry_id=entry_id, parent_id=text_of(native, "parentId") or None)


def _fresh_id(digest: str) -> str:
    return digest[:8]


def _is_answer_sent(item: ContextItem) -> bool:
    """Whether an answer is sent: pi leaves out those that failed."""
    return item.native.get("stopReason") not in ("error", "aborted")


def _make_result(call: JsonObject, call_id: str, name: str, entry_id: str) -> JsonObject:
    timestamp = text_of(call, "timestamp") or ""
    return {
        "type": "message",
        "id": entry_id,
        "parentId": text_of(call, "id"),
        "timestamp": timestamp,
        "message": {
            "role": "toolResult",
            "toolCallId": call_id,
            "toolName": name,
            "content": [{"type": "text", "text": NO_RESULT}],
            "isError": True,
            "timestamp": iso_ms(timestamp) or 0,
        },
    }


def _is_compaction(native: JsonObject) -> bool:
    return native.get("type") == "compaction"


def _covers(header: Header) -> bool:
    """Of pi's sessions the first version has no ids, and in OpenClaw's it takes more than parents
    to tell the path; events have no parents."""
    return header.version in (2, 3) and header.dialect in ("", FLAT)


RECORDS = Records(
    sessions="pi (versions 2 and 3)",
    covers=_covers,
    id_field="id",
    parent_field="parentId",
    kept_field="firstKeptEntryId",
    is_record=_is_record,
    is_header=_is_header,
    make_header=_make_header,
    session_id_field=_session_id_field,
    find_fault=_find_fault,
    node=_node,
    fresh_id=_fresh_id,
    is_answer_sent=_is_answer_sent,
    make_result=_make_result,
    is_compaction=_is_compaction,
)
