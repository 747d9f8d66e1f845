"""`ullage.undo`: take the last compaction, prune or restore back, once the user agreed."""

import asyncio

from ullage.app.change.undo import plan_undo, undo, undo_question, undone_line
from ullage.app.sessions.load import open_session
from ullage.lsp.commands.progress import cancelled, confirm
from ullage.lsp.convert import session_ref
from ullage.lsp.follow import session_path, show_changed
from ullage.lsp.protocol import Outcome, SessionArgument
from ullage.lsp.state import UllageServer

BUTTON = "Undo"


async def run_undo(ls: UllageServer, argument: SessionArgument) -> Outcome:
    path = session_path(ls, argument.session)
    plan = await asyncio.to_thread(lambda: plan_undo(open_session(path), ls.config, ls.places))
    if not await confirm(ls, undo_question(plan), BUTTON, "undo", path):
        return cancelled("Nothing was undone.")
    undone = await asyncio.to_thread(undo, plan, ls.config, ls.places)
    await show_changed(ls, path, undone.after.path)
    return Outcome(
        outcome="done",
        message=undone_line(plan, undone),
        session=session_ref(undone.after),
        resume=undone.resume_command if undone.is_elsewhere else None,
    )
