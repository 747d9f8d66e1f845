"""`ullage sessions`, `ullage usage`: how full each session of a folder is, and what they used."""

from datetime import date

import click

from ullage.cli.options import LISTED_SESSIONS, current_config, json_option, window_option
from ullage.cli.output import TABLE_COLUMNS, answer, n_columns, safe, working
from ullage.core.gauge.usage import DEFAULT_DAYS
from ullage.store.files.places import Places, current_places

MAX_DAYS = 3650
"""Ten years: agents are younger."""


@click.command()
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=LISTED_SESSIONS,
    show_default=True,
    help="Sessions to list.",
)
@window_option
@json_option
def sessions(limit: int, window: int | None, as_json: bool) -> None:
    """List the sessions of this folder, live ones first."""
    from ullage.app.gauge.session_list import report_sessions, sessions_text

    places = current_places()
    config = current_config(window, places)
    with working():
        report = report_sessions(config, places, limit)
    if report.sessions or as_json:
        answer(sessions_text(report, n_columns(TABLE_COLUMNS)), report, as_json)
    else:
        _tell_of_none(places)


@click.command()
@click.option(
    "--days",
    "n_days",
    type=click.IntRange(1, MAX_DAYS),
    default=DEFAULT_DAYS,
    show_default=True,
    metavar="N",
    help="Days up to today.",
)
@json_option
def usage(n_days: int, as_json: bool) -> None:
    """Show what this folder's sessions used, day by day.

    Requests, tokens, the share that was read from the cache, compactions and costs of all agents
    and their subagents. A bar shows what was sent.
    """
    from ullage.app.gauge.usage import report_usage, usage_text
    from ullage.app.sessions.find import list_sessions

    places = current_places()
    config = current_config(None, places)
    places = places.for_reading(is_read_only=config.policy.is_read_only)
    with working():
        report = report_usage((places.cwd,), places, today=date.today(), n_days=n_days)
        has_none = not report.days and next(list_sessions(places.cwd, places), None) is None
    if has_none and not as_json:
        _tell_of_none(places)
    else:
        answer(usage_text(report, n_columns()), report, as_json)


def _tell_of_none(places: Places) -> None:
    from ullage.app.sessions.find import no_session_text

    reason = no_session_text(places.cwd, places)
    click.echo(safe(f"{reason[0].upper()}{reason[1:]}."))
