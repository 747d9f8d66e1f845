"""Codex: the parts of a request that its rollouts hold."""

from collections.abc import Iterator
from itertools import islice

from ullage.core.assembly.parts import SYSTEM_PROMPT, TOOLS, SentText, place_items
from ullage.core.transcript.context import Category, Context
from ullage.core.transcript.entries import Entry, Lines, Text
from ullage.formats.agents.codex.messages import place_blocks
from ullage.formats.agents.codex.records import payload_of, read_entry
from ullage.formats.agents.codex.tail import TOOLS_TYPE
from ullage.formats.json_line import object_of, text_of

_TOOL_BLOCK: tuple[Category | None, str] = ("tools", TOOLS)

_KNOWN_MODELS = ("gpt-", "codex-", "o3", "o4")
"""Others are sent another prompt than the one that the first line holds (0.169, seen)."""


def list_sent_texts(lines: Lines, context: Context) -> Iterator[SentText]:
    """List what a request has beside the conversation; of tools, what an item of it holds.

    The system prompt stands in the first line, or is an item too.
    """
    sent = list(_list_of_items(context))
    is_known = (context.model or "").startswith(_KNOWN_MODELS)
    if is_known and all(text.name != SYSTEM_PROMPT for text in sent):
        yield from _list_base(lines)
    yield from sent


def _list_base(lines: Lines) -> Iterator[SentText]:
    for line in islice(lines.forward(), 1):
        entry = read_entry(line)
        if isinstance(entry, Entry) and entry.kind == "session_meta":
            base = object_of(payload_of(entry), "base_instructions") or {}
            if text := text_of(base, "text"):
                yield SentText(name=SYSTEM_PROMPT, text=text)


def _list_of_items(context: Context) -> Iterator[SentText]:
    for item, place in zip(context.items, place_items(context.items), strict=True):
        blocks = item.message.blocks
        is_tools = item.native.get("type") == TOOLS_TYPE
        places = () if is_tools or item.message.role not in ("user", "system") else blocks
        placed = place_blocks(item.native, places) or (_TOOL_BLOCK,) * len(blocks)
        if places or is_tools:
            for block, (category, name) in zip(blocks, placed, strict=True):
                if name and isinstance(block, Text):
                    yield SentText(
                        name=name,
                        text=block.text,
                        place=place,
                        category=category or item.category,
                    )
