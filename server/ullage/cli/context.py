"""`ullage context`: what a session's context is and how full."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ullage.cli import options
from ullage.cli.completion import Group
from ullage.cli.output import TABLE_COLUMNS, answer, n_columns, print_json, safe, working
from ullage.store.files.places import current_places

if TYPE_CHECKING:
    from ullage.core.transcript.context import Context
    from ullage.core.transcript.entries import Block


@click.group(cls=Group)
def context() -> None:
    """See what fills a session's context window."""


@context.command()
@options.session_option
@options.window_option
@options.json_option
def status(session: str | None, window: int | None, as_json: bool) -> None:
    """Show how full the context is, and what comes next."""
    from ullage.app.gauge.status_report import report_status
    from ullage.app.gauge.status_text import status_text

    loaded, _, _ = options.load_session(session, window)
    # Each looks at what is due, which takes as long as reading the session: not both.
    if as_json:
        print_json(report_status(loaded))
    else:
        click.echo(safe(status_text(loaded)))


@context.command()
@options.session_option
@options.json_option
def show(session: str | None, as_json: bool) -> None:
    """Print the context that would be sent to the model now, unmasked."""
    from ullage.app.gauge.status_report import report_context
    from ullage.app.sessions.load import read

    opened, places = options.open_session(session)
    with working():
        reading = read(opened, places)
    if as_json:
        print_json(report_context(opened, reading.context))
    else:
        click.echo(_context_text(reading.context))


@context.command()
@options.session_option
@options.window_option
@click.option(
    "--top", type=click.IntRange(min=1), default=10, show_default=True, help="Entries to list."
)
@options.json_option
def inspect(session: str | None, window: int | None, top: int, as_json: bool) -> None:
    """Show what fills the window, and what to do about it."""
    from ullage.app.assembly.parts import inspect_session
    from ullage.app.gauge.inspect import inspection_text, report_inspection

    loaded, config, _ = options.load_session(session, window)
    with working():
        inspection = inspect_session(loaded, top, config)
    text = inspection_text(inspection, n_columns(TABLE_COLUMNS))
    answer(text, report_inspection(inspection), as_json)


@context.command()
@options.session_option
@options.window_option
@click.option("--minimal", is_flag=True, help="Without identity, memory and heartbeats.")
@click.option("--subagent", metavar="TASK", help="As a subagent gets it that does this task.")
@options.json_option
def assemble(
    session: str | None, window: int | None, minimal: bool, subagent: str | None, as_json: bool
) -> None:
    """Show a whole request: files, skills, system prompt, history.

    With the budget of tokens: it is what `context/assemble` gives to a runtime. Without a session,
    that of a new one in this folder. Secrets are masked.
    """
    from ullage.app.assembly import assemble as use_case
    from ullage.app.assembly.assembled_text import assembled_text
    from ullage.app.assembly.source import open_source
    from ullage.core.assembly.event import EventMessage
    from ullage.core.assembly.prompt_parameters import SubagentParameters

    if minimal and subagent is not None:
        raise click.UsageError("--subagent is minimal already: give one of the two")
    if subagent is not None and not subagent.strip():
        raise click.UsageError("--subagent needs the task that it is to do")
    places = current_places()
    config = options.current_config(window, places)
    # A subagent begins with its task and nothing else.
    source, secrets = open_source(session, config, places, begins_anew=subagent is not None)
    wish = use_case.AssemblyWish(
        mode="minimal" if minimal else "full" if subagent is None else "subagent",
        subagent=SubagentParameters(task=subagent),
        event=None if subagent is None else EventMessage(text=subagent),
    )
    with working():
        assembled = use_case.mask_assembled(use_case.assemble(wish, source), secrets)
    answer(assembled_text(assembled), assembled, as_json)


@context.command()
@options.session_option
@options.json_option
def history(session: str | None, as_json: bool) -> None:
    """List the compactions of a session and what they cost it."""
    from ullage.app.gauge.history import history_text, read_history

    with working():
        report = read_history(*options.open_session(session))
    answer(history_text(report, n_columns(TABLE_COLUMNS)), report, as_json)


@context.command()
@options.session_option
@click.option(
    "--at", metavar="ENTRY", help="Id of the last entry to take along; the newest one if absent."
)
@click.option("--dry-run", is_flag=True, help="Show what would be made and write nothing.")
@options.json_option
def branch(session: str | None, at: str | None, dry_run: bool, as_json: bool) -> None:
    """Make a new session that goes on from an entry of this one.

    The session itself stays as it is. A call comes along with its results.
    """
    from ullage.app.transfer import branch as use_case

    opened, places = options.open_session(session)
    with working():
        planned = use_case.plan_branch(opened, at, places)
    if not dry_run:
        options.refuse_writing(places)
        use_case.write_branch(planned, places)
    report = use_case.report_branch(planned, is_written=not dry_run)
    answer(use_case.branch_text(report), report, as_json)


@context.command(name="export")
@click.argument("file", type=click.Path(path_type=Path), required=False)
@options.session_option
@click.option("--no-redact", is_flag=True, help="Mask nothing: secrets, names and images stay in.")
@click.option("--dry-run", is_flag=True, help="Show what would be masked and write nothing.")
@options.json_option
def export_command(
    file: Path | None, session: str | None, no_redact: bool, dry_run: bool, as_json: bool
) -> None:
    """Write a session's context and working state to a new FILE.

    Secrets, the home folder and the user's name are masked, images left out. That is a best
    effort: read the list of what was masked before you hand the file on.
    """
    from ullage.app.transfer import bundle

    loaded, _, places = options.load_session(session, None)
    out = file or Path(f"context-{loaded.session.header.session_id[:8]}.json")
    with working():
        planned = bundle.plan_export(loaded, out, places, is_redacted=not no_redact)
    if not dry_run:
        bundle.write_export(planned)
    report = bundle.report_export(planned, is_written=not dry_run)
    answer(bundle.export_text(report), report, as_json)


@context.command(name="import")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--dry-run", is_flag=True, help="Check the file and write nothing.")
@options.json_option
def import_command(file: Path, dry_run: bool, as_json: bool) -> None:
    """Make a new session of this folder from an exported FILE.

    It is one of the agent that it was exported from. Nothing that exists is changed.
    """
    from ullage.app.transfer import bundle

    places = current_places()
    with working():
        planned = bundle.plan_import(file, places)
    if not dry_run:
        options.refuse_writing(places)
    checkpoint_id = None if dry_run else bundle.write_import(planned, places)
    report = bundle.report_import(planned, checkpoint_id, is_written=not dry_run)
    answer(bundle.import_text(report), report, as_json)


def _context_text(context: "Context") -> str:
    """Write the context message by message, each under its category and entry."""
    from ullage.core.transcript.context import HIDDEN

    parts: list[str] = []
    for item in context.items:
        shown = () if item.is_hidden else map(_block_text, item.message.blocks)
        blocks = "\n".join(shown) or HIDDEN
        heading = click.style(f"── {item.category} · {safe(item.entry_id)} ", bold=True)
        parts.append(f"{heading}\n{safe(blocks)}")
    return "\n\n".join(parts)


def _block_text(block: "Block") -> str:
    from ullage.core.transcript.entries import Image, Text, Thinking, ToolCall, ToolResult

    match block:
        case Text():
            return block.text
        case Thinking():
            return f"[thinking] {block.text}"
        case Image():
            return f"[image {block.media_type}, {block.size_bytes:,} bytes encoded]"
        case ToolCall():
            return f"[call {block.name}] {block.arguments}"
        case ToolResult():
            inner = "\n".join(_block_text(part) for part in block.content)
            return f"[{'error' if block.is_error else 'result'} {block.name}] {inner}"
