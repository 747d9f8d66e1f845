"""`ullage.compact`: plan a compaction, ask the user, make it."""

import asyncio

from ullage.app.change.compact import Plan, Request, compact
from ullage.app.change.compact_report import made_text
from ullage.app.change.make import Made
from ullage.app.memory.report import flush_sentence
from ullage.core.change.compaction import Unneeded
from ullage.lsp.commands.compaction_plan import planned_compaction
from ullage.lsp.commands.outcome import ask, changed, changing, meant
from ullage.lsp.convert import last_summary_uri, session_ref
from ullage.lsp.protocol import Outcome, SessionArgument
from ullage.lsp.state import UllageServer

BUTTON = "Compact"
CANCELLED = "Compaction cancelled."


@changing
async def run_compact(ls: UllageServer, argument: SessionArgument) -> Outcome:
    loaded = await meant(ls, argument.session)
    plan = await planned_compaction(ls, loaded, Request())
    if plan is None:
        return Outcome(outcome="cancelled", message=CANCELLED)
    if isinstance(plan, Unneeded):
        return Outcome(outcome="nothing", message=f"Nothing to do: {plan.reason}")
    if not await ask(ls, _question(plan), BUTTON, "compact", loaded.path):
        return Outcome(outcome="cancelled", message=CANCELLED)
    made = await asyncio.to_thread(compact, plan, ls.config, ls.places)
    await changed(ls, loaded.path, made.loaded.path)
    return made_outcome(plan, made)


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
