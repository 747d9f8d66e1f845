"""A reading made longer by appended lines, without reading what is known again."""

from collections.abc import Sequence

import msgspec

from ullage.core.transcript.entries import Entry, Line, Problem
from ullage.formats.agents.codex.assembly import Assembly, last_usage
from ullage.formats.agents.codex.history import tells
from ullage.formats.agents.codex.notes import is_prune
from ullage.formats.agents.codex.records import entry_id_of, read_entry, read_stub
from ullage.formats.format import Reading, extended, shows_unfinished


def extend(reading: Reading, lines: Sequence[Line], size_bytes: int) -> Reading | None:
    """Add items and figures, until a line changes what stands before it.

    Right after a compaction, only the lines above it tell whether a figure is a stale one.
    """
    context = reading.context
    if shows_unfinished(reading):
        return None
    assembly = Assembly.resumed(context)
    is_figure_open = context.boundary is not None and last_usage(context) is None
    problems: list[Problem] = []
    leaf_id = context.leaf_id
    n_new = 0
    for line in lines:
        stub = read_stub(line)
        if isinstance(stub, Problem):
            problems.append(stub)
            continue
        if stub is None:
            continue
        n_new += 1
        leaf_id = entry_id_of(line)
        if stub.type == "compacted" or stub.is_event("thread_rolled_back"):
            return None
        if is_figure_open and stub.is_event("token_count"):
            return None
        entry = read_entry(line) if tells(stub) else None
        if isinstance(entry, Entry):
            if is_prune(entry):
                return None
            assembly.add(entry)
        elif entry is not None:
            problems.append(entry)
    boundary = context.boundary
    if boundary is not None:
        boundary = msgspec.structs.replace(boundary, n_tokens_after=assembly.n_tokens_after)
    longer = msgspec.structs.replace(
        context,
        items=tuple(assembly.items),
        boundary=boundary,
        leaf_id=leaf_id,
        model=assembly.model,
        window_tokens=assembly.window_tokens,
    )
    return extended(reading, longer, lines, size_bytes, n_new=n_new, problems=problems)
