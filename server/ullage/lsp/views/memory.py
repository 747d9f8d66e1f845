"""The memory files of the workspace's folders, and whether they can be written to."""

import asyncio

from ullage.app.documents.memory_files import MemoryFile, memory_files
from ullage.lsp.protocol import MemoryResult, MemoryRow, SessionArgument
from ullage.lsp.state import UllageServer

_KINDS = {"memory": "Memory", "log": "Daily log", "instructions": "Instructions"}


async def run_memory(ls: UllageServer, argument: SessionArgument) -> MemoryResult:
    is_single = len(ls.workspace_folders()) <= 1
    files = await asyncio.to_thread(memory_files, ls.surroundings())
    has_session = bool(argument.session or ls.gauge_path())
    return MemoryResult(
        rows=[_row(file, is_single=is_single) for file in files],
        canFlush=has_session and ls.may_write,
    )


def _row(file: MemoryFile, *, is_single: bool) -> MemoryRow:
    relative = file.path.relative_to(file.workspace)
    title = str(relative) if is_single else str(file.workspace.name / relative)
    size = f"{file.length}, {file.sent} tokens"
    return MemoryRow(
        path=str(file.path),
        kind=file.kind,
        title=title,
        detail=size,
        label=f"{_KINDS[file.kind]} {title}, {size}",
    )
