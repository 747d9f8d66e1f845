"""The active path of any session, S0's linear ones by S0 §Boundary-Based Session Loading."""

from collections.abc import Iterator

import msgspec

from ullage.core.transcript.context import Context
from ullage.core.transcript.entries import Entry, Header, Line, Lines, Problem
from ullage.core.transcript.index import CompactionRef, Index
from ullage.formats.agents.openclaw.entries import read_entry
from ullage.formats.agents.openclaw.path import Path, read_path
from ullage.formats.agents.openclaw.seed_entries import EVENTS, EVENTS_VERSION
from ullage.formats.json_line import ms_of, text_of


def read_active_path(lines: Lines, header: Header, known: Index) -> Path:
    """Read the path of a session in any of the formats."""
    if header.dialect == EVENTS:
        return read_events(lines, known)
    return read_path(lines, header, known)


def read_path_again(lines: Lines, context: Context) -> Path:
    """Read the path that a context was made from, to learn where its entries stand."""
    known = Index(
        covered_bytes=lines.size_bytes,
        n_entries=context.n_entries,
        compactions=context.compactions,
    )
    return read_active_path(lines, context.header, known)


def read_events(lines: Lines, known: Index) -> Path:
    """Read upwards to the message that the last compaction names, or to the compaction itself.

    What follows that message is kept. A message that is not there keeps nothing: then the
    context is what follows the compaction.
    """
    upwards: list[Entry] = []
    problems: list[Problem] = []
    refs: list[CompactionRef] = []
    n_new = 0
    boundary: Entry | None = None
    n_kept: int | None = None
    is_complete = False
    for found in _upwards(lines):
        if isinstance(found, Problem):
            problems.append(found)
            continue
        is_new = found.offset >= known.covered_bytes
        if is_complete and not is_new:
            break
        n_new += is_new
        if found.kind == "compaction" and is_new:
            refs.append(_ref_of(found))
        if is_complete:
            continue
        if boundary is None and found.kind == "compaction":
            boundary = found
            upwards.append(found)
            is_complete = not _last_replaced_id(found)
        elif boundary is not None and found.entry_id == _last_replaced_id(boundary):
            n_kept = len(upwards)
            is_complete = True
        else:
            upwards.append(found)
    path = tuple(reversed(upwards if n_kept is None else upwards[:n_kept]))
    n_entries = known.n_entries + n_new
    return _split(path, boundary, n_kept is not None, tuple(refs), n_entries, tuple(problems))


def read_event(line: Line) -> Entry | Problem | None:
    """Read a line; an event without an id is given its place in the file as one."""
    entry = read_entry(line, EVENTS_VERSION)
    if isinstance(entry, Entry) and not entry.entry_id:
        return msgspec.structs.replace(entry, entry_id=f"{entry.offset:08x}")
    return entry


def _upwards(lines: Lines) -> Iterator[Entry | Problem]:
    for line in lines.backward():
        found = read_event(line)
        if found is not None:
            yield found


def _last_replaced_id(boundary: Entry) -> str | None:
    return text_of(boundary.native, "boundaryMessageId")


def _split(
    path: tuple[Entry, ...],
    boundary: Entry | None,
    has_kept: bool,
    refs: tuple[CompactionRef, ...],
    n_entries: int,
    problems: tuple[Problem, ...],
) -> Path:
    at = 0 if boundary is None else path.index(boundary)
    kept = path[:at] if has_kept else ()
    if boundary is not None and kept:
        native = boundary.native | {"firstKeptEntryId": kept[0].entry_id}
        boundary = msgspec.structs.replace(boundary, native=native)
    return Path(
        dropped=(),
        kept=kept,
        boundary=boundary,
        after=path if boundary is None else path[at + 1 :],
        refs=refs,
        n_entries=n_entries,
        problems=problems,
    )


def _ref_of(entry: Entry) -> CompactionRef:
    return CompactionRef(
        entry_id=entry.entry_id,
        previous_id=None,
        at_ms=ms_of(entry.native),
        offset=entry.offset,
        size_bytes=entry.size_bytes,
    )
