"""`ullage context`: what a session's context is and how full."""

import click

from ullage.app.gauge.status_report import report_context, report_status
from ullage.app.gauge.status_text import status_text
from ullage.app.sessions.find import find_session
from ullage.app.sessions.load import load, read
from ullage.cli.branch import branch
from ullage.cli.bundle import export_command, import_command
from ullage.cli.options import current_config, json_option, session_option, window_option
from ullage.cli.output import answer, print_json, safe
from ullage.core.transcript.context import Context
from ullage.core.transcript.message import Block, Image, Text, Thinking, ToolCall, ToolResult
from ullage.store.files.places import current_places


@click.group()
def context() -> None:
    """See what fills a session's context window."""


@context.command()
@session_option
@window_option
@json_option
def status(session: str | None, window: int | None, as_json: bool) -> None:
    """Show how full the context is, and what comes next."""
    places = current_places()
    loaded = load(find_session(session, places), current_config(window, places), places)
    answer(status_text(loaded), report_status(loaded), as_json)


@context.command()
@session_option
@json_option
def show(session: str | None, as_json: bool) -> None:
    """Print the context that would be sent to the model now, as it is: nothing is masked."""
    places = current_places()
    found = find_session(session, places)
    reading = read(found, places)
    if as_json:
        print_json(report_context(found, reading.context))
    else:
        click.echo(context_text(reading.context))


@context.command()
@session_option
@window_option
@click.option(
    "--top", type=click.IntRange(min=1), default=10, show_default=True, help="Entries to list."
)
@json_option
def inspect(session: str | None, window: int | None, top: int, as_json: bool) -> None:
    """Show what fills the window, the largest entries, and what to do about them."""
    from ullage.app.gauge.inspect import inspect as look_into
    from ullage.app.gauge.inspect import inspection_text, report_inspection

    places = current_places()
    loaded = load(find_session(session, places), current_config(window, places), places)
    found = look_into(loaded, top)
    answer(inspection_text(found), report_inspection(found), as_json)


@context.command()
@session_option
@json_option
def history(session: str | None, as_json: bool) -> None:
    """List the compactions of a session and what they cost it."""
    from ullage.app.gauge.history import history as read_history
    from ullage.app.gauge.history import history_text

    places = current_places()
    report = read_history(find_session(session, places), places)
    answer(history_text(report), report, as_json)


context.add_command(export_command)
context.add_command(import_command)
context.add_command(branch)


def context_text(found: Context) -> str:
    """Write the context message by message, each under its category and entry."""
    parts: list[str] = []
    for item in found.items:
        blocks = "\n".join(block_text(block) for block in item.message.blocks)
        heading = click.style(f"── {item.category} · {safe(item.entry_id)} ", bold=True)
        parts.append(f"{heading}\n{safe(blocks)}")
    return "\n\n".join(parts)


def block_text(block: Block) -> str:
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
            inner = "\n".join(block_text(part) for part in block.content)
            return f"[{'error' if block.is_error else 'result'} {block.name}] {inner}"
