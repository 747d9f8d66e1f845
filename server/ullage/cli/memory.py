"""`ullage memory`: what a workspace remembers of its sessions."""

import os
from contextlib import closing
from datetime import date, datetime
from typing import TYPE_CHECKING, get_args

import click

from ullage.app.config.load import refuse_read_only
from ullage.cli import dream, options, review
from ullage.cli.completion import Group
from ullage.cli.output import answer, echo, n_columns, safe, working
from ullage.core.memory.answer import DEFAULT_LIMIT, MAX_LIMIT, MAX_QUERY_CHARS, Scope
from ullage.core.memory.journal import Kind
from ullage.store.files.places import current_places

if TYPE_CHECKING:
    from ullage.app.memory.embed import EmbedPlan
    from ullage.app.memory.flush import FlushPlan
    from ullage.app.memory.open_memory import OpenMemory


@click.group(cls=Group)
def memory() -> None:
    """Keep what is worth knowing in later sessions, and find it."""


@memory.command()
@click.argument("question", nargs=-1, required=True)
@click.option(
    "--limit",
    type=click.IntRange(1, MAX_LIMIT),
    default=DEFAULT_LIMIT,
    show_default=True,
    help="Results at most.",
)
@click.option(
    "--scope",
    type=click.Choice(get_args(Scope)),
    default="all",
    show_default=True,
    help="MEMORY.md and memory/, the workspace's other Markdown, or both.",
)
@click.option(
    "--since",
    type=click.DateTime(["%Y-%m-%d"]),
    metavar="YYYY-MM-DD",
    help="Leave out what was written before that day.",
)
@options.json_option
def search(
    question: tuple[str, ...], limit: int, scope: Scope, since: datetime | None, as_json: bool
) -> None:
    """Search the memory of this folder: its Markdown, as it is now.

    Each result begins with its place, its score (0 to 1) and where it comes from. That nothing
    was found is an answer too: the exit code is 0.
    """
    from ullage.app.memory.open_memories import open_memory
    from ullage.app.memory.search import search_memory
    from ullage.app.memory.terminal_text import answer_text

    query = " ".join(question).strip()
    if not query or len(query) > MAX_QUERY_CHARS:
        raise click.UsageError(f"give a question of 1 to {MAX_QUERY_CHARS:,} characters")
    places = current_places()
    config = options.current_config(None, places)
    with working(), closing(open_memory(places.cwd, config, places)) as opened:
        found = search_memory(
            opened,
            query,
            limit=limit,
            scope=scope,
            since=since and since.date(),
            by="user",
            today=date.today(),
        )
    answer(answer_text(found, n_columns()), found, as_json)


@memory.command()
@click.argument("place", metavar="PATH[:LINE | #LINES]")
@options.json_option
def get(place: str, as_json: bool) -> None:
    """Print lines of a file of memory, or of other Markdown here.

    They are 40 unless the place has an end.

    \b
    ullage memory get MEMORY.md
    ullage memory get memory/2026-11-21.md:12     from line 12 on
    ullage memory get memory/2026-11-21.md:12-20  these lines
    ullage memory get README.md#L3                that line
    ullage memory get README.md#L3-L9             these lines
    """
    from ullage.app.memory.get import get_memory
    from ullage.app.memory.terminal_text import lines_text

    places = current_places()
    config = options.current_config(None, places)
    place = place.replace(os.sep, "/").removeprefix("./")
    search_name = "`ullage memory search`"
    found = get_memory(places.cwd, place, places=places, config=config, search_name=search_name)
    answer(lines_text(found), found, as_json)


@memory.command()
@click.argument("text", nargs=-1, required=True)
@click.option(
    "--kind",
    type=click.Choice(get_args(Kind)),
    default="fact",
    show_default=True,
    help="What it is.",
)
@options.json_option
def store(text: tuple[str, ...], kind: Kind, as_json: bool) -> None:
    """Store one item in the inbox DREAMS.md.

    Where `memory.store` is `log`, in today's log. What memory says already is not stored again.
    Without a terminal, or in an agent's, it counts as an agent's.
    """
    from ullage.app.memory.store import store_memory
    from ullage.app.memory.terminal_text import stored_text

    places = current_places()
    config = options.current_config(None, places)
    source = "ullage memory store"
    # Only a person states preferences.
    by = "user" if options.is_person(places) else "agent"
    stored = store_memory(" ".join(text), kind, source, places.cwd, config, places, by=by)
    answer(stored_text(stored), stored, as_json)


@memory.command()
@options.json_option
def status(as_json: bool) -> None:
    """Show what is kept of memory, and who was handed what today."""
    from ullage.app.memory.status import read_status, status_text

    places = current_places()
    config = options.current_config(None, places)
    # Who only looks leaves nothing behind, not even that this was looked at.
    places = places.for_reading(is_read_only=True)
    report = read_status(places.cwd, config, places, date.today())
    answer(status_text(report), report, as_json)


@memory.command()
@options.json_option
def changes(as_json: bool) -> None:
    """List lines of memory that nobody known wrote.

    Such as an install script. Ullage, an agent in a session that it follows and version control are
    known. Until you accept such lines they are handed out as of unknown origin.
    """
    from ullage.app.memory.origins import list_outside_changes, report_changes
    from ullage.app.memory.terminal_text import changes_text

    places = current_places()
    config = options.current_config(None, places)
    places = places.for_reading(is_read_only=config.policy.is_read_only)
    found = list_outside_changes(places.cwd, places)
    report = report_changes(found, places.cwd, places)
    answer(changes_text(report), report, as_json)


@memory.command()
@click.argument("path")
def accept(path: str) -> None:
    """Take the changes of a memory file for seen.

    Of a file that `ullage memory changes` names. It shows them and asks; it takes a terminal, and
    none of an agent's.
    """
    from ullage.app.memory.origins import accept_change, find_outside_change, report_changes
    from ullage.app.memory.terminal_text import changes_text

    places = current_places()
    options.refuse_others(places)
    config = options.current_config(None, places)
    refuse_read_only(config.policy)
    change = find_outside_change(path, places.cwd, places)
    click.echo(safe(changes_text(report_changes((change,), places.cwd, places))))
    if not click.confirm("Accept these lines?", err=True):
        click.echo("Nothing was accepted.", err=True)
        return
    accept_change(path, change.sha256, places.cwd, config, places)
    click.echo(safe(f"✓ Accepted {path}"))


@memory.command()
@click.option("--yes", is_flag=True, help="Do not ask before anything is sent.")
@options.json_option
def reindex(yes: bool, as_json: bool) -> None:
    """Build the index anew.

    What has no vector yet is embedded where you named an endpoint. What is sent where, and what
    that costs, is shown first.
    """
    from ullage.app.memory.embed import plan_vectors
    from ullage.app.memory.open_memories import open_memory
    from ullage.app.memory.status import read_status, status_text

    places = current_places()
    config = options.current_config(None, places)
    with closing(open_memory(places.cwd, config, places)) as opened:
        with working():
            opened.rebuild()
        plan = plan_vectors(opened)
        if plan is not None and plan.digests:
            options.refuse_unasked(as_json=as_json, is_answered=yes)
            _embed(plan, opened, is_agreed=yes)
        report = read_status(opened.workspace, config, opened.places, date.today())
    answer(status_text(report), report, as_json)


def _embed(plan: "EmbedPlan", opened: "OpenMemory", *, is_agreed: bool) -> None:
    from ullage.app.memory.embed import make_vectors

    click.echo(safe(f"To be embedded: {plan.text}"), err=True)
    if is_agreed or click.confirm("Send them?", err=True):
        options.run_to_end(make_vectors(plan, opened, options.progress_report()))


@memory.command()
@options.session_option
@click.option("--dry-run", is_flag=True, help="Show what would be written and write nothing.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@options.window_option
@options.json_option
def flush(session: str | None, dry_run: bool, yes: bool, window: int | None, as_json: bool) -> None:
    """Append what is new in a session to today's log.

    That is memory/YYYY-MM-DD.md. Task progress, decisions, issues and the user's preferences, by
    the configured model or by our own rules. Nothing that stands there is changed; the log is made
    if there is none.
    """
    from ullage.app.gauge.status_text import about, name_text
    from ullage.app.memory.flush import make_flush, plan_flush
    from ullage.app.memory.report import done_text, flush_text, report_flush, report_flushed
    from ullage.cli.previews import dry_run_text

    options.refuse_unasked(as_json=as_json, is_answered=yes or dry_run)
    loaded, config, places = options.load_session(session, window)
    refuse_read_only(loaded.policy)
    model = options.configured_model(config, places)
    key = loaded.session.state_key
    plan = options.run_to_end(plan_flush(loaded, config, places, model, key=key, epoch=None))
    if not plan.text:
        for note in plan.notes:
            click.echo(safe(f"Note: {note}"), err=True)
        nothing = about(loaded, "Nothing to do: nothing is new since the last flush")
        answer(nothing, report_flush(plan), as_json)
        return
    if dry_run:
        answer(dry_run_text(loaded, flush_text(plan)), report_flush(plan), as_json)
        return
    if not as_json:
        echo(safe(flush_text(plan)))
    if yes or _is_agreed(plan, name_text(loaded)):
        done = make_flush(plan, places)
        answer(about(loaded, done_text(plan, done)), report_flushed(plan, done), as_json)


def _is_agreed(plan: "FlushPlan", name: str) -> bool:
    from ullage.app.memory.report import lines_text

    what = f"{lines_text(plan)} from {name} to {plan.log_name}"
    is_agreed = click.confirm(safe(f"Proceed with memory flush ({what})?"), err=True)
    if not is_agreed:
        click.echo("Memory flush cancelled.", err=True)
    return is_agreed


for command in (dream.dream, review.review, review.undo, dream.backfill):
    memory.add_command(command)
