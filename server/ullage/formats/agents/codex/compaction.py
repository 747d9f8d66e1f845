"""What a `compacted` line says: its summary, and the history that takes the old one's place."""

from collections.abc import Iterable, Mapping

from ullage.core.transcript.context import Compaction, ContextItem
from ullage.core.transcript.entries import Entry
from ullage.core.transcript.injected import PREFACE
from ullage.core.transcript.message import JsonObject, ToolCall, plain_text
from ullage.formats.agents.codex.messages import is_sent, to_message
from ullage.formats.agents.codex.notes import BEFORE_KEY, own_note
from ullage.formats.agents.codex.records import payload_of
from ullage.formats.json_line import int_of, ms_of, object_of, objects_of, text_of

_LARGE_KEYS = frozenset(
    ("message", "replacement_history", "replacement_history_metadata", "retained_context")
)


def items_of_boundary(boundary: Entry) -> list[ContextItem]:
    """List what a compaction left: its replacement history, else its summary alone.

    Where there is no replacement history, Codex up to 0.12x rebuilds one when it resumes: its
    first messages made anew, the user's messages back from the last one up to 20,000 tokens, the
    summary. The rollout does not hold that list, so that the user's messages are left out here.
    """
    payload = payload_of(boundary)
    summary = text_of(payload, "message") or ""
    if isinstance(payload.get("replacement_history"), list):
        natives = objects_of(payload, "replacement_history")
    else:
        natives = (summary_message(summary),) if summary else ()
    items: list[ContextItem] = []
    tool_names: dict[str, str] = {}
    for at, native in enumerate(natives):
        if is_sent(native):
            items.append(_item(boundary, at, native, summary, tool_names))
            calls = (b for b in items[-1].message.blocks if isinstance(b, ToolCall))
            tool_names |= {call.call_id: call.name for call in calls}
    return items


def stands_in(entry_id: str, boundary_id: str) -> bool:
    """Whether an item is part of a boundary itself."""
    return entry_id.partition(".")[0] == boundary_id


def to_compaction(
    boundary: Entry, items: Iterable[ContextItem], n_tokens_after: int | None
) -> Compaction:
    payload = payload_of(boundary)
    usage = object_of(object_of(payload, "latest_token_usage_record") or {}, "usage") or {}
    found = next((plain_text(i.message) for i in items if i.category == "summary"), "")
    summary = text_of(payload, "message") or found
    own = own_note(payload)
    details = own or {key: value for key, value in payload.items() if key not in _LARGE_KEYS}
    return Compaction(
        entry_id=boundary.entry_id,
        parent_id=None,
        at_ms=ms_of(boundary.native),
        summary=summary.removeprefix(PREFACE),
        is_opaque=not summary and isinstance(payload.get("replacement_history"), list),
        first_kept_id=None,
        # The request that asked for the summary, and so the old context and little more.
        n_tokens_before=int_of(usage, "total_tokens") if own is None else int_of(own, BEFORE_KEY),
        n_tokens_after=n_tokens_after,
        trigger=text_of(details, "trigger"),
        layer=text_of(details, "layer"),
        n_messages=int_of(details, "messagesCompacted"),
        details=details,
    )


def summary_message(text: str) -> JsonObject:
    return {
        "type": "message",
        "role": "user",
        "content": [{"type": "input_text", "text": text}],
    }


def _item(
    boundary: Entry, at: int, native: JsonObject, summary: str, tool_names: Mapping[str, str]
) -> ContextItem:
    message, category = to_message(native, tool_names)
    if summary and message.role == "user" and plain_text(message) == summary:
        category = "summary"
    return ContextItem(
        entry_id=boundary.entry_id if category == "summary" else f"{boundary.entry_id}.{at}",
        message=message,
        category=category,
        native=native,
        at_ms=ms_of(boundary.native),
        is_after_boundary=category == "summary",
    )
