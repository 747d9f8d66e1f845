"""Tell the client what it should ask for anew, many changes at once in one notification."""

import asyncio

from ullage.lsp.protocol import CHANGED_NOTIFICATION, ChangedParams
from ullage.lsp.state import UllageServer, What

PAUSE_S = 0.25
"""How long changes are gathered: an agent writes several lines at once (chosen)."""


def notify_changed(ls: UllageServer, *what: What) -> None:
    """Say that a list is not what it was; on the event loop only."""
    is_waiting = bool(ls.sessions.changed)
    ls.sessions.changed.update(what)
    if ls.sessions.changed and not is_waiting:
        asyncio.get_running_loop().call_later(PAUSE_S, _tell, ls)


def _tell(ls: UllageServer) -> None:
    what = sorted(ls.sessions.changed)
    ls.sessions.changed.clear()
    if not ls.is_shut_down:
        ls.protocol.notify(CHANGED_NOTIFICATION, ChangedParams(what=what))
