"""Follow transcripts: load what changed, publish its gauge and its diagnostics."""

import asyncio
import logging
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

from ullage.app.checkpoint.capture import capture
from ullage.app.checkpoint.write import session_key
from ullage.app.sessions.find import database_folders, session_folders
from ullage.app.sessions.follow import Followed, new_events, stamp_of, start, update
from ullage.app.workspace import look
from ullage.errors import NotATranscript, UllageError
from ullage.lsp.auto.checkpoint import write_when_due
from ullage.lsp.auto.consider import consider_later
from ullage.lsp.changed import notify_changed
from ullage.lsp.config import look_at_config
from ullage.lsp.documents.diagnostics import check_followed, check_proposals, publish_known
from ullage.lsp.error_edge import unattended
from ullage.lsp.permission import may_write
from ullage.lsp.renewal import views_changed
from ullage.lsp.state import UllageServer
from ullage.lsp.views.gauge import show_gauge
from ullage.lsp.virtual_refresh import renew_documents
from ullage.store.files.watch import FolderWatch
from ullage.store.transcript.reader import Fingerprint

Stamp: TypeAlias = tuple[Fingerprint, ...] | None

LOOK_S = 2.0
"""Where no notice comes, files are looked at this often: one `stat` each, and their folders."""

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
                await _watch(ls, watch)
                await unattended(discover)(ls)
                await unattended(look_at_config)(ls)
                next_look = loop.time() + LOOK_S
            await _refresh_changed(ls)
            # Not `wait_for`: Python 3.11 lets a notice that comes just then hide a cancellation.
            with suppress(TimeoutError):
                async with asyncio.timeout_at(next_look):
                    await noticed.wait()
    finally:
        watch.stop()


@unattended
async def _watch(ls: UllageServer, watch: FolderWatch) -> None:
    """Watch before they are read: what is written in between is noticed."""
    watch.watch(_folders(ls))


@unattended
async def _refresh_changed(ls: UllageServer) -> None:
    sessions = ls.sessions
    known, refused = dict(sessions.followed), dict(sessions.refused)
    for path in await asyncio.to_thread(_changed, ls.followed_paths(), known, refused):
        await unattended(refresh)(ls, path)


async def discover(ls: UllageServer) -> None:
    """Find the sessions of the workspace's folders, and follow those that matter."""
    known = _listed(ls)
    ls.sessions.seen = await asyncio.to_thread(look, ls.workspace_folders(), ls.places)
    for one in (ls.sessions.followed, ls.sessions.refused):
        for path in one.keys() - set(ls.followed_paths()):
            del one[path]
    if _listed(ls) != known:
        notify_changed(ls, "sessions")
    path = ls.gauge_path()
    if path != ls.sessions.shown:
        if path is not None:
            await unattended(refresh)(ls, path)
        show_gauge(ls)


async def refresh(ls: UllageServer, path: Path) -> None:
    """Load a transcript if it changed; what cannot be read now shows nothing."""
    async with ls.lock_of(path):
        stamp = await asyncio.to_thread(stamp_of, path)
        try:
            before, after = await _read(ls, path)
        except UllageError as error:
            # What cannot be read may be readable without being another file.
            _refuse(ls, path, stamp if isinstance(error, NotATranscript) else None)
            return
        except Exception:
            _refuse(ls, path, stamp)
            raise
        ls.sessions.refused.pop(path, None)
        if after is not before:
            ls.sessions.followed[path] = after
            publish(ls, path)
            renew_documents(ls, path)
            notify_changed(ls, "sessions")
            if before is not None and path in ls.documents.open_uris:
                views_changed(ls)
            if before is not None and may_write(ls):
                await asyncio.to_thread(_capture, ls, before, after)
                await write_when_due(ls, after.loaded)
            if before is not None:
                consider_later(ls, path)


def publish(ls: UllageServer, path: Path) -> None:
    """Publish what is known of a transcript: its diagnostics, and the gauge if it shows it."""
    if path in ls.documents.open_uris:
        check_followed(ls, path)
        publish_known(ls, path)
    check_proposals(ls)
    if path in (ls.gauge_path(), ls.sessions.shown):
        show_gauge(ls)


def _refuse(ls: UllageServer, path: Path, stamp: Stamp) -> None:
    """Show nothing of a file, and read it again when it is not as it was, if that is known."""
    ls.sessions.refused[path] = stamp
    if ls.sessions.followed.pop(path, None) is not None:
        log.info("a followed transcript cannot be read now")
        publish(ls, path)


async def _read(ls: UllageServer, path: Path) -> tuple[Followed | None, Followed]:
    """Give a session as it was known and as it is: again where other things are configured now."""
    while True:
        before, config = ls.sessions.followed.get(path), ls.config
        if before is None:
            after = await asyncio.to_thread(start, path, config, ls.places, ls.worker.count_tokens)
        else:
            after = await asyncio.to_thread(update, before, config, ls.places)
        if config is ls.config:
            return before, after


def _capture(ls: UllageServer, before: Followed, after: Followed) -> None:
    """Note what happened; where that cannot be, the next checkpoint reads it in the transcript."""
    loaded = after.loaded
    try:
        problems = capture(
            session_key(loaded.session),
            new_events(before, after),
            ls.places,
            known_secrets=loaded.known_secrets,
        )
    except UllageError as error:
        log.info("%s: the working state cannot be written now", type(error).__name__)
    else:
        for problem in problems:
            log.warning("%s", problem)


def _folders(ls: UllageServer) -> set[Path]:
    """List the folders where something may happen that matters."""
    sessions = (session_folders(folder, ls.places) for folder in ls.workspace_folders())
    followed = {path.parent for path in ls.followed_paths()}
    return followed.union(database_folders(ls.places), *sessions)


def _listed(ls: UllageServer) -> tuple[tuple[Path, bool], ...]:
    """Give what a list of the sessions shows besides their gauges."""
    return tuple((one.path, one.is_live) for one in ls.sessions.seen or ())


def _changed(
    paths: tuple[Path, ...], followed: dict[Path, Followed], refused: dict[Path, Stamp]
) -> list[Path]:
    """List the transcripts that are not as they were read; one look at each, in one thread."""
    return [path for path in paths if not _is_current(path, followed.get(path), refused.get(path))]


def _is_current(path: Path, followed: Followed | None, refused: Stamp) -> bool:
    if refused is not None:
        return stamp_of(path) == refused
    try:
        return followed is not None and followed.loaded.session.lines.is_current()
    except UllageError:
        return False
