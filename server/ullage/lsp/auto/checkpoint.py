"""The checkpoint that is written by itself while a session fills up.

It does not wait until the session is quiet: the agent may forget in the middle of its work, and
nothing is written to the transcript.
"""

import asyncio
import logging

from ullage.app.checkpoint.write import is_due, write_checkpoint
from ullage.app.sessions.load import Loaded
from ullage.errors import UllageError
from ullage.lsp.changed import notify_changed
from ullage.lsp.state import UllageServer

log = logging.getLogger(__name__)


async def write_when_due(ls: UllageServer, loaded: Loaded) -> None:
    """Write a checkpoint of a session that is full enough and has changed since the last one.

    Where that cannot be, the next change is the next chance; before a compaction one is written
    all the same.
    """
    written, settings = ls.sessions.checkpoint_tokens, ls.config.checkpoint
    if not is_due(loaded, None, settings):
        written.pop(loaded.path, None)
        return
    if not is_due(loaded, written.get(loaded.path), settings):
        return
    try:
        made = await asyncio.to_thread(
            write_checkpoint, loaded, settings, ls.places, trigger="auto-80pct", channel="lsp"
        )
    except UllageError as error:
        log.info("%s: a checkpoint cannot be written now", type(error).__name__)
        return
    written[loaded.path] = loaded.status.gauge.used_tokens or 0
    if made.is_new:
        notify_changed(ls, "checkpoints")
