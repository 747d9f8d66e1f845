"""What a doctor must know of Claude Code's records."""

from uuid import UUID

from ullage.core.transcript.lineage import Node
from ullage.core.transcript.message import JsonObject
from ullage.formats.doctor import Records
from ullage.formats.json_line import object_of, objects_of, text_of, texts_of

NO_RESULT = "[no result was recorded]"
_ENVELOPE = (
    "isSidechain agentId timestamp userType entrypoint cwd sessionId version gitBranch".split()
)


def _is_record(native: JsonObject) -> bool:
    is_threaded = text_of(native, "uuid") is not None and "parentUuid" in native
    return text_of(native, "type") is not None and (
        is_threaded or text_of(native, "sessionId") is not None
    )


def _is_header(native: JsonObject) -> bool:
    """Any record will do: this format has no header."""
    return text_of(native, "type") is not None


def _session_id_field(native: JsonObject) -> tuple[str, ...]:
    return () if text_of(native, "sessionId") is None else ("sessionId",)


def _find_fault(native: JsonObject) -> str | None:
    if text_of(native, "type") is None:
        return "type"
    if "parentUuid" not in native and "uuid" not in native:
        return None
    if not text_of(native, "uuid"):
        return "uuid"
    parent_id = native.get("parentUuid")
    if parent_id is not None and not isinstance(parent_id, str):
        return "parentUuid"
    if native["type"] in ("user", "assistant"):
        message = object_of(native, "message")
        if message is None:
            return "message"
        if not isinstance(message.get("content"), str | list):
            return "message.content"
    return None


def _node(native: JsonObject) -> Node | None:
    entry_id = text_of(native, "uuid")
    if not entry_id:
        return None
    return Node(
        entry_id=entry_id,
        parent_id=text_of(native, "parentUuid") or None,
        is_main=native.get("isSidechain") is not True,
    )


def _fresh_id(digest: str) -> str:
    return str(UUID(hex=digest[:32], version=4))


def _make_result(call: JsonObject, call_id: str, name: str, entry_id: str) -> JsonObject:
    del name
    result = {
        "type": "tool_result",
        "tool_use_id": call_id,
        "content": NO_RESULT,
        "is_error": True,
    }
    return {
        "parentUuid": text_of(call, "uuid"),
        **{key: call[key] for key in _ENVELOPE if key in call},
        "type": "user",
        "message": {"role": "user", "content": [result]},
        "uuid": entry_id,
    }


def _is_compaction(native: JsonObject) -> bool:
    return native.get("subtype") == "compact_boundary"


def _keep_result(native: JsonObject, call_id: str, result_id: str) -> JsonObject | None:
    metadata = object_of(native, "compactMetadata") or {}
    preserved = object_of(metadata, "preservedMessages") or {}
    if call_id not in texts_of(preserved, "uuids"):
        return None
    longer: JsonObject = {
        key: _with_next(texts_of(preserved, key), call_id, result_id)
        for key in ("uuids", "allUuids")
        if key in preserved
    }
    return native | {"compactMetadata": metadata | {"preservedMessages": preserved | longer}}


def _with_next(uuids: tuple[str, ...], before: str, added: str) -> list[str]:
    return [uuid for one in uuids for uuid in ((one, added) if one == before else (one,))]


def _drop_result(native: JsonObject, call_id: str) -> JsonObject | None:
    message = object_of(native, "message") or {}
    kept = [b for b in objects_of(message, "content") if b.get("tool_use_id") != call_id]
    return native | {"message": message | {"content": kept}} if kept else None


def _follows_same_answer(native: JsonObject, child: JsonObject) -> bool:
    """Whether both are blocks of one answer, which stand on records of their own."""
    answer_ids = [text_of(object_of(one, "message") or {}, "id") for one in (native, child)]
    return answer_ids[0] is not None and answer_ids[0] == answer_ids[1]


RECORDS = Records(
    sessions="Claude Code",
    is_named_by_file=True,
    id_field="uuid",
    parent_field="parentUuid",
    is_record=_is_record,
    is_header=_is_header,
    session_id_field=_session_id_field,
    find_fault=_find_fault,
    node=_node,
    fresh_id=_fresh_id,
    make_result=_make_result,
    is_compaction=_is_compaction,
    keep_result=_keep_result,
    drop_result=_drop_result,
    follows_same_answer=_follows_same_answer,
)
