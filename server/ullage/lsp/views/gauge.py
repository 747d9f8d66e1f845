"""The gauge: published at once, and again when what fills the window was worked out."""

import asyncio

from ullage.app.change.auto import is_automatic
from ullage.app.change.make import can_change
from ullage.app.gauge.inspect import Filling, fill
from ullage.app.sessions.load import Loaded
from ullage.lsp.convert import NO_GAUGE, gauge_params
from ullage.lsp.error_edge import unattended
from ullage.lsp.protocol import GAUGE_NOTIFICATION, GaugeParams
from ullage.lsp.state import UllageServer
from ullage.store.files.places import Places

PAUSE_S = 1.0
"""An agent writes many lines a second; nobody reads shares that change more often (chosen)."""


def show_gauge(ls: UllageServer) -> None:
    """Publish the gauge with the shares that are known; new ones follow within a second or so."""
    sessions = ls.sessions
    sessions.shown, sessions.is_gauge_old = ls.gauge_path(), True
    if sessions.showing is None or sessions.showing.done():
        sessions.showing = ls.begin(_show(ls))


@unattended
async def _show(ls: UllageServer) -> None:
    """Publish, again where something changed meanwhile; what is sent last is the newest."""
    while ls.sessions.is_gauge_old:
        ls.sessions.is_gauge_old = False
        loaded = _shown(ls)
        if loaded is None:
            ls.protocol.notify(GAUGE_NOTIFICATION, NO_GAUGE)
            continue
        params = await asyncio.to_thread(
            _params,
            loaded,
            ls.sessions.filled,
            ls.places,
            is_restricted=ls.editor.is_restricted,
        )
        if _shown(ls) is not loaded:
            continue
        ls.protocol.notify(GAUGE_NOTIFICATION, params)
        if _is_new(ls, loaded) and (ls.sessions.filling is None or ls.sessions.filling.done()):
            ls.sessions.filling = ls.begin(_fill(ls))


@unattended
async def _fill(ls: UllageServer) -> None:
    """Work out what fills the window, until that is known of the session as it is."""
    while (loaded := _shown(ls)) is not None and _is_new(ls, loaded):
        ls.sessions.filled = (loaded, await asyncio.to_thread(fill, loaded))
        show_gauge(ls)
        await asyncio.sleep(PAUSE_S)


def _params(
    loaded: Loaded,
    filled: tuple[Loaded, Filling] | None,
    places: Places,
    *,
    is_restricted: bool,
) -> GaugeParams:
    is_on = can_change(loaded) and is_automatic(
        loaded.session, is_configured=loaded.policy.is_auto_enabled, places=places
    )
    return gauge_params(
        loaded,
        None if filled is None or filled[0].path != loaded.path else filled[1],
        is_automatic=is_on,
        is_restricted=is_restricted,
    )


def _shown(ls: UllageServer) -> Loaded | None:
    path = ls.sessions.shown
    followed = None if path is None else ls.sessions.followed.get(path)
    return None if followed is None else followed.loaded


def _is_new(ls: UllageServer, loaded: Loaded) -> bool:
    return ls.sessions.filled is None or ls.sessions.filled[0] is not loaded
