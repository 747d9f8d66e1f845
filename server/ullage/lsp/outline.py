"""The outlines of open transcripts: read when they are asked for, kept until the file changes."""

import asyncio
from pathlib import Path

from ullage.app.outline import Outlined, outline_of
from ullage.errors import UllageError
from ullage.lsp.follow import refresh
from ullage.lsp.state import UllageServer


async def outlined(ls: UllageServer, path: Path) -> Outlined | None:
    """Give the outline of a transcript as it is now; None where it cannot be read."""
    await refresh(ls, path)
    async with ls.outline_lock_of(path):
        followed, before = ls.sessions.followed.get(path), ls.documents.outlines.get(path)
        if followed is None:
            ls.documents.outlines.pop(path, None)
            return None
        if before is not None and before.loaded is followed.loaded:
            return before
        try:
            found = await asyncio.to_thread(outline_of, followed.loaded, before)
        except UllageError:
            found = None
        if found is None or path not in ls.documents.open_uris:
            ls.documents.outlines.pop(path, None)
        else:
            ls.documents.outlines[path] = found
        return found
