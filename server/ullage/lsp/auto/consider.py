"""What happens by itself when a session is quiet: it is compacted, or its user is told or asked.

Not in a workspace that the client calls untrusted. What is decided is kept in our state, so that
of several editors one speaks. While the agent is at work nothing is done, and nothing is said of
that: the next quiet moment comes.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from typing import TypeAlias

from lsprotocol.types import MessageType
from pygls.exceptions import JsonRpcException, JsonRpcMethodNotFound

from ullage.app.change import nudge
from ullage.app.change.auto import decline, hold_automatic_run, make_auto, plan_auto, remember_idle
from ullage.app.change.compact import Plan, Request, compact
from ullage.app.change.compact_report import author_text
from ullage.app.change.make import ChangeResult, can_change
from ullage.app.change.prepared import forget_spent, prepare_summary
from ullage.app.change.prepared_file import store_prepared
from ullage.app.change.prune import PruneRequest, PruningPlan, plan_pruning, prune
from ullage.app.gauge.status_text import about
from ullage.app.sessions.load import Loaded, load
from ullage.app.sessions.open import is_running, reopen
from ullage.app.summary.write import ModelUse
from ullage.core.change.compaction import NoCompaction
from ullage.core.change.decision import Ask, Warn
from ullage.core.change.due import is_summary_near, may_be_due
from ullage.core.config.settings import READ_ONLY, Config
from ullage.core.gauge.gauge import Layer
from ullage.errors import ChangedMeanwhile, SessionLive, StorageError, UllageError
from ullage.lsp import protocol
from ullage.lsp.auto import text
from ullage.lsp.auto.made import tell_made
from ullage.lsp.auto.waiting import tell_waiting
from ullage.lsp.commands.change import plan_with_progress
from ullage.lsp.commands.preview import run_preview
from ullage.lsp.commands.progress import model_for
from ullage.lsp.error_edge import answer_errors
from ullage.lsp.messages import choose, say
from ullage.lsp.state import SessionChange, UllageServer
from ullage.store.files.places import Places
from ullage.store.transcript.reader import QUIET_S

Speak: TypeAlias = Callable[[], Awaitable[None]]
"""Says something to the user, and does what the answer is."""
Make: TypeAlias = Callable[[Plan | PruningPlan, Config, Places], ChangeResult]

log = logging.getLogger(__name__)


async def consider_session(ls: UllageServer, change: SessionChange) -> None:
    if change.before is not None and change.after is not None:
        consider_later(ls, change.path)


def consider_later(ls: UllageServer, path: Path) -> None:
    """Consider a session that was written to, as soon as it was quiet for some seconds."""
    if (
        path in ls.sessions.refused
        or ls.editor.is_restricted
        or path not in {session.path for session in ls.sessions.seen or ()}
    ):
        return
    waiting = ls.sessions.considering.get(path)
    if waiting is not None:
        waiting.cancel()
    followed = ls.sessions.followed.get(path)
    # By a new configuration it is read anew, soon.
    age_s = 0.0 if followed is None else _age_s(followed.loaded)
    delay_s = min(QUIET_S, max(0.0, QUIET_S - age_s))
    ls.sessions.considering[path] = asyncio.get_running_loop().call_later(delay_s, _begin, ls, path)


def _begin(ls: UllageServer, path: Path) -> None:
    del ls.sessions.considering[path]
    if ls.is_shut_down:
        return
    followed = ls.sessions.followed.get(path)
    if followed is None or _age_s(followed.loaded) < QUIET_S:
        consider_later(ls, path)
        return
    tell_waiting(ls, followed.loaded)
    # What is written while something is worked out is considered at the end of that.
    if path not in ls.sessions.at_work:
        ls.begin(_consider, ls, followed.loaded)


async def _consider(ls: UllageServer, loaded: Loaded) -> None:
    """Do what is due; where that is nothing, tell of a band that the context came into.

    Then the summary that will be due next is prepared, which nothing waits for.
    """
    ls.sessions.at_work.add(loaded.path)
    try:
        speak = await _decide(ls, loaded)
    except (SessionLive, ChangedMeanwhile):
        # The agent went on; it becomes quiet again.
        log.info("a session is at work: nothing is done by itself now")
        return
    except UllageError as error:
        _warn_once(ls, loaded, type(error).__name__, text.warning_text(loaded, str(error)))
        return
    finally:
        ls.sessions.at_work.discard(loaded.path)
        _consider_newer(ls, loaded)
    if speak is not None:
        # A message may stand for hours.
        ls.begin(_speak, ls, loaded, speak)
    await _prepare(ls, loaded)
    # What became due meanwhile may have had to wait for that.
    _consider_newer(ls, loaded)


def _consider_newer(ls: UllageServer, loaded: Loaded) -> None:
    followed = ls.sessions.followed.get(loaded.path)
    if followed is not None and followed.loaded is not loaded:
        consider_later(ls, loaded.path)


async def _speak(ls: UllageServer, loaded: Loaded, speak: Speak) -> None:
    try:
        await speak()
    except UllageError as error:
        # The user has asked for it: even that the agent is at work is worth telling.
        say(ls, text.warning_text(loaded, str(error)))
    except JsonRpcMethodNotFound:
        # The client knows no messages with buttons: the same is told without.
        consider_later(ls, loaded.path)
    except JsonRpcException as error:
        log.info("%s: the client did not ask its user", type(error).__name__)


async def _prepare(ls: UllageServer, loaded: Loaded) -> None:
    """Prepare the summary that will be due next, and forget one of another time.

    What fails stops nothing: a summary is written when it is due. A model is asked as then.
    """
    if loaded.policy.is_read_only:
        return
    try:
        if not is_summary_near(loaded.status.gauge, loaded.policy):
            await asyncio.to_thread(forget_spent, loaded, ls.places)
            return
        if not await asyncio.to_thread(_is_ours, ls, loaded):
            return
        with ExitStack() as alone:
            await asyncio.to_thread(alone.enter_context, hold_automatic_run(loaded, ls.places))
            model = await _model_unasked(ls, loaded)
            prepared = await prepare_summary(loaded, ls.config, ls.places, model)
            if prepared is not None:
                log.info("a summary is prepared by %s", author_text(prepared.summary))
                # A model may have taken minutes.
                ls.refuse_write()
                await asyncio.to_thread(
                    store_prepared, prepared, loaded.session.state_key, ls.places
                )
    except UllageError as error:
        log.info("%s: no summary is prepared", type(error).__name__)


async def _model_unasked(ls: UllageServer, loaded: Loaded) -> ModelUse:
    """Give the model that may be asked before the user was; none where they are to be."""
    if loaded.policy.notifies_before_auto:
        return ModelUse()
    return await model_for(ls)


async def _decide(ls: UllageServer, loaded: Loaded) -> Speak | None:
    """Do what may be done without a word, and give what is to be said or asked."""
    if loaded.policy.is_read_only:
        # Nothing is kept of that, as nothing is to be written.
        if nudge.is_read_only_full(loaded):
            _warn_once(ls, loaded, READ_ONLY, text.read_only(loaded))
        return None
    is_ours = await asyncio.to_thread(_is_ours, ls, loaded)
    if is_ours and may_be_due(loaded.status.gauge, loaded.policy):
        speak = await _do_due(ls, loaded)
        if speak is not None:
            return speak
    if not loaded.policy.shows_nudges:
        return None
    claim = await asyncio.to_thread(nudge.claim_nudge, loaded, ls.places)
    return None if claim is None else partial(_nudge, ls, loaded, claim, is_ours=is_ours)


async def _do_due(ls: UllageServer, loaded: Loaded) -> Speak | None:
    """Make what is due, or give the question whether to.

    Nothing of a session goes to a model before its user said yes: what is asked about is worked
    out by our own rules, and where nothing is to be asked any more, it is not worked out.
    """
    asks = loaded.policy.notifies_before_auto
    is_open = await asyncio.to_thread(nudge.is_question_open, loaded, ls.places)
    if asks and not (is_open and ls.sessions.can_ask):
        return None
    with ExitStack() as alone:
        if not asks:
            await asyncio.to_thread(alone.enter_context, hold_automatic_run(loaded, ls.places))
        model = await _model_unasked(ls, loaded)
        return await _plan_due(ls, loaded, model, is_open=is_open)


async def _plan_due(
    ls: UllageServer, loaded: Loaded, model: ModelUse, *, is_open: bool
) -> Speak | None:
    auto = await plan_auto(loaded, ls.config, ls.places, model)
    due, plan = auto.due, auto.plan
    action, layer = due.action, due.layer
    if isinstance(action, Ask) and plan is not None and layer is not None:
        claim = await asyncio.to_thread(nudge.claim_question, loaded, layer, ls.places)
        return None if claim is None else partial(_ask_first, ls, action, plan, layer, claim)
    if plan is not None:
        # A model may have taken minutes.
        ls.refuse_write()
        made = await asyncio.to_thread(make_auto, plan, ls.config, ls.places)
        return partial(tell_made, ls, plan, made)
    is_warning = isinstance(action, Warn)
    if layer is not None or (is_warning and is_open):
        await asyncio.to_thread(remember_idle, due, loaded, ls.places)
    return partial(_warn, ls, loaded, action.reason) if is_warning and is_open else None


async def _ask_first(
    ls: UllageServer, action: Ask, plan: Plan | PruningPlan, layer: Layer, claim: nudge.Claim
) -> None:
    """Ask whether to make what is due; `layer` is the strongest that was worked out for it."""
    loaded = plan.loaded
    question = await asyncio.to_thread(text.ask_question, plan, action, ls.config, ls.places)
    answer = await _choose_claimed(ls, loaded, claim, question, MessageType.Info)
    if answer == question.buttons[0]:
        is_prune = isinstance(plan, PruningPlan)
        request = None if is_prune else Request(layer=plan.selection.layer, trigger="auto")
        await make_now(ls, loaded, request, make_auto)
    elif answer == text.NOT_NOW:
        await asyncio.to_thread(decline, loaded, layer, ls.places)
    elif answer == text.SNOOZE:
        await asyncio.to_thread(nudge.snooze_session, loaded, ls.places)


async def _nudge(ls: UllageServer, loaded: Loaded, claim: nudge.Claim, *, is_ours: bool) -> None:
    """Tell of a band that the context came into, and do what the user then chooses."""
    pruning = await asyncio.to_thread(plan_writable_pruning, loaded) if is_ours else None
    told = await asyncio.to_thread(
        text.nudge, loaded, pruning, ls.config, ls.places, is_ours=is_ours
    )
    if not ls.sessions.can_ask:
        say(ls, told.message)
        return
    answer = await _choose_claimed(ls, loaded, claim, told, MessageType.Warning)
    if answer == text.SNOOZE:
        await asyncio.to_thread(nudge.snooze_session, loaded, ls.places)
    elif answer == text.PREVIEW:
        try:
            await answer_errors(run_preview)(ls, protocol.PreviewArgument(session=str(loaded.path)))
        except JsonRpcException as error:
            say(ls, error.message)
    elif answer in (text.PRUNE, text.COMPACT):
        await make_now(ls, loaded, None if answer == text.PRUNE else Request(), _make)


def _make(plan: Plan | PruningPlan, config: Config, places: Places) -> ChangeResult:
    return compact(plan, config, places) if isinstance(plan, Plan) else prune(plan, config, places)


async def _choose_claimed(
    ls: UllageServer, loaded: Loaded, claim: nudge.Claim, question: text.Question, kind: MessageType
) -> str | None:
    """Give the answer to what was claimed to be said.

    The claim is given back where the client knows no such messages, or is gone before an answer.

    Raises:
        WriteNotSupported: there is one, and nothing may be written any more.
    """
    try:
        answer = await choose(ls, question.message, *question.buttons, kind=kind)
    except (JsonRpcException, asyncio.CancelledError):
        # On the loop: once the connection has ended, no thread is waited for.
        if ls.may_write:
            with suppress(StorageError):
                nudge.give_back(loaded, claim, ls.places)
        raise
    if answer is not None:
        ls.refuse_write()
    return answer


async def _warn(ls: UllageServer, loaded: Loaded, reason: str) -> None:
    say(ls, text.warning_text(loaded, reason))


def _warn_once(ls: UllageServer, loaded: Loaded, cause: str, message: str) -> None:
    """Warn of a session once for each cause, however often it comes again."""
    if (loaded.path, cause) not in ls.sessions.warned:
        ls.sessions.warned.add((loaded.path, cause))
        say(ls, message)


def _age_s(loaded: Loaded) -> float:
    return time.time() - loaded.session.lines.written_ns / 1e9


def _is_ours(ls: UllageServer, loaded: Loaded) -> bool:
    """Whether a change is ours to make now: we write to such sessions, and no agent has it open."""
    return can_change(loaded) and not is_running(loaded.session, ls.places)


async def make_now(ls: UllageServer, asked: Loaded, request: Request | None, make: Make) -> None:
    """Make what was asked about, and nothing else, of the session as it is now: a compaction,
    or a prune without `request`.
    """
    plan = await _plan_now(ls, asked, request)
    if plan is not None:
        # A model may have taken minutes.
        ls.refuse_write()
        await tell_made(ls, plan, await asyncio.to_thread(make, plan, ls.config, ls.places))


def plan_writable_pruning(loaded: Loaded) -> PruningPlan | None:
    """Work out a prune that can be written; None where there is none."""
    plan = plan_pruning(loaded, PruneRequest())
    return plan if isinstance(plan, PruningPlan) and plan.change is not None else None


async def _plan_now(
    ls: UllageServer, asked: Loaded, request: Request | None
) -> Plan | PruningPlan | None:
    """Plan anew; where that is not to be any more, the user is told so.

    A message may have stood for hours, and other things may be configured since.
    """
    now = await asyncio.to_thread(
        lambda: load(reopen(asked.session), ls.config, ls.places, ls.worker.count_tokens)
    )
    if len(now.context.compactions) != len(asked.context.compactions):
        say(ls, text.compacted_text(now), MessageType.Info)
        return None
    if request is None:
        pruning = await asyncio.to_thread(plan_writable_pruning, now)
        if pruning is None:
            say(ls, text.unprunable_text(now), MessageType.Info)
        return pruning
    plan = await plan_with_progress(ls, now, request)
    if isinstance(plan, NoCompaction):
        say(ls, about(now, f"Nothing to do: {plan.reason}"), MessageType.Info)
        return None
    return plan
