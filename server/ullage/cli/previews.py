"""Changes on the command line: shown, confirmed, made and reported."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import click
import msgspec

from ullage.app.change import compact_report, prune
from ullage.app.change.compact import Plan
from ullage.app.change.make import ChangeResult
from ullage.app.gauge.status_text import name_text
from ullage.app.sessions.load import Loaded
from ullage.cli.output import TABLE_COLUMNS, answer, echo, n_columns, safe, working
from ullage.errors import ChangedMeanwhile
from ullage.store.transcript.reader import QUIET_S, look_at

TRIES = 3
"""Of a session that changes between plan and change (chosen)."""


class Preview(msgspec.Struct, frozen=True, kw_only=True):
    """A planned change as it is shown, and what is reported once it is made."""

    name: str
    """What is done, to begin a sentence with."""
    gain: str
    loaded: Loaded
    text: str
    report: msgspec.Struct
    done: Callable[[ChangeResult], tuple[str, msgspec.Struct]]


def preview_of(plan: Plan | prune.PruningPlan) -> Preview:
    if isinstance(plan, Plan):
        return Preview(
            name="Compaction",
            gain=compact_report.gain_text(plan),
            loaded=plan.loaded,
            text=compact_report.preview_text(plan),
            report=compact_report.report_plan(plan),
            done=lambda made: (
                compact_report.done_text(plan, made),
                compact_report.report_done(plan, made),
            ),
        )
    return Preview(
        name="Pruning",
        gain=compact_report.gain_text(plan),
        loaded=plan.loaded,
        text=prune.pruning_text(plan, n_columns(TABLE_COLUMNS)),
        report=prune.report_pruning(plan),
        done=lambda made: (prune.pruned_text(plan, made), prune.report_pruned(plan, made)),
    )


def tell_of_wait(path: Path) -> None:
    """Say why it takes some seconds where a session was written to just now."""
    if time.time() - look_at(path).mtime_ns / 1e9 < QUIET_S:
        click.echo(f"Waiting until nothing was written for {QUIET_S:.0f} seconds…", err=True)


def run_with_replans(run: Callable[[], None]) -> None:
    """Run a command; where the session changed between its plan and its change, run it again.

    Raises:
        ChangedMeanwhile: it changes all the time.
    """
    for tries_left in reversed(range(TRIES)):
        try:
            run()
            return
        except ChangedMeanwhile:
            if not tries_left:
                raise
            click.echo("The session changed meanwhile: planning again.", err=True)


def dry_run_text(loaded: Loaded, text: str) -> str:
    """Name the session above a preview that no question follows."""
    return f"Session: {name_text(loaded)}\n{text}"


def carry_out(
    preview: Preview,
    make: Callable[[], ChangeResult],
    *,
    is_dry_run: bool,
    asks: bool,
    as_json: bool,
) -> Literal["shown", "declined"] | ChangeResult:
    """Show a planned change, ask, make it, report it."""
    if is_dry_run:
        answer(dry_run_text(preview.loaded, preview.text), preview.report, as_json)
        return "shown"
    if not as_json:
        echo(safe(preview.text))
    whose = f"{name_text(preview.loaded)} ({preview.gain})"
    question = f"Proceed with {preview.name.lower()} of {whose}?"
    if asks and not click.confirm(safe(question), err=True):
        click.echo(f"{preview.name} cancelled.", err=True)
        return "declined"
    tell_of_wait(preview.loaded.path)
    with working():
        made = make()
    for note in made.notes:
        click.echo(safe(f"Note: {note}"), err=True)
    text, report = preview.done(made)
    answer(text, report, as_json)
    return made
