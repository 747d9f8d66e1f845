"""`ullage.pin` and `ullage.unpin`: what every summary of a session has to hold, word for word."""

import asyncio
from functools import partial

from ullage.app.sessions.load import Loaded
from ullage.app.summary.pins import pin_entry, pin_text, quote_pin, report_pins, unpin
from ullage.errors import PinRefused
from ullage.lsp import protocol
from ullage.lsp.commands.progress import report_done
from ullage.lsp.documents.diagnostics import check_proposals
from ullage.lsp.follow import load_session, show_changed
from ullage.lsp.state import UllageServer


async def run_pin(ls: UllageServer, argument: protocol.PinArgument) -> protocol.Outcome:
    text, entry = argument.text, argument.entry
    if (text is None) == (entry is None):
        raise PinRefused("name either a message or a text to pin")
    loaded = await load_session(ls, argument.session)
    if text is not None:
        pinned = await asyncio.to_thread(
            partial(pin_text, by="editor"), loaded.session, text, ls.places
        )
    else:
        pinned = await asyncio.to_thread(
            partial(pin_entry, by="editor"), loaded.session, entry or "", ls.places
        )
    made = pinned.pins[-1].text
    remove = protocol.NextCommand(
        title="Remove Pin",
        command=protocol.UNPIN_COMMAND,
        argument=protocol.UnpinArgument(session=str(loaded.path), text=made),
    )
    return await _report(ls, loaded, "Pinned: every summary will hold", made, remove)


async def run_unpin(ls: UllageServer, argument: protocol.UnpinArgument) -> protocol.Outcome:
    loaded = await load_session(ls, argument.session)
    session, text = loaded.session, argument.text
    pins = await asyncio.to_thread(report_pins, session, (), ls.places)
    await asyncio.to_thread(unpin, session, text, ls.places)
    # A message is pinned again as one: no prune takes it then.
    sent = {item.entry_id for item in loaded.context.items}
    entry = next((pin.entry_id for pin in pins.pins if pin.text == text), None)
    entry = entry if entry in sent else None
    again = protocol.NextCommand(
        title="Pin Again",
        command=protocol.PIN_COMMAND,
        argument=protocol.PinArgument(
            session=str(loaded.path), entry=entry, text=text if entry is None else None
        ),
    )
    return await _report(ls, loaded, "Pin removed: no summary has to hold", argument.text, again)


async def _report(
    ls: UllageServer, loaded: Loaded, done: str, text: str, next_command: protocol.NextCommand
) -> protocol.Outcome:
    await show_changed(ls, loaded.path)
    check_proposals(ls)
    return report_done(f"{done} {quote_pin(text)}", loaded, next_command)
