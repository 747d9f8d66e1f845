"""`ullage.checkpoint` and `ullage.restore`: write a checkpoint, and give one back."""

import asyncio

from ullage.app.change.make import copy_sentence, made_change
from ullage.app.change.restore import Begun, NewPlan, RestorePlan, Target, plan_restore, restore
from ullage.app.checkpoint.find import SavedCheckpoint, find_checkpoint
from ullage.app.checkpoint.resume import restore_text
from ullage.app.checkpoint.write import EDITOR, write_checkpoint
from ullage.app.gauge.status_text import about, name_text
from ullage.app.sessions.load import Loaded
from ullage.core.documents.virtual_uri import VirtualUri, write_virtual_uri
from ullage.core.gauge.gauge import tokens_text
from ullage.core.transcript.agent_lines import short_tokens
from ullage.lsp.commands.progress import confirm, detail, report_cancelled
from ullage.lsp.convert import resume_of, session_ref, uri_of
from ullage.lsp.follow import load_session, show_changed
from ullage.lsp.messages import show_virtual_document
from ullage.lsp.protocol import ConfirmParams, Outcome, RestoreArgument, SessionArgument
from ullage.lsp.state import UllageServer

RESTORE_BUTTON = "Restore"


async def run_checkpoint(ls: UllageServer, argument: SessionArgument) -> Outcome:
    loaded = await load_session(ls, argument.session)
    written = await asyncio.to_thread(
        write_checkpoint, loaded, ls.config.checkpoint, ls.places, trigger="manual", origin=EDITOR
    )
    await show_changed(ls, loaded.path)
    checkpoint_id = written.checkpoint.meta.checkpoint_id
    message = f"Checkpoint {checkpoint_id} written"
    if not written.is_new:
        message = f"Unchanged since checkpoint {checkpoint_id}"
    return Outcome(
        outcome="done" if written.is_new else "nothing",
        message=about(loaded, message) + (f". Note: {written.problem}" if written.problem else ""),
        session=session_ref(loaded.session),
        uri=uri_of(written.path),
    )


async def run_restore(ls: UllageServer, argument: RestoreArgument) -> Outcome:
    loaded = await load_session(ls, argument.session)
    saved = await asyncio.to_thread(find_checkpoint, loaded.session, argument.checkpoint, ls.places)
    if argument.into != "text":
        ls.refuse_write()
        return await _restore(ls, loaded, saved, argument.into)
    text = await asyncio.to_thread(
        restore_text, saved.checkpoint, ls.config.checkpoint, loaded.known_secrets
    )
    document = VirtualUri(
        name="Resume.md", session=str(loaded.path), checkpoint=saved.checkpoint_id
    )
    uri = write_virtual_uri(document)
    await show_virtual_document(ls, uri)
    return Outcome(
        outcome="done",
        message=f"The text of {saved.checkpoint_id} of {name_text(loaded)}:"
        " paste it as the first message of a session",
        session=session_ref(loaded.session),
        text=text,
        uri=uri,
    )


async def _restore(
    ls: UllageServer, loaded: Loaded, saved: SavedCheckpoint, into: Target
) -> Outcome:
    plan = await asyncio.to_thread(plan_restore, loaded, saved.checkpoint, into, ls.config)
    command = f"checkpoint restore {saved.checkpoint_id} --into {into}"
    if not await confirm(ls, _question(plan), command, loaded.path):
        return report_cancelled(about(loaded, "Nothing was restored"))
    restored = await asyncio.to_thread(restore, plan, ls.config, ls.places)
    await show_changed(ls, loaded.path, restored.session.path)
    made = None if isinstance(restored, Begun) else restored
    if made is not None:
        ls.sessions.made[restored.session.path] = made_change(made)
    return Outcome(
        outcome="done",
        message=about(loaded, f"Checkpoint {saved.checkpoint_id} restored{_where(plan)}"),
        session=session_ref(restored.session),
        # A session that was begun with it is simply deleted.
        change=None if made is None else made.receipt_id,
        resume=resume_of(restored.session, restored.resume_command),
    )


def _where(plan: RestorePlan) -> str:
    where = "" if plan.path_after == plan.loaded.path else " into a new session"
    if isinstance(plan.change, NewPlan):
        return f"{where} · {short_tokens(plan.n_text_tokens)} tokens"
    return (
        f"{where} · {tokens_text(plan.change.n_tokens_before, plan.change.n_tokens_after)} tokens"
    )


def _question(plan: RestorePlan) -> ConfirmParams:
    checkpoint_id, name = plan.checkpoint.meta.checkpoint_id, name_text(plan.loaded)
    if isinstance(plan.change, NewPlan):
        what = detail(
            f"It begins a new session of {plan.n_text_tokens:,} tokens: {plan.path_after.name}.",
            "This one stays as it is.",
        )
    else:
        before, after = plan.change.n_tokens_before, plan.change.n_tokens_after
        what = detail(
            f"Its text goes to the end of the session: {before:,} → {after:,} tokens."
            " It can be undone.",
            copy_sentence(plan.change),
        )
    question = f"Restore checkpoint {checkpoint_id} of {name}?"
    return ConfirmParams(question=question, detail=what, button=RESTORE_BUTTON)
