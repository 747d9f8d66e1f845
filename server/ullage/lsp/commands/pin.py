"""`ullage.pin`: what every summary of a session has to hold, word for word."""

import asyncio

from ullage.app.summary.pins import pin_entry, pin_text
from ullage.core.text.prose import gist
from ullage.errors import PinRefused
from ullage.lsp.commands.progress import report_done
from ullage.lsp.documents.diagnostics import check_proposals
from ullage.lsp.follow import load_session, show_changed
from ullage.lsp.protocol import Outcome, PinArgument
from ullage.lsp.state import UllageServer

_SHOWN_CHARS = 60


async def run_pin(ls: UllageServer, argument: PinArgument) -> Outcome:
    text, entry = argument.text, argument.entry
    if (text is None) == (entry is None):
        raise PinRefused("name either a message or a text to pin")
    loaded = await load_session(ls, argument.session)
    if text is not None:
        pinned = await asyncio.to_thread(pin_text, loaded.session, text, ls.places)
    else:
        pinned = await asyncio.to_thread(pin_entry, loaded.session, entry or "", ls.places)
    await show_changed(ls, loaded.path)
    check_proposals(ls)
    shown = gist(pinned.pins[-1].text, _SHOWN_CHARS)
    return report_done(f"Pinned: every summary will hold “{shown}”", loaded)
