"""One line of JSON as an object, whatever it holds, and its fields by shape."""

import json
import math
import re
from collections.abc import Sequence
from datetime import datetime
from typing import NoReturn, cast

import msgspec

from ullage.core.transcript.entries import (
    MAX_HELD_BYTES,
    JsonObject,
    Line,
    MemoryLines,
    Problem,
)
from ullage.errors import Refused

MAX_LINE_BYTES = 16 * 1024 * 1024
"""Longer lines stay unread: one line must not take the memory of a session (chosen)."""
MAX_INT = 2**53 - 1
"""`Number.MAX_SAFE_INTEGER` of JavaScript, in which most agents are written."""
LAST_SECOND = 100_000_000_000
"""Smaller times are seconds, not milliseconds (docs/design/sessions.md, "Event files")."""

_BOM = b"\xef\xbb\xbf"
_ISO = re.compile(r"\d{4}-\d\d-\d\dT")
_decode_any = msgspec.json.Decoder().decode
_decode_fields = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


def objects_in(data: bytes) -> list[JsonObject]:
    """Decode the lines of some bytes, passing over all that are not JSON objects."""
    decoded = map(decode_object, MemoryLines(data).forward())
    return [native for native in decoded if not isinstance(native, str)]


def is_blank(line: Line) -> bool:
    return not line.raw or line.raw.isspace()


def bytes_of(line: Line) -> bytes:
    """Give a line as it is copied.

    Raises:
        Refused: it is too long to be held.
    """
    if line.is_cut:
        raise Refused(
            f"the record at byte {line.offset:,} has more than {MAX_HELD_BYTES // 1024**2} MB,"
            " which is more than Ullage copies: nothing was written"
        )
    return line.raw


def decode_object(line: Line) -> JsonObject | str:
    """Decode a line, or say in a few words why it is not a JSON object."""
    raw = line.raw
    if len(raw) > MAX_LINE_BYTES:
        return f"line of {len(raw):,} bytes is longer than {MAX_LINE_BYTES:,}"
    value = decode_any(raw)
    if isinstance(value, msgspec.UnsetType):
        return "unfinished line" if line.is_torn else "line is not valid JSON"
    native = as_object(value)
    return "line is not a JSON object" if native is None else native


def decode_any(raw: bytes) -> object:
    """Decode JSON; UNSET where it is none.

    msgspec refuses lone surrogates, bad UTF-8 and a BOM, all of which JavaScript agents read
    back: what it refuses gets a second reading by the standard library, which takes them.
    """
    try:
        return cast(object, _decode_any(raw))
    except (msgspec.DecodeError, ValueError, RecursionError):
        text = raw.removeprefix(_BOM).decode("utf-8", "replace")
        try:
            return cast(object, json.loads(text, parse_constant=_refuse_constant))
        except (ValueError, RecursionError):
            return msgspec.UNSET


def read_object(line: Line) -> JsonObject | Problem | None:
    """Decode a line; None for a blank one, a problem where it is not a JSON object."""
    if is_blank(line):
        return None
    native = decode_object(line)
    return Problem(offset=line.offset, message=native) if isinstance(native, str) else native


def text_of(value: JsonObject, key: str) -> str | None:
    text = value.get(key)
    return text if isinstance(text, str) else None


def int_of(value: JsonObject, key: str) -> int | None:
    """Read a whole number; one that JavaScript could not count with is none."""
    number = value.get(key)
    if isinstance(number, float) and number.is_integer():
        number = int(number)
    return number if type(number) is int and -MAX_INT <= number <= MAX_INT else None


def object_of(value: JsonObject, key: str) -> JsonObject | None:
    return as_object(value.get(key))


def objects_of(value: JsonObject, key: str) -> tuple[JsonObject, ...]:
    """List the objects in an array field, passing over everything else."""
    items = value.get(key)
    if not isinstance(items, list):
        return ()
    # A list is made in half the time of a generator, and a session has thousands of these.
    return tuple(
        [cast(JsonObject, item) for item in cast(list[object], items) if isinstance(item, dict)]
    )


def texts_of(value: JsonObject, key: str) -> tuple[str, ...]:
    """List the strings in an array field, passing over everything else."""
    items = value.get(key)
    if not isinstance(items, list):
        return ()
    return tuple(item for item in cast(list[object], items) if isinstance(item, str))


def as_object(value: object) -> JsonObject | None:
    return cast(JsonObject, value) if isinstance(value, dict) else None


def ms_of(value: JsonObject, key: str = "timestamp") -> int | None:
    """Read a time that is ISO 8601 text or a number, of milliseconds or of seconds."""
    moment = value.get(key)
    if isinstance(moment, str):
        return iso_ms(moment)
    number = int_of(value, key)
    if number is None or number < 0:
        return None
    return number if number > LAST_SECOND else number * 1000


def iso_ms(text: str | None) -> int | None:
    """Read an ISO 8601 time as milliseconds since 1970; None where it is not one."""
    if text is None or not _ISO.match(text):
        return None
    try:
        return round(datetime.fromisoformat(text).timestamp() * 1000)
    except (ValueError, OverflowError):
        return None


def compact_json(value: object) -> str:
    """Write a value as JSON text; lone surrogates stay escaped."""
    try:
        return msgspec.json.encode(value).decode()
    except (ValueError, RecursionError):
        return json.dumps(value, separators=(",", ":"), default=str)


def write_line(native: JsonObject) -> bytes:
    return compact_json(native).encode() + b"\n"


def canonical_json(value: object) -> bytes:
    """Write a value as JSON whose keys are sorted: the same for the same content."""
    try:
        return msgspec.json.encode(value, order="deterministic")
    except (ValueError, RecursionError):
        return json.dumps(value, separators=(",", ":"), sort_keys=True, default=str).encode()


def with_value(line: bytes, keys: Sequence[str], value: object) -> bytes:
    """Put a value at a path of keys into a line; what stands beside it is copied byte for byte.

    Only a line that msgspec refuses, such as one with a lone surrogate, is rewritten.
    """
    text = line.rstrip()
    ending = line[len(text) :]
    try:
        return _with_value(text, keys, compact_json(value).encode()) + ending
    except (msgspec.DecodeError, ValueError, RecursionError):
        decoded = text.removeprefix(_BOM).decode("utf-8", "replace")
        root = cast(JsonObject, json.loads(decoded, parse_float=_finite))
    *outer, last = keys
    target = root
    for key in outer:
        target = cast(JsonObject, target[key])
    target[last] = value
    return json.dumps(root, separators=(",", ":")).encode() + ending


def _with_value(text: bytes, keys: Sequence[str], value: bytes) -> bytes:
    fields = _decode_fields(text)
    key, *inner = keys
    new = _with_value(bytes(fields[key]), inner, value) if inner else value
    fields[key] = msgspec.Raw(new)
    return msgspec.json.encode(fields)


def _finite(text: str) -> float | None:
    """Read a number; one beyond all bounds is written back as null, as JavaScript does."""
    number = float(text)
    return number if math.isfinite(number) else None


def _refuse_constant(name: str) -> NoReturn:
    """Refuse NaN and Infinity, which the standard library takes and JSON does not have."""
    raise ValueError(name)
