"""Follow transcripts: read what changed, keep it, and have everything react that shows it."""

import asyncio
import logging
import time
from itertools import chain
from math import inf
from pathlib import Path
from typing import TypeAlias

from ullage.app.sessions import find
from ullage.app.sessions.follow import FollowedSession, read_session, stamp_of
from ullage.app.sessions.load import Loaded
from ullage.app.sessions.named import load_named
from ullage.app.sessions.watched import list_watched_folders
from ullage.core.config.settings import Config
from ullage.errors import NotATranscript, SessionNotFound, UllageError
from ullage.lsp.client_refresh import refresh_lists
from ullage.lsp.config import look_at_config
from ullage.lsp.error_edge import log_faults
from ullage.lsp.state import SessionChange, UllageServer
from ullage.store.config.files import config_paths
from ullage.store.files.poll import FilePoll
from ullage.store.files.watch import FolderWatch
from ullage.store.transcript.database import database_of, log_of
from ullage.store.transcript.reader import QUIET_S, Fingerprint

Stamp: TypeAlias = tuple[Fingerprint, ...] | None

LOOK_S = 2.0
"""Looking for sessions reads whole folders: this often at most, where something happens there."""
IDLE_LOOK_S = 60.0
"""This often where nothing does: a notice may get lost, a process end without one (chosen)."""
REREAD_S = 0.5
"""Lines that come sooner after others are read together: nobody sees more figures (chosen)."""
QUIET_SINCE_S = QUIET_S + 0.1
"""A session is quiet then, and the clock of its file may be coarser than ours (chosen)."""
NO_SESSION = "no session of an agent in this workspace: open a transcript first"

log = logging.getLogger(__name__)


async def follow(ls: UllageServer) -> None:
    """Follow the workspace's sessions and the open transcripts until the server ends."""
    watch, poll = FolderWatch(ls.notices.add), FilePoll(ls.notices.add)
    try:
        while True:
            await log_faults(_watch)(ls, watch, poll)
            await log_faults(discover)(ls)
            await log_faults(look_at_config)(ls)
            await log_faults(_refresh_changed)(ls)
            await log_faults(_rest)(ls)
            await log_faults(_reread_until_look)(ls)
    finally:
        poll.stop()
        watch.stop()


async def _watch(ls: UllageServer, watch: FolderWatch, poll: FilePoll) -> None:
    """Watch where something may happen that matters, before anything is read there."""
    folders, followed, places = ls.workspace_folders(), ls.followed_paths(), ls.places

    def begin() -> None:
        watched = list_watched_folders(folders, places)
        config = chain.from_iterable(config_paths(places, folder) for folder in folders or (None,))
        files = {path for _, path in config}.union(followed, map(log_of, followed))
        poll.watch(watch.watch(watched.folders, trees=watched.trees, files=files))

    await asyncio.to_thread(begin)


async def _rest(ls: UllageServer) -> None:
    """End the process that counts tokens where it has nothing to do."""
    if ls.worker.is_idle():
        await asyncio.to_thread(ls.worker.close)


async def _reread_until_look(ls: UllageServer) -> None:
    """Read again what notices are of, until it is time to look for sessions.

    The one that the gauge shows is not looked for while it is written to, but when it is quiet.
    """
    loop = asyncio.get_running_loop()
    looked_at = loop.time()
    look_at, quiet_at = looked_at + IDLE_LOOK_S, looked_at + _quiet_in_s(ls)
    while loop.time() < min(look_at, quiet_at):
        noticed = {database_of(path) for path in await ls.notices.wait(min(look_at, quiet_at))}
        if not noticed:
            continue
        if noticed == {_live_path(ls)}:
            quiet_at = loop.time() + QUIET_SINCE_S
        else:
            look_at = min(look_at, looked_at + LOOK_S)
        changed = [path for path in ls.followed_paths() if path in noticed]
        for path in changed:
            await log_faults(refresh)(ls, path)
        await asyncio.sleep(min(REREAD_S, max(0.0, look_at - loop.time())))


def _live_path(ls: UllageServer) -> Path | None:
    """Give the session that is shown, if it lives."""
    seen = ls.sessions.seen or ()
    return next((s.path for s in seen if s.is_live and s.path == ls.sessions.shown), None)


def _quiet_in_s(ls: UllageServer) -> float:
    """Give how long it is until a session that was written to lately is quiet."""
    now = time.time()
    rests = (seen.written_ns / 1e9 + QUIET_SINCE_S - now for seen in ls.sessions.seen or ())
    return min((rest_s for rest_s in rests if rest_s > 0), default=inf)


async def _refresh_changed(ls: UllageServer) -> None:
    followed, refused = dict(ls.sessions.followed), dict(ls.sessions.refused)
    for path in await asyncio.to_thread(_find_changed, ls.followed_paths(), followed, refused):
        await log_faults(refresh)(ls, path)


async def discover(ls: UllageServer) -> None:
    """Find the sessions of the workspace's folders, and follow those that matter."""
    before = _list_shown(ls)
    seen = await asyncio.to_thread(find.look, ls.workspace_folders(), ls.places)
    if ls.sessions.chosen is not None:
        known = ls.sessions.seen or ()
        ls.sessions.chosen = find.follow_copies(ls.sessions.chosen, seen, known)
    ls.sessions.seen = find.first_of_each_file(seen)
    of_each = ls.sessions
    for sessions in (of_each.followed, of_each.refused, of_each.turn_ends):
        for path in sessions.keys() - set(ls.followed_paths()):
            del sessions[path]
    if _list_shown(ls) != before:
        refresh_lists(ls, "sessions")
        # It names its session where another one is live.
        ls.sessions.is_gauge_old.set()
    path = ls.gauge_path()
    if path != ls.sessions.shown:
        if path is not None:
            await log_faults(refresh)(ls, path)
        ls.show_gauge()


async def refresh(ls: UllageServer, path: Path) -> None:
    """Load a transcript if it changed; what cannot be read now shows nothing."""
    async with ls.read_locks[path]:
        reading = _Reading(ls, path)
        try:
            change = await reading.read()
        except UllageError as error:
            # What cannot be read may be readable without being another file.
            is_other = isinstance(error, NotATranscript)
            await _refuse(ls, path, reading.stamp if is_other else None)
            return
        except Exception:
            await _refuse(ls, path, reading.stamp)
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


class _Reading:
    """One reading of a transcript, and how its file was just before."""

    def __init__(self, ls: UllageServer, path: Path) -> None:
        self._ls, self._path = ls, path
        self.stamp: Stamp = None

    async def read(self) -> SessionChange:
        """Give it as it was known and as it is: again where other things are configured now."""
        ls, path = self._ls, self._path
        while True:
            before, config = ls.sessions.followed.get(path), ls.config
            after = await asyncio.to_thread(self._read, before, config)
            if config is ls.config:
                return SessionChange(path, before, after)

    def _read(self, before: FollowedSession | None, config: Config) -> FollowedSession:
        ls = self._ls
        self.stamp = stamp_of(self._path)
        return read_session(self._path, before, config, ls.places, ls.worker.count_tokens)


async def _refuse(ls: UllageServer, path: Path, stamp: Stamp) -> None:
    """Show nothing of a file, and read it again when it is not as it was, if that is known."""
    ls.sessions.refused[path] = stamp
    if path == ls.sessions.chosen:
        # An undo may have removed the copy: what named no session would mean the live one.
        known = ls.sessions.seen or ()
        others = [session for session in known if session.path != path]
        ls.sessions.chosen = find.follow_copies(path, others, known)
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
    count = ls.worker.count_tokens
    return await asyncio.to_thread(load_named, str(path), ls.config, ls.places, count)


async def load_if_any(ls: UllageServer, session: str | None) -> Loaded | None:
    """Give the session that a view is of; None where none is named, and the gauge shows none."""
    return await load_session(ls, session) if session or ls.gauge_path() else None
