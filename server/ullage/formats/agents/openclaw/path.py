"""The active path of a session, read from the end of the file.

In pi's sessions the leaf is the last line, and parents stand above their children. So the path to
the last compaction, and to the first entry that it kept, is found upwards without reading what lies
before. Beyond that only earlier compactions matter, up to one that the index knows.

Sessions of OpenClaw are read in the same way as long as each line follows the one above it; where
they branch, all of them is needed to tell the path. Event files are linear, and their compactions
name the last message that they replaced (docs/design/sessions.md, "Boundary rule").
"""

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from ullage.core.transcript.context import Context
from ullage.core.transcript.entries import Entry, Header, Line, Lines, Problem
from ullage.core.transcript.lineage import CompactionRef, Index
from ullage.formats.agents.openclaw import navigation
from ullage.formats.agents.openclaw.entries import (
    EVENTS,
    EVENTS_VERSION,
    TITLE_KIND,
    Stub,
    linear_entries,
    read_entry,
    read_stub,
)
from ullage.formats.json_line import ms_of, object_of, text_of
from ullage.formats.reading import CompactionsUpwards, Walk, index_again


class ActivePath(msgspec.Struct, frozen=True, kw_only=True):
    """The part of the path that makes the context, and counts over the whole file."""

    dropped: tuple[Entry, ...]
    """What stands above the context, as far as it was read to learn the model."""
    kept: tuple[Entry, ...]
    """What the boundary kept; empty without a boundary."""
    boundary: Entry | None
    after: tuple[Entry, ...]
    """What follows the boundary, or the whole path without one."""
    leaf: Entry | None
    """The last entry: the boundary itself, or one that it kept below itself, or one after it."""
    refs: tuple[CompactionRef, ...]
    """Compactions on the path; with an index, only those that it does not know."""
    n_entries: int
    problems: tuple[Problem, ...]
    title_offset: int | None = None
    """As in the index."""


def read_path(lines: Lines, header: Header, index: Index) -> ActivePath:
    if header.dialect == EVENTS:
        return _path_of_events(lines, index)
    if header.version < 2:
        return _path_of_all(linear_entries(lines), header.version)
    try:
        return _path_upwards(lines, header.version, index)
    except _TangledError:
        return _path_of_all(_all_entries(lines, header.version), header.version)


def read_path_again(lines: Lines, context: Context) -> ActivePath:
    """Read the path that a context was made from, to learn where its entries stand."""
    return read_path(lines, context.header, index_again(lines, context))


def read_event(line: Line) -> Entry | Problem | None:
    """Read a line; an event without an id is given its place in the file as one."""
    entry = read_entry(line, EVENTS_VERSION)
    if isinstance(entry, Entry) and not entry.entry_id:
        return msgspec.structs.replace(entry, entry_id=f"{entry.offset:08x}")
    return entry


def is_last(line: Line, lines: Lines) -> bool:
    return line.offset + len(line.raw) == lines.size_bytes


def last_id(lines: Lines) -> str:
    entries = (read_event(line) for line in lines.backward())
    return next((entry.entry_id for entry in entries if isinstance(entry, Entry)), "")


class _TangledError(Exception):
    """Ids repeat, a parent stands below its child, or OpenClaw's path is not a straight one."""


class _UpwardReader:
    """The lines on the path, from the last line up, and what was passed on the way."""

    def __init__(self, lines: Lines, counted_from: int, version: int) -> None:
        self.walk = Walk(lines.backward(), read_stub, counted_from, is_title=_names_session)
        self._stubs = iter(self.walk)
        self._counted_from = counted_from
        self._is_navigated = version >= navigation.NAVIGATED_VERSION

    def on_path(self) -> Iterator[tuple[Line, Stub]]:
        passed_ids: set[str] = set()
        wanted: str | None = None
        is_leaf = True
        for line, stub in self._stubs:
            if stub.id is not None:
                if stub.id in passed_ids:
                    raise _TangledError
                passed_ids.add(stub.id)
            is_on_path = is_leaf or (wanted is not None and stub.id == wanted)
            if self._is_navigated and not (is_on_path and _is_plain(stub)):
                raise _TangledError
            if not is_on_path:
                continue
            is_leaf = False
            wanted = stub.parent_id or None
            if wanted in passed_ids:
                raise _TangledError
            yield line, stub

    def take_back(self, line: Line, problem: Problem) -> None:
        """Count a line as a problem that looked like an entry at first."""
        self.walk.n_entries -= line.offset >= self._counted_from
        self.walk.problems.append(problem)

    def count_rest(self) -> None:
        """Count what an index does not cover yet, once the path is known."""
        for line, _ in self._stubs:
            if line.offset < self._counted_from:
                return


def _names_session(stub: Stub) -> bool:
    return stub.type == TITLE_KIND


def _is_plain(stub: Stub) -> bool:
    """Whether an entry of OpenClaw only follows its parent."""
    return bool(stub.id) and stub.append_mode is None and stub.type in navigation.ENTRY_KINDS


def _path_upwards(lines: Lines, version: int, index: Index) -> ActivePath:
    climb = _UpwardReader(lines, index.covered_bytes, version)
    compactions = CompactionsUpwards(index)
    boundary_kinds = _boundary_kinds(version)
    upwards: list[Entry] = []
    boundary: Entry | None = None
    is_context_complete = is_model_known = False
    for line, stub in climb.on_path():
        if not is_context_complete or not is_model_known:
            entry = read_entry(line, version)
            if isinstance(entry, Problem):
                climb.take_back(line, entry)
                continue
            if entry is None:
                continue
            upwards.append(entry)
            if boundary is None and entry.kind in boundary_kinds:
                boundary = entry
            is_model_known = is_model_known or names_model(entry)
            is_context_complete = is_context_complete or (
                boundary is not None and _is_first_kept(entry, boundary)
            )
        if stub.type == "compaction":
            compactions.add(line, stub.id, stub.timestamp)
        compactions.is_complete = compactions.is_complete or _is_reset(stub.type, version)
        if is_context_complete and compactions.is_complete and is_model_known:
            break
    climb.count_rest()
    n_entries = index.n_entries + climb.walk.n_entries
    path, refs = tuple(reversed(upwards)), tuple(compactions.refs)
    active = _split(path, refs, n_entries, climb.walk.problems, version)
    return msgspec.structs.replace(active, title_offset=climb.walk.title_after(index))


def _boundary_kinds(version: int) -> tuple[str, ...]:
    return navigation.BOUNDARY_KINDS if version >= navigation.NAVIGATED_VERSION else ("compaction",)


def _is_reset(kind: str, version: int) -> bool:
    """Whether an entry restarts the context, so that no earlier compaction is behind it."""
    return version >= navigation.NAVIGATED_VERSION and kind == "reset"


def names_model(entry: Entry) -> bool:
    """Whether an entry tells the model in use: a change of it, or an answer."""
    message = object_of(entry.native, "message")
    return entry.kind == "model_change" or (
        entry.kind == "message" and message is not None and message.get("role") == "assistant"
    )


def _is_first_kept(entry: Entry, boundary: Entry) -> bool:
    """Whether nothing above this entry is in the context any more."""
    first_kept = text_of(boundary.native, "firstKeptEntryId")
    return first_kept in (None, entry.entry_id, boundary.entry_id)


def _all_entries(lines: Lines, version: int) -> Iterator[Entry | Problem]:
    for line in lines.forward():
        entry = read_entry(line, version)
        if entry is not None:
            yield entry


def _path_of_all(events: Iterable[Entry | Problem], version: int = 3) -> ActivePath:
    entries: list[Entry] = []
    problems: list[Problem] = []
    for event in events:
        if isinstance(event, Problem):
            problems.append(event)
        else:
            entries.append(event)
    if version >= navigation.NAVIGATED_VERSION:
        path = navigation.active_path(entries)
    else:
        path = _path_from_last(entries, problems)
    return _split(path, _refs_of(path, version), len(entries), problems, version)


def _path_from_last(entries: Sequence[Entry], problems: list[Problem]) -> tuple[Entry, ...]:
    """Build the path from every entry, as pi does: the last line of an id stands for it."""
    by_id = {entry.entry_id: entry for entry in entries}
    current = entries[-1] if entries else None
    upwards: list[Entry] = []
    visited: set[int] = set()
    while current is not None:
        if current.offset in visited:
            problems.append(
                Problem(offset=current.offset, message="entry is its own ancestor: pi would hang")
            )
            break
        visited.add(current.offset)
        upwards.append(current)
        current = by_id.get(current.parent_id) if current.parent_id else None
    return tuple(reversed(upwards))


def _split(
    path: tuple[Entry, ...],
    refs: tuple[CompactionRef, ...],
    n_entries: int,
    problems: list[Problem],
    version: int,
) -> ActivePath:
    """Part the path at its last boundary."""
    kinds = _boundary_kinds(version)
    at = max((i for i, entry in enumerate(path) if entry.kind in kinds), default=None)
    boundary = None if at is None else path[at]
    start = 0
    if at is not None and boundary is not None:
        first_kept = text_of(boundary.native, "firstKeptEntryId")
        start = next((i for i in range(at) if path[i].entry_id == first_kept), at)
    after = path if at is None else path[at + 1 :]
    kept = () if at is None else path[start:at]
    n_below = 0 if kept or boundary is None else _count_kept_below(boundary, after)
    return ActivePath(
        dropped=path[:start],
        kept=kept or after[:n_below],
        boundary=boundary,
        after=after[n_below:],
        leaf=path[-1] if path else None,
        refs=refs,
        n_entries=n_entries,
        problems=tuple(problems),
    )


def _count_kept_below(boundary: Entry, after: Sequence[Entry]) -> int:
    """Count the entries that a compaction kept below itself, as in a flat file that was truncated.

    By their times: its own is in its details. An entry without a time is as old as the one before.
    """
    first_kept = text_of(boundary.native, "firstKeptEntryId")
    at_ms = ms_of(object_of(boundary.native, "details") or {})
    if at_ms is None or all(entry.entry_id != first_kept for entry in after):
        return 0
    later = (at for at, entry in enumerate(after) if (ms_of(entry.native) or 0) > at_ms)
    return next(later, len(after))


def _refs_of(path: tuple[Entry, ...], version: int) -> tuple[CompactionRef, ...]:
    refs: list[CompactionRef] = []
    for entry in path:
        if _is_reset(entry.kind, version):
            refs.clear()
        if entry.kind == "compaction":
            refs.append(_ref_of(entry, refs[-1].entry_id if refs else None))
    return tuple(refs)


def _path_of_events(lines: Lines, index: Index) -> ActivePath:
    """Read upwards to the message that the last compaction names, or to the compaction itself.

    What follows that message is kept. A message that is not there keeps nothing: then the
    context is what follows the compaction.
    """
    upwards: list[Entry] = []
    refs: list[CompactionRef] = []
    boundary: Entry | None = None
    n_kept: int | None = None
    is_complete = False
    walk = Walk(lines.backward(), read_event, index.covered_bytes)
    for line, event in walk:
        is_new = line.offset >= index.covered_bytes
        if is_complete and not is_new:
            break
        if event.kind == "compaction" and is_new:
            refs.append(_ref_of(event))
        if is_complete:
            continue
        if boundary is None and event.kind == "compaction":
            boundary = event
            upwards.append(event)
            is_complete = not _last_replaced_id(event)
        elif boundary is not None and event.entry_id == _last_replaced_id(boundary):
            n_kept = len(upwards)
            is_complete = True
        else:
            upwards.append(event)
    path = tuple(reversed(upwards[:n_kept]))
    at = 0 if boundary is None else path.index(boundary)
    kept = path[:at] if n_kept is not None else ()
    if boundary is not None and kept:
        native = boundary.native | {"firstKeptEntryId": kept[0].entry_id}
        boundary = msgspec.structs.replace(boundary, native=native)
    return ActivePath(
        dropped=(),
        kept=kept,
        boundary=boundary,
        after=path if boundary is None else path[at + 1 :],
        leaf=path[-1] if path else None,
        refs=tuple(refs),
        n_entries=index.n_entries + walk.n_entries,
        problems=tuple(walk.problems),
    )


def _last_replaced_id(boundary: Entry) -> str | None:
    return text_of(boundary.native, "boundaryMessageId")


def _ref_of(entry: Entry, previous_id: str | None = None) -> CompactionRef:
    return CompactionRef(
        entry_id=entry.entry_id,
        previous_id=previous_id,
        at_ms=ms_of(entry.native),
        offset=entry.offset,
        size_bytes=entry.size_bytes,
    )
