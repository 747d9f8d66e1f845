"""The messages of what happens by itself: what they ask, and what an answer leads to."""

import asyncio
from contextlib import suppress

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from ullage.app.change.auto import decline, make_due
from ullage.app.change.compact import Plan, Request, compact
from ullage.app.change.make import Made
from ullage.app.change.nudge import Claim, give_back, snooze_session
from ullage.app.change.prune import Pruning, prune
from ullage.app.memory.flush import flush_log_name
from ullage.app.sessions.load import Loaded
from ullage.app.summary.write import has_model
from ullage.core.change.decision import Ask
from ullage.core.config.settings import Config
from ullage.core.gauge.policy import Layer
from ullage.errors import StorageError
from ullage.lsp.auto import text as auto_text
from ullage.lsp.auto.make import found_pruning, make_now
from ullage.lsp.auto.message import answer_to, say
from ullage.lsp.auto.text import COMPACT, NOT_NOW, PREVIEW, PRUNE, SNOOZE, Nudge, Question
from ullage.lsp.permission import may_write, refuse_write
from ullage.lsp.protocol import PreviewArgument
from ullage.lsp.state import UllageServer
from ullage.store.files.places import Places


async def ask_first(
    ls: UllageServer, action: Ask, plan: Plan | Pruning, layer: Layer, claim: Claim
) -> None:
    """Ask whether to make what is due; `layer` is the strongest that was worked out for it."""
    question = await asyncio.to_thread(_question, plan, action, ls.config, ls.places)
    buttons = (question.button, NOT_NOW, SNOOZE)
    answer = await _heard(ls, plan.loaded, claim, types.MessageType.Info, question.message, buttons)
    if answer == question.button:
        is_prune = isinstance(plan, Pruning)
        request = None if is_prune else Request(layer=plan.selection.layer, trigger="auto")
        await make_now(ls, plan.loaded, request, make_due)
    elif answer == NOT_NOW:
        await asyncio.to_thread(decline, plan.loaded, layer, ls.places)
    elif answer == SNOOZE:
        await asyncio.to_thread(snooze_session, plan.loaded, ls.places)


async def nudge(ls: UllageServer, loaded: Loaded, claim: Claim, *, is_ours: bool) -> None:
    """Tell of a band that the context came into, and do what the user then chooses."""
    told = await asyncio.to_thread(_nudge, loaded, ls.config, ls.places, is_ours=is_ours)
    if not ls.sessions.can_ask:
        say(ls, types.MessageType.Warning, told.message)
        return
    warning = types.MessageType.Warning
    answer = await _heard(ls, loaded, claim, warning, told.message, told.buttons)
    if answer == SNOOZE:
        await asyncio.to_thread(snooze_session, loaded, ls.places)
    elif answer == PREVIEW:
        await _preview(ls, loaded)
    elif answer in (PRUNE, COMPACT):
        await make_now(ls, loaded, None if answer == PRUNE else Request(), _make)


def _question(plan: Plan | Pruning, action: Ask, config: Config, places: Places) -> Question:
    return auto_text.question(
        plan,
        flush_log_name(plan.loaded, config, places),
        action,
        has_model=has_model(config.model, plan.loaded, places),
    )


def _nudge(loaded: Loaded, config: Config, places: Places, *, is_ours: bool) -> Nudge:
    pruning = found_pruning(loaded) if is_ours else None
    log_name = flush_log_name(loaded, config, places)
    return auto_text.nudge(loaded, pruning, log_name, is_ours=is_ours)


def _make(plan: Plan | Pruning, config: Config, places: Places) -> Made:
    return compact(plan, config, places) if isinstance(plan, Plan) else prune(plan, config, places)


async def _preview(ls: UllageServer, loaded: Loaded) -> None:
    # Commands build on the following of files, which leads here.
    from ullage.lsp.commands.preview import preview_and_show

    try:
        await preview_and_show(ls, PreviewArgument(session=str(loaded.path)))
    except JsonRpcException as error:
        say(ls, types.MessageType.Warning, error.message)


async def _heard(
    ls: UllageServer,
    loaded: Loaded,
    claim: Claim,
    kind: types.MessageType,
    text: str,
    buttons: tuple[str, ...],
) -> str | None:
    """Give the answer to what was claimed to be said.

    The claim is given back where the client knows no such messages, or is gone before an answer.

    Raises:
        WriteNotSupported: there is one, and nothing may be written any more.
    """
    try:
        answer = await answer_to(ls, kind, text, *buttons)
    except (JsonRpcException, asyncio.CancelledError):
        # On the loop: once the connection has ended, no thread is waited for.
        if may_write(ls):
            with suppress(StorageError):
                give_back(loaded, claim, ls.places)
        raise
    if answer is not None:
        refuse_write(ls)
    return answer
