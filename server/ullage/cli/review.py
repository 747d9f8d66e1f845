"""`ullage memory review | undo`: what a person makes of the inbox."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import click
import msgspec

from ullage.app.config.load import refuse_read_only, refuse_without_memory
from ullage.cli import options
from ullage.cli.output import answer, n_columns, safe
from ullage.errors import ChangedMeanwhile, UllageError, UnknownItem
from ullage.store.files.places import Places, current_places

if TYPE_CHECKING:
    from ullage.app.dream.report import InboxReport, WaitingReport
    from ullage.core.config.settings import Config
    from ullage.core.dream.review import Decision

_KEYS = {
    "a": ("[a]ccept", "put it into MEMORY.md, below the heading that is shown"),
    "e": ("[e]dit", "put it there in your own words"),
    "k": ("[k]eep both", "put it there, and leave what it replaces beside it"),
    "r": ("[r]eject", "take it out of DREAMS.md; it does not come again"),
    "s": ("[s]kip", "leave it for another time, as Enter does"),
    "q": ("[q]uit", "end here; what was decided is done"),
}
"""Answers, each as it is asked for and as it is explained."""
_RANGE = re.compile(r"([0-9]{1,6})-([0-9]{1,6})")


@click.command()
@click.argument(
    "action",
    type=click.Choice(["list", "accept", "edit", "reject", "merge"]),
    required=False,
)
@click.argument("items", nargs=-1, metavar="[ITEM]...")
@click.option("--text", help="The words that are accepted in the place of the items' own.")
@options.json_option
def review(
    action: Literal["list", "accept", "edit", "reject", "merge"] | None,
    items: tuple[str, ...],
    text: str | None,
    as_json: bool,
) -> None:
    """Decide what of DREAMS.md reaches MEMORY.md.

    Without an action each item is asked about in turn, and what is decided is done at once. ITEM
    is a number of the list, some such as 3-24, an id, or `all`. What was rejected does not come
    again; `ullage memory undo` takes a decision back. It shows, asks, and takes a terminal of your
    own: an agent decides nothing here.

    \b
    ullage memory review
    ullage memory review accept 1 3-5
    ullage memory review edit 2 --text "Tests run against PostgreSQL 17"
    ullage memory review merge 4 5 --text "Releases are cut on Mondays by Mara"
    ullage memory review reject all
    """
    from ullage.app.dream.report import inbox_text, report_inbox
    from ullage.app.dream.review import list_waiting
    from ullage.core.dream.review import Decision
    from ullage.store.memory.pages import read_page
    from ullage.store.memory.places import DREAMS

    places = current_places()
    config = options.current_config(None, places)
    page = read_page(places.cwd, DREAMS) or ""
    inbox = report_inbox(list_waiting(places.cwd, places, page), page)
    asks = inbox.waiting and not as_json and options.is_person(places)
    if action == "list" or (action is None and not asks):
        answer(inbox_text(inbox, n_columns()), inbox, as_json)
        return
    options.refuse_others(places)
    if action is None:
        _ask_each(inbox, config, places)
        return
    if as_json:
        raise click.UsageError("--json cannot ask, and a decision is asked for: it goes with list")
    ids = _find_ids(items, inbox)
    if not ids or (action == "merge" and len(ids) < 2) or (action == "edit" and len(ids) != 1):
        n_wanted = {"merge": "two items or more", "edit": "one item"}.get(action, "an item")
        raise click.UsageError(f"{action} takes {n_wanted}: see `ullage memory review list`")
    if action == "edit" if text is None else action not in ("edit", "merge"):
        raise click.UsageError("--text goes with edit, which needs it, and with merge")
    if action == "merge" and text is None:
        findings = [each.item.finding for each in inbox.waiting if each.item.id in ids]
        click.echo(safe("\n".join(f"  {finding}" for finding in findings)), err=True)
        text = str(click.prompt("As one line", default=findings[0], err=True))
    choice = "reject" if action == "reject" else "accept"
    groups = [ids] if action == "merge" else [(each,) for each in ids]
    _decide([Decision(choice=choice, ids=group, text=text) for group in groups], config, places)


@click.command()
def undo() -> None:
    """Take the last review of memory back, to the byte.

    It shows it and asks. What was added to a file since stays. Run again, it takes back the one
    before.
    """
    from ullage.app.dream.review import undo_review
    from ullage.store.memory.changes import find_undoable

    places = current_places()
    options.refuse_others(places)
    config = options.current_config(None, places)
    last = find_undoable(places.cwd, places)
    if last is not None:
        click.echo(safe(f"The last review: {last.what}, {last.at[:16].replace('T', ' ')}"))
        if not click.confirm("Take it back?", err=True):
            click.echo("Nothing was changed.", err=True)
            return
        if find_undoable(places.cwd, places) != last:
            raise ChangedMeanwhile("memory was changed meanwhile: run it again to see the last one")
    done = undo_review(places.cwd, config, places)
    notes = "".join(f"\nNote: {note}" for note in done.notes)
    click.echo(safe(f"✓ Taken back: {done.what.removeprefix('undo of ')}{notes}"))


def _ask_each(inbox: "InboxReport", config: "Config", places: Places) -> None:
    """Ask about each item in turn, and do at once what is decided: no stop takes that back."""
    from ullage.app.dream.report import decided_text, unread_text

    refuse_without_memory(config)
    refuse_read_only(config.policy)
    if inbox.unread_lines:
        click.echo(safe(unread_text(inbox, n_columns())))
    choices: list[str] = []
    try:
        for each in inbox.waiting:
            # One that was accepted may have stood for it.
            if each.item.id in _list_waiting_ids(places):
                choice = _ask_item(each, len(inbox.waiting), config, places)
                if choice == "quit":
                    break
                choices += [choice] if choice else []
    except click.Abort:
        # The question's line is not ended.
        click.echo(err=True)
        raise
    finally:
        n_changes = len(choices) - choices.count("refused")
        what = ", ".join(f"{n:,} {choice}" for choice, n in Counter(choices).items())
        n_waiting = len(_list_waiting_ids(places))
        click.echo(safe(f"\n{decided_text(what, n_changes, n_waiting, n_columns())}"))


def _ask_item(each: "WaitingReport", n_items: int, config: "Config", places: Places) -> str:
    """Ask about an item and do what is decided; give what became of it, empty where nothing did."""
    from ullage.app.dream.report import item_text
    from ullage.app.dream.review import make_review, plan_review
    from ullage.core.dream.review import Decision

    decision = Decision(choice="accept", ids=(each.item.id,))
    try:
        plan = plan_review((decision,), places.cwd, config, places)
    except UllageError as error:
        plan = error
    click.echo(safe(f"\n{item_text(each, n_items, plan, n_columns())}"))
    key = _ask_key(replaces=bool(each.item.replaces))
    if key in "sq":
        return "quit" if key == "q" else ""
    try:
        if key == "e":
            words = str(click.prompt("As", default=each.item.finding, err=True))
            decision = msgspec.structs.replace(decision, text=words)
        elif key == "k":
            decision = msgspec.structs.replace(decision, keeps_replaced=True)
        elif key == "r":
            decision = msgspec.structs.replace(decision, choice="reject")
        if key != "a":
            plan = plan_review((decision,), places.cwd, config, places)
        if isinstance(plan, UllageError):
            raise plan
        make_review(plan, places.cwd, places)
    except UllageError as error:
        click.echo(safe(f"Not done: {error}"), err=True)
        return "refused"
    click.echo(safe(f"✓ {plan.what}"))
    return "rejected" if key == "r" else "accepted"


def _ask_key(*, replaces: bool) -> str:
    """Ask what is to become of an item; `?` explains the answers."""
    keys = {key: words for key, words in _KEYS.items() if replaces or key != "k"}
    asked = ", ".join(words for words, _ in keys.values())
    while True:
        key = str(
            click.prompt(
                f"{asked}, [?] help",
                type=click.Choice([*keys, "?"]),
                show_choices=False,
                default="s",
                err=True,
            )
        )
        if key != "?":
            return key
        click.echo("\n".join(f"  {key}  {meaning}" for key, (_, meaning) in keys.items()), err=True)


def _decide(decisions: "Sequence[Decision]", config: "Config", places: Places) -> None:
    """Show what the decisions change, ask, and do it as one change."""
    from ullage.app.dream.report import decided_text, plan_text
    from ullage.app.dream.review import make_review, plan_review

    plan = plan_review(decisions, places.cwd, config, places)
    click.echo(safe(plan_text(plan, n_columns())))
    if not click.confirm("Do this?", err=True):
        click.echo("Nothing was changed.", err=True)
        return
    make_review(plan, places.cwd, places)
    n_waiting = len(_list_waiting_ids(places))
    click.echo(safe(decided_text(plan.what, 1, n_waiting, n_columns())))


def _list_waiting_ids(places: Places) -> list[str]:
    from ullage.core.memory.inbox import read_items
    from ullage.store.memory.pages import read_page
    from ullage.store.memory.places import DREAMS

    return [item.item_id for item in read_items(read_page(places.cwd, DREAMS) or "")]


def _find_ids(items: Sequence[str], inbox: "InboxReport") -> tuple[str, ...]:
    """Find the ids of the items that are meant, each once.

    Raises:
        UnknownItem: one names none.
    """
    n_items = len(inbox.waiting)
    by_name = {str(each.number): each.item.id for each in inbox.waiting}
    by_name |= {each.item.id: each.item.id for each in inbox.waiting}
    if "all" in items:
        return tuple(dict.fromkeys(by_name.values()))
    names: list[str] = []
    for item in items:
        ends = _RANGE.fullmatch(item)
        first, last = (int(ends[1]), int(ends[2])) if ends else (0, 0)
        is_range = 1 <= first <= last <= n_items
        names += map(str, range(first, last + 1)) if is_range else (item,)
    unknown = [name for name in names if name not in by_name]
    if unknown:
        what = f"1 to {n_items}" if n_items else "nothing waits"
        raise UnknownItem(f"{unknown[0]} names no item ({what}): see `ullage memory review list`")
    return tuple(dict.fromkeys(by_name[name] for name in names))
