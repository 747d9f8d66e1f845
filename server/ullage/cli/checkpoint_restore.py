"""`ullage checkpoint restore`: give a session its working state back."""

from typing import Literal

import click

from ullage.app.load import load
from ullage.app.sessions import find_session
from ullage.cli.options import (
    checkpoint_argument,
    current_config,
    json_option,
    refuse_unasked,
    session_option,
    window_option,
)
from ullage.cli.output import answer, safe
from ullage.store.places import current_places


@click.command()
@checkpoint_argument("checkpoint_id", metavar="[ID]")
@session_option
@click.option(
    "--into",
    type=click.Choice(["text", "session", "new"]),
    default="text",
    show_default=True,
    help="Print the text for an agent, put it at the end of the session, or begin a new one.",
)
@click.option("--dry-run", is_flag=True, help="Show what would happen and write nothing.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@window_option
@json_option
def restore(
    checkpoint_id: str | None,
    session: str | None,
    into: Literal["text", "session", "new"],
    dry_run: bool,
    yes: bool,
    window: int | None,
    as_json: bool,
) -> None:
    """Give an agent its working state back from a checkpoint, the latest if none is named.

    As text it is printed, to be piped or pasted. Sessions of Claude Code and Codex go on in a
    new session file; `ullage undo` takes that and what was put into a session back.
    """
    from ullage.app.checkpoint_report import report_text
    from ullage.app.checkpoints import find_checkpoint
    from ullage.app.restore import restore_text
    from ullage.cli.previews import run_with_replans

    places = current_places()
    config = current_config(window, places)
    found = find_session(session, places)
    one = find_checkpoint(found, checkpoint_id, places)
    if one.problem is not None:
        click.echo(safe(f"Note: {one.problem}"), err=True)
    if into == "text":
        text = restore_text(one.checkpoint, config.checkpoint)
        answer(text, report_text(one.checkpoint, text), as_json)
        return
    refuse_unasked(as_json=as_json, is_answered=yes or dry_run)

    def run() -> None:
        from ullage.app.checkpoint_report import (
            report_restore_plan,
            report_restored,
            restore_plan_text,
            restored_text,
        )
        from ullage.app.restore import plan_restore
        from ullage.app.restore import restore as make
        from ullage.cli.previews import tell_of_wait

        loaded = load(find_session(session, places), config, places)
        plan = plan_restore(loaded, one.checkpoint, into, config)
        if dry_run or not as_json:
            answer(restore_plan_text(plan), report_restore_plan(plan), as_json)
        if dry_run:
            return
        if not yes and not click.confirm("Proceed with restoring?", err=True):
            click.echo("Nothing was restored.", err=True)
            return
        if into == "session":
            tell_of_wait(loaded.path)
        restored = make(plan, config, places)
        for note in restored.notes:
            click.echo(safe(f"Note: {note}"), err=True)
        answer(restored_text(plan, restored), report_restored(plan, restored), as_json)

    run_with_replans(run)
