"""`ullage prune`: put placeholders in the place of old tool output."""

import click

from ullage.app.config.load import refuse_read_only
from ullage.cli import options
from ullage.cli.output import TABLE_COLUMNS, answer, n_columns, working


@click.command()
@options.session_option
@click.option(
    "--item",
    "items",
    multiple=True,
    metavar="ID",
    help="Prune this item of the preview and no other; may be given more than once.",
)
@click.option(
    "--all",
    "is_everything",
    is_flag=True,
    help="Prune superseded reads, duplicates and old images too.",
)
@click.option(
    "--rescue",
    "is_rescue",
    is_flag=True,
    help="Prune the largest outputs, recent ones too, until the context fits its window.",
)
@options.change_options
def prune(
    session: str | None,
    items: tuple[str, ...],
    is_everything: bool,
    is_rescue: bool,
    dry_run: bool,
    yes: bool,
    window: int | None,
    as_json: bool,
) -> None:
    """Replace old tool output of a session by a placeholder.

    It is "[output pruned for context]". Of the last two user turns the last ten requests each, the
    most recent 40,000 tokens of output before them and protected tools stay; no call loses its
    result. Sessions of Claude Code and Codex go on in a new session file.
    """
    from ullage.app.change import prune as use_case
    from ullage.cli.previews import carry_out, preview_of, run_with_replans

    if bool(items) + is_everything + is_rescue > 1:
        raise click.UsageError("give one of --item, --all, --rescue")
    options.refuse_unasked(as_json=as_json, is_answered=yes or dry_run)
    request = use_case.PruneRequest(
        chosen=items or None, is_everything=is_everything, is_rescue=is_rescue
    )

    def run() -> None:
        loaded, config, places = options.load_session(session, window)
        if not dry_run:
            refuse_read_only(loaded.policy)
        with working():
            pruning = use_case.plan_pruning(loaded, request)
        if isinstance(pruning, use_case.NothingToPrune):
            text = use_case.unpruned_text(pruning, n_columns(TABLE_COLUMNS))
            answer(text, use_case.report_unpruned(pruning), as_json)
            return
        if not dry_run:
            use_case.change_of(pruning)
        carry_out(
            preview_of(pruning),
            lambda: use_case.prune(pruning, config, places),
            is_dry_run=dry_run,
            asks=not yes,
            as_json=as_json,
        )

    run_with_replans(run)
