"""Compactions in the shape that pi reads, and in those of flat files and event files."""

from ullage.core.change.edit import CompactionEdit
from ullage.core.transcript.context import Context
from ullage.core.transcript.entries import Entry, JsonObject, Lines
from ullage.formats.agents.openclaw.entries import EVENT_DETAILS, events_time
from ullage.formats.agents.openclaw.path import read_event
from ullage.formats.json_line import iso_ms, object_of, objects_of, text_of, texts_of

_OWN: JsonObject = {"provider": "ullage"}
"""Stands for the provider where no model wrote a summary."""
_READ_TOOLS = ("read",)
_CHANGE_TOOLS = ("write", "edit")


def pi_compaction(context: Context, edit: CompactionEdit) -> JsonObject:
    """Make a compaction that follows the leaf.

    `fromHook` tells pi that the summary is not its own. pi drops its lists of files then, so
    they are carried on here under its own names.
    """
    noted: JsonObject = {"tokensAfter": edit.n_tokens_after}
    entry: JsonObject = {
        "type": "compaction",
        "id": edit.entry_id,
        "parentId": context.leaf_id,
        "timestamp": edit.timestamp,
        "summary": edit.summary,
        "firstKeptEntryId": edit.first_kept_id,
        "tokensBefore": edit.n_tokens_before,
        "details": _file_lists(context, edit.first_kept_id) | edit.details | noted,
        "fromHook": True,
    }
    system = _current_system_message(context)
    if system is not None:
        entry["systemMessage"] = system | {"timestamp": iso_ms(edit.timestamp)}
    return entry


def events_compaction(lines: Lines, context: Context, edit: CompactionEdit) -> JsonObject:
    """Make the compaction of an event file (docs/design/sessions.md, "Compaction events").

    `details` holds what we note beside; other readers pass over it.
    """
    kept_from = next(
        at for at, item in enumerate(context.items) if item.entry_id == edit.first_kept_id
    )
    n_replaced = sum(item.category != "summary" for item in context.items[:kept_from])
    event: JsonObject = {
        "id": f"compact-{iso_ms(edit.timestamp)}",
        "type": "compaction",
        "version": 1,
        "timestamp": events_time(context, edit.timestamp),
        "summary": edit.summary,
        "messagesCompacted": edit.details.get("messagesCompacted", n_replaced),
        "tokensBeforeCompaction": edit.n_tokens_before,
        "tokensAfterCompaction": edit.n_tokens_after,
        "trigger": edit.details.get("trigger", "manual"),
        "layer": edit.details.get("layer", "summarize"),
        "boundaryMessageId": _last_replaced_id(lines, edit.first_kept_id),
    }
    if "customInstruction" in edit.details:
        event["customInstruction"] = edit.details["customInstruction"]
    noted = {key: edit.details[key] for key in edit.details if key not in EVENT_DETAILS}
    return event | {"details": noted} if noted else event


def flat_compaction(context: Context, edit: CompactionEdit) -> JsonObject:
    """Make the compaction of a flat file (docs/design/sessions.md, "Compaction entries")."""
    at: JsonObject = {"timestamp": iso_ms(edit.timestamp), "tokensAfter": edit.n_tokens_after}
    author = text_of(edit.details, "summarizer")
    if author is not None:
        provider, slash, model = author.partition("/")
        at |= {"provider": provider, "model": model} if slash else _OWN | {"model": author}
    return {
        "type": "compaction",
        "id": edit.entry_id,
        "parentId": context.leaf_id,
        "summary": edit.summary,
        "firstKeptEntryId": edit.first_kept_id,
        "tokensBefore": edit.n_tokens_before,
        "details": edit.details | at,
    }


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


def _last_replaced_id(lines: Lines, first_kept_id: str) -> str:
    """Name the event before the first kept one, be it a message or not."""
    is_above = False
    for line in lines.backward():
        event = read_event(line)
        if not isinstance(event, Entry):
            continue
        if is_above:
            return event.entry_id
        is_above = event.entry_id == first_kept_id
    return ""
