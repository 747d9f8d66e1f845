"""From the messages of a chat to what the Gemini CLI sends."""

import re
from collections.abc import Iterable

from ullage.core.transcript.context import Category, ContextItem
from ullage.core.transcript.message import JsonObject, Message, Role, ToolResult, Usage
from ullage.formats.agents.gemini.history import Snapshot
from ullage.formats.agents.gemini.messages import (
    answered_ids,
    call_parts,
    parts_of,
    result_parts,
    text_in,
    to_block,
)
from ullage.formats.json_line import int_of, ms_of, object_of, text_of

_HOOK_CONTEXT = re.compile(r"<hook_context>.*?</hook_context>", re.DOTALL)


def items_of(
    records: Iterable[JsonObject], snapshot: Snapshot | None
) -> tuple[tuple[ContextItem, ...], bool]:
    """List the messages that are sent, and whether the snapshot is still among them."""
    listed = list(records)
    answered = {i for r in listed if is_user(r) for i in answered_ids(parts_of(r))}
    items: list[ContextItem] = []
    has_snapshot = False
    for record in listed:
        message_id = text_of(record, "id") or ""
        is_summary = snapshot is not None and message_id == snapshot.message_id
        has_snapshot = has_snapshot or is_summary
        is_kept = snapshot is not None and message_id in snapshot.kept_ids and not is_summary
        items += items_of_record(
            record, answered, category="summary" if is_summary else None, is_kept=is_kept
        )
    return tuple(items), has_snapshot


def items_of_record(
    record: JsonObject,
    answered: set[str],
    *,
    category: Category | None = None,
    is_kept: bool = False,
) -> list[ContextItem]:
    """Give a message, and after it the results of its tools that have no message of their own.

    Chats from before 0.6x note results only beside the calls; newer ones note them twice, and
    send them once. What is neither the user's nor the model's is only shown.
    """
    if is_user(record):
        parts = parts_of(record)
        found = category or _user_category(record, parts)
        role: Role = "tool" if found == "tool results" else "user"
        return [_item(record, role, found, parts, is_kept=is_kept)] if parts else []
    if record.get("type") != "gemini":
        return []
    parts = [*parts_of(record), *call_parts(record)]
    usage = usage_of(record)
    items = [_item(record, "assistant", "assistant", parts, usage=usage, is_kept=is_kept)]
    results = result_parts(record, answered)
    if results:
        items.append(_item(record, "tool", "tool results", results, is_kept=is_kept))
    return items


def is_user(record: JsonObject) -> bool:
    return record.get("type") == "user"


def usage_of(record: JsonObject) -> Usage | None:
    """Read the tokens of an answer; the total is the request's alone.

    Gemini measures its context by `input`, the tokens of the last prompt, which include those
    from the cache (docs/design/agents.md, "Gemini CLI"). The answer itself is resent without its
    thoughts, but counts only from the next prompt on, in its own gauge and so in ours.
    """
    tokens = object_of(record, "tokens") or {}
    n_input, n_output, n_cached = (
        max(0, int_of(tokens, key) or 0) for key in ("input", "output", "cached")
    )
    if n_input == 0:
        return None
    return Usage(
        n_input=max(0, n_input - n_cached),
        n_output=n_output,
        n_cache_read=n_cached,
        n_cache_write=0,
        n_total=n_input,
    )


def _item(
    record: JsonObject,
    role: Role,
    category: Category,
    parts: list[JsonObject],
    *,
    is_kept: bool,
    usage: Usage | None = None,
) -> ContextItem:
    blocks = tuple(to_block(part) for part in parts)
    model = text_of(record, "model") if role == "assistant" else None
    native: JsonObject = {"role": "model" if role == "assistant" else "user", "parts": parts}
    return ContextItem(
        entry_id=text_of(record, "id") or "",
        message=Message(role=role, blocks=blocks, model=model, usage=usage),
        category=category,
        native=native,
        at_ms=ms_of(record),
        is_after_boundary=not is_kept,
    )


def _user_category(record: JsonObject, parts: list[JsonObject]) -> Category:
    if any(isinstance(to_block(part), ToolResult) for part in parts):
        return "tool results"
    text = text_in(record)
    if text.startswith("<session_context>"):
        return "system"
    is_hook_only = text and not _HOOK_CONTEXT.sub("", text).strip()
    return "injected" if is_hook_only else "user"
