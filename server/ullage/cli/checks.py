"""`ullage config` and `doctor`: what is configured or recorded, and what is wrong with it."""

from pathlib import Path

import click

from ullage.cli.completion import Group
from ullage.cli.options import json_option, session_option
from ullage.cli.output import EXIT_WITH_FINDINGS, answer, working
from ullage.store.files.places import current_places


@click.group(cls=Group)
def config() -> None:
    """See what is configured, and check it."""


@config.command()
@click.option("--all", "shows_all", is_flag=True, help="List what has its default as well.")
@json_option
def show(shows_all: bool, as_json: bool) -> None:
    """Show each setting that counts, and where it comes from."""
    from ullage.app.config.load import load_config
    from ullage.app.config.report import config_text, report_config

    places = current_places()
    loaded = load_config(places, workspace=places.cwd)
    answer(config_text(loaded, places, shows_all=shows_all), report_config(loaded, places), as_json)


@config.command()
@click.argument("file", required=False, type=click.Path(path_type=Path))
@json_option
@click.pass_context
def check(context: click.Context, file: Path | None, as_json: bool) -> None:
    """Check the configuration, or one FILE.

    Every wrong value, unknown key and contradiction is told. Exits with 3 if there are findings.
    """
    from ullage.app.config.load import check_file, load_config
    from ullage.app.config.report import check_text, report_check

    places = current_places()
    if file is None:
        loaded = load_config(places, workspace=places.cwd)
    else:
        loaded = check_file(places.cwd / file)
    answer(check_text(loaded, places), report_check(loaded, places), as_json)
    if loaded.findings:
        context.exit(EXIT_WITH_FINDINGS)


@click.command()
@session_option
@click.option(
    "--repair",
    "out",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write a repaired copy to a new file; the original stays as it is.",
)
@click.option("--dry-run", is_flag=True, help="Show what a repair would do and write nothing.")
@json_option
@click.pass_context
def doctor(
    context: click.Context, session: str | None, out: Path | None, dry_run: bool, as_json: bool
) -> None:
    """Find what is damaged in a session, and say what to do.

    A repaired copy keeps every record that can be read, closes calls without a result, and
    gives records whose predecessor is lost another one. Exits with 3 if something is damaged.
    """
    from ullage.app.transfer import doctor as use_case

    if dry_run and out is None:
        raise click.UsageError("--dry-run shows a repair: name its file with --repair")
    places = current_places()
    with working():
        checkup = use_case.check_up(session, places)
        copy = None if out is None else use_case.plan_copy(checkup, out, places)
        if copy is not None and not dry_run:
            use_case.write_copy(copy)
    report = use_case.report_checkup(checkup, copy, is_written=copy is not None and not dry_run)
    answer(use_case.checkup_text(report), report, as_json)
    if report.n_errors:
        context.exit(EXIT_WITH_FINDINGS)
