"""Follow transcripts: load what changed, publish its gauge and its diagnostics."""

import asyncio
import logging
from pathlib import Path

from lsprotocol import types

from ullage.app.load import Loaded, load
from ullage.app.sessions import open_session, workspace_sessions
from ullage.errors import UllageError
from ullage.lsp.convert import NO_GAUGE, diagnostics, gauge_params
from ullage.lsp.protocol import GAUGE_NOTIFICATION
from ullage.lsp.state import UllageServer
from ullage.store.reader import Fingerprint, look_at

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
        for path in {*ls.open_paths, *([ls.workspace_path] if ls.workspace_path else [])}:
            await refresh(ls, path)
        await asyncio.sleep(POLL_S)


async def discover(ls: UllageServer) -> None:
    """Find the newest session of the workspace's folders."""
    newest = await asyncio.to_thread(_newest_session, ls, tuple(ls.workspace.folders))
    if newest != ls.workspace_path:
        ls.workspace_path = newest
        if newest is None:
            show_gauge(ls)
        else:
            await refresh(ls, newest, is_forced=True)


async def refresh(ls: UllageServer, path: Path, *, is_forced: bool = False) -> None:
    """Load a transcript if it changed; what cannot be read keeps its last state."""
    try:
        fingerprint = await asyncio.to_thread(look_at, path)
        if fingerprint == ls.seen.get(path) and not is_forced:
            return
        ls.seen[path] = fingerprint
        loaded = await asyncio.to_thread(_load, ls, path)
    except UllageError as error:
        if path in ls.loaded or path not in ls.seen:
            log.info("not readable now: %s", type(error).__name__)
        forget(ls, path)
        ls.seen.setdefault(path, NEVER)
        return
    ls.loaded[path] = loaded
    publish(ls, path)
    if path == ls.gauge_path():
        show_gauge(ls)


NEVER = Fingerprint(device=0, inode=0, size_bytes=-1, mtime_ns=0)
"""The fingerprint of no file: what could not be read is tried again when it changes."""


def forget(ls: UllageServer, path: Path) -> None:
    """Take back what was published on a transcript."""
    if ls.loaded.pop(path, None) is not None:
        publish(ls, path)
        if path == ls.gauge_path():
            show_gauge(ls)


def publish(ls: UllageServer, path: Path) -> None:
    uri = ls.open_paths.get(path)
    if uri is None:
        return
    loaded = ls.loaded.get(path)
    found = [] if loaded is None else diagnostics(loaded)
    ls.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri=uri, diagnostics=found))


def show_gauge(ls: UllageServer) -> None:
    path = ls.gauge_path()
    loaded = None if path is None else ls.loaded.get(path)
    ls.protocol.notify(GAUGE_NOTIFICATION, NO_GAUGE if loaded is None else gauge_params(loaded))


def _load(ls: UllageServer, path: Path) -> Loaded:
    return load(open_session(path), ls.settings)


def _newest_session(ls: UllageServer, folder_uris: tuple[str, ...]) -> Path | None:
    from ullage.lsp.convert import path_of

    found = [
        session
        for uri in folder_uris
        if (folder := path_of(uri)) is not None
        for session in list(workspace_sessions(folder, ls.places))[:1]
    ]
    newest = max(found, key=lambda session: session.lines.fingerprint.mtime_ns, default=None)
    return None if newest is None else newest.path
