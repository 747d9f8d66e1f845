"""What a doctor must know of the lines of a rollout."""

from ullage.core.transcript.message import JsonObject
from ullage.formats.doctor import Records
from ullage.formats.json_line import object_of, text_of


def _is_record(native: JsonObject) -> bool:
    has_payload = object_of(native, "payload") is not None
    return text_of(native, "type") is not None and has_payload and "timestamp" in native


def _is_header(native: JsonObject) -> bool:
    meta = object_of(native, "payload") or {}
    return native.get("type") == "session_meta" and bool(
        text_of(meta, "id") or text_of(meta, "session_id")
    )


def _make_header(session_id: str, cwd: str, timestamp: str) -> JsonObject | None:
    meta = {
        "id": session_id,
        "timestamp": timestamp,
        "cwd": cwd,
        "originator": "codex_cli_rs",
        "cli_version": "0.0.0",
        "source": "cli",
    }
    return {"timestamp": timestamp, "type": "session_meta", "payload": meta}


def _session_id_field(native: JsonObject) -> tuple[str, ...]:
    if not _is_header(native):
        return ()
    meta = object_of(native, "payload") or {}
    return ("payload", "id") if "id" in meta else ("payload", "session_id")


def _find_fault(native: JsonObject) -> str | None:
    if text_of(native, "type") is None:
        return "type"
    return "payload" if object_of(native, "payload") is None else None


def _is_compaction(native: JsonObject) -> bool:
    return native.get("type") == "compacted"


RECORDS = Records(
    sessions="Codex",
    # Codex itself closes calls and drops results when it reads a rollout (0.169).
    mends_pairs=False,
    is_record=_is_record,
    is_header=_is_header,
    make_header=_make_header,
    session_id_field=_session_id_field,
    find_fault=_find_fault,
    is_compaction=_is_compaction,
)
