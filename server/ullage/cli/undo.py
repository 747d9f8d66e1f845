"""`ullage undo`: take back the last compaction or prune."""

import click

from ullage.app.sessions import find_session
from ullage.cli.options import current_config, json_option, session_option, window_option
from ullage.cli.output import answer
from ullage.store.places import current_places


@click.command()
@session_option
@click.option("--dry-run", is_flag=True, help="Show what would happen and write nothing.")
@window_option
@json_option
def undo(session: str | None, dry_run: bool, window: int | None, as_json: bool) -> None:
    """Take back the last compaction or prune: the context is the one before it again.

    Nothing is deleted. What the agent itself compacted can be taken back too.
    """
    from ullage.app.undo import plan_undo
    from ullage.app.undo import undo as take_back
    from ullage.app.undo_report import (
        report_undo_plan,
        report_undone,
        undo_plan_text,
        undone_text,
    )

    places = current_places()
    config = current_config(window, places)
    plan = plan_undo(find_session(session, places), config, places)
    if dry_run:
        planned = report_undo_plan(plan)
        answer(undo_plan_text(planned), planned, as_json)
        return
    undone = take_back(plan, config, places)
    answer(undone_text(undone), report_undone(undone), as_json)
