"""`ullage.auto` and `ullage.snooze`: what happens by itself to a session, and what is said."""

import asyncio

from ullage.app.change.auto import switch
from ullage.app.change.nudge import snooze_session
from ullage.lsp.client_refresh import refresh_lists
from ullage.lsp.commands.progress import report_done
from ullage.lsp.follow import load_session
from ullage.lsp.protocol import AutoArgument, Outcome, SessionArgument
from ullage.lsp.state import UllageServer


async def run_auto(ls: UllageServer, argument: AutoArgument) -> Outcome:
    """Turn automatic compaction of a session on or off."""
    loaded = await load_session(ls, argument.session)
    await asyncio.to_thread(switch, loaded.session, is_on=argument.isOn, places=ls.places)
    refresh_lists(ls, "sessions")
    ls.show_gauge()
    state = "on" if argument.isOn else "off"
    return report_done(f"Automatic compaction is {state}", loaded)


async def run_snooze(ls: UllageServer, argument: SessionArgument) -> Outcome:
    """Say nothing more of a session until its next compaction, or until a higher band."""
    loaded = await load_session(ls, argument.session)
    await asyncio.to_thread(snooze_session, loaded, ls.places)
    return report_done(
        "Snoozed until the next compaction, or until the context is in a higher band", loaded
    )
