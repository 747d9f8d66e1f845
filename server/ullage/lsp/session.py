"""The session that a request means, as it is now."""

import asyncio
from pathlib import Path

from ullage.app.gauge.status_text import status_text
from ullage.app.sessions.load import Loaded, load
from ullage.app.sessions.open import open_session
from ullage.errors import SessionNotFound
from ullage.lsp.error_edge import request
from ullage.lsp.follow import refresh
from ullage.lsp.protocol import SessionArgument, StatusResult
from ullage.lsp.state import UllageServer


def session_path(ls: UllageServer, session: str | None) -> Path | None:
    """Give the transcript that is meant; None where none is named and the gauge shows none."""
    return Path(session) if session else ls.gauge_path()


def meant_path(ls: UllageServer, session: str | None) -> Path:
    """Give the transcript that is meant.

    Raises:
        SessionNotFound: none is named, and the gauge shows none.
    """
    path = session_path(ls, session)
    if path is None:
        raise SessionNotFound("no session of an agent in this workspace: open a transcript first")
    return path


async def load_session(ls: UllageServer, path: Path) -> Loaded:
    """Give a session as it is now; one that is followed is not read from its beginning again.

    Raises:
        Unreadable: the file cannot be read.
        NotATranscript: no agent that we know wrote it.
    """
    if path in ls.sessions.followed:
        await refresh(ls, path)
    followed = ls.sessions.followed.get(path)
    if followed is not None:
        return followed.loaded
    return await asyncio.to_thread(_load, ls, path)


@request(SessionArgument)
async def run_status(ls: UllageServer, argument: SessionArgument) -> StatusResult:
    loaded = await load_session(ls, meant_path(ls, argument.session))
    return StatusResult(text=status_text(loaded))


def _load(ls: UllageServer, path: Path) -> Loaded:
    return load(open_session(path), ls.config, ls.places, ls.worker.count_tokens)
