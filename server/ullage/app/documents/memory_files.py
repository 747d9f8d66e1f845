"""The memory of workspaces: MEMORY.md, the dream diary, daily logs, and what agents are told."""

from collections.abc import Iterator
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from ullage.app.documents.check import Surroundings
from ullage.app.documents.instruction_size import length_text, sent_text
from ullage.app.documents.kind import INSTRUCTION_NAMES
from ullage.errors import Unreadable
from ullage.store.memory.daily_log import list_logs, read_text
from ullage.store.memory.places import DREAMS, MEMORY

MemoryKind: TypeAlias = Literal["memory", "log", "instructions"]


class MemoryFile(msgspec.Struct, frozen=True, kw_only=True):
    path: Path
    kind: MemoryKind
    workspace: Path
    length: str
    """In characters, with what it imports."""
    sent: str
    """About how many tokens are sent of it, as everywhere where a file's cost is shown."""


def list_memory_files(around: Surroundings) -> tuple[MemoryFile, ...]:
    """List what is there, in the order that a user looks: memory, logs newest first, the rest."""
    return tuple(
        file
        for workspace in around.workspaces
        for kind, path in _list_paths(workspace)
        if (file := _measure(path, kind, workspace, around)) is not None
    )


def _list_paths(workspace: Path) -> Iterator[tuple[MemoryKind, Path]]:
    yield "memory", workspace / MEMORY
    yield "memory", workspace / DREAMS
    for path in list_logs(workspace):
        yield "log", path
    for name in INSTRUCTION_NAMES:
        yield "instructions", workspace / name


def _measure(
    path: Path, kind: MemoryKind, workspace: Path, around: Surroundings
) -> MemoryFile | None:
    try:
        text = read_text(path)
    except Unreadable:
        return None
    return MemoryFile(
        path=path,
        kind=kind,
        workspace=workspace,
        length=length_text(path, text, around),
        sent=sent_text(path, text, around),
    )
