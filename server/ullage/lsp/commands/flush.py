"""`ullage.flush`: append what is worth remembering to the daily log, once the user agreed."""

import asyncio

from ullage.app.config.load import refuse_read_only
from ullage.app.gauge.status_text import about, name_text
from ullage.app.memory.flush import FlushPlan, make_flush, plan_flush
from ullage.app.memory.report import done_text, lines_text
from ullage.lsp.commands import progress
from ullage.lsp.convert import session_ref, uri_of
from ullage.lsp.follow import load_session, show_changed
from ullage.lsp.protocol import ConfirmParams, Outcome, SessionArgument
from ullage.lsp.state import UllageServer

BUTTON = "Write"
CANCELLED = "Memory flush cancelled"


async def run_flush(ls: UllageServer, argument: SessionArgument) -> Outcome:
    loaded = await load_session(ls, argument.session)
    refuse_read_only(loaded.policy)

    async def plan_with(report: progress.Report) -> FlushPlan:
        model = await progress.model_for(ls, report)
        key = loaded.session.state_key
        return await plan_flush(loaded, ls.config, ls.places, model, key=key, epoch=None)

    plan = await progress.with_progress(ls, "Looking for what is worth remembering", plan_with)
    if plan is None:
        return progress.report_cancelled(about(loaded, CANCELLED))
    if not plan.text:
        return progress.report_unneeded(loaded, "nothing is new since the last flush")
    asked = ConfirmParams(
        question=f"Write {lines_text(plan)} of memory to {plan.log_name}?",
        detail=f"They are from {name_text(loaded)}. Nothing there is changed.",
        button=BUTTON,
    )
    if not await progress.confirm(ls, asked, "memory flush", loaded.path):
        return progress.report_cancelled(about(loaded, CANCELLED))
    done = await asyncio.to_thread(make_flush, plan, ls.places)
    await show_changed(ls, loaded.path)
    return Outcome(
        outcome="done" if done.log_path is not None else "nothing",
        message=about(loaded, done_text(plan, done).removeprefix("✓ ")),
        session=session_ref(loaded.session),
        uri=uri_of(plan.log_path),
    )
