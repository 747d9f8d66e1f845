"""`ullage compact`: replace the older part of a context by a summary."""

import click

from ullage.app.load import load
from ullage.app.sessions import find_session
from ullage.cli.options import json_option, session_option, settings, window_option
from ullage.cli.output import answer
from ullage.core.policy import Layer
from ullage.store.places import current_places


@click.command()
@session_option
@click.option("--focus", metavar="TEXT", help="What the summary should keep above all.")
@click.option(
    "--layer",
    type=click.Choice(["summarize", "full"]),
    default="summarize",
    show_default=True,
    help="summarize keeps the recent 25,000 tokens as they are, full keeps 15,000.",
)
@click.option("--dry-run", is_flag=True, help="Show what would happen and write nothing.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@window_option
@json_option
def compact(
    session: str | None,
    focus: str | None,
    layer: Layer,
    dry_run: bool,
    yes: bool,
    window: int | None,
    as_json: bool,
) -> None:
    """Replace the older part of a session's context by a summary.

    Works on idle sessions of pi. Nothing is deleted: the transcript grows by one entry, and
    `ullage undo` takes it back.
    """
    from ullage.app import compact as use_case
    from ullage.app.compact_report import (
        done_text,
        preview_text,
        report_done,
        report_plan,
        report_unneeded,
    )
    from ullage.app.write import writable
    from ullage.core.compaction import Unneeded

    places = current_places()
    found = find_session(session, places)
    writable(found)
    loaded = load(found, settings(window), places)
    request = use_case.Request(layer=layer, focus=focus)
    plan = use_case.plan_compaction(loaded, request, settings(window))
    if isinstance(plan, Unneeded):
        answer(f"Nothing to do: {plan.reason}", report_unneeded(plan), as_json)
        return
    if dry_run or not as_json:
        answer(preview_text(plan), report_plan(plan), as_json)
    if dry_run:
        return
    if not yes and not click.confirm("Proceed with compaction?", err=True):
        click.echo("Compaction cancelled.", err=True)
        return
    done = use_case.compact(plan, settings(window), places)
    answer(done_text(done), report_done(done), as_json)
