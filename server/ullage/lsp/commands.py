"""Commands that any editor may call."""

import asyncio
from pathlib import Path

from lsprotocol import types

from ullage.app.compact import Plan, Request, compact, plan_compaction, with_flush
from ullage.app.flush_report import lines_text
from ullage.app.load import Loaded, load
from ullage.app.models import model_use
from ullage.app.sessions import open_session
from ullage.core.compaction import Unneeded
from ullage.errors import SessionNotFound
from ullage.lsp.boundary import guarded
from ullage.lsp.follow import refresh
from ullage.lsp.protocol import Outcome, SessionArgument
from ullage.lsp.state import UllageServer

CONFIRM = "Compact"


@guarded
async def run_compact(ls: UllageServer, argument: SessionArgument) -> Outcome:
    """Plan a compaction, ask the user, make it."""
    loaded = await asyncio.to_thread(_load, ls, _session_path(ls, argument))
    model = await asyncio.to_thread(model_use, ls.config.model, loaded, ls.places)
    plan = await plan_compaction(loaded, Request(), ls.config, ls.places, model)
    if isinstance(plan, Unneeded):
        return Outcome(outcome="nothing", message=f"Nothing to do: {plan.reason}")
    plan = await with_flush(plan, ls.config, ls.places, model)
    choice = await ls.window_show_message_request_async(
        types.ShowMessageRequestParams(
            type=types.MessageType.Info,
            message=_question(plan),
            actions=[types.MessageActionItem(title=CONFIRM)],
        )
    )
    if choice is None or choice.title != CONFIRM:
        return Outcome(outcome="cancelled", message="Compaction cancelled.")
    made = await asyncio.to_thread(compact, plan, ls.config, ls.places)
    await refresh(ls, made.loaded.path)
    return Outcome(
        outcome="done",
        message=f"Compacted {len(plan.selection.replaced):,} messages:"
        f" {plan.n_tokens_before:,} → {plan.n_tokens_after:,} tokens."
        f" Checkpoint {made.checkpoint_id} written.",
    )


def _session_path(ls: UllageServer, argument: SessionArgument) -> Path:
    path = Path(argument.session) if argument.session else ls.gauge_path()
    if path is None:
        raise SessionNotFound("no session of an agent in this workspace: open a transcript first")
    return path


def _load(ls: UllageServer, path: Path) -> Loaded:
    return load(open_session(path), ls.config, ls.places, ls.worker.count_tokens)


def _question(plan: Plan) -> str:
    flush = plan.flush
    memory = ""
    if flush is not None and flush.text:
        memory = f" Before that, {lines_text(flush)} of memory go to {flush.log_name}."
    return (
        f"Compact this session? {plan.n_tokens_before:,} →"
        f" {plan.n_tokens_after:,} tokens: {len(plan.selection.replaced):,} messages become"
        f" a summary, the last {len(plan.selection.kept):,} stay. It can be undone."
        f"{memory}"
    )
