"""What is made after a message was answered, or unasked; told of, it can be taken back."""

import asyncio
from collections.abc import Callable
from typing import TypeAlias

from lsprotocol.types import MessageType, ShowDocumentParams
from pygls.exceptions import JsonRpcException

from ullage.app.change.compact import Plan, Request
from ullage.app.change.make import Made
from ullage.app.change.prune import PruneRequest, Pruning, plan_pruning
from ullage.app.change.undo import plan_undo_of, undo, undo_question, undone_line
from ullage.app.sessions.load import Loaded, load
from ullage.app.sessions.open import reopen
from ullage.core.change.compaction import Unneeded
from ullage.core.config.settings import Config
from ullage.lsp.auto import text
from ullage.lsp.client_refresh import refresh_lists
from ullage.lsp.commands.compact import plan_with_progress
from ullage.lsp.convert import last_summary_uri, uri_of
from ullage.lsp.messages import choose, say
from ullage.lsp.state import UllageServer
from ullage.store.files.places import Places

Make: TypeAlias = Callable[[Plan | Pruning, Config, Places], Made]


async def make_now(ls: UllageServer, asked: Loaded, request: Request | None, make: Make) -> None:
    """Make what was asked about, and nothing else, of the session as it is now: a compaction,
    or a prune without `request`.
    """
    plan = await _plan_now(ls, asked, request)
    if plan is not None:
        # A model may have taken minutes.
        ls.refuse_write()
        await tell_made(ls, plan, await asyncio.to_thread(make, plan, ls.config, ls.places))


def plan_writable_pruning(loaded: Loaded) -> Pruning | None:
    """Work out a prune that can be written; None where there is none."""
    plan = plan_pruning(loaded, PruneRequest())
    return plan if isinstance(plan, Pruning) and plan.change is not None else None


async def tell_made(ls: UllageServer, plan: Plan | Pruning, made: Made) -> None:
    """Tell of a change by one message, from which it can be taken back."""
    refresh_lists(ls, "sessions", "checkpoints", "memory")
    message = text.done(plan, made)
    buttons = (text.UNDO, text.VIEW) if ls.shows_documents else (text.UNDO,)
    try:
        answer = await choose(ls, message, *buttons)
    except JsonRpcException:
        say(ls, message, MessageType.Info)
        return
    if answer == text.UNDO:
        await _take_back(ls, made)
    elif answer == text.VIEW:
        has_summary = isinstance(plan, Plan) and ls.shows_virtual_documents
        uri = last_summary_uri(made.loaded) if has_summary else uri_of(made.loaded.path)
        await ls.window_show_document_async(ShowDocumentParams(uri=uri, take_focus=True))


async def _plan_now(
    ls: UllageServer, asked: Loaded, request: Request | None
) -> Plan | Pruning | None:
    """Plan anew; where that is not to be any more, the user is told so.

    A message may have stood for hours, and other things may be configured since.
    """
    now = await asyncio.to_thread(
        lambda: load(reopen(asked.session), ls.config, ls.places, ls.worker.count_tokens)
    )
    if len(now.context.compactions) != len(asked.context.compactions):
        say(ls, text.compacted_since(now), MessageType.Info)
        return None
    if request is None:
        pruning = await asyncio.to_thread(plan_writable_pruning, now)
        if pruning is None:
            say(ls, text.nothing_to_prune(now), MessageType.Info)
        return pruning
    plan = await plan_with_progress(ls, now, request)
    if isinstance(plan, Unneeded):
        say(ls, f"Nothing to do: {plan.reason}", MessageType.Info)
        return None
    return plan


async def _take_back(ls: UllageServer, made: Made) -> None:
    """Take a change back, asking first where messages that came since stay behind."""
    plan = await asyncio.to_thread(plan_undo_of, made, ls.config, ls.places)
    if plan.n_left_behind and await choose(ls, undo_question(plan), text.UNDO) != text.UNDO:
        return
    ls.refuse_write()
    undone = await asyncio.to_thread(undo, plan, ls.config, ls.places)
    refresh_lists(ls, "sessions", "checkpoints")
    way_on = text.tell_way_on(undone.resume_command, is_elsewhere=undone.is_elsewhere)
    say(ls, f"{undone_line(plan, undone)}.{way_on}", MessageType.Info)
