"""The messages of what happens by itself: what they ask, and what is done after the answer."""

import asyncio
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager, suppress
from typing import cast

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcMethodNotFound

from ullage.app.auto import decline, make_due
from ullage.app.change import Made
from ullage.app.compact import Plan, Request, compact
from ullage.app.load import Loaded, load
from ullage.app.nudge import Claim, give_back, snooze_session
from ullage.app.prune import PruneRequest, Pruning, plan_pruning, prune
from ullage.app.sessions import reopen
from ullage.app.undo import plan_undo_of, undo
from ullage.core.compaction import Unneeded
from ullage.core.config.settings import ModelSettings
from ullage.core.decision import Ask
from ullage.core.policy import Layer
from ullage.errors import StorageError
from ullage.lsp import auto_text
from ullage.lsp.auto_text import COMPACT, NOT_NOW, PREVIEW, PRUNE, SNOOZE, UNDO, VIEW
from ullage.lsp.changed import notify_changed
from ullage.lsp.compaction_plan import planned_compaction
from ullage.lsp.convert import last_summary_uri, uri_of
from ullage.lsp.protocol import PREVIEW_COMMAND, PreviewArgument
from ullage.lsp.state import UllageServer


async def ask_first(
    ls: UllageServer, action: Ask, plan: Plan | Pruning, layer: Layer, claim: Claim
) -> None:
    """Ask whether to make what is due; `layer` is the strongest that was worked out for it."""
    question = auto_text.question(plan, action, has_model=ls.config.model != ModelSettings())
    buttons = (question.button, NOT_NOW, SNOOZE)
    with _heard(ls, plan.loaded, claim):
        answer = await _answer(ls, types.MessageType.Info, question.message, *buttons)
    if answer == question.button:
        await _make_asked(ls, plan)
    elif answer == NOT_NOW:
        await asyncio.to_thread(decline, plan.loaded, layer, ls.places)
    elif answer == SNOOZE:
        await asyncio.to_thread(snooze_session, plan.loaded, ls.places)


async def _make_asked(ls: UllageServer, asked: Plan | Pruning) -> None:
    """Make what was asked about, and nothing else, of the session as it is now."""
    layer = asked.selection.layer if isinstance(asked, Plan) else None
    request = None if layer is None else Request(layer=layer, trigger="auto")
    plan = await _planned_now(ls, asked.loaded, request)
    if plan is not None:
        await tell_made(ls, plan, await asyncio.to_thread(make_due, plan, ls.config, ls.places))


async def nudge(ls: UllageServer, loaded: Loaded, claim: Claim, *, is_ours: bool) -> None:
    """Tell of a band that the context came into, and do what the user then chooses."""
    pruning = await asyncio.to_thread(_pruning, loaded) if is_ours else None
    told = auto_text.nudge(loaded, pruning, is_ours=is_ours)
    preview = _preview_command(ls)
    buttons = [one for one in told.buttons if one != PREVIEW or preview is not None]
    if not ls.sessions.can_ask:
        say(ls, types.MessageType.Warning, told.message)
        return
    with _heard(ls, loaded, claim):
        answer = await _answer(ls, types.MessageType.Warning, told.message, *buttons)
    if answer == SNOOZE:
        await asyncio.to_thread(snooze_session, loaded, ls.places)
    elif answer == PREVIEW and preview is not None:
        await preview(PreviewArgument(session=str(loaded.path)))
    elif answer in (PRUNE, COMPACT):
        plan = await _planned_now(ls, loaded, None if answer == PRUNE else Request())
        if plan is not None:
            await tell_made(ls, plan, await asyncio.to_thread(_make, ls, plan))


def _make(ls: UllageServer, plan: Plan | Pruning) -> Made:
    if isinstance(plan, Plan):
        return compact(plan, ls.config, ls.places)
    return prune(plan, ls.config, ls.places)


async def _planned_now(
    ls: UllageServer, loaded: Loaded, request: Request | None
) -> Plan | Pruning | None:
    """Plan a compaction, or a prune without `request`, of a session as it is now.

    Where that is not to be any more, the user is told so: a message may have stood for hours.
    """
    now = await asyncio.to_thread(_now, ls, loaded)
    if len(now.context.compactions) != len(loaded.context.compactions):
        say(ls, types.MessageType.Info, auto_text.compacted_since(now))
        return None
    if request is None:
        pruning = await asyncio.to_thread(_pruning, now)
        if pruning is None:
            say(ls, types.MessageType.Info, auto_text.nothing_to_prune(now))
        return pruning
    plan = await planned_compaction(ls, now, request)
    if isinstance(plan, Unneeded):
        say(ls, types.MessageType.Info, f"Nothing to do: {plan.reason}")
        return None
    return plan


def _pruning(loaded: Loaded) -> Pruning | None:
    """Work out a prune that can be written; None where there is none."""
    found = plan_pruning(loaded, PruneRequest())
    return found if isinstance(found, Pruning) and found.change is not None else None


async def tell_made(ls: UllageServer, plan: Plan | Pruning, made: Made) -> None:
    """Tell of a change by one message, from which it can be taken back."""
    notify_changed(ls, "sessions", "checkpoints", "memory")
    text = auto_text.done(plan, made)
    buttons = (UNDO, VIEW) if _shows_documents(ls) else (UNDO,)
    try:
        answer = await _answer(ls, types.MessageType.Info, text, *buttons)
    except JsonRpcException:
        say(ls, types.MessageType.Info, text)
        return
    if answer == UNDO:
        await asyncio.to_thread(_undo, ls, made)
        notify_changed(ls, "sessions", "checkpoints")
    elif answer == VIEW:
        has_summary = isinstance(plan, Plan) and ls.shows_virtual_documents
        uri = last_summary_uri(made.loaded) if has_summary else uri_of(made.loaded.path)
        await ls.window_show_document_async(types.ShowDocumentParams(uri=uri, take_focus=True))


def _undo(ls: UllageServer, made: Made) -> None:
    undo(plan_undo_of(made, ls.config, ls.places), ls.config, ls.places)


def _shows_documents(ls: UllageServer) -> bool:
    window = ls.client_capabilities.window
    shown = None if window is None else window.show_document
    return shown is not None and shown.support


def _preview_command(ls: UllageServer) -> Callable[[PreviewArgument], Awaitable[object]] | None:
    """Give the command as a client calls it: its module builds on the following of files."""
    commands = cast(
        "dict[str, Callable[[PreviewArgument], Awaitable[object]]]", ls.protocol.fm.commands
    )
    return commands.get(PREVIEW_COMMAND)


@contextmanager
def _heard(ls: UllageServer, loaded: Loaded, claim: Claim) -> Generator[None]:
    """Give a claim back where the client does not know such messages, or is gone before an answer.

    On the loop: once the connection has ended, no thread is waited for.
    """
    try:
        yield
    except (JsonRpcException, asyncio.CancelledError):
        with suppress(StorageError):
            give_back(loaded, claim, ls.places)
        raise


async def _answer(
    ls: UllageServer, kind: types.MessageType, text: str, *buttons: str
) -> str | None:
    params = types.ShowMessageRequestParams(
        type=kind,
        message=text,
        actions=[types.MessageActionItem(title=title) for title in buttons],
    )
    try:
        answer = await ls.window_show_message_request_async(params)
    except JsonRpcMethodNotFound:
        ls.sessions.can_ask = False
        raise
    return None if answer is None else answer.title


def say(ls: UllageServer, kind: types.MessageType, text: str) -> None:
    ls.window_show_message(types.ShowMessageParams(type=kind, message=text))


def _now(ls: UllageServer, loaded: Loaded) -> Loaded:
    """Give a session as it is now; the same value where nothing was written since."""
    if loaded.session.lines.is_current():
        return loaded
    return load(reopen(loaded.session), ls.config, ls.places, ls.worker.count_tokens)
