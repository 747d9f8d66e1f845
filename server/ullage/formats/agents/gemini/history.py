"""The live part of a chat, read from the end of the file, and what of it is sent.

A line whose `$set` holds `messages` replaces the whole history: only what follows it is live.
The agent writes one when a session starts, is resumed or is compressed. A compression brings a
new message with a `<state_snapshot>`; where an older one is written again, it keeps its id.
"""

from collections.abc import Iterable, Iterator
from itertools import pairwise

import msgspec

from ullage.core.transcript import entries
from ullage.core.transcript.context import Category, ContextItem
from ullage.core.transcript.lineage import CompactionRef, Index, chain_in_order
from ullage.formats.agents.gemini import messages
from ullage.formats.agents.gemini.records import (
    Stub,
    changes_of,
    lines_downwards,
    lines_upwards,
    read_entry,
    read_stub,
)
from ullage.formats.json_line import ms_of, object_of, objects_of, text_of
from ullage.formats.reading import Walk, counts_in, make_usage
from ullage.formats.speech import is_harness

MAX_LINES_ABOVE = 200
"""How far above the live part the model is looked for: some turns (chosen)."""
SNAPSHOT = "<state_snapshot>"
_ACKNOWLEDGEMENT = "Got it. Thanks for the additional context!"
"""What the agent lets the model answer to a snapshot (0.61.0)."""


class Snapshot(msgspec.Struct, frozen=True, kw_only=True):
    """A compression as the history shows it."""

    message_id: str
    text: str
    at_ms: int | None
    kept_ids: frozenset[str]
    """The messages of the history when it was compressed; later ones came after it."""


class History(msgspec.Struct, frozen=True, kw_only=True):
    records: tuple[entries.JsonObject, ...]
    """The messages as they are now, each in its last version."""
    snapshot: Snapshot | None
    refs: tuple[CompactionRef, ...]
    """Compressions in the order of the file, those of the index first."""
    last_model: str | None
    """The model named last, in the live part or shortly above it."""
    n_entries: int
    problems: tuple[entries.Problem, ...]


def read_history(lines: entries.Lines, index: Index) -> History:
    return _UpwardReader(lines, index).history()


def read_snapshot(lines: entries.Lines, ref: CompactionRef) -> Snapshot | None:
    """Read a compression from the place that an index points to."""
    line = next(lines_downwards(lines) if ref.offset == 0 else lines.forward(ref.offset), None)
    entry = None if line is None else read_entry(line)
    snapshot = _find_snapshot(entry.native) if isinstance(entry, entries.Entry) else None
    return snapshot if snapshot is not None and snapshot.message_id == ref.entry_id else None


def items_of(
    records: Iterable[entries.JsonObject], snapshot: Snapshot | None
) -> tuple[tuple[ContextItem, ...], bool]:
    """List the messages that are sent, and whether the snapshot is still among them."""
    listed = list(records)
    answered = {
        i for r in listed if is_user(r) for i in messages.answered_ids(messages.parts_of(r))
    }
    items: list[ContextItem] = []
    has_snapshot = False
    for record in listed:
        message_id = text_of(record, "id") or ""
        is_summary = snapshot is not None and message_id == snapshot.message_id
        has_snapshot = has_snapshot or is_summary
        is_kept = snapshot is not None and message_id in snapshot.kept_ids and not is_summary
        items += items_of_record(
            record, answered, category="summary" if is_summary else None, is_kept=is_kept
        )
    return tuple(items), has_snapshot


def items_of_record(
    record: entries.JsonObject,
    answered: set[str],
    *,
    category: Category | None = None,
    is_kept: bool = False,
) -> list[ContextItem]:
    """Give a message, and after it the results of its tools that have no message of their own.

    Chats from before 0.6x note results only beside the calls; newer ones note them twice, and
    send them once. What is neither the user's nor the model's is only shown.
    """
    if is_user(record):
        parts = messages.parts_of(record)
        kind = category or _user_category(record, parts)
        role: entries.Role = "tool" if kind == "tool results" else "user"
        return [_item(record, role, kind, parts, is_kept=is_kept)] if parts else []
    if record.get("type") != "gemini":
        return []
    parts = [*messages.parts_of(record), *messages.call_parts(record)]
    usage = _usage(record)
    items = [_item(record, "assistant", "assistant", parts, usage=usage, is_kept=is_kept)]
    results = messages.result_parts(record, answered)
    if results:
        items.append(_item(record, "tool", "tool results", results, is_kept=is_kept))
    return items


def is_user(record: entries.JsonObject) -> bool:
    return record.get("type") == "user"


class _UpwardReader:
    """The lines from the last one up: the live ones, then what only counts."""

    def __init__(self, lines: entries.Lines, index: Index) -> None:
        self._lines = lines
        self._known = index
        self._walk = Walk(lines_upwards(lines), read_stub, index.covered_bytes)
        self._live: list[entries.JsonObject] = []
        self._base: entries.JsonObject = {}
        self._refs: dict[str, CompactionRef] = {}
        self._has_base = False
        self._is_model_known = False
        self._last_model: str | None = None
        self._n_above = 0

    def history(self) -> History:
        known_ids = {ref.entry_id for ref in self._known.compactions}
        for line, stub in self._walk:
            if stub.is_base and SNAPSHOT.encode() in line.raw:
                self._add_snapshot(line, known_ids)
            if not self._has_base:
                self._add_live(line, stub)
            elif not self._walk.is_complete:
                self._n_above += 1
                self._is_model_known = stub.model is not None
                self._last_model = stub.model
            is_settled = self._is_model_known or self._n_above >= MAX_LINES_ABOVE
            self._walk.is_complete = self._has_base and is_settled
        refs = chain_in_order((*self._known.compactions, *self._refs.values()))
        base = _find_snapshot(self._base)
        ref = next((r for r in refs if base is not None and r.entry_id == base.message_id), None)
        return History(
            records=tuple(_replay(reversed(self._live))),
            snapshot=None if ref is None else read_snapshot(self._lines, ref) or base,
            refs=refs,
            last_model=self._last_model,
            n_entries=self._known.n_entries + self._walk.n_entries,
            problems=tuple(self._walk.problems),
        )

    def _add_live(self, line: entries.Line, stub: Stub) -> None:
        self._has_base = stub.is_base
        if stub.is_message and stub.model is not None and not self._is_model_known:
            self._is_model_known = True
            self._last_model = stub.model
        if not (stub.is_base or stub.is_message or stub.rewind_to is not None):
            return
        entry = read_entry(line)
        if isinstance(entry, entries.Entry):
            self._live.append(entry.native)
            if stub.is_base:
                self._set_base(entry.native)
        elif entry is not None:
            # A base that is too long to read still ends what stands above it.
            self._walk.problems.append(entry)

    def _set_base(self, native: entries.JsonObject) -> None:
        self._base = native
        records = reversed(objects_of(changes_of(native), "messages"))
        model = next((name for record in records if (name := text_of(record, "model"))), None)
        if model is not None and not self._is_model_known:
            self._is_model_known = True
            self._last_model = model

    def _add_snapshot(self, line: entries.Line, known_ids: set[str]) -> None:
        """Note a compression; where it was written again, the first place is the one."""
        entry = read_entry(line)
        snapshot = _find_snapshot(entry.native) if isinstance(entry, entries.Entry) else None
        if snapshot is not None and snapshot.message_id not in known_ids:
            self._refs[snapshot.message_id] = CompactionRef(
                entry_id=snapshot.message_id,
                at_ms=snapshot.at_ms,
                offset=line.offset,
                size_bytes=len(line.raw),
            )


def _find_snapshot(native: entries.JsonObject) -> Snapshot | None:
    """Find the snapshot in the history that a line brings; the model acknowledges it."""
    records = objects_of(changes_of(native), "messages")
    no_message: entries.JsonObject = {}
    for record, following in pairwise((*records, no_message)):
        message_id, text = text_of(record, "id"), messages.text_in(record)
        if not message_id or record.get("type") != "user" or SNAPSHOT not in text:
            continue
        if text.lstrip().startswith(SNAPSHOT) or messages.text_in(following).startswith(
            _ACKNOWLEDGEMENT
        ):
            return Snapshot(
                message_id=message_id,
                text=text,
                at_ms=ms_of(record),
                kept_ids=frozenset(text_of(record, "id") or "" for record in records),
            )
    return None


def _replay(natives: Iterator[entries.JsonObject]) -> list[entries.JsonObject]:
    """Apply the lines as the agent does when it loads a chat (0.61.0).

    A rewind takes its target too; one to an unknown message takes all.
    """
    records: dict[str, entries.JsonObject] = {}
    for native in natives:
        target = text_of(native, "$rewindTo")
        message_id = text_of(native, "id")
        if target is not None:
            ids = list(records)
            start = ids.index(target) if target in records else 0
            for dropped_id in ids[start:]:
                del records[dropped_id]
        elif message_id is not None:
            records[message_id] = native
        else:
            brought = objects_of(changes_of(native), "messages")
            # A message without an id cannot be replaced, but it is sent.
            records = {text_of(m, "id") or f"#{n}": m for n, m in enumerate(brought)}
    return list(records.values())


def _usage(record: entries.JsonObject) -> entries.Usage | None:
    """Read the tokens of an answer; the total is the request's alone.

    Gemini measures its context by `input`, the tokens of the last prompt, which include those
    from the cache (docs/design/agents.md, "Gemini CLI"). The answer itself is resent without its
    thoughts, but counts only from the next prompt on, in its own gauge and so in ours.
    """
    tokens = object_of(record, "tokens") or {}
    n_input, n_output, n_thought, n_cached = (
        max(0, n) for n in counts_in(tokens, ("input", "output", "thoughts", "cached"))
    )
    return make_usage(max(0, n_input - n_cached), n_output + n_thought, n_cached, 0, n_input)


def _item(
    record: entries.JsonObject,
    role: entries.Role,
    category: Category,
    parts: list[entries.JsonObject],
    *,
    is_kept: bool,
    usage: entries.Usage | None = None,
) -> ContextItem:
    blocks = tuple(messages.to_block(part) for part in parts)
    if role == "user":
        blocks = messages.attribute(blocks)
        if category == "user" and is_harness(blocks):
            category = "injected"
    model = text_of(record, "model") if role == "assistant" else None
    native: entries.JsonObject = {
        "role": "model" if role == "assistant" else "user",
        "parts": parts,
    }
    return ContextItem(
        entry_id=text_of(record, "id") or "",
        message=entries.Message(role=role, blocks=blocks, model=model, usage=usage),
        category=category,
        native=native,
        at_ms=ms_of(record),
        is_after_boundary=not is_kept,
    )


def _user_category(record: entries.JsonObject, parts: list[entries.JsonObject]) -> Category:
    if any(isinstance(messages.to_block(part), entries.ToolResult) for part in parts):
        return "tool results"
    return "system" if messages.text_in(record).startswith("<session_context>") else "user"
