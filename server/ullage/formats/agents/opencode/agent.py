"""opencode (1.18): the context as its next request would carry it, its databases, its row.

It is read from its end as opencode itself does. A compaction is a user's message with a part that
asks for it, and the summary that answers this message. opencode then sends the two, the tail that
the part names, and what came after.
"""

from glob import escape
from itertools import islice
from pathlib import Path

import msgspec

from ullage.core.transcript.context import Compaction, Context
from ullage.core.transcript.entries import Entry, Header, JsonObject, Lines, Problem, Usage
from ullage.core.transcript.lineage import EMPTY_INDEX, CompactionRef, Index, chain_in_order
from ullage.formats.agent_info import AgentInfo, Env, Home, TitleField
from ullage.formats.agents.opencode import messages, settings
from ullage.formats.json_line import text_of
from ullage.formats.reading import Reading, Walk

MAX_SUMMARY_DISTANCE = 20
"""Messages after a compaction's request among which its summary is looked for (chosen)."""
_HOME = Home(variable="XDG_DATA_HOME", default=".local/share", folders=("opencode",))


class _Boundary(msgspec.Struct, frozen=True, kw_only=True):
    request: Entry
    """The user's message that asked for the compaction."""
    summary: Entry


class _History(msgspec.Struct, frozen=True, kw_only=True):
    """The messages of the context, and counts over the whole session."""

    sent: tuple[Entry, ...]
    """In the order in which opencode sends them."""
    boundary: _Boundary | None
    usage_before: Usage | None
    """Of the last answer before the boundary."""
    last: Entry | None
    refs: tuple[CompactionRef, ...]
    """Oldest first; with an index, only those that it does not know."""
    n_entries: int
    n_entries_dead: int
    """Entries before the boundary's request."""
    problems: tuple[Problem, ...]


def _read_context(lines: Lines, header: Header, index: Index) -> Reading:
    if index.covered_bytes > lines.size_bytes:
        index = EMPTY_INDEX
    history = _UpwardReader(lines, index).history()
    boundary = history.boundary
    since = 0 if boundary is None else boundary.request.offset
    refs = () if boundary is None else chain_in_order((*index.compactions, *history.refs))
    answered = _last_answer(history)
    context = Context(
        header=header,
        items=tuple(
            item
            for entry in history.sent
            for item in messages.items_of(entry, is_after_boundary=entry.offset >= since)
        ),
        boundary=None if boundary is None else _to_compaction(boundary, history.usage_before),
        compactions=refs,
        leaf_id=None if history.last is None else history.last.entry_id,
        model=text_of(answered, "modelID"),
        n_entries=history.n_entries,
        size_bytes=lines.size_bytes,
        problems=history.problems,
        provider=text_of(answered, "providerID"),
    )
    return Reading(context=context, index=_index_of(history, refs))


def _read_compaction(lines: Lines, ref: CompactionRef) -> Compaction | None:
    """Read a compaction from its request, which its summary follows at once."""
    following = map(messages.read_entry, islice(lines.forward(ref.offset), MAX_SUMMARY_DISTANCE))
    entries = [entry for entry in following if isinstance(entry, Entry)]
    if not entries or messages.compaction_part(entries[0]) is None:
        return None
    summary = next((entry for entry in entries if entry.entry_id == ref.entry_id), None)
    if summary is None or not messages.is_summary(summary):
        return None
    return _to_compaction(_Boundary(request=entries[0], summary=summary), None)


def _messages(context: Context) -> list[JsonObject]:
    """List the messages, each once: all items of one share its native form."""
    sent: list[JsonObject] = []
    for item in context.items:
        if not sent or sent[-1] is not item.native:
            sent.append(item.native)
    return sent


class _UpwardReader:
    """Reads upwards until the context, the figure before it and all compactions are known."""

    def __init__(self, lines: Lines, index: Index) -> None:
        self._known = index
        self._walk = Walk(lines.backward(), messages.read_entry, index.covered_bytes)
        self._revert = messages.read_revert(lines)
        self._live: list[Entry] = []
        self._is_context_complete = False
        self._first_kept_id: str | None = None
        self._boundary: _Boundary | None = None
        self._usage_before: Usage | None = None
        self._unanswered: dict[str, Entry] = {}
        """Summaries whose request stands further up, by its id."""
        self._refs: list[CompactionRef] = []
        self._n_live = 0

    def history(self) -> _History:
        self._climb()
        in_order = tuple(reversed(self._live))
        n_entries = self._known.n_entries + self._walk.n_entries
        return _History(
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
        for line, event in self._walk:
            self._n_live += self._boundary is None
            entry = messages.without_reverted(event, self._revert)
            if entry is None:
                continue
            is_done = self._is_context_complete and self._usage_before and not self._unanswered
            if is_done and line.offset < self._known.covered_bytes:
                return
            if not self._is_context_complete:
                self._live.append(entry)
                if entry.entry_id == self._first_kept_id:
                    self._is_context_complete = True
            if messages.is_summary(entry):
                self._unanswered[entry.parent_id or ""] = entry
            elif entry.entry_id in self._unanswered and messages.compaction_part(entry) is not None:
                self._answer(entry, self._unanswered.pop(entry.entry_id))
            elif self._boundary is not None and self._usage_before is None:
                self._usage_before = messages.usage_of(entry)

    def _answer(self, request: Entry, summary: Entry) -> None:
        """Take note of a compaction; the first one that is met is the last one made."""
        if self._boundary is None:
            self._boundary = _Boundary(request=request, summary=summary)
            tail = text_of(messages.compaction_part(request) or {}, "tail_start_id")
            self._first_kept_id = tail
            self._is_context_complete = tail in (None, "", request.entry_id)
        if request.offset >= self._known.covered_bytes:
            self._refs.append(
                CompactionRef(
                    entry_id=summary.entry_id,
                    at_ms=messages.created_ms(summary),
                    offset=request.offset,
                    size_bytes=request.size_bytes,
                )
            )


def _as_sent(
    entries: tuple[Entry, ...], boundary: _Boundary | None, first_kept_id: str | None
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


def _to_compaction(boundary: _Boundary, usage_before: Usage | None) -> Compaction:
    part = messages.compaction_part(boundary.request) or {}
    texts = (
        text_of(part, "text") or ""
        for part in messages.parts_of(boundary.summary)
        if part.get("type") == "text"
    )
    return Compaction(
        entry_id=boundary.summary.entry_id,
        parent_id=boundary.request.entry_id,
        at_ms=messages.created_ms(boundary.summary),
        summary="\n".join(texts),
        first_kept_id=text_of(part, "tail_start_id"),
        n_tokens_before=None if usage_before is None else usage_before.n_total,
        trigger="auto" if part.get("auto") is True else "manual",
        usage=messages.read_tokens(boundary.summary),
        model=text_of(messages.info_of(boundary.summary), "modelID"),
        details=part,
    )


def _last_answer(history: _History) -> JsonObject:
    """Give what the last answer that is no summary says of itself, its model among it."""
    answers = (entry for entry in reversed(history.sent) if entry.kind == "assistant")
    last = next((entry for entry in answers if not messages.is_summary(entry)), None)
    return {} if last is None else messages.info_of(last)


def _index_of(history: _History, refs: tuple[CompactionRef, ...]) -> Index:
    """Cover what lies before the last compaction only: what follows may still change."""
    if history.boundary is None:
        return EMPTY_INDEX
    covered = history.boundary.request.offset
    return Index(
        covered_bytes=covered,
        n_entries=history.n_entries_dead,
        compactions=tuple(ref for ref in refs if ref.offset < covered),
    )


def _database_patterns(env: Env, home: Path) -> tuple[tuple[Path, str], ...]:
    """Give folders and what a database in each is called, the main channel's first.

    `OPENCODE_DB` replaces them all; opencode takes it below its own folder unless absolute.
    """
    (root,) = _HOME.paths(env, home)
    chosen = env.get("OPENCODE_DB")
    if chosen:
        path = root / chosen
        return ((path.parent, escape(path.name)),) if path.name else ()
    return (root, "opencode.db"), (root, "opencode-*.db")


OPENCODE = AgentInfo(
    agent="opencode",
    name="opencode",
    way_out="use /compact in opencode",
    fork_hint="/fork in opencode",
    shell_variables=("OPENCODE",),
    homes=(_HOME,),
    # A subagent's session is a row that names its parent.
    database_patterns=_database_patterns,
    setting_files=settings.list_setting_files,
    find_window=settings.find_window,
    find_compaction_point=settings.find_compaction_point,
    titles=(
        TitleField(keys=("session", "title"), defaults=("New session - ", "Child session - ")),
    ),
    read_header=messages.read_header,
    read_entries=lambda lines, _: map(messages.read_entry, lines.forward()),
    read_context=_read_context,
    # Messages grow in place, so only a new reading can tell.
    read_compaction=_read_compaction,
    messages=_messages,
    prune_message=messages.prune_message,
)
