"""The memory of workspaces: MEMORY.md, the dream diary, daily logs, and what agents are told."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from ullage.app.document_kind import INSTRUCTION_NAMES
from ullage.core.positions import utf16_length
from ullage.core.text_sections import text_tokens
from ullage.errors import Unreadable
from ullage.store.daily_log import MEMORY
from ullage.store.memory_files import DREAMS, list_logs, read_text

MemoryKind: TypeAlias = Literal["memory", "log", "instructions"]


class MemoryFile(msgspec.Struct, frozen=True, kw_only=True):
    path: Path
    kind: MemoryKind
    workspace: Path
    n_chars: int
    n_tokens: int
    """Estimated, as everywhere where a file's cost is shown."""


def memory_files(workspaces: Sequence[Path]) -> tuple[MemoryFile, ...]:
    """List what is there, in the order that a user looks: memory, logs newest first, the rest."""
    return tuple(
        found
        for workspace in workspaces
        for kind, path in _paths(workspace)
        if (found := _measured(path, kind, workspace)) is not None
    )


def _paths(workspace: Path) -> Iterator[tuple[MemoryKind, Path]]:
    yield "memory", workspace / MEMORY
    yield "memory", workspace / DREAMS
    for path in list_logs(workspace):
        yield "log", path
    for name in INSTRUCTION_NAMES:
        yield "instructions", workspace / name


def _measured(path: Path, kind: MemoryKind, workspace: Path) -> MemoryFile | None:
    try:
        text = read_text(path)
    except Unreadable:
        return None
    return MemoryFile(
        path=path,
        kind=kind,
        workspace=workspace,
        n_chars=utf16_length(text),
        n_tokens=text_tokens(text),
    )
