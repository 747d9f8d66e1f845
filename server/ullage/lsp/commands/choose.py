"""`ullage.choose`: which session the gauge shows, and what is meant where none is named."""

from pathlib import Path

from ullage.app.gauge.status_text import name_text
from ullage.lsp.client_refresh import refresh_lists
from ullage.lsp.follow import load_session, refresh
from ullage.lsp.protocol import Outcome, SessionArgument
from ullage.lsp.state import UllageServer


async def run_choose(ls: UllageServer, argument: SessionArgument) -> Outcome:
    """Show a session until another is chosen; None goes back to the live one."""
    chosen, message = None, "The live session is shown"
    if argument.session:
        loaded = await load_session(ls, argument.session)
        message = f"{name_text(loaded)} is shown until another is chosen"
        chosen = Path(argument.session)
    ls.sessions.chosen = chosen
    path = ls.gauge_path()
    if path is not None:
        await refresh(ls, path)
    ls.look_again()
    ls.show_gauge()
    refresh_lists(ls, "sessions", "checkpoints", "memory")
    return Outcome(outcome="nothing", message=message)
