"""From the active path to the messages that pi sends."""

import msgspec

from ullage.core.transcript.context import Category, ContextItem
from ullage.core.transcript.entries import Entry, JsonObject
from ullage.formats.agents.openclaw.entries import notes_of, summary_message
from ullage.formats.agents.openclaw.messages import (
    list_section_categories,
    list_sections,
    to_message,
)
from ullage.formats.agents.openclaw.path import ActivePath, names_model
from ullage.formats.json_line import ms_of, object_of, text_of
from ullage.formats.reading import make_item


def project(path: ActivePath, dialect: str = "") -> tuple[ContextItem, ...]:
    """List the messages: the boundary's summary, what it kept, what came after.

    A reset of OpenClaw is a boundary without a summary.

    An edit counts only where it stands in the selected part itself; the latest one wins.
    """
    items: list[ContextItem] = []
    notes = notes_of(path.after)
    is_fresh = notes.pruned is None
    if path.boundary is not None and path.boundary.kind == "compaction":
        system = object_of(path.boundary.native, "systemMessage")
        if system is not None:
            items.append(_item(path.boundary, system, is_after_boundary=is_fresh))
        summary = summary_message(
            dialect, path.boundary.native, (*path.kept, *path.after)
        ) or _summary(path.boundary)
        items.append(_item(path.boundary, summary, is_after_boundary=is_fresh, category="summary"))
    edits = {
        text_of(entry.native, "targetId") or "": entry.native
        for entry in (*path.kept, *path.after)
        if entry.kind == "context_edit"
    }
    for entry in path.kept:
        native = _edit(_native(entry), edits.get(entry.entry_id))
        if native is not None and native.get("role") != "system":
            items.append(_item(entry, native, is_after_boundary=False))
    for number, entry in enumerate(path.after):
        native = _edit(_native(entry), edits.get(entry.entry_id))
        if native is not None:
            items.append(_item(entry, native, is_after_boundary=not notes.is_stale(number)))
    return _merge_sections(items)


def _merge_sections(items: list[ContextItem]) -> tuple[ContextItem, ...]:
    """Give the first system message the sections of all: a later one replaces some of them."""
    places = [at for at, item in enumerate(items) if changes_sections(item)]
    if len(places) > 1:
        sections: dict[str, object] = {}
        for at in places:
            sections |= list_sections(items[at].native)
            items[at] = _with_message(items[at], {"role": "system", "content": ""})
        merged: JsonObject = {"role": "system", "content": "", "sections": sections}
        items[places[0]] = _with_message(items[places[0]], merged)
    return tuple(items)


def changes_sections(item: ContextItem) -> bool:
    return item.native.get("role") == "system" and bool(list_sections(item.native))


def _with_message(item: ContextItem, native: JsonObject) -> ContextItem:
    """Give an item the message of another native; its own stays what the agent wrote."""
    message, _ = to_message(native)
    categories = list_section_categories(native)
    return msgspec.structs.replace(item, message=message, block_categories=categories)


def model_of(path: ActivePath) -> tuple[str | None, str | None]:
    """Name the model in use and its provider: by the last answer or the last change of it."""
    for entry in reversed((*path.dropped, *path.kept, *path.after)):
        if names_model(entry):
            return model_named_by(entry)
    return None, None


def model_named_by(entry: Entry) -> tuple[str | None, str | None]:
    message = object_of(entry.native, "message")
    if message is None:
        return text_of(entry.native, "modelId"), text_of(entry.native, "provider")
    return text_of(message, "model"), text_of(message, "provider")


def item_of(entry: Entry) -> ContextItem | None:
    """Give the message of an entry that follows the boundary and that no edit changes."""
    native = _native(entry)
    return None if native is None else _item(entry, native, is_after_boundary=True)


def _item(
    entry: Entry,
    native: JsonObject,
    *,
    is_after_boundary: bool,
    category: Category | None = None,
) -> ContextItem:
    message, category_of_role = to_message(native)
    if entry.kind == "custom_message":
        category = "injected"
    item = make_item(
        entry, message, category or category_of_role, native, is_after_boundary=is_after_boundary
    )
    # pi and flat files say the same in two ways.
    is_hidden = native.get("hidden") is True or native.get("display") is False
    categories = list_section_categories(native)
    if not is_hidden and not categories:
        return item
    return msgspec.structs.replace(item, is_hidden=is_hidden, block_categories=categories)


def _native(entry: Entry) -> JsonObject | None:
    """Give the message of an entry as pi holds it in memory; None for other entries."""
    match entry.kind:
        case "message":
            message = object_of(entry.native, "message")
            return None if message is None or _is_private(message) else _with_content(message)
        case "custom_message" if object_of(entry.native, "message") is not None:
            return object_of(entry.native, "message")
        case "custom_message":
            fields = ("customType", "content", "display", "details")
            return _made("custom", entry, fields, {"content": []})
        case "branch_summary" if text_of(entry.native, "summary"):
            return _made("branchSummary", entry, ("summary", "fromId"), {})
        case _:
            return None


def _is_private(message: JsonObject) -> bool:
    """Whether OpenClaw keeps a message from the model; pi keeps only commands, as empty ones."""
    return message.get("excludeFromContext") is True and message.get("role") != "bashExecution"


def _summary(boundary: Entry) -> JsonObject:
    return _made("compactionSummary", boundary, ("summary", "tokensBefore"), {})


def _made(role: str, entry: Entry, fields: tuple[str, ...], defaults: JsonObject) -> JsonObject:
    """Make a message of a role that stands only in the built context."""
    values = {key: entry.native[key] for key in fields if key in entry.native}
    for key, value in defaults.items():
        if values.get(key) is None:
            values[key] = value
    return {"role": role, **values, "timestamp": ms_of(entry.native)}


def _with_content(message: JsonObject) -> JsonObject:
    """Give content to a message that has none, as pi does for damaged files."""
    if message.get("content") is not None:
        return message
    match message.get("role"):
        case "system":
            return message | {"content": ""}
        case "user" | "assistant" | "toolResult":
            no_content: list[object] = []
            return message | {"content": no_content}
        case _:
            return message


def _edit(message: JsonObject | None, edit: JsonObject | None) -> JsonObject | None:
    """Apply a `context_edit`: null removes the message, else its content is replaced."""
    if message is None or edit is None:
        return message
    replacement = object_of(edit, "replacement")
    if replacement is None:
        return None
    role = message.get("role")
    if role not in ("user", "assistant", "toolResult", "custom"):
        return message
    content = replacement.get("content")
    if isinstance(content, str) and role in ("assistant", "toolResult"):
        content = [{"type": "text", "text": content}]
    return message | {"content": content}
