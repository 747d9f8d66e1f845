"""A reading made longer by appended lines, without reading what is known again."""

from collections.abc import Sequence

import msgspec

from ullage.core.transcript.context import ContextItem
from ullage.core.transcript.entries import Entry, Line, Problem
from ullage.formats.agents.gemini.items import is_user, items_of_record
from ullage.formats.agents.gemini.parts import answered_ids, listed, parts_of
from ullage.formats.agents.gemini.records import read_entry, read_stub
from ullage.formats.format import Reading, extended, shows_unfinished
from ullage.formats.json_line import text_of


def extend(reading: Reading, lines: Sequence[Line], size_bytes: int) -> Reading | None:
    """Add messages and new versions of the last one; all else changes what stands before it."""
    context = reading.context
    if shows_unfinished(reading):
        # So is a single document, which is written anew as a whole.
        return None
    items = list(context.items)
    problems: list[Problem] = []
    model = context.model
    n_new = 0
    for line in lines:
        stub = read_stub(line)
        if isinstance(stub, Problem):
            problems.append(stub)
            continue
        if stub is None:
            continue
        n_new += 1
        if stub.is_base or stub.rewind_to is not None:
            return None
        entry = read_entry(line) if stub.is_message else None
        if isinstance(entry, Entry):
            if not _add(items, entry):
                return None
            model = text_of(entry.native, "model") or model
        elif entry is not None:
            problems.append(entry)
    longer = msgspec.structs.replace(
        context,
        items=tuple(items),
        leaf_id=items[-1].entry_id if items else None,
        model=model,
    )
    return extended(reading, longer, lines, size_bytes, n_new=n_new, problems=problems)


def _add(items: list[ContextItem], entry: Entry) -> bool:
    """Add a message; False where it changes more than the end."""
    record = entry.native
    is_new = not any(item.entry_id == entry.entry_id for item in items)
    if is_user(record):
        if not is_new or not _give_way(items, answered_ids(parts_of(record))):
            return False
        items += items_of_record(record, set())
        return True
    while items and items[-1].entry_id == entry.entry_id:
        if not items.pop().is_after_boundary:
            return False
    if any(item.entry_id == entry.entry_id for item in items):
        return False
    own = (item for item in items if item.category == "tool results")
    items += items_of_record(record, {i for item in own for i in _answered(item)})
    return True


def _give_way(items: list[ContextItem], answered: set[str]) -> bool:
    """Take away the results beside the last calls, which now have a message of their own."""
    beside = [at for at in range(1, len(items)) if items[at].entry_id == items[at - 1].entry_id]
    changed = [at for at in beside if _answered(items[at]) & answered]
    if not changed:
        return True
    if changed != [len(items) - 1] or not _answered(items[-1]) <= answered:
        return False
    items.pop()
    return True


def _answered(item: ContextItem) -> set[str]:
    return answered_ids(listed(item.native.get("parts")))
