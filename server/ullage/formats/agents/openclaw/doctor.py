"""What a doctor must know of pi's records."""

from ullage.core.transcript.context import ContextItem
from ullage.core.transcript.lineage import Node
from ullage.core.transcript.message import JsonObject
from ullage.formats.json_line import iso_ms, object_of, text_of

ID_FIELD: str = "id"
PARENT_FIELD: str = "parentId"
KEPT_FIELD: str = "firstKeptEntryId"
MENDS_PAIRS: bool = True
NO_RESULT = "[no result was recorded]"


def is_record(native: JsonObject) -> bool:
    return is_header(native) or (
        text_of(native, "type") is not None
        and text_of(native, "id") is not None
        and "parentId" in native
    )


def is_header(native: JsonObject) -> bool:
    return native.get("type") == "session" and text_of(native, "id") is not None


def make_header(session_id: str, cwd: str, timestamp: str) -> JsonObject | None:
    return {
        "type": "session",
        "version": 3,
        "id": session_id,
        "timestamp": timestamp,
        "cwd": cwd,
    }


def session_id_field(native: JsonObject) -> tuple[str, ...]:
    return ("id",) if is_header(native) else ()


def field_fault(native: JsonObject) -> str | None:
    if text_of(native, "type") is None:
        return "type"
    if is_header(native):
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


def node(native: JsonObject) -> Node | None:
    entry_id = text_of(native, "id")
    if is_header(native) or not entry_id:
        return None
    return Node(entry_id=entry_id, parent_id=text_of(native, "parentId") or None)


def fresh_id(digest: str) -> str:
    return digest[:8]


def is_answer_sent(item: ContextItem) -> bool:
    """Whether an answer is sent: pi leaves out those that failed."""
    return item.native.get("stopReason") not in ("error", "aborted")


def result_record(call: JsonObject, call_id: str, name: str, *, entry_id: str) -> JsonObject | None:
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


def is_compaction(native: JsonObject) -> bool:
    return native.get("type") == "compaction"


def keeping_result(native: JsonObject, call_id: str, result_id: str) -> JsonObject | None:
    """Give nothing: a compaction keeps all that follows one entry."""
    del native, call_id, result_id


def without_result(native: JsonObject, call_id: str) -> JsonObject | None:
    """Give nothing: a result is a record of its own."""
    del native, call_id


def follows_same_answer(native: JsonObject, child: JsonObject) -> bool:
    """Never: an answer is one record."""
    del native, child
    return False
