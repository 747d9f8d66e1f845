"""Follow transcripts: load what changed, publish its gauge and its diagnostics."""

import asyncio
import logging
from pathlib import Path

from lsprotocol import types

from ullage.app.follow import Followed, start, update
from ullage.app.sessions import workspace_sessions
from ullage.errors import UllageError
from ullage.lsp.convert import NO_GAUGE, diagnostics, gauge_params, path_of
from ullage.lsp.protocol import GAUGE_NOTIFICATION
from ullage.lsp.state import UllageServer

POLL_S = 0.25
"""Time between looks at the followed files: one `stat` each, 0.06 % of a core (performance §6)."""
DISCOVERY_POLLS = 8
"""A new session of the workspace is looked for at every so many looks."""

log = logging.getLogger(__name__)


async def follow(ls: UllageServer) -> None:
    """Look at the followed transcripts until the server ends."""
    n_polls = 0
    while True:
        if n_polls % DISCOVERY_POLLS == 0:
            await discover(ls)
        n_polls += 1
        for path in ls.followed_paths():
            await refresh(ls, path)
        await asyncio.sleep(POLL_S)


async def discover(ls: UllageServer) -> None:
    """Find the newest session of the workspace's folders."""
    newest = await asyncio.to_thread(_newest_session, ls, tuple(ls.workspace.folders))
    if newest != ls.workspace_path:
        ls.workspace_path = newest
        if newest is not None:
            await refresh(ls, newest)
        show_gauge(ls)


async def refresh(ls: UllageServer, path: Path) -> None:
    """Load a transcript if it changed; what cannot be read now shows nothing."""
    before = ls.followed.get(path)
    try:
        after = await asyncio.to_thread(_read, ls, path, before)
    except UllageError as error:
        if before is not None:
            log.info("%s: a followed transcript cannot be read now", type(error).__name__)
            del ls.followed[path]
            publish(ls, path)
        return
    if after is before:
        return
    ls.followed[path] = after
    publish(ls, path)


def publish(ls: UllageServer, path: Path) -> None:
    """Publish what is known of a transcript: its diagnostics, and the gauge if it shows it."""
    followed = ls.followed.get(path)
    uri = ls.open_uris.get(path)
    if uri is not None:
        found = [] if followed is None else diagnostics(followed.loaded)
        ls.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(uri=uri, diagnostics=found)
        )
    if path == ls.gauge_path():
        show_gauge(ls)


def show_gauge(ls: UllageServer) -> None:
    path = ls.gauge_path()
    followed = None if path is None else ls.followed.get(path)
    params = NO_GAUGE if followed is None else gauge_params(followed.loaded)
    ls.protocol.notify(GAUGE_NOTIFICATION, params)


def _read(ls: UllageServer, path: Path, before: Followed | None) -> Followed:
    if before is None:
        return start(path, ls.settings, ls.places)
    return update(before, ls.settings, ls.places)


def _newest_session(ls: UllageServer, folder_uris: tuple[str, ...]) -> Path | None:
    """Find the session written to last; the first of each folder is its newest."""
    folders = [folder for uri in folder_uris if (folder := path_of(uri)) is not None]
    newest = [next(workspace_sessions(folder, ls.places), None) for folder in folders]
    found = [session for session in newest if session is not None]
    latest = max(found, key=lambda s: s.lines.fingerprint.mtime_ns, default=None)
    return None if latest is None else latest.path
