"""What happens by itself when a session is quiet: it is compacted, or its user is told or asked.

Not in a workspace that the client calls untrusted. What is decided is kept in our state, so that
of several editors one speaks. While the agent is at work nothing is done, and nothing is said of
that: the next quiet moment comes.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TypeAlias, cast

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from ullage.app.activity import is_running
from ullage.app.auto import decline, make_due, plan_auto, remember_idle
from ullage.app.change import Made, can_change
from ullage.app.compact import Plan, Request, compact, plan_compaction, with_flush
from ullage.app.due import Due
from ullage.app.load import Loaded, load
from ullage.app.models import model_use
from ullage.app.nudge import claim_nudge, claim_question, snooze_session
from ullage.app.prune import PruneRequest, Pruning, plan_pruning, prune
from ullage.app.sessions import reopen
from ullage.app.undo import plan_undo, undo
from ullage.core.compaction import Unneeded
from ullage.core.decision import Ask, Warn
from ullage.core.policy import Layer
from ullage.errors import ChangedMeanwhile, SessionLive, UllageError
from ullage.lsp import auto_text
from ullage.lsp.auto_text import COMPACT, COMPACT_NOW, NOT_NOW, PREVIEW, PRUNE, SNOOZE, UNDO, VIEW
from ullage.lsp.boundary import guarded
from ullage.lsp.changed import notify_changed
from ullage.lsp.convert import last_summary_uri, uri_of
from ullage.lsp.protocol import PREVIEW_COMMAND, PreviewArgument
from ullage.lsp.state import UllageServer
from ullage.store.session_lock import QUIET_S

Speak: TypeAlias = Callable[[], Awaitable[None]]
"""Says something to the user, and does what the answer is."""

log = logging.getLogger(__name__)


def consider_later(ls: UllageServer, path: Path) -> None:
    """Consider a session that was written to, as soon as it was quiet for some seconds."""
    followed = ls.sessions.followed.get(path)
    if (
        followed is None
        or ls.editor.is_restricted
        or path not in {one.path for one in ls.sessions.seen or ()}
    ):
        return
    waiting = ls.sessions.considering.get(path)
    if waiting is not None:
        waiting.cancel()
    age_s = time.time() - followed.loaded.session.lines.written_ns / 1e9
    delay_s = min(QUIET_S, max(0.0, QUIET_S - age_s))
    ls.sessions.considering[path] = asyncio.get_running_loop().call_later(delay_s, _begin, ls, path)


def _begin(ls: UllageServer, path: Path) -> None:
    del ls.sessions.considering[path]
    followed = ls.sessions.followed.get(path)
    if followed is None or ls.is_shut_down:
        return
    if path in ls.sessions.at_work or not _is_quiet(followed.loaded):
        consider_later(ls, path)
        return
    task = asyncio.create_task(_considered(ls, followed.loaded))
    ls.tasks.add(task)
    task.add_done_callback(ls.tasks.discard)


async def _considered(ls: UllageServer, loaded: Loaded) -> None:
    with suppress(JsonRpcException):  # logged by the boundary
        await _consider(ls, loaded)


@guarded
async def _consider(ls: UllageServer, loaded: Loaded) -> None:
    """Do what is due; where that is nothing, tell of a band that the context came into."""
    ls.sessions.at_work.add(loaded.path)
    try:
        speak = await _decide(ls, loaded)
    except (SessionLive, ChangedMeanwhile):
        # The agent went on; it becomes quiet again.
        log.info("a session is at work: nothing is done by itself now")
        return
    except UllageError as error:
        _say(ls, types.MessageType.Warning, str(error))
        return
    finally:
        ls.sessions.at_work.discard(loaded.path)
    # A message may stand for hours: nothing waits for its answer.
    if speak is not None:
        try:
            await speak()
        except UllageError as error:
            # The user has asked for it: even that the agent is at work is worth telling.
            _say(ls, types.MessageType.Warning, str(error))


async def _decide(ls: UllageServer, loaded: Loaded) -> Speak | None:
    """Do what may be done without a word, and give what is to be said or asked."""
    is_ours = await asyncio.to_thread(_is_ours, ls, loaded)
    if is_ours and loaded.status.due:
        due = await _plan(ls, loaded)
        action, plan, layer = due.action, due.plan, due.layer
        if isinstance(action, Ask) and plan is not None and layer is not None:
            is_claimed = await asyncio.to_thread(claim_question, loaded, layer, ls.places)
            return partial(_ask, ls, action, plan, layer) if is_claimed else None
        if plan is not None:
            made = await asyncio.to_thread(make_due, plan, ls.config, ls.places)
            return partial(_tell_made, ls, plan, made)
        if isinstance(action, Warn) or layer is not None:
            await asyncio.to_thread(remember_idle, due, loaded, ls.places)
        if isinstance(action, Warn):
            _say(ls, types.MessageType.Warning, auto_text.warned(loaded, action.reason))
            return None
    if loaded.policy.is_read_only:
        _warn_read_only(ls, loaded)
        return None
    if not loaded.policy.shows_nudges:
        return None
    band = await asyncio.to_thread(claim_nudge, loaded, ls.places)
    return None if band is None else partial(_nudge, ls, loaded, is_ours=is_ours)


def _warn_read_only(ls: UllageServer, loaded: Loaded) -> None:
    """Warn once of a session that fills up where nothing is to be written, nor to be kept."""
    if loaded.status.band in ("warning", "critical") and loaded.path not in ls.sessions.warned:
        ls.sessions.warned.add(loaded.path)
        _say(ls, types.MessageType.Warning, auto_text.read_only(loaded))


async def _ask(ls: UllageServer, action: Ask, plan: Plan | Pruning, layer: Layer) -> None:
    text = auto_text.question(plan, action)
    answer = await _question(ls, types.MessageType.Info, text, COMPACT_NOW, NOT_NOW, SNOOZE)
    if answer == COMPACT_NOW:
        now = await asyncio.to_thread(_now, ls, plan.loaded)
        # What was asked about is what is done, unless the session went on meanwhile.
        current = plan if now is plan.loaded else (await _plan(ls, now)).plan
        if current is None:
            _say(ls, types.MessageType.Info, auto_text.nothing_due(now))
            return
        made = await asyncio.to_thread(make_due, current, ls.config, ls.places)
        await _tell_made(ls, current, made)
    elif answer == NOT_NOW:
        await asyncio.to_thread(decline, plan.loaded, layer, ls.places)
    elif answer == SNOOZE:
        await asyncio.to_thread(snooze_session, plan.loaded, ls.places)


async def _nudge(ls: UllageServer, loaded: Loaded, *, is_ours: bool) -> None:
    pruning = await asyncio.to_thread(_pruning, loaded) if is_ours else None
    nudge = auto_text.nudge(loaded, pruning, is_ours=is_ours)
    preview = _preview_command(ls)
    buttons = [one for one in nudge.buttons if one != PREVIEW or preview is not None]
    answer = await _question(ls, types.MessageType.Warning, nudge.message, *buttons)
    if answer == SNOOZE:
        await asyncio.to_thread(snooze_session, loaded, ls.places)
    elif answer == PREVIEW and preview is not None:
        await preview(PreviewArgument(session=str(loaded.path)))
    elif answer in (PRUNE, COMPACT):
        await _change(ls, await asyncio.to_thread(_now, ls, loaded), is_prune=answer == PRUNE)


async def _change(ls: UllageServer, loaded: Loaded, *, is_prune: bool) -> None:
    """Prune or compact as the user asked for by the button of a nudge."""
    if is_prune and (pruning := await asyncio.to_thread(_pruning, loaded)) is not None:
        made = await asyncio.to_thread(prune, pruning, ls.config, ls.places)
        await _tell_made(ls, pruning, made)
        return
    model = await asyncio.to_thread(model_use, ls.config.model, loaded, ls.places)
    plan = await plan_compaction(loaded, Request(), ls.config, ls.places, model)
    if isinstance(plan, Unneeded):
        _say(ls, types.MessageType.Info, f"Nothing to do: {plan.reason}")
        return
    plan = await with_flush(plan, ls.config, ls.places, model)
    await _tell_made(ls, plan, await asyncio.to_thread(compact, plan, ls.config, ls.places))


async def _plan(ls: UllageServer, loaded: Loaded) -> Due:
    model = await asyncio.to_thread(model_use, ls.config.model, loaded, ls.places)
    return await plan_auto(loaded, ls.config, ls.places, model)


def _pruning(loaded: Loaded) -> Pruning | None:
    """Work out a prune that can be written; None where there is none."""
    found = plan_pruning(loaded, PruneRequest())
    return found if isinstance(found, Pruning) and found.change is not None else None


async def _tell_made(ls: UllageServer, plan: Plan | Pruning, made: Made) -> None:
    """Tell of a change by one message, from which it can be taken back."""
    notify_changed(ls, "sessions", "checkpoints", "memory")
    text = auto_text.done(plan, made)
    answer = await _question(ls, types.MessageType.Info, text, UNDO, VIEW)
    if answer == UNDO:
        await asyncio.to_thread(_undo, ls, made.loaded)
        notify_changed(ls, "sessions", "checkpoints")
    elif answer == VIEW:
        has_summary = isinstance(plan, Plan) and ls.shows_virtual_documents
        uri = last_summary_uri(made.loaded) if has_summary else uri_of(made.loaded.path)
        await ls.window_show_document_async(types.ShowDocumentParams(uri=uri, take_focus=True))


def _undo(ls: UllageServer, loaded: Loaded) -> None:
    undo(plan_undo(reopen(loaded.session), ls.config, ls.places), ls.config, ls.places)


def _preview_command(ls: UllageServer) -> Callable[[PreviewArgument], Awaitable[object]] | None:
    """Give the command as a client calls it: its module builds on the following of files."""
    commands = cast(
        "dict[str, Callable[[PreviewArgument], Awaitable[object]]]", ls.protocol.fm.commands
    )
    return commands.get(PREVIEW_COMMAND)


async def _question(
    ls: UllageServer, kind: types.MessageType, text: str, *buttons: str
) -> str | None:
    answer = await ls.window_show_message_request_async(
        types.ShowMessageRequestParams(
            type=kind,
            message=text,
            actions=[types.MessageActionItem(title=title) for title in buttons],
        )
    )
    return None if answer is None else answer.title


def _say(ls: UllageServer, kind: types.MessageType, text: str) -> None:
    ls.window_show_message(types.ShowMessageParams(type=kind, message=text))


def _now(ls: UllageServer, loaded: Loaded) -> Loaded:
    """Give a session as it is now; the same value where nothing was written since."""
    if loaded.session.lines.is_current():
        return loaded
    return load(reopen(loaded.session), ls.config, ls.places, ls.worker.count_tokens)


def _is_quiet(loaded: Loaded) -> bool:
    return time.time() - loaded.session.lines.written_ns / 1e9 >= QUIET_S


def _is_ours(ls: UllageServer, loaded: Loaded) -> bool:
    """Whether a change is ours to make now: we write to such sessions, and no agent has it open."""
    return can_change(loaded) and not is_running(loaded.session, ls.places)
