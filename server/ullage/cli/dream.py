"""`ullage memory dream | backfill`: proposing in the inbox what lasts."""

import sys
from datetime import datetime

import click

from ullage.cli import options
from ullage.cli.output import answer, n_columns, over_working, print_json, safe, working
from ullage.store.files.places import current_places


@click.command()
@click.option("--due", is_flag=True, help="Only where a trigger says so; for cron and timers.")
@options.json_option
def dream(due: bool, as_json: bool) -> None:
    """Propose what lasts of the last days' logs, in DREAMS.md.

    Nothing else is changed. At most ten lines, each with its source, score and reason; none is
    normal. A model groups and rewords them only where you named one. With --due it says nothing
    where nothing is due.
    """
    from ullage.app.dream.dream import dream as dream_now
    from ullage.app.dream.due import find_due, find_last_activity
    from ullage.app.dream.report import NOTHING_DUE, dream_text, report_dream
    from ullage.store.files.local_time import local_now

    places = current_places()
    config = options.current_config(None, places)
    cause = None
    if due:
        active = find_last_activity(places.cwd, places)
        cause = find_due(places.cwd, config, places, now=local_now(), last_active=active)
        if cause is None:
            if as_json:
                print_json(NOTHING_DUE)
            return
    model = options.configured_model(config, places)
    result = options.run_to_end(
        dream_now(places.cwd, config, places, model, cause=cause or "request", now=local_now())
    )
    answer(dream_text(result, n_columns()), report_dream(result), as_json)


@click.command()
@click.option(
    "--since",
    type=click.DateTime(["%Y-%m-%d"]),
    metavar="YYYY-MM-DD",
    help="Leave out sessions that ended before that day.",
)
@click.option("--dry-run", is_flag=True, help="Show what would be read and write nothing.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@options.json_option
def backfill(since: datetime | None, dry_run: bool, yes: bool, as_json: bool) -> None:
    """Look through old sessions for what was never written down.

    Those of this folder, of all agents. What it finds waits in DREAMS.md. Newest first; stopped, it
    goes on where it ended. By rule, on this machine: no model is asked.
    """
    from ullage.app.dream.backfill import backfill as backfill_now
    from ullage.app.dream.backfill import plan_backfill
    from ullage.app.dream.report import backfill_text, report_backfill

    options.refuse_unasked(as_json=as_json, is_answered=yes or dry_run)
    places = current_places()
    config = options.current_config(None, places)
    with working():
        plan = plan_backfill(places.cwd, config, places, since=since and since.date())
    if not plan.sessions or dry_run:
        nothing = f"Nothing to do: {plan.text}"
        answer(nothing if not plan.sessions else plan.text, report_backfill(plan, None), as_json)
        return
    if not as_json:
        click.echo(safe(plan.text))
    if not yes and not click.confirm("Read them?", err=True):
        click.echo("Nothing was read.", err=True)
        return
    report = _show_progress if sys.stderr.isatty() else None
    result = options.run_to_end(backfill_now(plan, places.cwd, places, report=report))
    answer(backfill_text(result, n_columns()), report_backfill(plan, result), as_json)


def _show_progress(n_done: int, n_total: int, name: str) -> None:
    click.echo(over_working(safe(f"{n_done + 1} of {n_total}: {name}")), err=True)
