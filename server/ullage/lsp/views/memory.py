"""The memory files of the workspace's folders, and whether they can be written to."""

import asyncio

from ullage.app.documents.memory_files import MemoryFile, memory_files
from ullage.lsp.documents.diagnostics import surroundings
from ullage.lsp.error_edge import request
from ullage.lsp.permission import may_write
from ullage.lsp.protocol import MemoryResult, MemoryRow, SessionArgument
from ullage.lsp.session import session_path
from ullage.lsp.state import UllageServer

_KINDS = {"memory": "Memory", "log": "Daily log", "instructions": "Instructions"}


@request(SessionArgument)
async def run_memory(ls: UllageServer, argument: SessionArgument) -> MemoryResult:
    folders = ls.workspace_folders()
    found = await asyncio.to_thread(memory_files, surroundings(ls))
    is_single = len(folders) <= 1
    path = session_path(ls, argument.session)
    return MemoryResult(
        rows=[_row(one, is_single=is_single) for one in found],
        canFlush=path is not None and may_write(ls),
    )


def _row(one: MemoryFile, *, is_single: bool) -> MemoryRow:
    relative = one.path.relative_to(one.workspace)
    title = str(relative) if is_single else str(one.workspace.name / relative)
    size = f"{one.length}, {one.sent} tokens"
    return MemoryRow(
        path=str(one.path),
        kind=one.kind,
        title=title,
        detail=size,
        label=f"{_KINDS[one.kind]} {title}, {size}",
    )
