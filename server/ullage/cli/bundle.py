"""`ullage context export` and `import`: a context as a file, and a session made from one."""

from pathlib import Path

import click

from ullage.cli.options import current_config, json_option, session_option
from ullage.cli.output import answer
from ullage.store.files.places import current_places


@click.command(name="export")
@click.argument("file", type=click.Path(path_type=Path), required=False)
@session_option
@click.option("--no-redact", is_flag=True, help="Mask nothing: secrets, names and images stay in.")
@click.option("--dry-run", is_flag=True, help="Show what would be masked and write nothing.")
@json_option
def export_command(
    file: Path | None, session: str | None, no_redact: bool, dry_run: bool, as_json: bool
) -> None:
    """Write a session's context and working state to a new FILE (JSON).

    Secrets, the home folder and the user's name are masked, images left out. That is a best
    effort: read the list of what was masked before you hand the file on.
    """
    from ullage.app.sessions.find import find_session
    from ullage.app.sessions.load import load
    from ullage.app.transfer import bundle_export

    places = current_places()
    loaded = load(find_session(session, places), current_config(None, places), places)
    out = file or Path(f"context-{loaded.session.header.session_id[:8]}.json")
    planned = bundle_export.plan_export(loaded, out, places, is_redacted=not no_redact)
    if not dry_run:
        bundle_export.write_export(planned)
    report = bundle_export.report_export(planned, is_written=not dry_run)
    answer(bundle_export.export_text(report), report, as_json)


@click.command(name="import")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--dry-run", is_flag=True, help="Check the file and write nothing.")
@json_option
def import_command(file: Path, dry_run: bool, as_json: bool) -> None:
    """Make a new session of this folder from an exported FILE.

    Works for bundles of pi's sessions. Nothing that exists is changed.
    """
    from ullage.app.transfer import bundle_import

    places = current_places()
    planned = bundle_import.plan_import(file, places)
    checkpoint_id = None if dry_run else bundle_import.write_import(planned, places)
    report = bundle_import.report_import(planned, checkpoint_id, is_written=not dry_run)
    answer(bundle_import.import_text(report), report, as_json)
