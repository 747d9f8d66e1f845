"""The live part of a rollout, read from the end of the file.

A `compacted` line that holds a replacement history is a new base: only what follows it is
live. `thread_rolled_back` takes back the turns before it, and a compaction in them too, so that
on the way up they are passed over before anything counts.
"""

import msgspec

from ullage.core.transcript.entries import Entry, Line, Lines, Problem
from ullage.core.transcript.lineage import CompactionRef, Index
from ullage.formats.agents.codex import records
from ullage.formats.json_line import int_of, object_of
from ullage.formats.reading import CompactionsUpwards, Walk

MAX_LINES_ABOVE = 200
"""How far above a boundary model and window are looked for: a turn or two (chosen)."""


class History(msgspec.Struct, frozen=True, kw_only=True):
    boundary: Entry | None
    after: tuple[Entry, ...]
    """What tells something after the boundary, or in the whole file without one."""
    above: tuple[Entry, ...]
    """The last settings and figures from before the boundary, oldest first."""
    refs: tuple[CompactionRef, ...]
    """Compactions that stand; with an index, only those that it does not know."""
    n_entries: int
    leaf_id: str | None
    problems: tuple[Problem, ...]
    title_offset: int | None
    """As in the index."""


def read_history(lines: Lines, index: Index) -> History:
    return _UpwardReader(lines, index).history()


def tells(stub: records.Stub) -> bool:
    """Whether a line adds to the context or tells its model, window or size."""
    is_event = stub.is_event("token_count", "task_started", "turn_started")
    return is_event or stub.type in ("response_item", "turn_context")


def names_session(stub: records.Stub) -> bool:
    return stub.is_event("thread_name_updated")


class _UpwardReader:
    """The lines from the last one up. Either `after` or, with a boundary, `above` grows."""

    def __init__(self, lines: Lines, index: Index) -> None:
        self._known = index
        self._walk = Walk(
            lines.backward(), records.read_stub, index.covered_bytes, is_title=names_session
        )
        self._compactions = CompactionsUpwards(index)
        self._boundary: Entry | None = None
        self._after: list[Entry] = []
        self._above: list[Entry] = []
        self._leaf_id: str | None = None
        self._n_above = 0
        self._n_undone_turns = 0
        self._is_in_undone_turn = False

    def history(self) -> History:
        for line, stub in self._walk:
            self._leaf_id = self._leaf_id or records.entry_id_of(line)
            if not self._is_undone(line, stub):
                self._add(line, stub)
            is_chain_complete = self._compactions.is_complete or not self._known.compactions
            self._walk.is_complete = is_chain_complete and self._is_settled
        return History(
            boundary=self._boundary,
            after=tuple(reversed(self._after)),
            above=tuple(reversed(self._above)),
            refs=tuple(self._compactions.refs),
            n_entries=self._known.n_entries + self._walk.n_entries,
            leaf_id=self._leaf_id,
            problems=tuple(self._walk.problems),
            title_offset=self._walk.title_after(self._known),
        )

    @property
    def _is_settled(self) -> bool:
        """Whether nothing above the boundary need be looked at any more."""
        if self._boundary is None or self._n_above >= MAX_LINES_ABOVE:
            return self._boundary is not None
        is_model_known = any(entry.kind == "turn_context" for entry in self._above)
        return is_model_known and any(_tells_usage(entry) for entry in self._above)

    def _add(self, line: Line, stub: records.Stub) -> None:
        if stub.type == "compacted":
            self._compactions.add(line, records.entry_id_of(line), stub.timestamp)
            if self._boundary is None:
                # One that is too long to read still ends what stands above it.
                self._boundary = self._read(line) or records.to_entry(line, stub.type, {})
        elif self._boundary is None:
            if tells(stub) and (entry := self._read(line)):
                self._after.append(entry)
        elif not self._is_settled:
            self._n_above += 1
            is_kept = tells(stub) and stub.type != "response_item"
            if is_kept and (entry := self._read(line)):
                self._above.append(entry)

    def _read(self, line: Line) -> Entry | None:
        entry = records.read_entry(line)
        if isinstance(entry, Problem):
            self._walk.problems.append(entry)
        return entry if isinstance(entry, Entry) else None

    def _is_undone(self, line: Line, stub: records.Stub) -> bool:
        """Whether a rollback further down took a line back; counts down its turns.

        Codex cuts at the user's message itself: what it put before that message stays.
        """
        if stub.is_event("thread_rolled_back"):
            entry = records.read_entry(line)
            if isinstance(entry, Entry):
                self._n_undone_turns += max(0, int_of(records.payload_of(entry), "num_turns") or 0)
            return True
        if not self._n_undone_turns:
            return False
        if stub.is_event("user_message", "item_completed"):
            self._is_in_undone_turn = self._is_in_undone_turn or _tells_user_message(line, stub)
        elif self._is_in_undone_turn and _is_user_message(line, stub):
            self._n_undone_turns -= 1
            self._is_in_undone_turn = False
        return True


def _tells_usage(entry: Entry) -> bool:
    return object_of(records.payload_of(entry), "info") is not None


def _tells_user_message(line: Line, stub: records.Stub) -> bool:
    """Whether an event says that the message above it is the user's own."""
    if stub.is_event("user_message"):
        return True
    entry = records.read_entry(line)
    if not isinstance(entry, Entry):
        return False
    return (object_of(records.payload_of(entry), "item") or {}).get("type") == "UserMessage"


def _is_user_message(line: Line, stub: records.Stub) -> bool:
    entry = records.read_entry(line) if stub.type == "response_item" else None
    return isinstance(entry, Entry) and records.payload_of(entry).get("role") == "user"
