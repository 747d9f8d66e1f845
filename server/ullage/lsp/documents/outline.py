"""The outlines of open transcripts: read when they are asked for, kept until the file changes."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

from ullage.app.documents.outline import OutlinedSession, lines_of, outline_of
from ullage.app.sessions.load import Loaded
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


async def entry_lines(ls: UllageServer, loaded: Loaded) -> Mapping[str, int]:
    """Give the lines, from 0, of the entries of a session; none where its file has no such."""
    if loaded.path not in ls.sessions.followed:
        return {}
    outlined = await read_outline(ls, loaded.path)
    return {} if outlined is None else await asyncio.to_thread(lines_of, outlined)


def line_of(lines: Mapping[str, int], entry_id: str) -> int | None:
    """Find the line of an entry; what stands inside of one has a number behind the entry's id."""
    line = lines.get(entry_id)
    return lines.get(entry_id.partition(".")[0]) if line is None else line
