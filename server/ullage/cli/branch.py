"""`ullage context branch`: a new session that goes on from an entry of another one."""

import click

from ullage.cli.options import json_option, session_option
from ullage.cli.output import answer
from ullage.store.files.places import current_places


@click.command()
@session_option
@click.option(
    "--at", metavar="ENTRY", help="Id of the last entry to take along; the newest one if absent."
)
@click.option("--dry-run", is_flag=True, help="Show what would be made and write nothing.")
@json_option
def branch(session: str | None, at: str | None, dry_run: bool, as_json: bool) -> None:
    """Make a new session that goes on from an entry of this one.

    The session itself stays as it is. A call comes along with its results.
    """
    from ullage.app.sessions.find import find_session
    from ullage.app.transfer import branch as use_case

    places = current_places()
    planned = use_case.plan_branch(find_session(session, places), at, places)
    if not dry_run:
        use_case.write_branch(planned)
    report = use_case.report_branch(planned, is_written=not dry_run)
    answer(use_case.branch_text(report), report, as_json)
