"""`ullage undo` and `redo`: take back the last compaction or prune; make it again."""

import click

from ullage.app.config.load import refuse_read_only
from ullage.cli.options import change_options, current_config, session_option
from ullage.cli.output import answer, safe, working
from ullage.store.files.places import current_places


@click.command()
@session_option
@change_options
def undo(session: str | None, dry_run: bool, yes: bool, window: int | None, as_json: bool) -> None:
    """Take back the last compaction or prune.

    The context is the one before it again. What the agent itself compacted can be taken back too. A
    new session file of ours is moved to the state folder, or stays where you went on in it. You are
    asked where no session was named, and where messages would be left behind.
    """
    from ullage.app.change import undo as use_case
    from ullage.app.sessions.named import find_session
    from ullage.cli.previews import tell_of_wait

    places = current_places()
    config = current_config(window, places)
    opened = find_session(session, places.for_reading(is_read_only=config.policy.is_read_only))
    with working():
        plan = use_case.plan_undo(opened, config, places)
    planned = use_case.report_undo_plan(plan)
    if dry_run:
        answer(use_case.undo_plan_text(planned, "undo"), planned, as_json)
        return
    if not yes and (session is None or plan.n_left_behind):
        click.echo(safe(use_case.undo_plan_text(planned, "undo")), err=True)
        if not click.confirm(use_case.undo_question(plan), err=True):
            click.echo("Nothing was undone.", err=True)
            return
    refuse_read_only(config.policy)
    tell_of_wait(opened.path)
    with working():
        undone = use_case.undo(plan, config, places)
    answer(use_case.undone_text(undone), use_case.report_undone(undone), as_json)


@click.command()
@session_option
@change_options
def redo(session: str | None, dry_run: bool, yes: bool, window: int | None, as_json: bool) -> None:
    """Make again what the last undo took back.

    Only as long as nothing came since: no message, no other change. You are asked where no session
    was named.
    """
    from ullage.app.change import redo as use_case
    from ullage.app.change.undo import (
        report_undo_plan,
        report_undone,
        undo_plan_text,
        undone_text,
    )
    from ullage.app.sessions.named import find_session
    from ullage.cli.previews import tell_of_wait

    places = current_places()
    config = current_config(window, places)
    opened = find_session(session, places.for_reading(is_read_only=config.policy.is_read_only))
    with working():
        plan = use_case.plan_redo(opened, config, places)
    planned = report_undo_plan(plan.way)
    if dry_run:
        answer(undo_plan_text(planned, "redo"), planned, as_json)
        return
    if not yes and session is None:
        click.echo(safe(undo_plan_text(planned, "redo")), err=True)
        if not click.confirm(use_case.redo_question(plan), err=True):
            click.echo("Nothing was made again.", err=True)
            return
    refuse_read_only(config.policy)
    tell_of_wait(opened.path)
    with working():
        redone = use_case.redo(plan, config, places)
    answer(undone_text(redone), report_undone(redone), as_json)
