"""Lines that are appended to an idle pi session, in the shape that pi reads."""

from ullage.core.context import Compaction, Context
from ullage.core.message import JsonObject
from ullage.core.transcript import Header
from ullage.formats.json_line import compact_json, iso_ms, object_of, objects_of, text_of, texts_of

WRITABLE_VERSION = 3
UNDO_TYPE = "ullage.undo"
_READ_TOOLS = ("read",)
_CHANGE_TOOLS = ("write", "edit")


def refuse_write(header: Header) -> str | None:
    """Say why a session cannot be appended to; None where it can."""
    if header.dialect:
        return "Ullage does not append to this kind of session yet; it was not written by pi"
    if header.version == WRITABLE_VERSION:
        return None
    if header.version > WRITABLE_VERSION:
        return "OpenClaw keeps such sessions itself: compact there with /compact"
    return "this pi session has an old format: open it once in pi, which brings it up to date"


def compaction_line(
    context: Context,
    *,
    entry_id: str,
    timestamp: str,
    summary: str,
    first_kept_id: str,
    n_tokens_before: int,
    details: JsonObject,
) -> bytes:
    """Render a compaction that follows the leaf.

    `fromHook` tells pi that the summary is not its own. pi drops its lists of files then, so
    they are carried on here under its own names.
    """
    entry: JsonObject = {
        "type": "compaction",
        "id": entry_id,
        "parentId": context.leaf_id,
        "timestamp": timestamp,
        "summary": summary,
        "firstKeptEntryId": first_kept_id,
        "tokensBefore": n_tokens_before,
        "details": _file_lists(context, first_kept_id) | details,
        "fromHook": True,
    }
    system = _current_system_message(context)
    if system is not None:
        entry["systemMessage"] = system | {"timestamp": iso_ms(timestamp)}
    return _line(entry)


def undo_line(compaction: Compaction, *, entry_id: str, timestamp: str) -> bytes:
    """Render an entry that follows the one before a compaction, so that this is off the path."""
    return _line(
        {
            "type": "custom",
            "customType": UNDO_TYPE,
            "data": {"compaction": compaction.entry_id},
            "id": entry_id,
            "parentId": compaction.parent_id,
            "timestamp": timestamp,
        }
    )


def _current_system_message(context: Context) -> JsonObject | None:
    """Fold the system messages into the one in force, as pi 0.87 does when it compacts.

    pi sends no system message of the kept range again, so the compaction itself has to hold it.
    """
    natives = [item.native for item in context.items if item.native.get("role") == "system"]
    if not natives:
        return None
    texts: list[str] = []
    sections: JsonObject = {}
    tools: JsonObject = {}
    for native in natives:
        texts.append(text_of(native, "content") or _joined_text(native))
        for name, value in (object_of(native, "sections") or {}).items():
            if value is None:
                sections.pop(name, None)
            else:
                sections[name] = value
        for tool in objects_of(native, "toolsRemoved"):
            tools.pop(text_of(tool, "name") or "", None)
        for tool in objects_of(native, "toolsAdded"):
            tools[text_of(tool, "name") or ""] = tool
    message: JsonObject = {"role": "system", "content": "\n\n".join(t for t in texts if t)}
    if sections:
        message["sections"] = sections
    if tools:
        message["toolsAdded"] = list(tools.values())
    return message


def _joined_text(native: JsonObject) -> str:
    blocks = objects_of(native, "content")
    return "\n".join(text_of(b, "text") or "" for b in blocks if b.get("type") == "text")


def _file_lists(context: Context, first_kept_id: str) -> JsonObject:
    """List the files that what is replaced read and modified, as pi's compactions do."""
    previous = context.boundary.details if context.boundary else {}
    modified = set(texts_of(previous, "modifiedFiles"))
    read = set(texts_of(previous, "readFiles"))
    for item in context.items:
        if item.entry_id == first_kept_id:
            break
        for block in objects_of(item.native, "content"):
            path = text_of(object_of(block, "arguments") or {}, "path")
            if block.get("type") != "toolCall" or path is None:
                continue
            if block.get("name") in _READ_TOOLS:
                read.add(path)
            elif block.get("name") in _CHANGE_TOOLS:
                modified.add(path)
    return {"readFiles": sorted(read - modified), "modifiedFiles": sorted(modified)}


def _line(entry: JsonObject) -> bytes:
    return compact_json(entry).encode() + b"\n"
