"""The active conversation of a Claude Code session, read from the end of the file.

The leaf is the last record of the thread. Its parents lead up to a compact boundary, whose own
parent is null. A boundary names the records before it that are still sent.
"""

import msgspec

from ullage.core.transcript.entries import Entry, Header, Line, Lines, Problem
from ullage.core.transcript.index import CompactionRef, Index
from ullage.formats.agents.claude_code.notes import is_prune_note
from ullage.formats.agents.claude_code.records import (
    Stub,
    anchor_id,
    is_boundary,
    preserved_ids,
    read_entry,
    read_stub,
)
from ullage.formats.json_line import iso_ms, object_of, objects_of, text_of


class Conversation(msgspec.Struct, frozen=True, kw_only=True):
    boundary: Entry | None
    preserved: tuple[Entry, ...]
    after: tuple[Entry, ...]
    """The boundary, its summary and what follows, or the whole thread without a boundary."""
    pruned: Entry | None
    """The note of the last prune since the boundary."""
    refs: tuple[CompactionRef, ...]
    n_entries: int
    problems: tuple[Problem, ...]


def read_conversation(lines: Lines, header: Header, known: Index) -> Conversation:
    """Collect the thread upwards until its boundary and what that preserves are found."""
    is_sidechain = header.parent_session_id is not None
    known_ids = {ref.entry_id for ref in known.compactions}
    thread: list[Entry] = []
    refs: list[CompactionRef] = []
    problems: list[Problem] = []
    n_passed = 0
    wanted: str | None = None
    boundary: Entry | None = None
    pruned: Entry | None = None
    missing: set[str] = set()
    is_complete = is_chain_complete = False
    for line in lines.backward():
        is_counted = line.offset >= known.covered_bytes
        if is_complete and is_chain_complete and not is_counted:
            break
        stub = read_stub(line)
        if isinstance(stub, Problem):
            problems.append(stub)
            continue
        if stub is None:
            continue
        n_passed += is_counted
        if is_prune_note(stub) and boundary is None and pruned is None:
            note = read_entry(line)
            pruned = note if isinstance(note, Entry) else None
        if stub.uuid is None or stub.is_sidechain != is_sidechain:
            continue
        if is_boundary(stub) and not is_chain_complete:
            is_chain_complete = stub.uuid in known_ids
            _link(refs, line, stub, is_new=not is_chain_complete)
        if is_complete:
            continue
        entry = read_entry(line)
        if not isinstance(entry, Entry):
            continue
        if boundary is None:
            is_joined = is_boundary(stub) and wanted in preserved_ids(entry)
            is_on_path = not thread or stub.uuid == wanted or is_joined
            thread.append(entry)
            if is_on_path:
                wanted = stub.parent_uuid
                if is_boundary(stub):
                    boundary = entry
                    missing = set(preserved_ids(entry))
        elif stub.uuid in missing:
            thread.append(entry)
            missing.discard(stub.uuid)
        is_complete = boundary is not None and not missing
    found = _conversation(thread, boundary, refs, known.n_entries + n_passed, problems)
    return msgspec.structs.replace(found, pruned=pruned)


def answer_id(entry: Entry) -> str | None:
    message = object_of(entry.native, "message") if entry.kind == "assistant" else None
    return None if message is None else text_of(message, "id")


def _link(refs: list[CompactionRef], line: Line, stub: Stub, *, is_new: bool) -> None:
    """Make a boundary the predecessor of the one below it in the file."""
    if refs:
        refs[-1] = msgspec.structs.replace(refs[-1], previous_id=stub.uuid)
    if is_new:
        refs.append(
            CompactionRef(
                entry_id=stub.uuid or "",
                previous_id=None,
                at_ms=iso_ms(stub.timestamp),
                offset=line.offset,
                size_bytes=len(line.raw),
            )
        )


def _conversation(
    thread: list[Entry],
    boundary: Entry | None,
    refs: list[CompactionRef],
    n_entries: int,
    problems: list[Problem],
) -> Conversation:
    by_id = {entry.entry_id: entry for entry in thread}
    kept_ids = () if boundary is None else preserved_ids(boundary)
    n_kept = len(kept_ids)
    places = {entry_id: at for at, entry_id in reversed([*enumerate(kept_ids)])}
    on_path: set[str] = set()
    current = thread[0] if thread else None
    while current is not None and current.entry_id not in on_path:
        on_path.add(current.entry_id)
        parent_id = current.parent_id or ""
        if boundary is not None and places.get(parent_id, n_kept) < n_kept:
            # A resumed session goes on from what was preserved, which hangs on the summary.
            n_kept = places[parent_id] + 1
            parent_id = anchor_id(boundary) or ""
        current = by_id.get(parent_id) if parent_id else None
    kept_ids = kept_ids[:n_kept]
    preserved = tuple(by_id[entry_id] for entry_id in kept_ids if entry_id in by_id)
    on_path -= {*kept_ids}
    after = tuple(entry for entry in reversed(thread) if entry.entry_id in on_path)
    return Conversation(
        boundary=boundary,
        preserved=preserved,
        after=_with_parallel(after, thread),
        pruned=None,
        refs=tuple(refs),
        n_entries=n_entries,
        problems=tuple(problems),
    )


def _with_parallel(path: tuple[Entry, ...], thread: list[Entry]) -> tuple[Entry, ...]:
    """Add the siblings of parallel tool calls, which the chain of parents passes by.

    The blocks of one answer are chained, but each result hangs on its own block, so that only
    one of the results lies on the chain.
    """
    on_path = {entry.entry_id for entry in path}
    answer_ids = {answer_id(entry) for entry in path} - {None}
    sent = on_path | {entry.entry_id for entry in thread if answer_id(entry) in answer_ids}
    answers = (entry for entry in thread if entry.entry_id in sent)
    call_ids = {call_id for entry in answers for call_id in _ids(entry, "tool_use", "id")}
    open_ids = call_ids - {i for entry in path for i in _ids(entry, "tool_result", "tool_use_id")}
    for entry in thread:
        if not open_ids.isdisjoint(_ids(entry, "tool_result", "tool_use_id")):
            sent.add(entry.entry_id)
    if sent == on_path:
        return path
    return tuple(entry for entry in reversed(thread) if entry.entry_id in sent)


def _ids(entry: Entry, block_type: str, key: str) -> list[str]:
    message = object_of(entry.native, "message") or {}
    blocks = (b for b in objects_of(message, "content") if b.get("type") == block_type)
    return [text_of(block, key) or "" for block in blocks]
