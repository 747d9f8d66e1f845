"""The settings files of agents, read for what they say of a session; no fault stops anything."""

import re
import stat
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import cast

import msgspec

from ullage.core.config.agent_settings import SettingsFile
from ullage.core.transcript.entries import JsonObject

MAX_SIZE_BYTES = 4 * 1024 * 1024
"""Claude Code keeps a history of projects beside its settings, mostly below a megabyte (chosen)."""
MAX_LENIENT_BYTES = 256 * 1024
"""What may have comments, and TOML, is written by hand; so much of it takes 0.4 s (measured)."""

_LONG_KEY = re.compile(
    rb"""(?<![\w-])(?:(?:[\w-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){64}"""
)
"""`a.b.c` with more parts than anybody writes: tomllib takes memory by their square, 1.5 GB for
40 KB (measured)."""


def read_settings_files(paths: Iterable[Path]) -> tuple[SettingsFile, ...]:
    """Read those of the files that are there, in their order; what is damaged is left out."""
    files = ((path, _read(path)) for path in paths)
    return tuple(
        SettingsFile(name="/".join(path.parts[-2:]), content=content)
        for path, content in files
        if content
    )


def _read(path: Path) -> JsonObject | None:
    try:
        info = path.stat()
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(info.st_mode) or info.st_size > MAX_SIZE_BYTES:
        return None
    return _read_unchanged(path, info.st_mtime_ns, info.st_size)


@lru_cache(maxsize=64)
def _read_unchanged(path: Path, written_ns: int, size_bytes: int) -> JsonObject | None:
    """Read a file once for each state that it was seen in: a gauge is measured at each line."""
    del written_ns
    try:
        with path.open("rb") as file:
            content = _parse(path, file.read(size_bytes))
    except (OSError, ValueError, RecursionError):
        return None
    return cast(JsonObject, content) if isinstance(content, dict) else None


def _parse(path: Path, data: bytes) -> object:
    """Read TOML or JSON; comments and commas at the end are taken where JSON has them."""
    if path.suffix == ".toml":
        return parse_toml(data)
    try:
        return cast(object, msgspec.json.decode(data.removeprefix(b"\xef\xbb\xbf")))
    except msgspec.DecodeError:
        return _parse_lenient(data) if len(data) <= MAX_LENIENT_BYTES else None


def parse_toml(data: bytes) -> JsonObject:
    """Parse TOML of a bounded size, whose keys have a bounded number of parts.

    Raises:
        ValueError: it is none, or beyond these.
    """
    import tomllib

    if len(data) > MAX_LENIENT_BYTES or _LONG_KEY.search(data):
        raise ValueError("this is no settings file that a person wrote")
    return tomllib.loads(data.decode("utf-8-sig"))


def _parse_lenient(data: bytes) -> object:
    from ullage.core.text.json5 import parse_json5
    from ullage.core.text.tree import ParseError, plain_value

    try:
        return plain_value(parse_json5(data.decode("utf-8-sig", "replace")))
    except ParseError:
        return None
