"""`ullage doctor`: what is wrong with a session, and a repaired copy of it."""

from pathlib import Path

import click

from ullage.cli.options import json_option, session_option
from ullage.cli.output import EXIT_WITH_FINDINGS, answer, working
from ullage.store.files.places import current_places


@click.command()
@session_option
@click.option(
    "--repair",
    "out",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write a repaired copy to a new file; the original stays as it is.",
)
@click.option("--dry-run", is_flag=True, help="Show what a repair would do and write nothing.")
@json_option
@click.pass_context
def doctor(
    context: click.Context, session: str | None, out: Path | None, dry_run: bool, as_json: bool
) -> None:
    """Find what is damaged in a session, and say what to do.

    A repaired copy keeps every record that can be read, closes calls without a result, and
    gives records whose predecessor is lost another one. Exits with 3 if something is damaged.
    """
    from ullage.app.transfer import doctor as use_case

    if dry_run and out is None:
        raise click.UsageError("--dry-run shows a repair: name its file with --repair")
    places = current_places()
    with working():
        checkup = use_case.check_up(session, places)
        copy = None if out is None else use_case.plan_copy(checkup, out, places)
        if copy is not None and not dry_run:
            use_case.write_copy(copy)
    report = use_case.report_checkup(checkup, copy, is_written=copy is not None and not dry_run)
    answer(use_case.checkup_text(report), report, as_json)
    if report.n_errors:
        context.exit(EXIT_WITH_FINDINGS)
