"""A reading made longer by appended lines, without reading what is known again."""

from collections.abc import Sequence

import msgspec

from ullage.core.transcript.context import ContextItem
from ullage.core.transcript.entries import Line, Problem
from ullage.formats.agents.openclaw.entries import read_entry
from ullage.formats.agents.openclaw.navigation import NAVIGATED_VERSION, is_plain
from ullage.formats.agents.openclaw.notes import is_note
from ullage.formats.agents.openclaw.path import names_model
from ullage.formats.agents.openclaw.projection import item_of, model_named_by
from ullage.formats.agents.openclaw.seed_entries import EVENTS
from ullage.formats.format import Reading, extended, shows_unfinished

PLAIN_KINDS = frozenset({"message", "custom_message", "branch_summary"})
"""Entries that only add to the end of the context."""
CHANGING_KINDS = frozenset({"compaction", "context_edit", "leaf", "reset"})
"""Entries that change what stands before them."""


def extend(reading: Reading, lines: Sequence[Line], size_bytes: int) -> Reading | None:
    """Follow the path as long as each line goes on from the one before it."""
    context = reading.context
    version = context.header.version
    is_linear = context.header.dialect == EVENTS
    if (version < 2 and not is_linear) or shows_unfinished(reading):
        return None
    items: list[ContextItem] = []
    problems: list[Problem] = []
    n_new = 0
    leaf_id, model = context.leaf_id, context.model
    known_ids = {item.entry_id for item in context.items}
    for line in lines:
        entry = read_entry(line, version)
        if isinstance(entry, Problem):
            problems.append(entry)
            continue
        if entry is None:
            continue
        n_new += 1
        # The last line of an id stands for it, also where it is the parent of another.
        if entry.entry_id in known_ids and not is_linear:
            return None
        if entry.kind in CHANGING_KINDS or is_note(entry) or not entry.entry_id:
            return None
        if entry.parent_id != leaf_id and not is_linear:
            return None
        if version >= NAVIGATED_VERSION and (leaf_id is None or not is_plain(entry)):
            return None
        leaf_id = entry.entry_id
        if names_model(entry):
            model = model_named_by(entry)
        item = item_of(entry) if entry.kind in PLAIN_KINDS else None
        if item is not None:
            items.append(item)
    longer = msgspec.structs.replace(
        context,
        items=(*context.items, *items),
        leaf_id=leaf_id,
        model=model,
    )
    return extended(reading, longer, lines, size_bytes, n_new=n_new, problems=problems)
