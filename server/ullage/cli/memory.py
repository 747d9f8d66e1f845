"""`ullage memory`: what a workspace remembers of its sessions."""

from typing import TYPE_CHECKING

import click

from ullage.app.config.load import refuse_read_only
from ullage.cli import options
from ullage.cli.output import answer, safe

if TYPE_CHECKING:
    from ullage.app.memory.flush import FlushPlan


@click.group()
def memory() -> None:
    """Keep what is worth knowing in later sessions, in the workspace's memory folder."""


@memory.command()
@options.session_option
@click.option("--dry-run", is_flag=True, help="Show what would be written and write nothing.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@options.window_option
@options.json_option
def flush(session: str | None, dry_run: bool, yes: bool, window: int | None, as_json: bool) -> None:
    """Append what is new in a session to today's log, memory/YYYY-MM-DD.md.

    Task progress, decisions, issues and the user's preferences, by the configured model or by
    our own rules. Nothing that stands there is changed; the log is made if there is none.
    """
    import asyncio

    from ullage.app.memory.flush import make_flush, plan_flush
    from ullage.app.memory.report import done_text, flush_text, report_flush, report_flushed

    options.refuse_unasked(as_json=as_json, is_answered=yes or dry_run)
    loaded, config, places = options.load_session(session, window)
    refuse_read_only(loaded.policy)
    model = options.configured_model(config, places)
    key = loaded.session.state_key
    plan = asyncio.run(plan_flush(loaded, config, places, model, key=key, epoch=None))
    if not plan.text:
        for note in plan.notes:
            click.echo(safe(f"Note: {note}"), err=True)
        answer("Nothing to do: nothing is new since the last flush", report_flush(plan), as_json)
        return
    if dry_run or not as_json:
        answer(flush_text(plan), report_flush(plan), as_json)
    if not dry_run and (yes or _is_agreed(plan)):
        done = make_flush(plan, places)
        answer(done_text(plan, done), report_flushed(plan, done), as_json)


def _is_agreed(plan: "FlushPlan") -> bool:
    from ullage.app.memory.report import lines_text

    question = f"Proceed with memory flush ({lines_text(plan)} to {plan.log_name})?"
    is_agreed = click.confirm(question, err=True)
    if not is_agreed:
        click.echo("Memory flush cancelled.", err=True)
    return is_agreed
