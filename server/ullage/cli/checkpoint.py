"""`ullage checkpoint`: the working state of a session, on disk."""

import click

from ullage.app.load import load
from ullage.app.sessions import find_session
from ullage.cli.options import current_config, session_option, window_option
from ullage.cli.output import safe
from ullage.store.places import current_places


@click.group()
def checkpoint() -> None:
    """Write the working state of a session, before anything is forgotten."""


@checkpoint.command()
@session_option
@window_option
def write(session: str | None, window: int | None) -> None:
    """Write a checkpoint: topic, decisions, open items, files. No model is asked."""
    from ullage.app.checkpoint import write_checkpoint

    places = current_places()
    config = current_config(window, places)
    loaded = load(find_session(session, places), config, places)
    written = write_checkpoint(loaded, config.checkpoint, places, trigger="manual")
    click.echo(safe(f"✓ Checkpoint {written.checkpoint.meta.checkpoint_id}: {written.path}"))
