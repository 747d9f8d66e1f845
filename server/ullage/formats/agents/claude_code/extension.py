"""A reading made longer by appended lines, without reading what is known again."""

from collections.abc import Sequence

import msgspec

from ullage.core.transcript.context import ContextItem
from ullage.core.transcript.entries import Line, Problem
from ullage.core.transcript.message import ToolCall
from ullage.formats.agents.claude_code.items import cleared_calls, item_of
from ullage.formats.agents.claude_code.notes import is_prune_note
from ullage.formats.agents.claude_code.records import is_boundary, read_entry, read_stub
from ullage.formats.format import Reading, extended, shows_unfinished


def extend(reading: Reading, lines: Sequence[Line], size_bytes: int) -> Reading | None:
    """Follow the thread as long as each record goes on from the one before it."""
    context = reading.context
    if shows_unfinished(reading):
        return None
    is_sidechain = context.header.parent_session_id is not None
    items: list[ContextItem] = []
    problems: list[Problem] = []
    n_new = 0
    leaf_id, model = context.leaf_id, context.model
    for line in lines:
        stub = read_stub(line)
        if isinstance(stub, Problem):
            problems.append(stub)
            continue
        if stub is None:
            continue
        n_new += 1
        if is_prune_note(stub):
            return None
        if stub.uuid is None or stub.is_sidechain != is_sidechain:
            continue
        entry = read_entry(line)
        if stub.parent_uuid != leaf_id or is_boundary(stub) or isinstance(entry, Problem | None):
            return None
        if cleared_calls(entry):
            return None
        leaf_id = stub.uuid
        item = item_of(entry, _tool_names((*context.items[-_RECENT_ITEMS:], *items)))
        if item is None:
            continue
        if item.category == "summary":
            return None
        items.append(item)
        model = item.message.model or model
    longer = msgspec.structs.replace(
        context,
        items=(*context.items, *items),
        leaf_id=leaf_id,
        model=model,
    )
    return extended(reading, longer, lines, size_bytes, n_new=n_new, problems=problems)


_RECENT_ITEMS = 50
"""Where the call of a result that was just written is looked for (chosen)."""


def _tool_names(items: Sequence[ContextItem]) -> dict[str, str]:
    blocks = (block for item in items for block in item.message.blocks)
    return {block.call_id: block.name for block in blocks if isinstance(block, ToolCall)}
