"""Tells that an agent waits for its user, where the user wants that: once for each turn, in one of
all windows of all editors that may write; each of the others tells it too, noting nothing."""

import asyncio

from ullage.app.gauge.status_text import name_text
from ullage.app.sessions.follow import FollowedSession
from ullage.app.sessions.load import Loaded
from ullage.app.sessions.open import find_processes
from ullage.core.transcript.turn_end import TurnEnd, find_turn_end
from ullage.errors import StorageError
from ullage.lsp.messages import is_pressed
from ullage.lsp.protocol import TERMINAL_NOTIFICATION, TerminalParams
from ullage.lsp.state import SessionChange, UllageServer
from ullage.store.state.told_turn import claim_turn

GO_TO_TERMINAL = "Go to Terminal"


async def note_turn_end(ls: UllageServer, change: SessionChange) -> None:
    """Note a turn that ended since its session was read last: it is told of when that is quiet."""
    if change.before is None or change.after is None:
        return
    ended = _find_turn_end(change.after)
    if ended is None:
        ls.sessions.turn_ends.pop(change.path, None)
    elif ended != _find_turn_end(change.before):
        ls.sessions.turn_ends[change.path] = ended


def _find_turn_end(followed: FollowedSession) -> TurnEnd | None:
    loaded = followed.loaded
    if loaded.session.header.parent_session_id is not None:
        return None
    return find_turn_end(loaded.context.items, loaded.session.agent.asking_tools)


def tell_waiting(ls: UllageServer, loaded: Loaded) -> None:
    """Tell of a turn that was noted; the session is quiet."""
    ended = ls.sessions.turn_ends.pop(loaded.path, None)
    if ended is not None and loaded.policy.tells_waiting:
        ls.begin(_tell, ls, loaded, ended)


async def _tell(ls: UllageServer, loaded: Loaded, ended: TurnEnd) -> None:
    if ls.may_write and not await asyncio.to_thread(_claim, ls, loaded, ended):
        return
    what = "Asks you something" if ended.asks else "Done, and waits for you"
    message = f"{what}: {name_text(loaded)}"
    if await is_pressed(ls, message, GO_TO_TERMINAL, can_ask=ls.editor.shows_outcomes):
        processes = await asyncio.to_thread(find_processes, loaded.session, ls.places)
        ls.protocol.notify(TERMINAL_NOTIFICATION, TerminalParams(processes=list(processes)))


def _claim(ls: UllageServer, loaded: Loaded, ended: TurnEnd) -> bool:
    try:
        return claim_turn(loaded.session.state_key, ended, ls.places)
    except StorageError:
        # To be told twice is better than to wait for an agent that waits.
        return True
