"""What a doctor must know of the lines of a rollout."""

from ullage.core.transcript.context import ContextItem
from ullage.core.transcript.lineage import Node
from ullage.core.transcript.message import JsonObject
from ullage.formats.json_line import object_of, text_of

ID_FIELD: str = ""
PARENT_FIELD: str = ""
KEPT_FIELD: str = ""
MENDS_PAIRS: bool = False
"""Codex itself closes calls and drops results when it reads a rollout (0.169)."""


def is_record(native: JsonObject) -> bool:
    has_payload = object_of(native, "payload") is not None
    return text_of(native, "type") is not None and has_payload and "timestamp" in native


def is_header(native: JsonObject) -> bool:
    meta = object_of(native, "payload") or {}
    return native.get("type") == "session_meta" and bool(
        text_of(meta, "id") or text_of(meta, "session_id")
    )


def make_header(session_id: str, cwd: str, timestamp: str) -> JsonObject | None:
    meta = {
        "id": session_id,
        "timestamp": timestamp,
        "cwd": cwd,
        "originator": "codex_cli_rs",
        "cli_version": "0.0.0",
        "source": "cli",
    }
    return {"timestamp": timestamp, "type": "session_meta", "payload": meta}


def session_id_field(native: JsonObject) -> tuple[str, ...]:
    if not is_header(native):
        return ()
    meta = object_of(native, "payload") or {}
    return ("payload", "id") if "id" in meta else ("payload", "session_id")


def field_fault(native: JsonObject) -> str | None:
    if text_of(native, "type") is None:
        return "type"
    return "payload" if object_of(native, "payload") is None else None


def node(native: JsonObject) -> Node | None:
    """Give nothing: the order of the lines is all there is."""
    del native


def fresh_id(digest: str) -> str:
    return digest


def is_answer_sent(item: ContextItem) -> bool:
    del item
    return True


def result_record(call: JsonObject, call_id: str, name: str, *, entry_id: str) -> JsonObject | None:
    del call, call_id, name, entry_id


def is_compaction(native: JsonObject) -> bool:
    return native.get("type") == "compacted"


def keeping_result(native: JsonObject, call_id: str, result_id: str) -> JsonObject | None:
    """Give nothing: a compaction holds what it kept."""
    del native, call_id, result_id


def without_result(native: JsonObject, call_id: str) -> JsonObject | None:
    del native, call_id


def follows_same_answer(native: JsonObject, child: JsonObject) -> bool:
    del native, child
    return False
