"""pi: the parts of a request that its sessions hold (0.84 and later)."""

import re
from collections.abc import Iterator

from ullage.core.assembly.parts import SYSTEM_PROMPT, TOOLS, SentText
from ullage.core.transcript.context import Category, Context, ContextItem
from ullage.core.transcript.entries import JsonObject, Lines, Text
from ullage.formats.agents.openclaw.messages import SECTIONS
from ullage.formats.json_line import compact_json, objects_of, text_of, texts_of

_FILE_START = re.compile(r'<project_instructions path="([^"\n]*)">\n')
_FILE_END = re.compile(r"\n</project_instructions>\n*")


def list_sent_texts(lines: Lines, context: Context) -> Iterator[SentText]:
    """List the sections of the system message and the tools that are in use."""
    del lines
    tools: dict[str, JsonObject] = {}
    for item in context.items:
        if item.native.get("role") == "system":
            yield from _list_sections(item)
            for name in texts_of(item.native, "toolsRemoved"):
                tools.pop(name, None)
            for tool in objects_of(item.native, "toolsAdded"):
                tools[text_of(tool, "name") or ""] = tool
    for name, tool in tools.items():
        schema = {key: tool[key] for key in ("name", "description", "parameters") if key in tool}
        yield SentText(name=TOOLS, text=compact_json(schema), tool=name)


def _list_sections(item: ContextItem) -> Iterator[SentText]:
    for block in item.message.blocks:
        if not isinstance(block, Text):
            continue
        (category, name), text = _place_section(block.text), block.text
        end = 0
        for first, last in _list_files(text) if name == "instructions" else ():
            if text[end : first.start()].strip():
                yield _make(name, category, text[end : first.start()])
            end = last.end()
            yield _make(name, category, text[first.start() : end]).from_file(first[1])
        if text[end:].strip():
            yield _make(name, category, text[end:])


def _list_files(text: str) -> Iterator[tuple[re.Match[str], re.Match[str]]]:
    """List the files of a section by the tags around each.

    One expression for both would search from every tag to the end where none is closed.
    """
    end = 0
    while (first := _FILE_START.search(text, end)) and (
        last := _FILE_END.search(text, first.end())
    ):
        yield first, last
        end = last.end()


def _place_section(text: str) -> tuple[Category, str]:
    """Name category and part by the tag that its section begins with; the preamble has none."""
    tag = text[1 : text.find(">")] if text.startswith("<") else ""
    return SECTIONS.get(tag, ("system", SYSTEM_PROMPT))


def _make(name: str, category: Category, text: str) -> SentText:
    return SentText(name=name, text=text, category=category)
