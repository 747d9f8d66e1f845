"""The part of an opencode session that is sent, read from its end as opencode itself does.

A compaction is a user's message with a part that asks for it, and the summary that answers this
message. opencode then sends the two, the tail that the part names, and what came after.
"""

import msgspec

from ullage.core.transcript.entries import Entry, Lines, Problem
from ullage.core.transcript.index import CompactionRef, Index
from ullage.core.transcript.message import Usage
from ullage.formats.agents.opencode.messages import usage_of
from ullage.formats.agents.opencode.records import (
    compaction_part,
    created_ms,
    is_summary,
    read_entry,
    read_revert,
    without_reverted,
)
from ullage.formats.json_line import text_of
from ullage.formats.reading import Walk


class Boundary(msgspec.Struct, frozen=True, kw_only=True):
    request: Entry
    """The user's message that asked for the compaction."""
    summary: Entry


class History(msgspec.Struct, frozen=True, kw_only=True):
    """The messages of the context, and counts over the whole session."""

    sent: tuple[Entry, ...]
    """In the order in which opencode sends them."""
    boundary: Boundary | None
    usage_before: Usage | None
    """Of the last answer before the boundary."""
    last: Entry | None
    refs: tuple[CompactionRef, ...]
    """Oldest first; with an index, only those that it does not know."""
    n_entries: int
    n_entries_dead: int
    """Entries before the boundary's request."""
    problems: tuple[Problem, ...]


def read_history(lines: Lines, known: Index) -> History:
    return _Reader(lines, known).history()


class _Reader:
    """Reads upwards until the context, the figure before it and all compactions are known."""

    def __init__(self, lines: Lines, known: Index) -> None:
        self._known = known
        self._walk = Walk(lines.backward(), read_entry, known.covered_bytes)
        self._revert = read_revert(lines)
        self._live: list[Entry] = []
        self._is_context_complete = False
        self._first_kept_id: str | None = None
        self._boundary: Boundary | None = None
        self._usage_before: Usage | None = None
        self._unanswered: dict[str, Entry] = {}
        """Summaries whose request stands further up, by its id."""
        self._refs: list[CompactionRef] = []
        self._n_live = 0

    def history(self) -> History:
        self._climb()
        in_order = tuple(reversed(self._live))
        n_entries = self._known.n_entries + self._walk.n_entries
        return History(
            sent=_as_sent(in_order, self._boundary, self._first_kept_id),
            boundary=self._boundary,
            usage_before=self._usage_before,
            last=in_order[-1] if in_order else None,
            refs=tuple(reversed(self._refs)),
            n_entries=n_entries,
            n_entries_dead=n_entries - self._n_live,
            problems=tuple(reversed(self._walk.problems)),
        )

    def _climb(self) -> None:
        for line, found in self._walk:
            self._n_live += self._boundary is None
            entry = without_reverted(found, self._revert)
            if entry is None:
                continue
            is_done = self._is_context_complete and self._usage_before and not self._unanswered
            if is_done and line.offset < self._known.covered_bytes:
                return
            if not self._is_context_complete:
                self._live.append(entry)
                if entry.entry_id == self._first_kept_id:
                    self._is_context_complete = True
            if is_summary(entry):
                self._unanswered[entry.parent_id or ""] = entry
            elif entry.entry_id in self._unanswered and compaction_part(entry) is not None:
                self._answer(entry, self._unanswered.pop(entry.entry_id))
            elif self._boundary is not None and self._usage_before is None:
                self._usage_before = usage_of(entry)

    def _answer(self, request: Entry, summary: Entry) -> None:
        """Take note of a compaction; the first one that is met is the last one made."""
        if self._boundary is None:
            self._boundary = Boundary(request=request, summary=summary)
            tail = text_of(compaction_part(request) or {}, "tail_start_id")
            self._first_kept_id = tail
            self._is_context_complete = tail in (None, "", request.entry_id)
        if request.offset >= self._known.covered_bytes:
            self._refs.append(
                CompactionRef(
                    entry_id=summary.entry_id,
                    at_ms=created_ms(summary),
                    offset=request.offset,
                    size_bytes=request.size_bytes,
                )
            )


def _as_sent(
    entries: tuple[Entry, ...], boundary: Boundary | None, first_kept_id: str | None
) -> tuple[Entry, ...]:
    """Put the request and its summary before the tail that was kept.

    A tail that does not begin in the session leaves all of it as it stands, as in opencode.
    """
    if boundary is None or not entries or entries[0].entry_id != first_kept_id:
        return entries
    offsets = [entry.offset for entry in entries]
    request = offsets.index(boundary.request.offset)
    after = offsets.index(boundary.summary.offset) + 1
    return (*entries[request:after], *entries[:request], *entries[after:])
