"""`ullage.pin`: what every summary of a session has to hold, word for word."""

import asyncio

from ullage.app.summary.pins import pin_entry, pin_text
from ullage.core.text.prose import gist
from ullage.errors import PinRefused
from ullage.lsp.commands.outcome import changed, changing, meant
from ullage.lsp.convert import session_ref
from ullage.lsp.documents.diagnostics import check_proposals
from ullage.lsp.protocol import Outcome, PinArgument
from ullage.lsp.state import UllageServer

_SHOWN_CHARS = 60


@changing
async def run_pin(ls: UllageServer, argument: PinArgument) -> Outcome:
    text, entry = argument.text, argument.entry
    if (text is None) == (entry is None):
        raise PinRefused("name either a message or a text to pin")
    loaded = await meant(ls, argument.session)
    session = loaded.session
    known = await asyncio.to_thread(
        lambda: (
            pin_text(session, text, ls.places)
            if text is not None
            else pin_entry(session, entry or "", ls.places)
        )
    )
    await changed(ls, loaded.path)
    check_proposals(ls)
    pinned = gist(known.pins[-1].text, _SHOWN_CHARS)
    return Outcome(
        outcome="done",
        message=f"Pinned: every summary of this session will hold “{pinned}”",
        session=session_ref(loaded),
    )
