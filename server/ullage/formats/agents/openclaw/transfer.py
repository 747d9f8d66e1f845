"""Sessions that are made of pi's and OpenClaw's: branches, and those that a bundle holds."""

from collections.abc import Iterator, Sequence

from ullage.core.change.edit import NewHeader, NewSession
from ullage.core.transcript.context import Context
from ullage.core.transcript.entries import Entry, JsonObject, Lines
from ullage.core.transcript.lineage import EMPTY_INDEX
from ullage.errors import Refused
from ullage.formats.agent_info import Transfer
from ullage.formats.agents.openclaw.entries import EVENTS, FLAT, FLAT_VERSION, Stub, read_stub
from ullage.formats.agents.openclaw.path import ActivePath, read_path
from ullage.formats.json_line import bytes_of, decode_object, text_of, write_line

VERSION = 3
READABLE_VERSIONS = (2, 3)


def file_name(header: NewHeader, dialect: str = "") -> str:
    """Name a session's file: pi by its time and its id, the specifications by its id."""
    if dialect:
        return f"{header.session_id}.jsonl"
    stamp = header.timestamp.replace(":", "-").replace(".", "-")
    return f"{stamp}_{header.session_id}.jsonl"


def session_of(entries: Sequence[JsonObject], header: NewHeader) -> bytes:
    """Render a session of pi's in which the records follow each other."""
    native = make_header(header.session_id, header.cwd, header.timestamp)
    return write_line(native) + _chain(entries)


def make_header(session_id: str, cwd: str, timestamp: str) -> JsonObject:
    return {
        "type": "session",
        "version": VERSION,
        "id": session_id,
        "timestamp": timestamp,
        "cwd": cwd,
    }


def _branch(lines: Lines, context: Context, header: NewHeader) -> NewSession:
    """Copy the path from the first entry to the leaf, byte for byte.

    Raises:
        Refused: the entries follow each other in a circle, or one is too long to be copied.
    """
    dialect = context.header.dialect
    if dialect == EVENTS:
        raws = list(map(bytes_of, lines.forward()))
    else:
        native = make_header(header.session_id, header.cwd, header.timestamp)
        if dialect == FLAT:
            native |= {"version": FLAT_VERSION, "parentSession": context.header.session_id}
        else:
            native["parentSession"] = header.parent_path
        raws = [write_line(native), *_path_lines(lines, context.leaf_id)]
    data = b"".join(raw if raw.endswith(b"\n") else raw + b"\n" for raw in raws)
    name = file_name(header, dialect)
    return NewSession(session_id=header.session_id, name=name, data=data)


def _path_lines(lines: Lines, leaf_id: str | None) -> Iterator[bytes]:
    """List the lines from the first entry to the leaf; the last line of an id stands for it."""
    places: dict[str, tuple[int, str | None]] = {}
    for line in lines.forward():
        stub = read_stub(line)
        if isinstance(stub, Stub) and stub.id:
            places[stub.id] = line.offset, stub.parent_id or None
    wanted: set[int] = set()
    while leaf_id is not None and leaf_id in places:
        offset, leaf_id = places[leaf_id]
        if offset in wanted:
            raise Refused("entries follow each other in a circle: repair it with `ullage doctor`")
        wanted.add(offset)
    return (bytes_of(line) for line in lines.forward() if line.offset in wanted)


def _list_records(lines: Lines, context: Context) -> list[JsonObject] | None:
    header = context.header
    if header.version not in READABLE_VERSIONS and not header.dialect:
        return None
    path = read_path(lines, header, EMPTY_INDEX)
    boundary = () if path.boundary is None else (path.boundary,)
    entries = (*_without_compactions(path), *boundary, *path.after)
    if not header.dialect:
        return [entry.native for entry in entries]
    natives = [_as_written(lines, entry) for entry in entries]
    return [*_replaced_event(path), *natives] if header.dialect == EVENTS else natives


def _without_compactions(path: ActivePath) -> Iterator[Entry]:
    """List what the last compaction kept; those among it say nothing any more."""
    boundary = {} if path.boundary is None else path.boundary.native
    for at, entry in enumerate(path.kept):
        # But for one by whose id it is told where the kept part begins.
        if entry.kind != "compaction" or (at == 0 and "boundaryMessageId" not in boundary):
            yield entry


def _as_written(lines: Lines, entry: Entry) -> JsonObject:
    """Give an entry without the shape that all readers here see it in."""
    native = decode_object(next(lines.forward(entry.offset)))
    return entry.native if isinstance(native, str) else native


def _replaced_event(path: ActivePath) -> tuple[JsonObject, ...]:
    """Stand for the last replaced message: by its id a compaction tells what it kept."""
    if path.boundary is None or not path.kept:
        return ()
    event_id = text_of(path.boundary.native, "boundaryMessageId")
    return ({"id": event_id, "type": "message", "role": "user", "content": ""},)


def _make_session(records: Sequence[JsonObject], dialect: str, header: NewHeader) -> NewSession:
    match dialect:
        case "events":
            data = b"".join(map(write_line, records))
        case "flat":
            native = make_header(header.session_id, header.cwd, header.timestamp)
            data = write_line(native | {"version": FLAT_VERSION}) + _chain(records)
        case _:
            data = session_of(records, header)
    name = file_name(header, dialect)
    return NewSession(session_id=header.session_id, name=name, data=data)


def _chain(entries: Sequence[JsonObject]) -> bytes:
    """Write entries of which each follows the one before."""
    lines: list[bytes] = []
    parent_id: str | None = None
    for native in entries:
        lines.append(write_line(native | {"parentId": parent_id}))
        parent_id = text_of(native, "id")
    return b"".join(lines)


TRANSFER = Transfer(branch=_branch, list_records=_list_records, make_session=_make_session)
