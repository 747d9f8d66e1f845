"""Claude Code: the parts of a request that its transcripts hold (2.1.329 and later)."""

import re
from collections.abc import Iterator

from ullage.core.assembly.parts import SYSTEM_PROMPT, TOOLS, Place, SentText, place_items
from ullage.core.transcript.context import Context, ContextItem
from ullage.core.transcript.entries import Entry, JsonObject, Lines, Text
from ullage.formats.agents.claude_code import records
from ullage.formats.agents.claude_code.messages import ATTACHMENTS
from ullage.formats.json_line import compact_json, object_of, objects_of, text_of, texts_of

_REMINDER = re.compile(r"\A<system-reminder>\n?(.*?)\n?</system-reminder>\s*\Z", re.DOTALL)
"""Some models are given the same texts without the tags."""
_CONTENTS = re.compile(r"^Contents of ([^\n]+?)(?: \([^\n()]*\))?:$", re.MULTILINE)
_KINDS = (b'"attachment"', b'"api-request')
"""Other records hold nothing but the conversation."""
_MEMORY_TYPE = "AutoMem"


def list_sent_texts(lines: Lines, context: Context) -> Iterator[SentText]:
    """List what a request has beside the conversation: system prompt, tools, attachments."""
    attachments: dict[str, JsonObject] = {}
    shapes: dict[str, JsonObject] = {}
    shape: JsonObject = {}
    for line in lines.forward():
        entry = records.read_entry(line) if any(kind in line.raw for kind in _KINDS) else None
        if not isinstance(entry, Entry):
            continue
        shape_hash = text_of(entry.native, "shapeHash") or ""
        if entry.kind == "attachment":
            attachment = object_of(entry.native, "attachment") or {}
            attachments[entry.entry_id] = attachment
            if attachment.get("type") == "prompt_snapshot":
                shape = _read_snapshot(attachment, shape)
        elif entry.kind == "api-request-shape":
            shapes[shape_hash] = object_of(entry.native, "shape") or {}
        elif entry.kind == "api-request":
            shape = shapes.get(shape_hash, shape)
    for block in objects_of(shape, "system"):
        yield SentText(name=SYSTEM_PROMPT, text=text_of(block, "text") or "")
    for tool in objects_of(shape, "tools"):
        schema = {key: value for key, value in tool.items() if key != "cache_control"}
        name = text_of(schema, "name") or ""
        yield SentText(name=TOOLS, text=compact_json(schema), tool=name)
    for item, place in zip(context.items, place_items(context.items), strict=True):
        if (attachment := attachments.get(item.entry_id)) is not None:
            yield from _list_of_attachment(item, attachment, place)


def _read_snapshot(snapshot: JsonObject, before: JsonObject) -> JsonObject:
    """Give a snapshot the shape of a request; its tools follow with the first answer alone."""
    texts = (text_of(snapshot, "cliPrefix"), "\n\n".join(texts_of(snapshot, "systemPrompt")))
    tools = [object_of(tool, "schema") for tool in objects_of(snapshot, "tools")]
    return {
        "system": [{"text": text} for text in texts if text],
        "tools": tools or before.get("tools"),
    }


def _list_of_attachment(
    item: ContextItem, attachment: JsonObject, place: Place
) -> Iterator[SentText]:
    category, name = ATTACHMENTS.get(text_of(attachment, "type") or "", ("injected", ""))
    if not name:
        return
    files = {text_of(file, "path"): text_of(file, "type") for file in _list_files(attachment)}
    for block in item.message.blocks:
        if not isinstance(block, Text):
            continue
        text = block.text
        if (match := _REMINDER.match(text)) is not None:
            text = match[1]
        for path, stretch in _cut_by_files(text, files):
            is_memory = files.get(path) == _MEMORY_TYPE
            sent = SentText(
                name="memory" if is_memory else name,
                text=stretch,
                place=place,
                category=category,
            )
            yield sent if path is None else sent.from_file(path)


def _list_files(attachment: JsonObject) -> tuple[JsonObject, ...]:
    """List the files of instructions that an attachment tells of."""
    content = object_of(attachment, "content")
    return objects_of(attachment, "files") if content is None else (content,)


def _cut_by_files(
    text: str, files: dict[str | None, str | None]
) -> Iterator[tuple[str | None, str]]:
    """Cut a text where each file's own begins; what stands before the first is of none."""
    starts = [(match.start(), match[1]) for match in _CONTENTS.finditer(text) if match[1] in files]
    ends = [*(start for start, _ in starts), len(text)]
    if text[: ends[0]].strip():
        yield None, text[: ends[0]]
    for (start, path), end in zip(starts, ends[1:], strict=True):
        yield path, text[start:end]
