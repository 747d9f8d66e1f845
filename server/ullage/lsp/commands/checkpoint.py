"""`ullage.checkpoint`: write a checkpoint of a session."""

import asyncio

from ullage.app.checkpoint.write import write_checkpoint
from ullage.lsp.convert import session_ref, uri_of
from ullage.lsp.follow import load_session, show_changed
from ullage.lsp.protocol import Outcome, SessionArgument
from ullage.lsp.state import UllageServer


async def run_checkpoint(ls: UllageServer, argument: SessionArgument) -> Outcome:
    loaded = await load_session(ls, argument.session)
    written = await asyncio.to_thread(
        write_checkpoint, loaded, ls.config.checkpoint, ls.places, trigger="manual", channel="lsp"
    )
    await show_changed(ls, loaded.path)
    checkpoint_id = written.checkpoint.meta.checkpoint_id
    message = (
        f"Checkpoint {checkpoint_id} written"
        if written.is_new
        else f"Unchanged since checkpoint {checkpoint_id}"
    )
    return Outcome(
        outcome="done" if written.is_new else "nothing",
        message=f"{message}. Note: {written.problem}" if written.problem else message,
        session=session_ref(loaded),
        uri=uri_of(written.path),
    )
