"""`ullage.compact`: plan a compaction, ask the user, make it."""

import asyncio

from ullage.app.change.compact import Plan, Request, compact, plan_compaction, with_flush
from ullage.app.change.compact_report import made_text
from ullage.app.change.make import Made
from ullage.app.memory.report import flush_sentence
from ullage.app.sessions.load import Loaded
from ullage.app.summary.write import ModelUse
from ullage.core.change.compaction import Unneeded
from ullage.lsp.commands.progress import cancelled, confirm, nothing_to_do, with_model
from ullage.lsp.convert import last_summary_uri, session_ref
from ullage.lsp.follow import load_session, show_changed
from ullage.lsp.protocol import Outcome, SessionArgument
from ullage.lsp.state import UllageServer

BUTTON = "Compact"
CANCELLED = "Compaction cancelled."


async def run_compact(ls: UllageServer, argument: SessionArgument) -> Outcome:
    loaded = await load_session(ls, argument.session)
    plan = await plan_with_progress(ls, loaded, Request())
    if plan is None:
        return cancelled(CANCELLED)
    if isinstance(plan, Unneeded):
        return nothing_to_do(plan.reason)
    if not await confirm(ls, _question(plan), BUTTON, "compact", loaded.path):
        return cancelled(CANCELLED)
    made = await asyncio.to_thread(compact, plan, ls.config, ls.places)
    await show_changed(ls, loaded.path, made.loaded.path)
    return made_outcome(plan, made)


async def plan_with_progress(
    ls: UllageServer, loaded: Loaded, request: Request
) -> Plan | Unneeded | None:
    """Plan a compaction with its flush of memory; None where the user cancelled it."""

    async def plan_with(model: ModelUse) -> Plan | Unneeded:
        plan = await plan_compaction(loaded, request, ls.config, ls.places, model)
        if isinstance(plan, Unneeded):
            return plan
        return await with_flush(plan, ls.config, ls.places, model)

    return await with_model(ls, loaded, plan_with)


def made_outcome(plan: Plan, made: Made) -> Outcome:
    """Give what is told of a compaction that was made, from a preview or without one."""
    return Outcome(
        outcome="done",
        message=made_text(plan, made),
        session=session_ref(made.loaded),
        canUndo=True,
        uri=last_summary_uri(made.loaded),
        resume=made.resume_command if made.is_elsewhere else None,
    )


def _question(plan: Plan) -> str:
    flush = plan.flush
    memory = flush_sentence(flush.log_name if flush is not None and flush.text else None)
    return (
        f"Compact this session? {plan.n_tokens_before:,} →"
        f" {plan.n_tokens_after:,} tokens: {len(plan.selection.replaced):,} messages become"
        f" a summary, the last {len(plan.selection.kept):,} stay. It can be undone."
        f"{memory}"
    )
