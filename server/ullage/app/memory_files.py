"""The memory of workspaces: MEMORY.md, the dream diary, daily logs, and what agents are told."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from ullage.app.document_kind import INSTRUCTION_NAMES
from ullage.errors import Unreadable
from ullage.store.daily_log import MEMORY
from ullage.store.memory_files import DREAMS, list_logs, read_text
from ullage.store.token_counts import CountText
from ullage.store.tokenizer import DEFAULT_ENCODING

MemoryKind: TypeAlias = Literal["memory", "log", "instructions"]


class MemoryFile(msgspec.Struct, frozen=True, kw_only=True):
    path: Path
    kind: MemoryKind
    workspace: Path
    n_chars: int
    n_tokens: int


def memory_files(workspaces: Sequence[Path], count_text: CountText) -> tuple[MemoryFile, ...]:
    """List what is there, in the order that a user looks: memory, logs newest first, the rest."""
    return tuple(
        found
        for workspace in workspaces
        for kind, path in _paths(workspace)
        if (found := _measured(path, kind, workspace, count_text)) is not None
    )


def _paths(workspace: Path) -> Iterator[tuple[MemoryKind, Path]]:
    yield "memory", workspace / MEMORY
    yield "memory", workspace / DREAMS
    for path in list_logs(workspace):
        yield "log", path
    for name in INSTRUCTION_NAMES:
        yield "instructions", workspace / name


def _measured(
    path: Path, kind: MemoryKind, workspace: Path, count_text: CountText
) -> MemoryFile | None:
    try:
        text = read_text(path)
    except Unreadable:
        return None
    return MemoryFile(
        path=path,
        kind=kind,
        workspace=workspace,
        n_chars=len(text),
        n_tokens=count_text(text, DEFAULT_ENCODING),
    )
