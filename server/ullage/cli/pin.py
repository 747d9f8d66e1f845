"""`ullage pin`: what every compaction has to keep, word for word."""

import click

from ullage.cli.options import json_option, open_session, refuse_writing, session_option
from ullage.cli.output import answer, safe

_PINNED = "✓ Pinned: every summary of this session will hold it.\n"


@click.command()
@click.argument("text", required=False)
@click.option("--entry", metavar="ID", help="Pin a message: its entry id or number in the context.")
@click.option("--label", metavar="TEXT", help="A name for the pin, shown in the list.")
@click.option("--list", "is_list", is_flag=True, help="Show what is pinned.")
@click.option("--remove", type=click.IntRange(min=1), metavar="N", help="Remove pin number N.")
@session_option
@json_option
def pin(
    text: str | None,
    entry: str | None,
    label: str | None,
    is_list: bool,
    remove: int | None,
    session: str | None,
    as_json: bool,
) -> None:
    """Have every summary of a session hold a text word for word.

    \b
    ullage pin "Never touch the production database"
    ullage pin --entry 3f9c2ab7
    ullage pin --list
    ullage pin --remove 1
    """
    from ullage.app.summary.pins import pin_entry, pin_text, pins_text, report_pins, unpin

    if (text is not None) + (entry is not None) + is_list + (remove is not None) != 1:
        raise click.UsageError("give one of: a text, --entry ID, --list, --remove N")
    if label is not None and (is_list or remove is not None):
        raise click.UsageError("--label names a pin that is added")
    opened, places = open_session(session)
    if not is_list:
        refuse_writing(places)
    changed, done = None, ""
    if text is not None:
        changed, done = pin_text(opened, text, places, by="command line", label=label), _PINNED
    elif entry is not None:
        changed, done = pin_entry(opened, entry, places, by="command line", label=label), _PINNED
    elif remove is not None:
        changed, done = unpin(opened, remove, places), f"✓ Removed pin {remove}.\n"
    if changed is not None and changed.problem is not None:
        click.echo(safe(f"Warning: {changed.problem}"), err=True)
    report = report_pins(opened, (), places)
    answer(done + pins_text(report), report, as_json)
