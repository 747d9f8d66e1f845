"""The active conversation of a Claude Code session, read from the end of the file, and what of it
is sent.

The leaf is the last record of the thread that is no report of progress: such a report may hang on a
record that is not in the file. Its parents lead up to a compact boundary, whose own
parent is null. A boundary names the records before it that are still sent.
"""

from bisect import bisect_left
from collections.abc import Mapping, Set
from operator import itemgetter

import msgspec

from ullage.core.transcript.context import ContextItem
from ullage.core.transcript.entries import Entry, Header, JsonObject, Lines, Problem
from ullage.core.transcript.lineage import CompactionRef, Index
from ullage.formats.agents.claude_code import records
from ullage.formats.agents.claude_code.messages import model_named_by, native_of, to_message
from ullage.formats.agents.claude_code.speech import MARKS, read_queued
from ullage.formats.json_line import object_of, objects_of, text_of, texts_of
from ullage.formats.reading import CompactionsUpwards, Walk, calls_in, make_item

MAX_ANSWER_DISTANCE = 100
"""Records above a boundary among which the answer before it is looked for (chosen)."""
CLEARED_RESULT = "[Old tool result content cleared]"


class Conversation(msgspec.Struct, frozen=True, kw_only=True):
    boundary: Entry | None
    preserved: tuple[Entry, ...]
    after: tuple[Entry, ...]
    """The boundary, its summary and what follows, or the whole thread without a boundary."""
    pruned: Entry | None
    """The note of the last prune since the boundary."""
    costs: Entry | None
    """The last record of what each model cost."""
    queue: tuple[Entry, ...]
    """Records of what was typed while the agent worked, since the boundary."""
    before: Entry | None
    """The last answer before the boundary, which tells the model until there is another."""
    refs: tuple[CompactionRef, ...]
    n_entries: int
    problems: tuple[Problem, ...]


def read_conversation(lines: Lines, header: Header, index: Index) -> Conversation:
    """Collect the thread upwards until its boundary and what that preserves are found."""
    is_sidechain = header.parent_session_id is not None
    thread = _Thread()
    compactions = CompactionsUpwards(index)
    pruned: Entry | None = None
    costs: Entry | None = None
    before: Entry | None = None
    queue: list[Entry] = []
    n_above = 0
    walk = Walk(lines.backward(), records.read_stub, index.covered_bytes)
    for line, stub in walk:
        if stub.is_prune_note and thread.boundary is None and pruned is None:
            note = records.read_entry(line)
            pruned = note if isinstance(note, Entry) else None
        if stub.is_costs and thread.boundary is None and costs is None:
            record = records.read_entry(line)
            costs = record if isinstance(record, Entry) else None
        if stub.is_queue and thread.boundary is None:
            record = records.read_entry(line)
            queue += [record] if isinstance(record, Entry) else []
        if stub.uuid is None or stub.is_sidechain != is_sidechain:
            continue
        if thread.boundary is not None and before is None and n_above < MAX_ANSWER_DISTANCE:
            n_above += 1
            above = records.read_entry(line) if stub.type == "assistant" else None
            before = above if isinstance(above, Entry) and model_named_by(above) else None
        if stub.is_boundary:
            compactions.add(line, stub.uuid, stub.timestamp)
        if not thread.is_complete and isinstance(entry := records.read_entry(line), Entry):
            thread.add(entry)
        is_model_read = before is not None or n_above == MAX_ANSWER_DISTANCE
        walk.is_complete = thread.is_complete and compactions.is_complete and is_model_read
    preserved, after = thread.split()
    return Conversation(
        boundary=thread.boundary,
        preserved=preserved,
        after=after,
        pruned=pruned,
        costs=costs,
        queue=tuple(reversed(queue)),
        before=before,
        refs=tuple(compactions.refs),
        n_entries=index.n_entries + walk.n_entries,
        problems=tuple(walk.problems),
    )


def answer_id(entry: Entry) -> str | None:
    message = object_of(entry.native, "message") if entry.kind == "assistant" else None
    return None if message is None else text_of(message, "id")


def sent_entries(conversation: Conversation) -> tuple[Entry, ...]:
    """Put the summary first, then what the boundary preserved, then the rest."""
    summary = tuple(e for e in conversation.after if e.native.get("isCompactSummary") is True)
    rest = tuple(e for e in conversation.after if e.native.get("isCompactSummary") is not True)
    return (*summary, *conversation.preserved, *rest)


def items_of(conversation: Conversation) -> tuple[ContextItem, ...]:
    preserved_ids = {entry.entry_id for entry in conversation.preserved}
    note = conversation.pruned
    items: list[ContextItem] = []
    tool_names: dict[str, str] = {}
    cleared = frozenset(call_id for entry in conversation.after for call_id in cleared_calls(entry))
    queued = _list_queued(conversation)
    for entry in sent_entries(conversation):
        item = item_of(entry, tool_names, cleared)
        if item is None:
            continue
        tool_names |= calls_in(item.message)
        is_kept = note is not None and entry.offset < note.offset
        if is_kept or entry.entry_id in preserved_ids:
            item = msgspec.structs.replace(item, is_after_boundary=False)
        elif queued and queued[0][1] < entry.offset:
            n_before = bisect_left(queued, entry.offset, key=itemgetter(1))
            before = tuple(text for text, _ in queued[:n_before])
            del queued[:n_before]
            item = msgspec.structs.replace(item, queued=before)
        items.append(item)
    return tuple(items)


def ends_in_queue(conversation: Conversation) -> bool:
    """Whether something was typed that goes with a message which is not written yet."""
    last = conversation.after[-1].offset if conversation.after else None
    return last is not None and any(
        record.offset > last and text_of(record.native, "operation") == records.GIVEN
        for record in conversation.queue
    )


def _list_queued(conversation: Conversation) -> list[tuple[str, int]]:
    """List what was typed while the agent worked and given to it at once, each with its place.

    `remove` is that (2.1: docs/design/agents.md, "Who speaks"); what is dequeued follows as a
    message, what is popped goes back to the prompt. Newer versions write an attachment beside it.
    """
    said = {
        read_queued(object_of(entry.native, "attachment") or {})
        for entry in conversation.after
        if entry.kind == "attachment"
    }
    waiting: list[str] = []
    queued: list[tuple[str, int]] = []
    for record in conversation.queue:
        text = text_of(record.native, "content")
        match text_of(record.native, "operation"):
            case "enqueue":
                waiting.append(text or "")
            case "popAll":
                waiting.clear()
            case "dequeue" | "remove" as operation if waiting:
                # What a person typed goes before what the program has to tell.
                typed = (at for at, content in enumerate(waiting) if MARKS.read_typed(content))
                at = waiting.index(text) if text in waiting else next(typed, 0)
                words = MARKS.read_typed(waiting.pop(at))
                is_given = operation == records.GIVEN and "reason" not in record.native
                if is_given and words and words not in said:
                    queued.append((words, record.offset))
            case _:
                pass
    return queued


def item_of(
    entry: Entry, tool_names: Mapping[str, str], cleared: Set[str] = frozenset()
) -> ContextItem | None:
    """Give the message of a record that follows the boundary; None where it sends none.

    The results of `cleared` calls are sent as a placeholder.
    """
    native = native_of(entry)
    if native is None:
        return None
    if cleared:
        native = _with_cleared(native, cleared)
    message, category = to_message(entry, native, tool_names)
    return make_item(entry, message, category, native)


def cleared_calls(entry: Entry) -> tuple[str, ...]:
    """List the calls whose results a micro-compaction cleared, if this record is one."""
    if entry.native.get("subtype") != "microcompact_boundary":
        return ()
    metadata = object_of(entry.native, "microcompactMetadata") or {}
    return texts_of(metadata, "compactedToolIds")


class _Thread:
    """The records that may belong to the conversation, as they are met on the way up."""

    def __init__(self) -> None:
        self.boundary: Entry | None = None
        self._entries: list[Entry] = []
        self._leaf: Entry | None = None
        self._wanted: str | None = None
        """The parent of the topmost record on the path."""
        self._missing: set[str] = set()
        """What the boundary preserved and was not met yet."""

    @property
    def is_complete(self) -> bool:
        return self.boundary is not None and not self._missing

    def add(self, entry: Entry) -> None:
        if self.boundary is not None:
            if entry.entry_id in self._missing:
                self._entries.append(entry)
                self._missing.discard(entry.entry_id)
            return
        is_boundary = records.is_boundary_entry(entry)
        is_joined = is_boundary and self._wanted in records.preserved_ids(entry)
        is_leaf = self._leaf is None and entry.native.get("type") != "progress"
        if is_leaf:
            self._leaf = entry
        if is_leaf or entry.entry_id == self._wanted or is_joined:
            self._wanted = entry.parent_id
            if is_boundary:
                self.boundary = entry
                self._missing = set(records.preserved_ids(entry))
        self._entries.append(entry)

    def split(self) -> tuple[tuple[Entry, ...], tuple[Entry, ...]]:
        """Give what the boundary preserved, then the boundary and what follows it."""
        by_id = {entry.entry_id: entry for entry in self._entries}
        kept_ids = () if self.boundary is None else records.preserved_ids(self.boundary)
        n_kept = len(kept_ids)
        places = {entry_id: at for at, entry_id in reversed([*enumerate(kept_ids)])}
        on_path: set[str] = set()
        current = self._leaf
        while current is not None and current.entry_id not in on_path:
            on_path.add(current.entry_id)
            parent_id = current.parent_id or ""
            if self.boundary is not None and places.get(parent_id, n_kept) < n_kept:
                # A resumed session continues what was preserved, which hangs on the summary.
                n_kept = places[parent_id] + 1
                parent_id = records.anchor_id(self.boundary) or ""
            current = by_id.get(parent_id) if parent_id else None
        kept_ids = kept_ids[:n_kept]
        on_path -= {*kept_ids}
        after = tuple(entry for entry in reversed(self._entries) if entry.entry_id in on_path)
        preserved = tuple(by_id[entry_id] for entry_id in kept_ids if entry_id in by_id)
        return preserved, _with_parallel(after, self._entries)


def _with_parallel(path: tuple[Entry, ...], thread: list[Entry]) -> tuple[Entry, ...]:
    """Add the siblings of parallel tool calls, which the chain of parents passes by.

    The blocks of one answer are chained, but each result hangs on its own block, so that only
    one of the results lies on the chain.
    """
    on_path = {entry.entry_id for entry in path}
    if on_path.issuperset(entry.entry_id for entry in thread):
        return path
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


def _with_cleared(native: JsonObject, cleared: Set[str]) -> JsonObject:
    blocks = objects_of(native, "content")
    if not any(block.get("tool_use_id") in cleared for block in blocks):
        return native
    content = [
        block | {"content": CLEARED_RESULT} if block.get("tool_use_id") in cleared else block
        for block in blocks
    ]
    return native | {"content": content}
