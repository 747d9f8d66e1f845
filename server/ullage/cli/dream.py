"""`ullage memory dream | review | undo | backfill`: what lasts, and what a person makes of it."""

import sys
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Literal

import click

from ullage.cli import options
from ullage.cli.output import answer, n_columns, print_json, safe
from ullage.errors import Refused, UnknownItem
from ullage.store.files.places import Places, current_places

if TYPE_CHECKING:
    from ullage.app.dream.report import InboxReport
    from ullage.core.config.settings import Config
    from ullage.core.dream.review import Decision

_ANSWERS = "aersq"
_ASKED = "[a]ccept, [e]dit, [r]eject, [s]kip, [q]uit"


@click.command()
@click.option("--due", is_flag=True, help="Only where a trigger says so; for cron and timers.")
@options.json_option
def dream(due: bool, as_json: bool) -> None:
    """Propose what lasts of the last days' logs, in DREAMS.md; nothing else is changed.

    At most ten lines, each with its source, score and reason; none is normal. A model groups and
    rewords them only where you named one. With --due it says nothing where nothing is due.
    """
    import asyncio

    from ullage.app.dream.dream import dream as dream_now
    from ullage.app.dream.due import find_due, find_last_activity
    from ullage.app.dream.report import NOTHING_DUE, dream_text, report_dream
    from ullage.store.files.local_time import local_now

    places = current_places()
    config = options.current_config(None, places)
    cause = None
    if due:
        active = find_last_activity(places.cwd, places)
        cause = find_due(places.cwd, config, places, now=local_now(), last_active=active)
        if cause is None:
            if as_json:
                print_json(NOTHING_DUE)
            return
    model = options.configured_model(config, places)
    result = asyncio.run(
        dream_now(places.cwd, config, places, model, cause=cause or "request", now=local_now())
    )
    answer(dream_text(result, n_columns()), report_dream(result), as_json)


@click.command()
@click.argument(
    "action",
    type=click.Choice(["list", "accept", "edit", "reject", "merge"]),
    required=False,
)
@click.argument("items", nargs=-1, metavar="[ITEM]...")
@click.option("--text", help="The words that are accepted in the place of the items' own.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@options.json_option
def review(
    action: Literal["list", "accept", "edit", "reject", "merge"] | None,
    items: tuple[str, ...],
    text: str | None,
    yes: bool,
    as_json: bool,
) -> None:
    """Look over what waits in DREAMS.md, and decide what reaches MEMORY.md.

    Without an action each item is asked about in turn. ITEM is a number of the list, an id, or
    `all`. What was rejected does not come again; `ullage memory undo` takes a review back. It
    takes a terminal: an agent decides nothing here.

    \b
    ullage memory review
    ullage memory review accept 1 3
    ullage memory review edit 2 --text "Tests run against PostgreSQL 17"
    ullage memory review merge 4 5 --text "Releases are cut on Mondays by Mara"
    ullage memory review reject all
    """
    from ullage.app.dream.report import inbox_text, report_inbox
    from ullage.app.dream.review import list_waiting
    from ullage.core.dream.review import Decision

    places = current_places()
    config = options.current_config(None, places)
    inbox = report_inbox(list_waiting(places.cwd, places))
    is_person = sys.stdin.isatty()
    if action == "list" or (action is None and (as_json or not is_person or not inbox.waiting)):
        answer(inbox_text(inbox, n_columns()), inbox, as_json)
        return
    if action is None:
        _decide(tuple(_ask_each(inbox)), config, places, is_agreed=True, as_json=False)
        return
    _refuse_others()
    options.refuse_unasked(as_json=as_json, is_answered=yes)
    ids = _find_ids(items, inbox)
    if not ids or (action == "merge" and len(ids) < 2) or (action == "edit" and len(ids) != 1):
        n_wanted = {"merge": "two items or more", "edit": "one item"}.get(action, "an item")
        raise click.UsageError(f"{action} takes {n_wanted}: see `ullage memory review list`")
    if action == "edit" if text is None else action not in ("edit", "merge"):
        raise click.UsageError("--text goes with edit, which needs it, and with merge")
    if action == "merge" and text is None and not yes:
        findings = [each.item.finding for each in inbox.waiting if each.item.id in ids]
        click.echo(safe("\n".join(f"  {finding}" for finding in findings)), err=True)
        text = str(click.prompt("As one line", default=findings[0], err=True))
    choice = "reject" if action == "reject" else "accept"
    groups = [ids] if action == "merge" else [(each,) for each in ids]
    decisions = tuple(Decision(choice=choice, ids=group, text=text) for group in groups)
    _decide(decisions, config, places, is_agreed=yes, as_json=as_json)


@click.command()
@click.option("--yes", is_flag=True, help="Do not ask.")
@options.json_option
def undo(yes: bool, as_json: bool) -> None:
    """Take the last review of memory back, to the byte.

    What was added to a file since stays. Run again, it takes back the one before.
    """
    from ullage.app.dream.report import report_undo
    from ullage.app.dream.review import undo_review
    from ullage.store.memory.change_records import list_memory_changes

    _refuse_others()
    options.refuse_unasked(as_json=as_json, is_answered=yes)
    places = current_places()
    config = options.current_config(None, places)
    changes = list_memory_changes(places.cwd, places).changes
    last = next((each for each in changes if each.state == "done" and not each.undoes), None)
    if last is not None and not yes:
        click.echo(safe(f"The last review: {last.what}, {last.at[:16].replace('T', ' ')}"))
        if not click.confirm("Take it back?", err=True):
            click.echo("Nothing was changed.", err=True)
            return
    done = undo_review(places.cwd, config, places)
    notes = "".join(f"\nNote: {note}" for note in done.notes)
    answer(f"✓ Taken back: {done.what.removeprefix('undo of ')}{notes}", report_undo(done), as_json)


@click.command()
@click.option(
    "--since",
    type=click.DateTime(["%Y-%m-%d"]),
    metavar="YYYY-MM-DD",
    help="Leave out sessions that ended before that day.",
)
@click.option("--dry-run", is_flag=True, help="Show what would be read and write nothing.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@options.json_option
def backfill(since: datetime | None, dry_run: bool, yes: bool, as_json: bool) -> None:
    """Look through this folder's old sessions, of all agents, for what was never written down.

    What it finds waits in DREAMS.md. Newest first; stopped, it goes on where it ended. By rule,
    on this machine: no model is asked.
    """
    import asyncio

    from ullage.app.dream.backfill import backfill as backfill_now
    from ullage.app.dream.backfill import plan_backfill
    from ullage.app.dream.report import backfill_text, report_backfill

    options.refuse_unasked(as_json=as_json, is_answered=yes or dry_run)
    places = current_places()
    config = options.current_config(None, places)
    plan = plan_backfill(places.cwd, config, places, since=since and since.date())
    if not plan.sessions or dry_run:
        nothing = f"Nothing to do: {plan.text}"
        answer(nothing if not plan.sessions else plan.text, report_backfill(plan, None), as_json)
        return
    if not as_json:
        click.echo(safe(plan.text))
    if not yes and not click.confirm("Read them?", err=True):
        click.echo("Nothing was read.", err=True)
        return
    report = _show_progress if sys.stderr.isatty() else None
    result = asyncio.run(backfill_now(plan, places.cwd, places, report=report))
    answer(backfill_text(result, n_columns()), report_backfill(plan, result), as_json)


def _refuse_others() -> None:
    """Refuse who has no terminal, as an agent's shell.

    Raises:
        Refused: standard input is none.
    """
    if not sys.stdin.isatty():
        raise Refused(
            "only a person decides what stands in MEMORY.md: run this in a terminal, or decide in"
            " the editor"
        )


def _show_progress(n_done: int, n_total: int, name: str) -> None:
    click.echo(safe(f"{n_done + 1} of {n_total}: {name}"), err=True)


def _ask_each(inbox: "InboxReport") -> "Iterator[Decision]":
    """Ask about each item in turn; what was decided before a stop counts."""
    from ullage.app.dream.report import InboxReport, inbox_text
    from ullage.core.dream.review import Decision

    for each in inbox.waiting:
        shown = inbox_text(InboxReport(waiting=(each,)), n_columns())
        click.echo(safe(f"\n{shown.partition(chr(10) * 2)[2]}"))
        key = click.prompt(
            _ASKED, type=click.Choice(list(_ANSWERS)), show_choices=False, default="s", err=True
        )
        if key == "q":
            return
        if key == "e":
            words = click.prompt("As", default=each.item.finding, err=True)
            yield Decision(choice="accept", ids=(each.item.id,), text=str(words))
        elif key != "s":
            yield Decision(choice="accept" if key == "a" else "reject", ids=(each.item.id,))


def _decide(
    decisions: "Sequence[Decision]",
    config: "Config",
    places: Places,
    *,
    is_agreed: bool,
    as_json: bool,
) -> None:
    """Show what the decisions change, ask, and do it."""
    from ullage.app.dream.report import plan_text, report_review
    from ullage.app.dream.review import list_waiting, make_review, plan_review

    if not decisions:
        click.echo("Nothing was decided.", err=True)
        return
    plan = plan_review(decisions, places.cwd, config, places)
    if not as_json:
        click.echo(safe(plan_text(plan)))
    if not is_agreed and not click.confirm("Do this?", err=True):
        click.echo("Nothing was changed.", err=True)
        return
    change = make_review(plan, places.cwd, places)
    n_waiting = len(list_waiting(places.cwd, places))
    rest = f"; {n_waiting:,} still waiting" if n_waiting else ""
    done = f"✓ {plan.what}{rest}. `ullage memory undo` takes it back"
    answer(done, report_review(plan, change, n_waiting), as_json)


def _find_ids(items: Sequence[str], inbox: "InboxReport") -> tuple[str, ...]:
    """Find the ids of the items that are meant, each once.

    Raises:
        UnknownItem: one names none.
    """
    by_name = {str(each.number): each.item.id for each in inbox.waiting}
    by_name |= {each.item.id: each.item.id for each in inbox.waiting}
    if "all" in items:
        return tuple(dict.fromkeys(by_name.values()))
    unknown = [item for item in items if item not in by_name]
    if unknown:
        what = f"1 to {len(inbox.waiting)}" if inbox.waiting else "nothing waits"
        raise UnknownItem(f"{unknown[0]} names no item ({what}): see `ullage memory review list`")
    return tuple(dict.fromkeys(by_name[item] for item in items))
