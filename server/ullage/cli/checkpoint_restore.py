"""`ullage checkpoint restore`: give a session its working state back."""

from typing import TYPE_CHECKING, Literal

import click

from ullage.app.sessions.find import find_session
from ullage.app.sessions.load import load
from ullage.cli.options import (
    checkpoint_argument,
    current_config,
    json_option,
    refuse_unasked,
    session_option,
    window_option,
)
from ullage.cli.output import answer, safe
from ullage.store.files.places import Places, current_places

if TYPE_CHECKING:
    from ullage.app.change.restore import RestorePlan
    from ullage.core.config.settings import Config


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
    from ullage.app.change.checkpoint_report import report_text
    from ullage.app.checkpoint.find import find_checkpoint
    from ullage.app.checkpoint.resume import restore_text
    from ullage.app.sessions.secrets import secrets_for
    from ullage.cli.previews import run_with_replans

    places = current_places()
    config = current_config(window, places)
    known = find_session(session, places)
    found = find_checkpoint(known, checkpoint_id, places)
    tell_problem(found.problem)
    if into == "text":
        secrets = secrets_for(known.header, places)
        text = restore_text(found.checkpoint, config.checkpoint, secrets)
        answer(text, report_text(found, text), as_json)
        return
    refuse_unasked(as_json=as_json, is_answered=yes or dry_run)

    def run() -> None:
        from ullage.app.change.checkpoint_report import report_restore_plan, restore_plan_text
        from ullage.app.change.restore import plan_restore

        loaded = load(find_session(session, places), config, places)
        plan = plan_restore(loaded, found.checkpoint, into, config)
        if dry_run or not as_json:
            answer(restore_plan_text(plan), report_restore_plan(plan, found.problem), as_json)
        if dry_run:
            return
        if not yes and not click.confirm("Proceed with restoring?", err=True):
            click.echo("Nothing was restored.", err=True)
            return
        _restore(plan, config, places, found.problem, as_json=as_json)

    run_with_replans(run)


def _restore(
    plan: "RestorePlan", config: "Config", places: Places, problem: str | None, *, as_json: bool
) -> None:
    from ullage.app.change.checkpoint_report import report_restored, restored_text
    from ullage.app.change.restore import NewPlan
    from ullage.app.change.restore import restore as make
    from ullage.cli.previews import tell_of_wait

    if not isinstance(plan.change, NewPlan):
        tell_of_wait(plan.loaded.path)
    restored = make(plan, config, places)
    for note in restored.notes:
        tell_problem(note)
    answer(restored_text(plan, restored), report_restored(plan, restored, problem), as_json)


def tell_problem(problem: str | None) -> None:
    if problem is not None:
        click.echo(safe(f"Note: {problem}"), err=True)
