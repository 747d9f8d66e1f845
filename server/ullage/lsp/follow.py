"""Follow transcripts: read what changed, keep it, and have everything react that shows it."""

import asyncio
import logging
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

from ullage.app.sessions import find
from ullage.app.sessions.follow import FollowedSession, read_session, stamp_of
from ullage.app.sessions.load import Loaded, load
from ullage.app.sessions.open import open_session
from ullage.errors import NotATranscript, SessionNotFound, UllageError
from ullage.lsp.client_refresh import refresh_lists
from ullage.lsp.config import look_at_config
from ullage.lsp.error_edge import log_faults
from ullage.lsp.state import SessionChange, UllageServer
from ullage.store.files.watch import FolderWatch
from ullage.store.transcript.reader import Fingerprint

Stamp: TypeAlias = tuple[Fingerprint, ...] | None

LOOK_S = 2.0
"""Where no notice comes, files are looked at this often: one `stat` each, and their folders."""
NO_SESSION = "no session of an agent in this workspace: open a transcript first"

log = logging.getLogger(__name__)


async def follow(ls: UllageServer) -> None:
    """Follow the workspace's sessions and the open transcripts until the server ends."""
    loop = asyncio.get_running_loop()
    noticed = asyncio.Event()

    def on_change(_: Path) -> None:
        loop.call_soon_threadsafe(noticed.set)

    watch = FolderWatch(on_change)
    next_look = loop.time()
    try:
        while True:
            noticed.clear()
            if loop.time() >= next_look:
                # Looking for sessions reads whole folders: never once for every written line.
                await log_faults(_watch)(ls, watch)
                await log_faults(discover)(ls)
                await log_faults(look_at_config)(ls)
                next_look = loop.time() + LOOK_S
            await log_faults(_refresh_changed)(ls)
            # Not `wait_for`: Python 3.11 lets a notice that comes just then hide a cancellation.
            with suppress(TimeoutError):
                async with asyncio.timeout_at(next_look):
                    await noticed.wait()
    finally:
        watch.stop()


async def _watch(ls: UllageServer, watch: FolderWatch) -> None:
    """Watch where something may happen that matters, before anything is read there."""
    sessions = (find.list_session_folders(folder, ls.places) for folder in ls.workspace_folders())
    followed = {path.parent for path in ls.followed_paths()}
    watch.watch(followed.union(find.list_database_folders(ls.places), *sessions))


async def _refresh_changed(ls: UllageServer) -> None:
    followed, refused = dict(ls.sessions.followed), dict(ls.sessions.refused)
    for path in await asyncio.to_thread(_find_changed, ls.followed_paths(), followed, refused):
        await log_faults(refresh)(ls, path)


async def discover(ls: UllageServer) -> None:
    """Find the sessions of the workspace's folders, and follow those that matter."""
    before = _list_shown(ls)
    seen = await asyncio.to_thread(find.look, ls.workspace_folders(), ls.places)
    ls.sessions.seen = find.first_of_each_file(seen)
    if ls.sessions.chosen is not None:
        ls.sessions.chosen = find.follow_copies(ls.sessions.chosen, seen)
    for sessions in (ls.sessions.followed, ls.sessions.refused):
        for path in sessions.keys() - set(ls.followed_paths()):
            del sessions[path]
    if _list_shown(ls) != before:
        refresh_lists(ls, "sessions")
    path = ls.gauge_path()
    if path != ls.sessions.shown:
        if path is not None:
            await log_faults(refresh)(ls, path)
        ls.show_gauge()


async def refresh(ls: UllageServer, path: Path) -> None:
    """Load a transcript if it changed; what cannot be read now shows nothing."""
    async with ls.read_locks[path]:
        stamp = await asyncio.to_thread(stamp_of, path)
        try:
            change = await _read(ls, path)
        except UllageError as error:
            # What cannot be read may be readable without being another file.
            await _refuse(ls, path, stamp if isinstance(error, NotATranscript) else None)
            return
        except Exception:
            await _refuse(ls, path, stamp)
            raise
        ls.sessions.refused.pop(path, None)
        if change.after is not None and change.after is not change.before:
            ls.sessions.followed[path] = change.after
            await _react(ls, change)


async def show_changed(ls: UllageServer, *paths: Path) -> None:
    """Show what a change of some sessions led to."""
    for path in dict.fromkeys(paths):
        await refresh(ls, path)
    refresh_lists(ls, "sessions", "checkpoints", "memory")


async def _read(ls: UllageServer, path: Path) -> SessionChange:
    """Give a session as it was known and as it is: again where other things are configured now."""
    while True:
        before, config = ls.sessions.followed.get(path), ls.config
        after = await asyncio.to_thread(
            read_session, path, before, config, ls.places, ls.worker.count_tokens
        )
        if config is ls.config:
            return SessionChange(path, before, after)


async def _refuse(ls: UllageServer, path: Path, stamp: Stamp) -> None:
    """Show nothing of a file, and read it again when it is not as it was, if that is known."""
    ls.sessions.refused[path] = stamp
    before = ls.sessions.followed.pop(path, None)
    if before is not None:
        log.info("a followed transcript cannot be read now")
        await _react(ls, SessionChange(path, before, None))


async def _react(ls: UllageServer, change: SessionChange) -> None:
    for react in ls.reactions.to_session:
        await react(ls, change)


def _list_shown(ls: UllageServer) -> tuple[tuple[Path, bool], ...]:
    """Give what a list of the sessions shows besides their gauges."""
    return tuple((session.path, session.is_live) for session in ls.sessions.seen or ())


def _find_changed(
    paths: tuple[Path, ...], followed: dict[Path, FollowedSession], refused: dict[Path, Stamp]
) -> list[Path]:
    """List the transcripts that are not as they were read; one look at each, in one thread."""
    return [path for path in paths if not _is_current(path, followed.get(path), refused.get(path))]


def _is_current(path: Path, followed: FollowedSession | None, refused: Stamp) -> bool:
    if refused is not None:
        return stamp_of(path) == refused
    try:
        return followed is not None and followed.loaded.session.lines.is_current()
    except UllageError:
        return False


def session_path(ls: UllageServer, session: str | None) -> Path:
    """Give the transcript that a request means: the one it names, else that of the gauge.

    Raises:
        SessionNotFound: none is named, and the gauge shows none.
    """
    path = Path(session) if session else ls.gauge_path()
    if path is None:
        raise SessionNotFound(NO_SESSION)
    return path


async def load_session(ls: UllageServer, session: str | None) -> Loaded:
    """Give the session that a request means, as it is now.

    One that is followed is not read from its beginning again.

    Raises:
        SessionNotFound: none is named, and the gauge shows none.
        Unreadable: the file cannot be read.
        NotATranscript: no agent that we know wrote it.
    """
    path = session_path(ls, session)
    if path in ls.sessions.followed:
        await refresh(ls, path)
    followed = ls.sessions.followed.get(path)
    if followed is not None:
        return followed.loaded
    return await asyncio.to_thread(
        lambda: load(open_session(path), ls.config, ls.places, ls.worker.count_tokens)
    )


async def load_if_any(ls: UllageServer, session: str | None) -> Loaded | None:
    """Give the session that a view is of; None where none is named, and the gauge shows none."""
    return await load_session(ls, session) if session or ls.gauge_path() else None
