"""What was made by itself is told by a message: looked at, resumed, taken back, made again."""

import asyncio

from lsprotocol.types import MessageType, ShowDocumentParams
from pygls.exceptions import JsonRpcException

from ullage.app.change.compact import Plan
from ullage.app.change.make import ChangeResult, made_change
from ullage.app.change.prune import PruningPlan
from ullage.app.change.undo import plan_undo_of, undo, undone_line
from ullage.app.gauge.status_text import about
from ullage.core.documents.virtual_uri import write_session_uri
from ullage.lsp import protocol
from ullage.lsp.auto import text
from ullage.lsp.client_refresh import refresh_lists
from ullage.lsp.commands.change import run_redo, undo_confirmation
from ullage.lsp.convert import last_summary_uri, resume_of, uri_of
from ullage.lsp.messages import choose, is_confirmed, say
from ullage.lsp.state import UllageServer


async def tell_made(ls: UllageServer, plan: Plan | PruningPlan, made: ChangeResult) -> None:
    """Tell of a change by one message, from which it can be taken back."""
    refresh_lists(ls, "sessions", "checkpoints", "memory")
    message = text.done_text(plan, made)
    buttons = (text.UNDO, *((text.VIEW,) if ls.shows_documents else ()))
    resume = resume_of(made.session, made.resume_command) if made.is_elsewhere else None
    answer = await _tell_resumable(ls, message, buttons, resume)
    if answer == text.UNDO:
        await _take_back(ls, made)
    elif answer == text.VIEW:
        await ls.window_show_document_async(
            ShowDocumentParams(uri=_view_of(ls, plan, made), take_focus=True)
        )


async def _tell_resumable(
    ls: UllageServer, message: str, buttons: tuple[str, ...], resume: protocol.ResumeParams | None
) -> str | None:
    """Tell what was done, and give the button that is chosen.

    Where the session goes on in another file, a button resumes it, or the message has the command.
    """
    told = message if resume is None else f"{message} Go on with: {resume.command}"
    if resume is not None and ls.editor.shows_outcomes:
        told, buttons = message, (*buttons, text.RESUME)
    try:
        answer = await choose(ls, told, *buttons)
    except JsonRpcException:
        say(ls, told, MessageType.Info)
        return None
    if answer == text.RESUME and resume is not None:
        ls.protocol.notify(protocol.RESUME_NOTIFICATION, resume)
    return answer


def _view_of(ls: UllageServer, plan: Plan | PruningPlan, made: ChangeResult) -> str:
    """Name what a change is looked at in: its summary, or the messages as they are now."""
    if not ls.shows_virtual_documents:
        return uri_of(made.session.path)
    if isinstance(plan, Plan):
        return last_summary_uri(made)
    return write_session_uri(str(made.session.path), "Context.md")


async def _take_back(ls: UllageServer, made: ChangeResult) -> None:
    """Take a change back, asking first where messages that came since stay behind."""
    plan = await asyncio.to_thread(plan_undo_of, made_change(made), ls.config, ls.places)
    if plan.n_left_behind and not await is_confirmed(ls, undo_confirmation(plan)):
        return
    ls.refuse_write()
    undone = await asyncio.to_thread(undo, plan, ls.config, ls.places)
    refresh_lists(ls, "sessions", "checkpoints")
    session = undone.after.session
    resume = resume_of(session, undone.resume_command) if undone.is_elsewhere else None
    told = f"{about(undone.after, undone_line(undone))}."
    if await _tell_resumable(ls, told, (text.REDO,), resume) != text.REDO:
        return
    ls.refuse_write()
    redone = await run_redo(ls, protocol.SessionArgument(session=str(undone.after.path)))
    if await _tell_resumable(ls, f"{redone.message}.", (text.UNDO,), redone.resume) == text.UNDO:
        await _take_back(ls, made)
