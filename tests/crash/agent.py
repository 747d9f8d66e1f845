"""Who else writes: an agent as pi is one, which opens, appends, closes, or another Ullage."""

import json
import os
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path

from ullage.errors import UllageError

FAULT_NAME = "fault-of-the-other"
"""A file that tells what went wrong in the other Ullage."""


def leaf_of(path: Path) -> str | None:
    """Give the id of the last record that parses, which the next one follows."""
    leaf = None
    for line in path.read_bytes().split(b"\n"):
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if isinstance(entry, dict) and entry.get("type") != "session":
            leaf = entry.get("id", leaf)
    return leaf


def record(entry_id: str, parent_id: str | None, text: str = "") -> bytes:
    entry = {"type": "message", "id": entry_id, "parentId": parent_id, "text": text}
    return json.dumps(entry).encode() + b"\n"


def append(path: Path, line: bytes) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o640)
    os.write(fd, line)
    os.close(fd)


def serve(orders: int, replies: int, works: Mapping[str, Callable[[Path], None]]) -> None:
    """Do what is ordered: each order is a line of JSON, each answer a byte."""
    held: dict[str, int] = {}
    with os.fdopen(orders, "rb", closefd=False) as file:
        for line in file:
            order = json.loads(line)
            path = order["path"]
            match order["do"]:
                case "append":
                    append(Path(path), order["line"].encode())
                case "hold":
                    held[path] = os.open(path, os.O_WRONLY | os.O_APPEND)
                case "write held":
                    os.write(held[path], order["line"].encode())
                case "work":
                    _work(works[order["name"]], Path(path))
                case "release":
                    os.close(held.pop(path))
            os.write(replies, b"+")


def _work(work: Callable[[Path], None], root: Path) -> None:
    """Do what another Ullage does, which may be refused while one is at work."""
    try:
        work(root)
    except UllageError:
        pass
    except Exception:  # noqa: BLE001 - it is reported as a fault of ours
        (root / FAULT_NAME).write_text(traceback.format_exc())
