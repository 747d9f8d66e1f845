"""`ullage.undo`: take the last compaction, prune or restore back, once the user agreed."""

import asyncio

from ullage.app.sessions import open_session
from ullage.app.undo import plan_undo, undo
from ullage.app.undo_report import report_undo_plan, undo_plan_text
from ullage.core.gauge import gauge_text
from ullage.lsp.outcome import ask, changed, changing, meant_path
from ullage.lsp.protocol import Outcome, SessionArgument
from ullage.lsp.session import session_ref
from ullage.lsp.state import UllageServer

BUTTON = "Undo"
_NAMES = {"compaction": "compaction", "prune": "prune", "restore": "restore", "undo": "undo"}


@changing
async def run_undo(ls: UllageServer, argument: SessionArgument) -> Outcome:
    path = meant_path(ls, argument.session)
    plan = await asyncio.to_thread(lambda: plan_undo(open_session(path), ls.config, ls.places))
    what = "change" if plan.receipt is None else _NAMES[plan.receipt.occasion.kind]
    told = undo_plan_text(report_undo_plan(plan)).replace("\n", ". ")
    if not await ask(ls, f"Undo the last {what}? {told}.", BUTTON):
        return Outcome(outcome="cancelled", message="Nothing was undone.")
    undone = await asyncio.to_thread(undo, plan, ls.config, ls.places)
    await changed(ls, path, undone.after.path)
    before, after = undone.before.status.gauge, undone.after.status.gauge
    return Outcome(
        outcome="done",
        message=f"Undone: the {what} · {gauge_text(before)} → {gauge_text(after)} of the window",
        session=session_ref(undone.after),
    )
