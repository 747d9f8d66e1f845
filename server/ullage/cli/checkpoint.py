"""`ullage checkpoint`: the working state of a session, on disk."""

from typing import TYPE_CHECKING, Literal

import click

from ullage.app.config.load import refuse_read_only
from ullage.cli import options
from ullage.cli.completion import Group
from ullage.cli.output import answer, echo, n_columns, print_json, safe, working
from ullage.store.files.places import Places

_COLORS = {"+": "green", "-": "red", "": None}
if TYPE_CHECKING:
    from ullage.app.change.restore import RestorePlan
    from ullage.app.checkpoint.find import SavedCheckpoint
    from ullage.app.sessions.session import Session
    from ullage.core.config.settings import Config


@click.group(cls=Group)
def checkpoint() -> None:
    """Keep the working state of a session."""


@checkpoint.command()
@options.session_option
@options.window_option
@options.json_option
def write(session: str | None, window: int | None, as_json: bool) -> None:
    """Write a checkpoint: topic, decisions, open items, files. No model is asked.

    Where nothing changed since the latest one, that is named instead.
    """
    from ullage.app.change.checkpoint_report import report_written, written_text
    from ullage.app.checkpoint.write import write_checkpoint

    loaded, config, places = options.load_session(session, window)
    refuse_read_only(loaded.policy)
    with working():
        written = write_checkpoint(loaded, config.checkpoint, places, trigger="manual")
    tell_problem(written.problem)
    answer(written_text(written, loaded), report_written(written), as_json)


@checkpoint.command(name="list")
@options.session_option
@options.json_option
def list_command(session: str | None, as_json: bool) -> None:
    """List the checkpoints of a session, the newest first."""
    from ullage.app.change.checkpoint_report import listing_text, report_listing
    from ullage.app.checkpoint.find import list_checkpoints

    report = report_listing(list_checkpoints(*options.open_session(session)))
    answer(listing_text(report, n_columns()), report, as_json)


@checkpoint.command()
@options.checkpoint_argument("checkpoint_id", metavar="[ID]")
@options.session_option
@click.option("--text", "as_text", is_flag=True, help="Print what the agent would be told.")
@options.json_option
def show(checkpoint_id: str | None, session: str | None, as_text: bool, as_json: bool) -> None:
    """Print a checkpoint (YAML), the latest one if none is named."""
    from ullage.app.change.checkpoint_report import report_found
    from ullage.app.checkpoint.find import find_checkpoint

    opened, places = options.open_session(session, is_saved=True)
    entry = find_checkpoint(opened, checkpoint_id, places)
    tell_problem(entry.problem)
    if as_text:
        config = options.current_config(None, places)
        _answer_text(entry, opened, config, places, as_json=as_json)
    elif as_json:
        print_json(report_found(entry))
    else:
        click.echo(safe(entry.path.read_text("utf-8")), nl=False)


@checkpoint.command()
@options.checkpoint_argument("old", metavar="[A]")
@options.checkpoint_argument("new", metavar="[B]")
@options.session_option
@options.json_option
def diff(old: str | None, new: str | None, session: str | None, as_json: bool) -> None:
    """Compare two checkpoints.

    A with B, or with the latest one if only A is named. With none named, the latest one is
    compared with the one before it.
    """
    from ullage.app.change.checkpoint_report import difference_lines, report_difference
    from ullage.app.checkpoint.find import compare

    opened, places = options.open_session(session)
    difference = compare(opened, old, new, places)
    tell_problem(difference.new.problem)
    if as_json:
        print_json(report_difference(difference))
        return
    for mark, line in difference_lines(difference, n_columns()):
        click.secho(safe(line), fg=_COLORS[mark])


@checkpoint.command()
@options.checkpoint_argument("checkpoint_id", metavar="[ID]")
@options.session_option
@click.option(
    "--into",
    type=click.Choice(["text", "session", "new"]),
    default="text",
    show_default=True,
    help="Print the text for an agent, put it at the end of the session, or begin a new one.",
)
@options.change_options
def restore(
    checkpoint_id: str | None,
    session: str | None,
    into: Literal["text", "session", "new"],
    dry_run: bool,
    yes: bool,
    window: int | None,
    as_json: bool,
) -> None:
    """Give an agent its working state back from a checkpoint.

    From the latest if none is named. As text it is printed, to be piped or pasted. Sessions of
    Claude Code and Codex go on in a new session file; `ullage undo` takes that and what was put
    into a session back.
    """
    from ullage.app.checkpoint.find import find_checkpoint
    from ullage.cli.previews import dry_run_text, run_with_replans

    opened, places = options.open_session(session)
    config = options.current_config(window, places)
    entry = find_checkpoint(opened, checkpoint_id, places)
    tell_problem(entry.problem)
    if into == "text":
        _answer_text(entry, opened, config, places, as_json=as_json)
        return
    options.refuse_unasked(as_json=as_json, is_answered=yes or dry_run)
    if not dry_run:
        refuse_read_only(config.policy)

    def run() -> None:
        from ullage.app.change import checkpoint_report
        from ullage.app.change.restore import plan_restore

        loaded, _, _ = options.load_session(session, window)
        with working():
            plan = plan_restore(loaded, entry.checkpoint, into, config)
        text = checkpoint_report.restore_plan_text(plan)
        if dry_run:
            report = checkpoint_report.report_restore_plan(plan, entry.problem)
            answer(dry_run_text(loaded, text), report, as_json)
            return
        if not as_json:
            echo(safe(text))
        question = checkpoint_report.restore_question(plan)
        if not yes and not click.confirm(safe(question), err=True):
            click.echo("Nothing was restored.", err=True)
            return
        _restore(plan, config, places, entry.problem, as_json=as_json)

    run_with_replans(run)


def _answer_text(
    entry: "SavedCheckpoint", session: "Session", config: "Config", places: Places, *, as_json: bool
) -> None:
    from ullage.app.change.checkpoint_report import report_text
    from ullage.app.checkpoint.resume import restore_text
    from ullage.app.sessions.secrets import secrets_for

    secrets = secrets_for(session.header, places)
    text = restore_text(entry.checkpoint, config.checkpoint, secrets)
    answer(text, report_text(entry, text), as_json)


def _restore(
    plan: "RestorePlan", config: "Config", places: Places, problem: str | None, *, as_json: bool
) -> None:
    from ullage.app.change.checkpoint_report import report_restored, restored_text
    from ullage.app.change.restore import Begun, NewPlan
    from ullage.app.change.restore import restore as make
    from ullage.cli.previews import tell_of_wait

    if not isinstance(plan.change, NewPlan):
        tell_of_wait(plan.loaded.path)
    with working():
        restored = make(plan, config, places)
    for note in () if isinstance(restored, Begun) else restored.notes:
        tell_problem(note)
    answer(restored_text(plan, restored), report_restored(plan, restored, problem), as_json)


def tell_problem(problem: str | None) -> None:
    if problem is not None:
        click.echo(safe(f"Note: {problem}"), err=True)
