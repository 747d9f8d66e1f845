"""The configuration files of this machine, read as trees; no fault of theirs stops anything."""

import stat
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

import msgspec

from ullage.core.config.key import Code, Finding, Place, Source
from ullage.core.text.positions import Positions
from ullage.core.text.tree import ParseError, ScalarNode
from ullage.store.files.places import Places, is_there
from ullage.store.files.quick_state import stamp_of

MAX_SIZE_BYTES = 256 * 1024
"""Chosen: a file with every key and a comment on each has 10 kB, and reading the worst kind of so
many bytes takes 0.4 s (measured), which is all that a hostile workspace may cost."""
WORKSPACE_FILE = ".ullage.yaml"
USER_FILE = "config.yaml"
Stamp: TypeAlias = tuple[str, int, int]
"""A path, and when and how long its file was written; zeros where there is none."""


def config_paths(places: Places, workspace: Path | None) -> tuple[tuple[Place, Path], ...]:
    """List the files that count, weakest first, whether they exist or not.

    Of OpenClaw's own, one is read: the current one, or that of its former names.
    """
    openclaw = _openclaw_files(places)
    own: list[tuple[Place, Path]] = [
        ("openclaw", next(filter(is_there, openclaw), openclaw[0])),
        ("user file", places.home / ".openclaw" / USER_FILE),
    ]
    if workspace is not None:
        own.append(("workspace file", workspace / WORKSPACE_FILE))
    return tuple(own)


def config_stamps(places: Places, workspaces: Sequence[Path]) -> tuple[Stamp, ...]:
    """Look at the files that may count: one that was written to has another stamp."""
    return tuple(stamp_of(str(path)) for path in list_config_files(places, workspaces))


def list_config_files(places: Places, workspaces: Sequence[Path]) -> tuple[Path, ...]:
    """List the files that count, or would if they were there."""
    paths = (path for folder in workspaces or (None,) for _, path in config_paths(places, folder))
    return tuple(dict.fromkeys((*_openclaw_files(places), *paths)))


def _openclaw_files(places: Places) -> tuple[Path, ...]:
    chosen = places.env.get("OPENCLAW_STATE_DIR")
    folder = Path(chosen).expanduser() if chosen else places.home / ".openclaw"
    return (
        folder / "openclaw.json",
        folder / "clawdbot.json",
        places.home / ".clawdbot" / "clawdbot.json",
    )


def guess_place(path: Path) -> Place:
    """Tell by its name what a file is."""
    if path.suffix in (".json", ".json5"):
        return "openclaw"
    return "user file" if path.name == USER_FILE else "workspace file"


def read_config_file(place: Place, path: Path) -> Source | None:
    """Read a file; None where there is none."""
    source = Source(place=place, name=str(path))
    try:
        info = path.stat()
        if not stat.S_ISREG(info.st_mode):
            return _unread(source, "config-unreadable", "it is no regular file", "remove it")
        if info.st_size > MAX_SIZE_BYTES:
            problem = f"it has {info.st_size:,} bytes, and {MAX_SIZE_BYTES:,} are read at most"
            return _unread(source, "config-unreadable", problem, "make it smaller")
        with path.open("rb") as file:
            data = file.read(MAX_SIZE_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        return _unread(source, "config-unreadable", f"it cannot be read ({reason})", "allow it")
    return parse_config(place, str(path), data)


def parse_config(place: Place, name: str, data: bytes) -> Source:
    """Read the bytes of a file, in the language that its name tells."""
    # Each parser is imported where a file needs it.
    if name.endswith((".json", ".json5")):
        from ullage.core.text.json5 import parse_json5 as parse
    else:
        from ullage.store.files.yaml_tree import parse_yaml as parse
    source = Source(place=place, name=name)
    try:
        text = data.decode("utf-8-sig")
        source = Source(place=place, name=name, positions=Positions(text))
        return msgspec.structs.replace(source, root=parse(text))
    except UnicodeDecodeError as error:
        problem = f"it is not UTF-8 (byte {error.start})"
        return _unread(source, "config-syntax", problem, "save it as UTF-8")
    except ParseError as error:
        return _unread(source, "config-syntax", error.problem, error.fix, error.offset)


def _unread(source: Source, code: Code, problem: str, fix: str, offset: int = 0) -> Source:
    origin = source.origin(ScalarNode(None, offset, offset))
    finding = Finding(code, origin, f"{problem}, so nothing of this file counts", fix)
    return msgspec.structs.replace(source, findings=(finding,))
