"""`ullage pin`: what every compaction has to keep, word for word."""

import click

from ullage.app.config.load import refuse_read_only
from ullage.cli.options import json_option, load_session, session_option
from ullage.cli.output import TABLE_COLUMNS, answer, n_columns, safe


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
    from ullage.app.gauge.status_text import about
    from ullage.app.summary import pins

    if (text is not None) + (entry is not None) + is_list + (remove is not None) != 1:
        raise click.UsageError("give one of: a text, --entry ID, --list, --remove N")
    if label is not None and (is_list or remove is not None):
        raise click.UsageError("--label names a pin that is added")
    loaded, _, places = load_session(session, None)
    opened, lines = loaded.session, []
    if not is_list:
        refuse_read_only(loaded.policy)
        done = "Pinned: every summary will hold"
        if remove is not None:
            done = "Pin removed: no summary has to hold"
            pinned = pins.find_pin(opened, remove, places)
            changed = pins.unpin(opened, pinned, places)
        elif text is not None:
            changed = pins.pin_text(opened, text, places, by="command line", label=label)
            pinned = changed.pins[-1].text
        else:
            changed = pins.pin_entry(opened, entry or "", places, by="command line", label=label)
            pinned = changed.pins[-1].text
        if changed.problem is not None:
            click.echo(safe(f"Warning: {changed.problem}"), err=True)
        lines = [about(loaded, f"✓ {done} {pins.quote_pin(pinned)}")]
    report = pins.report_pins(opened, (), places)
    answer("\n".join((*lines, pins.pins_text(report, n_columns(TABLE_COLUMNS)))), report, as_json)
