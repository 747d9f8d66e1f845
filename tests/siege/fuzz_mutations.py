"""Damage to an input, thrown by dice: bytes, lines, and the values of JSON; several at once."""

import json
import random
from collections.abc import Callable
from typing import TypeAlias

from pi_files import Json

MAX_BYTES = 16 * 1024
"""That an input may have more than the whole one: what grows with a power of the length shows
(chosen)."""
MAX_AT_ONCE = 4
TOKENS = (
    *(bytes([n]) for n in (0, 9, 10, 13, 27, 0x7F, 0x80, 0xFF)),
    b"\xef\xbb\xbf",
    b"\xff\xfe",
    b"\xc0\xaf",
    b"\xed\xa0\x80",
    b"\xf4\x90\x80\x80",
    "\u2028".encode(),
    "\u0085".encode(),
    "\u202e".encode(),
    b'"',
    b"\\",
    b"\\u",
    b"\\ud800",
    b"\\u0000",
    b"'",
    b"`",
    b"```\n",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b": ",
    b"- ",
    b"#",
    b"# ",
    b"---\n",
    b"...\n",
    b"&a ",
    b"*a",
    b"!!python/object:os.system ",
    b"<<: *a\n",
    b"? ",
    b"|\n",
    b">-\n",
    b"%YAML 1.1\n",
    b"\t",
    b"    ",
    b"\r\n",
    b"@",
    b"%",
    b"null",
    b"true",
    b"NaN",
    b"Infinity",
    b"-0",
    b"1e999",
    b"1e-999",
    b"0x1f",
    b"1_000",
    b"2026-13-45T99:99:99Z",
    b"9" * 400,
    b"-" * 300,
    b"../../etc/passwd",
    b"file:///%00",
    b"<!-- ",
    b" -->",
    b"</",
    b"<file>",
    b"sk-ant-",
    b"-----BEGIN ",
    b"Bearer ",
    b"[" * 200,
    b"{" * 200,
    b'{"a":' * 200,
    b"- " * 200,
    b" " * 2000,
    b"a" * 2000,
    b"\n" * 500,
    b"a." * 400,
    b"*_" * 300,
)
JUNK: tuple[object, ...] = (
    None,
    True,
    False,
    0,
    -1,
    1,
    0.5,
    -0.0,
    1e308,
    float("nan"),
    float("inf"),
    2**31,
    2**53,
    2**63,
    2**64,
    -(2**70),
    10**400,
    "",
    " ",
    "\0",
    "\ud800",
    "\u2028",
    "x" * 3000,
    "a b\nc",
    "user",
    "assistant",
    "../../etc/passwd",
    "/",
    "file:///",
    "2026-13-45T99:99:99Z",
    "9999-12-31T23:59:59.999+14:00",
    "1e5",
    "true",
    "@",
    "-----BEGIN RSA PRIVATE KEY-----",
    [],
    {},
    [[]],
    [None],
    {"": None},
    [{}],
    {"type": "text"},
    {"type": "tool_use"},
    {"role": "user", "content": []},
)
Change: TypeAlias = Callable[[bytes, bytes, random.Random], bytes]


def mutate(data: bytes, other: bytes, dice: random.Random) -> bytes:
    """Damage an input in some ways at once; `other` is one to take parts from."""
    most, changes = len(data) + MAX_BYTES, dice.choice(WAYS)
    for _ in range(min(dice.randint(1, MAX_AT_ONCE), dice.randint(1, MAX_AT_ONCE))):
        data = dice.choice(changes)(data, other, dice)[:most]
    return data


def _flip(data: bytes, _: bytes, dice: random.Random) -> bytes:
    if not data:
        return b"\0"
    at = dice.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << dice.randrange(8)]) + data[at + 1 :]


def _insert(data: bytes, _: bytes, dice: random.Random) -> bytes:
    at = dice.randint(0, len(data))
    return data[:at] + dice.choice(TOKENS) + data[at:]


def _replace(data: bytes, _: bytes, dice: random.Random) -> bytes:
    start, end = _span(data, dice)
    return data[:start] + dice.choice(TOKENS) + data[end:]


def _remove(data: bytes, _: bytes, dice: random.Random) -> bytes:
    start, end = _span(data, dice)
    return data[:start] + data[end:]


def _repeat(data: bytes, _: bytes, dice: random.Random) -> bytes:
    start, end = _span(data, dice)
    return data[:start] + data[start:end] * dice.choice((2, 3, 40)) + data[end:]


def _cut(data: bytes, _: bytes, dice: random.Random) -> bytes:
    return data[: dice.randint(0, len(data))]


def _splice(data: bytes, other: bytes, dice: random.Random) -> bytes:
    return data[: dice.randint(0, len(data))] + other[dice.randint(0, len(other)) :]


def _change_lines(data: bytes, other: bytes, dice: random.Random) -> bytes:
    lines, others = data.split(b"\n"), other.split(b"\n")
    at = dice.randrange(len(lines))
    match dice.randrange(7):
        case 0:
            del lines[at]
        case 1:
            lines.insert(dice.randint(0, len(lines)), lines[at])
        case 2:
            lines.insert(at, dice.choice(others))
        case 3:
            lines[at] = b" " * dice.randrange(9) + lines[at].lstrip()
        case 4:
            lines[at] = lines[at].partition(b":")[0] + b": " + dice.choice(TOKENS)
        case 5:
            to = dice.randrange(len(lines))
            lines[at], lines[to] = lines[to], lines[at]
        case _:
            lines[at : at + 2] = [b"".join(lines[at : at + 2])]
    return b"\n".join(lines)


def _change_json(data: bytes, other: bytes, dice: random.Random) -> bytes:
    """Change a value of the whole, or of a line; what is no JSON is damaged as bytes."""
    found = read_json(data)
    if isinstance(found, dict | list):
        return write_json(_edit(found, read_json(other), dice), dice)
    lines = data.split(b"\n")
    at = dice.randrange(len(lines))
    found = read_json(lines[at])
    if not isinstance(found, dict | list):
        return _flip(data, other, dice)
    lines[at] = write_json(_edit(found, read_json(dice.choice(other.split(b"\n"))), dice), dice)
    return b"\n".join(lines)


def read_json(data: bytes) -> object:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def write_json(value: object, dice: random.Random) -> bytes:
    text = json.dumps(value, ensure_ascii=dice.randrange(4) > 0)
    return text.encode("utf-8", "surrogatepass")


def _edit(value: Json | list, donor: object, dice: random.Random) -> object:
    places = list(_places(value))
    if not places:
        return dice.choice(JUNK)
    holder, key = dice.choice(places)
    given = [each[at] for each, at in _places(donor)]
    match dice.randrange(8):
        case 0:
            del holder[key]
        case 1:
            holder[key] = dice.choice(given or JUNK)
        case 2:
            holder[key] = [holder[key]] * dice.choice((1, 2, 50))
        case 3:
            holder[key] = {"type": holder[key], "content": holder[key]}
        case 4 if isinstance(holder, dict):
            holder[str(dice.choice(JUNK))] = holder.pop(key)
        case 5:
            other_holder, other_key = dice.choice(places)
            holder[key], other_holder[other_key] = other_holder[other_key], None
        case 6:
            for _ in range(dice.choice((5, 150))):
                holder[key] = [holder[key]] if dice.randrange(2) else {"a": holder[key]}
        case _:
            holder[key] = dice.choice(JUNK)
    return value


def _places(value: object) -> list[tuple]:
    """List each value within one, as what holds it and the key there."""
    places: list[tuple] = []
    waiting = [value]
    while waiting:
        holder = waiting.pop()
        if isinstance(holder, dict):
            places += ((holder, key) for key in holder)
            waiting += holder.values()
        elif isinstance(holder, list):
            places += ((holder, at) for at in range(len(holder)))
            waiting += holder
    return places


def _span(data: bytes, dice: random.Random) -> tuple[int, int]:
    start = dice.randint(0, len(data))
    return start, min(len(data), start + dice.choice((1, 2, 8, 60, 600)))


BYTES: tuple[Change, ...] = (_flip, _insert, _replace, _remove, _repeat, _cut, _splice)
WAYS: tuple[tuple[Change, ...], ...] = (
    (*BYTES, _change_lines, _change_json),
    (_change_lines,),
    (_change_json,),
    (_change_json,),
    (_flip,),
)
"""One is chosen for an input: what is whole but for its values comes further than bad JSON."""
