"""`ullage sessions`: the sessions of a folder and how full each is."""

import click

from ullage.cli.options import current_config, json_option, window_option
from ullage.cli.output import answer
from ullage.store.files.places import current_places


@click.command()
@click.option(
    "--limit", type=click.IntRange(min=1), default=20, show_default=True, help="Sessions to list."
)
@window_option
@json_option
def sessions(limit: int, window: int | None, as_json: bool) -> None:
    """List the sessions of this folder, the one written to last first."""
    from ullage.app.gauge.session_list import report_sessions, sessions_text

    places = current_places()
    report = report_sessions(current_config(window, places), places, limit)
    answer(sessions_text(report), report, as_json)
