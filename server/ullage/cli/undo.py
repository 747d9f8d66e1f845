"""`ullage undo` and `redo`: take back the last compaction or prune; make it again."""

from functools import partial
from typing import Literal

import click

from ullage.app.config.load import refuse_read_only
from ullage.cli.options import change_options, current_config, open_session, session_option
from ullage.cli.output import answer, safe, working


@click.command()
@session_option
@change_options
def undo(session: str | None, dry_run: bool, yes: bool, window: int | None, as_json: bool) -> None:
    """Take back the last compaction or prune.

    The context is the one before it again. What the agent itself compacted can be taken back too. A
    new session file of ours is moved to the state folder, or stays where you went on in it. You are
    asked where no session was named, and where messages would be left behind.
    """
    _carry_out("undo", session, window, is_dry_run=dry_run, is_confirmed=yes, as_json=as_json)


@click.command()
@session_option
@change_options
def redo(session: str | None, dry_run: bool, yes: bool, window: int | None, as_json: bool) -> None:
    """Make again what the last undo took back.

    Only as long as nothing came since: no message, no other change. You are asked where no session
    was named.
    """
    _carry_out("redo", session, window, is_dry_run=dry_run, is_confirmed=yes, as_json=as_json)


def _carry_out(
    verb: Literal["undo", "redo"],
    session: str | None,
    window: int | None,
    *,
    is_dry_run: bool,
    is_confirmed: bool,
    as_json: bool,
) -> None:
    from ullage.app.change import redo, undo
    from ullage.cli.previews import dry_run_text, tell_of_wait

    opened, places = open_session(session)
    config = current_config(window, places)
    with working():
        if verb == "undo":
            way = undo.plan_undo(opened, config, places)
            question, make = undo.undo_question(way), partial(undo.undo, way)
        else:
            plan = redo.plan_redo(opened, config, places)
            way, question, make = plan.way, redo.redo_question(plan), partial(redo.redo, plan)
    planned = undo.report_undo_plan(way)
    text = undo.undo_plan_text(planned, verb)
    if is_dry_run:
        answer(dry_run_text(way.loaded, text), planned, as_json)
        return
    if not is_confirmed and (session is None or planned.messages_left_behind):
        click.echo(safe(text), err=True)
        if not click.confirm(safe(question), err=True):
            click.echo("Nothing was changed.", err=True)
            return
    refuse_read_only(config.policy)
    tell_of_wait(opened.path)
    with working():
        done = make(config, places)
    answer(undo.undone_text(done), undo.report_undone(done), as_json)
