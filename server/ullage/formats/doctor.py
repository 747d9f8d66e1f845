"""Transcripts line by line, as a doctor reads them: what is damaged, and what can be saved.

What all formats of lines share; what one agent's records are is its `Records`.
"""

import re
from collections.abc import Callable, Iterator
from typing import cast

import msgspec

from ullage.core.text.lazy_pattern import lazy_pattern
from ullage.core.transcript.context import ContextItem
from ullage.core.transcript.entries import Header, JsonObject, Line, Lines
from ullage.core.transcript.lineage import Node
from ullage.formats import json_line

MAX_TRIES = 64
"""Beginnings of records that are looked for in a damaged line (chosen)."""
_BOM = b"\xef\xbb\xbf"
_BEGINNING = lazy_pattern(
    r'\{"(?:type|id|uuid|parentUuid|parentId|isSidechain|timestamp|sessionId)":'
)


def _none(*_: object) -> None:
    """Stand for what records do not have or need."""


def _always(*_: object) -> bool:
    return True


def _never(*_: object) -> bool:
    return False


class RecordRules(msgspec.Struct, frozen=True, kw_only=True):
    """What a doctor must know of an agent's records."""

    sessions: str
    """Those that these rules hold for, in words."""
    covers: Callable[[Header], bool] = _always
    """Whether they hold for a session of the agent."""
    is_named_by_file: bool = False
    """Whether the agent knows a session by the name of its file."""

    id_field: str = ""
    """Empty where records have no ids."""
    parent_field: str = ""
    kept_field: str = ""
    """Where a compaction names the first record that it kept; empty where it does not."""
    mends_pairs: bool = True
    """Whether a call or a result without the other harms: not where the agent itself sees to it."""

    is_record: Callable[[JsonObject], bool]
    """Whether an object, wherever it stands, can be a record or a header."""
    is_header: Callable[[JsonObject], bool]
    make_header: Callable[[str, str, str], JsonObject | None] = _none
    """Makes a header of a session's id, its folder and a time in place of one that is lost; None
    where the format has none."""
    session_id_field: Callable[[JsonObject], tuple[str, ...]]
    """Gives the path of keys to the session's id in a record that must tell a new one."""
    find_fault: Callable[[JsonObject], str | None]
    """Names a field whose type makes a record useless."""
    node: Callable[[JsonObject], Node | None] = _none
    """Gives a record's place in the tree; None for what is no part of it, and where the order of
    the lines is all there is."""
    fresh_id: Callable[[str], str] = str
    """Makes an id of hexadecimal digits, in the shape of the agent's own."""
    is_answer_sent: Callable[[ContextItem], bool] = _always
    make_result: Callable[[JsonObject, str, str, str], JsonObject | None] = _none
    """Makes the record that answers a call without a result, of the call's record, its id, the
    tool's name and the record's own id."""
    is_compaction: Callable[[JsonObject], bool]
    keep_result: Callable[[JsonObject, str, str], JsonObject | None] = _none
    """Lets a compaction that keeps a call's record by name keep its result's too; None for what
    is no compaction that keeps it."""
    drop_result: Callable[[JsonObject, str], JsonObject | None] = _none
    """Takes an orphaned result out of a record; None where nothing else is in it."""
    follows_same_answer: Callable[[JsonObject, JsonObject], bool] = _never
    """Whether a record continues the answer of the one before it."""


class LinePiece(msgspec.Struct, frozen=True, kw_only=True):
    """A line, or a part of a line that is a record of its own."""

    line: int
    """Counted from 1."""
    offset: int
    raw: bytes
    """What is to stand in a repaired copy, line end included; empty where nothing can be saved."""
    native: JsonObject | None
    """None for blank lines and what cannot be read."""
    codes: tuple[str, ...] = ()


def read_pieces(lines: Lines, records: RecordRules | None) -> Iterator[LinePiece]:
    """Read a whole transcript; every line gives at least one piece."""
    number = 1
    for line in lines.forward():
        yield from _pieces_of(line, number, records)
        number += line.raw.count(b"\n")


def has_valid_text(raw: bytes) -> bool:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True


def _pieces_of(line: Line, number: int, records: RecordRules | None) -> Iterator[LinePiece]:
    raw = line.raw
    codes: list[str] = []
    if number == 1 and raw.startswith(_BOM):
        codes.append("byte-order-mark")
        raw = raw.removeprefix(_BOM)
    if b"\0" in raw:
        codes.append("nul-padding")
        raw = raw.replace(b"\0", b"")
    if not has_valid_text(raw):
        codes.append("invalid-utf8")

    def piece(kept: bytes, native: JsonObject | None, *more: str) -> LinePiece:
        return LinePiece(
            line=number, offset=line.offset, raw=kept, native=native, codes=(*codes, *more)
        )

    if json_line.is_blank(Line(line.offset, raw)):
        yield piece(b"" if codes else raw, None)
        return
    decoded = json_line.decode_object(Line(line.offset, raw))
    if not isinstance(decoded, str):
        yield piece(raw if raw.endswith(b"\n") else raw + b"\n", decoded)
        return
    if len(raw) > json_line.MAX_LINE_BYTES:
        yield piece(raw, None, "long-line")
        return
    whole, is_all = _records_in(raw, records)
    if whole:
        code = "joined-lines" if is_all else "torn-line"
        for at, (text, native) in enumerate(whole):
            end = b"\r\n" if raw.endswith(b"\r\n") else b"\n"
            kept = text.encode("utf-8", "surrogateescape") + end
            yield (
                piece(kept, native, code)
                if at == 0
                else LinePiece(line=number, offset=line.offset, raw=kept, native=native)
            )
    elif line.is_torn:
        yield piece(b"", None, "unfinished-line")
    elif raw.lstrip().startswith(b"{"):
        yield piece(b"", None, "torn-line")
    else:
        is_json = decoded == "line is not a JSON object"
        yield piece(b"", None, "not-an-object" if is_json else "unparseable-line")


def _records_in(raw: bytes, rules: RecordRules | None) -> tuple[list[tuple[str, JsonObject]], bool]:
    """Find whole records in a line that is none, and whether nothing else is in it."""
    import json  # few sessions are damaged

    text = raw.decode("utf-8", "surrogateescape")
    decoder = json.JSONDecoder()
    whole: list[tuple[str, JsonObject]] = []
    is_all = True
    end = 0
    for _ in range(MAX_TRIES):
        start = len(text) - len(text[end:].lstrip())
        if start == len(text):
            break
        try:
            value, stop = cast(tuple[object, int], decoder.raw_decode(text, start))
            native = json_line.as_object(value)
        except (ValueError, RecursionError):
            native, stop = None, start
        if native is not None and (rules is None or rules.is_record(native)):
            whole.append((text[start:stop], native))
            end = stop
            continue
        is_all = False
        # What is nested in a torn record is none itself, as `is_record` tells.
        match = _BEGINNING.search(text, start + 1)
        if match is None:
            break
        end = match.start()
    return whole, is_all


def with_field(
    raw: bytes, native: JsonObject, keys: tuple[str, ...], value: str | None
) -> tuple[bytes, JsonObject]:
    """Change one field of a line, and no other byte of it where that can be done."""
    wanted = _changed(native, keys, value)
    text = raw.decode("utf-8", "surrogateescape")
    pattern = re.compile(rf'("{re.escape(keys[-1])}"\s*:\s*)(?:"(?:[^"\\]|\\.)*+"|null)')
    for match, _ in zip(pattern.finditer(text), range(MAX_TRIES), strict=False):
        changed = text[: match.end(1)] + json_line.compact_json(value) + text[match.end() :]
        line = Line(0, changed.encode("utf-8", "surrogateescape"))
        if json_line.decode_object(line) == wanted:
            return line.raw, wanted
    return json_line.write_line(wanted), wanted


def _changed(native: JsonObject, keys: tuple[str, ...], value: str | None) -> JsonObject:
    if len(keys) == 1:
        return native | {keys[0]: value}
    inner = json_line.as_object(native.get(keys[0])) or {}
    return native | {keys[0]: _changed(inner, keys[1:], value)}
