"""`ullage compact` and `ullage autocompact`: compact a session, now or by itself."""

from typing import TYPE_CHECKING

import click
import msgspec

from ullage.app.config.load import refuse_read_only
from ullage.cli import options
from ullage.cli.output import answer
from ullage.cli.prune import prune
from ullage.core.config.settings import Config
from ullage.core.gauge.gauge import DEFAULT_LAYER, Layer
from ullage.errors import UllageError
from ullage.store.files.places import Places

if TYPE_CHECKING:
    from ullage.app.sessions.load import Loaded


class CompactOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What was asked for on the command line."""

    session: str | None
    focus: str | None
    layer: Layer
    is_auto: bool
    is_edited: bool
    truncate: bool
    dry_run: bool
    yes: bool
    window: int | None
    as_json: bool


@click.command()
@options.session_option
@click.option("--focus", metavar="TEXT", help="What the summary should keep above all.")
@click.option(
    "--layer",
    type=click.Choice(["prune", "summarize", "full"]),
    default=DEFAULT_LAYER,
    show_default=True,
    help="prune replaces old tool output alone; summarize keeps the recent 25,000 tokens as they"
    " are, full keeps 15,000.",
)
@click.option("--auto", "is_auto", is_flag=True, help="Do only what is due by the thresholds.")
@click.option("--edit", "is_edited", is_flag=True, help="Edit the summary before it is used.")
@click.option(
    "--truncate",
    is_flag=True,
    help="Take what is replaced out of a flat file too; the original stays as .bak.",
)
@options.change_options
@click.pass_context
def compact(context: click.Context, **_: object) -> None:
    """Replace the older part of a session's context by a summary.

    pi's sessions grow by one entry; those of Claude Code and Codex go on in a new session file.
    Nothing is deleted, and `ullage undo` takes it back.
    """
    choices = msgspec.convert(context.params, CompactOptions)
    tells_of_summary = choices.is_edited or choices.focus is not None or choices.truncate
    if choices.is_auto and tells_of_summary:
        raise click.UsageError("--auto decides by itself: leave --edit, --focus and --truncate out")
    if choices.layer == "prune" and tells_of_summary:
        raise click.UsageError("a prune has no summary: leave --edit, --focus and --truncate out")
    options.refuse_unasked(as_json=choices.as_json, is_answered=choices.yes or choices.dry_run)
    if choices.layer == "prune" and not choices.is_auto:
        context.invoke(
            prune,
            session=choices.session,
            dry_run=choices.dry_run,
            yes=choices.yes,
            window=choices.window,
            as_json=choices.as_json,
        )
        return
    from ullage.cli.previews import run_with_replans

    run_one = _run_due if choices.is_auto else _run_asked

    def run() -> None:
        loaded, config, places = options.load_session(choices.session, choices.window)
        try:
            run_one(choices, loaded, config, places)
        except UllageError as error:
            if not choices.dry_run:
                error.args = (f"Compaction failed: {error}",)
            raise

    run_with_replans(run)


def _run_asked(choices: CompactOptions, loaded: "Loaded", config: Config, places: Places) -> None:
    from ullage.app.change.compact import Request, compact, plan_compaction, with_flush
    from ullage.app.change.compact_report import report_unneeded, unneeded_text
    from ullage.app.change.prepared import plan_with_prepared
    from ullage.cli.previews import carry_out, preview_of
    from ullage.core.change.compaction import NoCompaction

    if not choices.dry_run:
        refuse_read_only(loaded.policy)
    model = options.configured_model(config, places)
    request = Request(layer=choices.layer, focus=choices.focus, truncates=choices.truncate)
    plan = options.run_to_end(plan_with_prepared(loaded, request, config, places, model))
    if choices.is_edited and not isinstance(plan, NoCompaction):
        text = _edit(plan.summary.text)
        if not text.strip():
            click.echo("Compaction cancelled: the summary is empty.", err=True)
            return
        first_kept = plan.selection.cut.first_kept
        request = msgspec.structs.replace(request, summary=text, first_kept=first_kept)
        plan = options.run_to_end(plan_compaction(loaded, request, config, places, model))
    if isinstance(plan, NoCompaction):
        nothing = unneeded_text(loaded, plan, choices.layer)
        answer(nothing, report_unneeded(plan), choices.as_json)
        return
    plan = options.run_to_end(with_flush(plan, config, places, model))
    carry_out(
        preview_of(plan),
        lambda: compact(plan, config, places),
        is_dry_run=choices.dry_run,
        asks=not choices.yes,
        as_json=choices.as_json,
    )


def _edit(summary: str) -> str:
    """Let the user edit a summary; one that was not saved is used as it is."""
    try:
        return click.edit(summary, extension=".md", require_save=False) or ""
    except click.ClickException as error:
        raise click.UsageError(f"the editor did not start ({error.message}): set EDITOR") from None


def _run_due(choices: CompactOptions, loaded: "Loaded", config: Config, places: Places) -> None:
    from ullage.app.change.auto import decline, make_auto, plan_auto, remember_idle
    from ullage.app.change.compact_report import report_unneeded, unneeded_text
    from ullage.cli.previews import carry_out, preview_of
    from ullage.core.change.compaction import NoCompaction
    from ullage.core.change.decision import Ask

    model = options.configured_model(config, places)
    auto = options.run_to_end(plan_auto(loaded, config, places, model))
    due, plan = auto.due, auto.plan
    if plan is None:
        if not choices.dry_run:
            remember_idle(due, loaded, places)
        nothing = NoCompaction(reason=due.reason)
        text = unneeded_text(loaded, nothing, due.layer or "full")
        answer(text, report_unneeded(nothing), choices.as_json)
        return
    outcome = carry_out(
        preview_of(plan),
        lambda: make_auto(plan, config, places),
        is_dry_run=choices.dry_run,
        asks=isinstance(due.action, Ask) and not choices.yes,
        as_json=choices.as_json,
    )
    if outcome == "declined":
        decline(loaded, due.layer or "full", places)


@click.command()
@click.argument("choice", type=click.Choice(["on", "off", "status"]), default="status")
@options.session_option
@options.window_option
@options.json_option
def autocompact(choice: str, session: str | None, window: int | None, as_json: bool) -> None:
    """Turn automatic compaction of a session on or off, or show it.

    The editor compacts by itself what is due, and so does `ullage compact --auto`.
    """
    from ullage.app.change.auto import auto_text, report_auto, switch
    from ullage.app.gauge.status_text import name_text

    loaded, _, places = options.load_session(session, window)
    if choice != "status":
        refuse_read_only(loaded.policy)
        switch(loaded.session, is_on=choice == "on", places=places)
    report = report_auto(loaded, places)
    answer(f"Session: {name_text(loaded)}\n{auto_text(report, loaded.session)}", report, as_json)
