"""What is made after a message was answered, or unasked; told of, it can be taken back."""

import asyncio
from collections.abc import Callable
from typing import TypeAlias

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from ullage.app.change.compact import Plan, Request
from ullage.app.change.make import Made
from ullage.app.change.prune import PruneRequest, Pruning, plan_pruning
from ullage.app.change.undo import plan_undo_of, undo, undo_question, undone_line
from ullage.app.sessions.load import Loaded, load
from ullage.app.sessions.open import reopen
from ullage.core.change.compaction import Unneeded
from ullage.core.config.settings import Config
from ullage.lsp.auto import text as auto_text
from ullage.lsp.auto.message import answer_to, say
from ullage.lsp.auto.text import UNDO, VIEW
from ullage.lsp.changed import notify_changed
from ullage.lsp.commands.compaction_plan import planned_compaction
from ullage.lsp.convert import last_summary_uri, uri_of
from ullage.lsp.permission import refuse_write
from ullage.lsp.state import UllageServer
from ullage.store.files.places import Places

Make: TypeAlias = Callable[[Plan | Pruning, Config, Places], Made]


async def make_now(ls: UllageServer, asked: Loaded, request: Request | None, make: Make) -> None:
    """Make what was asked about, and nothing else, of the session as it is now: a compaction,
    or a prune without `request`.
    """
    plan = await _planned_now(ls, asked, request)
    if plan is not None:
        # A model may have taken minutes.
        refuse_write(ls)
        await tell_made(ls, plan, await asyncio.to_thread(make, plan, ls.config, ls.places))


def found_pruning(loaded: Loaded) -> Pruning | None:
    """Work out a prune that can be written; None where there is none."""
    found = plan_pruning(loaded, PruneRequest())
    return found if isinstance(found, Pruning) and found.change is not None else None


async def tell_made(ls: UllageServer, plan: Plan | Pruning, made: Made) -> None:
    """Tell of a change by one message, from which it can be taken back."""
    notify_changed(ls, "sessions", "checkpoints", "memory")
    text = auto_text.done(plan, made)
    buttons = (UNDO, VIEW) if ls.shows_documents else (UNDO,)
    try:
        answer = await answer_to(ls, types.MessageType.Info, text, *buttons)
    except JsonRpcException:
        say(ls, types.MessageType.Info, text)
        return
    if answer == UNDO:
        await _take_back(ls, made)
    elif answer == VIEW:
        has_summary = isinstance(plan, Plan) and ls.shows_virtual_documents
        uri = last_summary_uri(made.loaded) if has_summary else uri_of(made.loaded.path)
        await ls.window_show_document_async(types.ShowDocumentParams(uri=uri, take_focus=True))


async def _planned_now(
    ls: UllageServer, asked: Loaded, request: Request | None
) -> Plan | Pruning | None:
    """Plan anew; where that is not to be any more, the user is told so.

    A message may have stood for hours, and other things may be configured since.
    """
    now = await asyncio.to_thread(
        lambda: load(reopen(asked.session), ls.config, ls.places, ls.worker.count_tokens)
    )
    if len(now.context.compactions) != len(asked.context.compactions):
        say(ls, types.MessageType.Info, auto_text.compacted_since(now))
        return None
    if request is None:
        pruning = await asyncio.to_thread(found_pruning, now)
        if pruning is None:
            say(ls, types.MessageType.Info, auto_text.nothing_to_prune(now))
        return pruning
    plan = await planned_compaction(ls, now, request)
    if isinstance(plan, Unneeded):
        say(ls, types.MessageType.Info, f"Nothing to do: {plan.reason}")
        return None
    return plan


async def _take_back(ls: UllageServer, made: Made) -> None:
    """Take a change back, asking first where messages that came since stay behind."""
    plan = await asyncio.to_thread(plan_undo_of, made, ls.config, ls.places)
    info = types.MessageType.Info
    if plan.n_left_behind and await answer_to(ls, info, undo_question(plan), UNDO) != UNDO:
        return
    refuse_write(ls)
    undone = await asyncio.to_thread(undo, plan, ls.config, ls.places)
    notify_changed(ls, "sessions", "checkpoints")
    say(ls, info, f"{undone_line(plan, undone)}.{auto_text.way_on(undone)}")
