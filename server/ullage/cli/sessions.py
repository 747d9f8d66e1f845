"""`ullage sessions`: the sessions of a folder and how full each is."""

import click

from ullage.cli.options import current_config, json_option, window_option
from ullage.cli.output import TABLE_COLUMNS, answer, n_columns, safe, working
from ullage.store.files.places import current_places


@click.command()
@click.option(
    "--limit", type=click.IntRange(min=1), default=20, show_default=True, help="Sessions to list."
)
@window_option
@json_option
def sessions(limit: int, window: int | None, as_json: bool) -> None:
    """List the sessions of this folder, live ones first."""
    from ullage.app.gauge.session_list import report_sessions, sessions_text
    from ullage.app.sessions.find import no_session_text

    places = current_places()
    config = current_config(window, places)
    with working():
        report = report_sessions(config, places, limit)
    if report.sessions or as_json:
        answer(sessions_text(report, n_columns(TABLE_COLUMNS)), report, as_json)
    else:
        reason = no_session_text(places.cwd, places)
        click.echo(safe(f"{reason[0].upper()}{reason[1:]}."))
