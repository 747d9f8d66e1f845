"""`ullage autocompact`: whether a session is compacted by itself."""

import click

from ullage.app.sessions.find import find_session
from ullage.cli.options import current_config, json_option, session_option, window_option
from ullage.cli.output import answer
from ullage.store.files.places import current_places


@click.command()
@click.argument("choice", type=click.Choice(["on", "off", "status"]), default="status")
@session_option
@window_option
@json_option
def autocompact(choice: str, session: str | None, window: int | None, as_json: bool) -> None:
    """Turn automatic compaction of a session on or off, or show how it stands.

    The editor compacts by itself what is due, and so does `ullage compact --auto`.
    """
    from ullage.app.change.auto import auto_text, report_auto, switch

    places = current_places()
    found = find_session(session, places)
    if choice != "status":
        switch(found, is_on=choice == "on", places=places)
    report = report_auto(found, current_config(window, places), places)
    answer(auto_text(report), report, as_json)
