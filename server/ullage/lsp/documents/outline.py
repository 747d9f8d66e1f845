"""The outlines of open transcripts: read when they are asked for, kept until the file changes."""

import asyncio
from pathlib import Path

from ullage.app.documents.outline import OutlinedSession, outline_of
from ullage.errors import UllageError
from ullage.lsp.follow import refresh
from ullage.lsp.state import UllageServer


async def read_outline(ls: UllageServer, path: Path) -> OutlinedSession | None:
    """Give the outline of a transcript as it is now; None where it cannot be read."""
    await refresh(ls, path)
    async with ls.outline_locks[path]:
        followed, before = ls.sessions.followed.get(path), ls.documents.outlines.get(path)
        if followed is None:
            ls.documents.outlines.pop(path, None)
            return None
        if before is not None and before.loaded is followed.loaded:
            return before
        try:
            outlined = await asyncio.to_thread(outline_of, followed.loaded, before)
        except UllageError:
            outlined = None
        _keep(ls, path, outlined)
        return outlined


def _keep(ls: UllageServer, path: Path, outlined: OutlinedSession | None) -> None:
    """Keep an outline while its transcript is open, or is the one that the gauge shows."""
    outlines, wanted = ls.documents.outlines, {*ls.documents.open_uris, ls.gauge_path()}
    for unwanted in (path, *outlines.keys() - wanted):
        outlines.pop(unwanted, None)
    if outlined is not None and path in wanted:
        outlines[path] = outlined
