"""`ullage undo`: take back the last compaction."""

import click

from ullage.app.load import load
from ullage.app.sessions import find_session
from ullage.cli.options import session_option, settings, window_option
from ullage.core.gauge import gauge_text
from ullage.store.places import current_places


@click.command()
@session_option
@window_option
def undo(session: str | None, window: int | None) -> None:
    """Take back the last compaction: the context is the one before it again."""
    from ullage.app.undo import undo as take_back

    places = current_places()
    found = find_session(session, places)
    before = load(found, settings(window), places).status.gauge
    after = take_back(found, settings(window), places).status.gauge
    click.echo(
        "✓ Undone: the context is the one before the last compaction again,"
        f" {gauge_text(before)} → {gauge_text(after)} of the window"
    )
