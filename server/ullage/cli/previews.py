"""Changes on the command line: shown first, asked about, then made and told of."""

from collections.abc import Callable
from typing import Literal

import click
import msgspec

from ullage.app.change import Made
from ullage.app.compact import Plan
from ullage.app.compact_report import done_text, preview_text, report_done, report_plan
from ullage.app.prune import Pruning
from ullage.app.prune_report import pruned_text, pruning_text, report_pruned, report_pruning
from ullage.cli.output import answer, safe


class Preview(msgspec.Struct, frozen=True, kw_only=True):
    """A planned change as it is shown, and what is told when it was made."""

    name: str
    """What is done, to begin a sentence with."""
    text: str
    report: msgspec.Struct
    done: Callable[[Made], tuple[str, msgspec.Struct]]


def preview_of(plan: Plan | Pruning) -> Preview:
    if isinstance(plan, Plan):
        return Preview(
            name="Compaction",
            text=preview_text(plan),
            report=report_plan(plan),
            done=lambda made: (done_text(plan, made), report_done(plan, made)),
        )
    return Preview(
        name="Pruning",
        text=pruning_text(plan),
        report=report_pruning(plan),
        done=lambda made: (pruned_text(plan, made), report_pruned(plan, made)),
    )


def carry_out(
    preview: Preview, make: Callable[[], Made], *, is_dry_run: bool, asks: bool, as_json: bool
) -> Literal["shown", "declined"] | Made:
    """Show a planned change, ask, make it, tell of it."""
    if is_dry_run or not as_json:
        answer(preview.text, preview.report, as_json)
    if is_dry_run:
        return "shown"
    if asks and not click.confirm(f"Proceed with {preview.name.lower()}?", err=True):
        click.echo(f"{preview.name} cancelled.", err=True)
        return "declined"
    made = make()
    for note in made.notes:
        click.echo(safe(f"Note: {note}"), err=True)
    text, report = preview.done(made)
    answer(text, report, as_json)
    return made
