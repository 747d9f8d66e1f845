"""Commands that change a session once its user agreed: compact, prune, undo."""

import asyncio

from ullage.app.change.compact import Plan, Request, compact, with_flush
from ullage.app.change.compact_report import made_text
from ullage.app.change.make import ChangePlan, ChangeResult, copy_sentence
from ullage.app.change.prepared import plan_with_prepared
from ullage.app.change.prune import (
    NothingToPrune,
    PruneRequest,
    PruningPlan,
    item_name,
    plan_pruning,
    prune,
)
from ullage.app.change.redo import plan_redo, redo
from ullage.app.change.undo import (
    Reversal,
    UndoResult,
    Withdrawal,
    changed_since,
    plan_undo,
    plan_undo_of,
    report_undo_plan,
    undo,
    undo_plan_text,
    undo_question,
    undone_line,
)
from ullage.app.gauge.status_text import about, name_text
from ullage.app.memory.report import flush_sentence
from ullage.app.sessions.load import Loaded
from ullage.app.sessions.named import find_session
from ullage.app.summary.write import ModelUse
from ullage.core.change.compaction import NoCompaction
from ullage.core.gauge.gauge import tokens_text
from ullage.core.text.prose import plural
from ullage.errors import WriteNotSupported
from ullage.lsp import protocol
from ullage.lsp.commands import progress
from ullage.lsp.convert import last_summary_uri, resume_of, session_ref
from ullage.lsp.follow import load_session, session_path, show_changed
from ullage.lsp.state import UllageServer

_COMPACT_BUTTON = "Compact"
CANCELLED = "Compaction cancelled"
_PRUNE_BUTTON = "Prune"
_UNDO_BUTTON = "Undo"


async def run_compact(ls: UllageServer, argument: protocol.SessionArgument) -> protocol.Outcome:
    loaded = await load_session(ls, argument.session)
    plan = await plan_with_progress(ls, loaded, Request())
    if isinstance(plan, NoCompaction):
        return progress.report_unneeded(loaded, plan.reason)
    if plan is None or not await progress.confirm(
        ls, _compact_question(plan), "compact", loaded.path
    ):
        return progress.report_cancelled(about(loaded, CANCELLED))
    made = await asyncio.to_thread(compact, plan, ls.config, ls.places)
    await show_changed(ls, loaded.path, made.session.path)
    return report_made(ls, plan, made)


async def plan_with_progress(
    ls: UllageServer, loaded: Loaded, request: Request
) -> Plan | NoCompaction | None:
    """Plan a compaction with its flush of memory; None where the user cancelled it."""

    async def plan_with(model: ModelUse) -> Plan | NoCompaction:
        plan = await plan_with_prepared(loaded, request, ls.config, ls.places, model)
        if isinstance(plan, NoCompaction):
            return plan
        return await with_flush(plan, ls.config, ls.places, model)

    return await progress.with_model(ls, plan_with)


def report_made(ls: UllageServer, plan: Plan, made: ChangeResult) -> protocol.Outcome:
    """Report a compaction that was made, from a preview or without one."""
    return progress.report_change(ls, made_text(plan, made), made, uri=last_summary_uri(made))


def _compact_question(plan: Plan) -> protocol.ConfirmParams:
    flush = plan.flush
    memory = flush_sentence(flush.log_name if flush is not None and flush.text else None)
    return protocol.ConfirmParams(
        question=f"Compact {name_text(plan.loaded)}?",
        detail=progress.detail(
            f"{plan.n_tokens_before:,} → {plan.n_tokens_after:,} tokens:"
            f" {plural(len(plan.selection.replaced), 'message')} become a summary,"
            f" the last {len(plan.selection.kept):,} stay. It can be undone.",
            copy_sentence(plan.change),
            memory,
        ),
        button=_COMPACT_BUTTON,
    )


async def run_prune(ls: UllageServer, argument: protocol.PruneArgument) -> protocol.Outcome:
    loaded = await load_session(ls, argument.session)
    request = PruneRequest(
        chosen=None if argument.items is None else tuple(argument.items),
        is_everything=argument.isEverything,
    )
    plan = await asyncio.to_thread(plan_pruning, loaded, request)
    if isinstance(plan, NothingToPrune):
        return progress.report_unneeded(loaded, plan.reason)
    if plan.change is None:
        raise WriteNotSupported(plan.refusal or "")
    if not argument.isConfirmed and not await progress.confirm(
        ls, _prune_question(plan, plan.change), "prune", loaded.path
    ):
        return progress.report_cancelled(about(loaded, "Pruning cancelled"))
    made = await asyncio.to_thread(prune, plan, ls.config, ls.places)
    await show_changed(ls, loaded.path, made.session.path)
    tokens = tokens_text(plan.n_tokens_before, plan.n_tokens_after)
    where = " into a new session" if made.is_elsewhere else ""
    return progress.report_change(ls, f"Pruned {_outputs(plan)}{where} · {tokens} tokens", made)


def _prune_question(plan: PruningPlan, change: ChangePlan) -> protocol.ConfirmParams:
    return protocol.ConfirmParams(
        question=f"Prune {name_text(plan.loaded)}?",
        detail=progress.detail(
            f"Placeholders take the place of {_outputs(plan)}:"
            f" {plan.n_tokens_before:,} → {plan.n_tokens_after:,} tokens. It can be undone.",
            copy_sentence(change),
        ),
        button=_PRUNE_BUTTON,
    )


def undo_confirmation(plan: Withdrawal | Reversal) -> protocol.ConfirmParams:
    detail = undo_plan_text(report_undo_plan(plan), "undo")
    return protocol.ConfirmParams(question=undo_question(plan), detail=detail, button=_UNDO_BUTTON)


def _outputs(plan: PruningPlan) -> str:
    """Count what goes, and name a single one: a view may have meant another row."""
    chosen = [item for item in plan.plan.items if item.is_chosen]
    name = f" ({item_name(chosen[0], plan.loaded)})" if len(chosen) == 1 else ""
    return plural(len(chosen), "output") + name


async def run_undo(ls: UllageServer, argument: protocol.UndoArgument) -> protocol.Outcome:
    path = session_path(ls, argument.session)
    made = None if argument.change is None else ls.sessions.made.get(path)
    if made is None:
        session = await asyncio.to_thread(find_session, str(path), ls.places)
        plan = await asyncio.to_thread(plan_undo, session, ls.config, ls.places)
        last_id = None if plan.receipt is None else plan.receipt.receipt_id
        if argument.change not in (None, last_id):
            raise changed_since(path)
        # What an earlier server made is known by its receipt, and what the agent did since is not.
        is_agreed = False
    else:
        if made.receipt_id != argument.change:
            raise changed_since(path)
        plan = await asyncio.to_thread(plan_undo_of, made, ls.config, ls.places)
        is_agreed = not plan.n_left_behind
    if not is_agreed and not await progress.confirm(ls, undo_confirmation(plan), "undo", path):
        return progress.report_cancelled(about(plan.loaded, "Nothing was undone"))
    undone = await asyncio.to_thread(undo, plan, ls.config, ls.places)
    await show_changed(ls, path, undone.after.path)
    return _report_way_back(undone)


async def run_redo(ls: UllageServer, argument: protocol.SessionArgument) -> protocol.Outcome:
    """Make again what was undone; no question, as it is known already and can be undone."""
    path = session_path(ls, argument.session)
    session = await asyncio.to_thread(find_session, str(path), ls.places)
    plan = await asyncio.to_thread(plan_redo, session, ls.config, ls.places)
    redone = await asyncio.to_thread(redo, plan, ls.config, ls.places)
    await show_changed(ls, path, redone.after.path)
    return _report_way_back(redone)


def _report_way_back(done: UndoResult) -> protocol.Outcome:
    session = done.after.session
    title, command = (
        ("Redo", protocol.REDO_COMMAND)
        if done.outcome == "undone"
        else ("Undo", protocol.UNDO_COMMAND)
    )
    return protocol.Outcome(
        outcome="done",
        message=about(done.after, undone_line(done)),
        session=session_ref(session),
        resume=resume_of(session, done.resume_command) if done.is_elsewhere else None,
        next=protocol.NextCommand(
            title=title,
            command=command,
            argument=protocol.SessionArgument(session=str(session.path)),
        ),
    )
