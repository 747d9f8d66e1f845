"""`ullage.auto` and `ullage.snooze`: what happens by itself to one session, and what is said."""

import asyncio

from ullage.app.change.auto import switch
from ullage.app.change.nudge import snooze_session
from ullage.lsp.changed import notify_changed
from ullage.lsp.commands.outcome import changing, meant
from ullage.lsp.convert import session_ref
from ullage.lsp.protocol import AutoArgument, Outcome, SessionArgument
from ullage.lsp.state import UllageServer
from ullage.lsp.views.gauge import show_gauge


@changing
async def run_auto(ls: UllageServer, argument: AutoArgument) -> Outcome:
    """Turn automatic compaction of a session on or off."""
    loaded = await meant(ls, argument.session)
    await asyncio.to_thread(switch, loaded.session, is_on=argument.isOn, places=ls.places)
    notify_changed(ls, "sessions")
    show_gauge(ls)
    state = "on" if argument.isOn else "off"
    return Outcome(
        outcome="done",
        message=f"Automatic compaction of this session is {state}.",
        session=session_ref(loaded),
    )


@changing
async def run_snooze(ls: UllageServer, argument: SessionArgument) -> Outcome:
    """Say nothing more of a session until its next compaction, or until a higher band."""
    loaded = await meant(ls, argument.session)
    await asyncio.to_thread(snooze_session, loaded, ls.places)
    return Outcome(
        outcome="done",
        message="Snoozed until the next compaction, or until the context is in a higher band.",
        session=session_ref(loaded),
    )
