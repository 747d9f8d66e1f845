"""The configuration files of this machine, read as trees; no fault of theirs stops anything."""

import stat
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

from ullage.core.config.tree import (
    MAX_SIZE_BYTES,
    Code,
    Finding,
    Node,
    NotRead,
    Place,
    Source,
    Span,
    TextLines,
)
from ullage.store.files.places import Places

WORKSPACE_FILE = ".ullage.yaml"
USER_FILE = "config.yaml"
Stamp: TypeAlias = tuple[str, int, int]
"""A path, and when and how long its file was written; zeros where there is none."""


def config_paths(places: Places, workspace: Path | None) -> tuple[tuple[Place, Path], ...]:
    """List the files that count, weakest first, whether they exist or not.

    Of OpenClaw's own, one is read: the current one, or that of its former names.
    """
    chosen = places.env.get("OPENCLAW_STATE_DIR")
    folder = Path(chosen) if chosen else places.home / ".openclaw"
    openclaw = (
        folder / "openclaw.json",
        folder / "clawdbot.json",
        places.home / ".clawdbot" / "clawdbot.json",
    )
    found: list[tuple[Place, Path]] = [
        ("openclaw", next(filter(is_there, openclaw), openclaw[0])),
        ("user file", places.home / ".openclaw" / USER_FILE),
    ]
    if workspace is not None:
        found.append(("workspace file", workspace / WORKSPACE_FILE))
    return tuple(found)


def config_stamps(places: Places, workspaces: Sequence[Path]) -> tuple[Stamp, ...]:
    """Look at the files that count: one that was written to has another stamp."""
    paths = (path for folder in workspaces or (None,) for _, path in config_paths(places, folder))
    return tuple(_stamp(path) for path in dict.fromkeys(paths))


def _stamp(path: Path) -> Stamp:
    try:
        found = path.stat()
    except (OSError, ValueError):
        return str(path), 0, 0
    return str(path), found.st_mtime_ns, found.st_size


def is_there(path: Path) -> bool:
    try:
        path.stat()
    except (OSError, ValueError):
        return False
    return True


def place_of(path: Path) -> Place:
    """Tell by its name what a file is."""
    if path.suffix in (".json", ".json5"):
        return "openclaw"
    return "user file" if path.name == USER_FILE else "workspace file"


def read_config_file(place: Place, path: Path) -> Source | None:
    """Read a file; None where there is none."""
    name = str(path)
    try:
        info = path.stat()
        if not stat.S_ISREG(info.st_mode):
            return _unread(place, name, "config-unreadable", "it is no regular file", "remove it")
        if info.st_size > MAX_SIZE_BYTES:
            problem = f"it has {info.st_size:,} bytes, and {MAX_SIZE_BYTES:,} are read at most"
            return _unread(place, name, "config-unreadable", problem, "make it smaller")
        with path.open("rb") as file:
            data = file.read(MAX_SIZE_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        return _unread(
            place, name, "config-unreadable", f"it cannot be read ({reason})", "allow it"
        )
    return parse_config(place, name, data)


def parse_config(place: Place, name: str, data: bytes) -> Source:
    """Read the bytes of a file, in the language that its name tells."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return _unread(
            place,
            name,
            "config-syntax",
            f"it is not UTF-8 (byte {error.start})",
            "save it as UTF-8",
        )
    try:
        root = _parser(name)(text)
    except NotRead as error:
        span = TextLines(text).span(error.offset, error.offset)
        return _unread(place, name, "config-syntax", error.problem, error.fix, span)
    return Source(place=place, name=name, root=root)


def _parser(name: str) -> Callable[[str], Node]:
    """Give the parser for a file; each is imported where a file needs it."""
    if name.endswith((".json", ".json5")):
        from ullage.core.install.json5 import parse_json5

        return parse_json5
    from ullage.store.config.yaml_tree import parse_yaml

    return parse_yaml


def _unread(
    place: Place, name: str, code: Code, problem: str, fix: str, span: Span | None = None
) -> Source:
    source = Source(place=place, name=name)
    finding = Finding(
        code=code,
        origin=source.origin(span),
        message=f"{problem}, so nothing of this file counts",
        fix=fix,
    )
    return Source(place=place, name=name, findings=(finding,))
