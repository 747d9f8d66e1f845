"""What is written by itself while a session goes on: its working state, and its checkpoint.

A checkpoint does not wait until the session is quiet: the agent may forget in the middle of its
work, and nothing is written to the transcript.
"""

import asyncio
import logging

from ullage.app.checkpoint.capture import capture
from ullage.app.checkpoint.write import EDITOR, is_due, write_checkpoint
from ullage.app.memory.agent_writes import note_agent_writes
from ullage.app.memory.flush import workspace_of
from ullage.app.sessions.follow import new_events
from ullage.core.checkpoint.captured import ToolEvent
from ullage.errors import UllageError
from ullage.lsp.client_refresh import refresh_lists
from ullage.lsp.state import SessionChange, UllageServer

log = logging.getLogger(__name__)


async def capture_events(ls: UllageServer, change: SessionChange) -> None:
    """Note what happened; where that cannot be, the next checkpoint reads it in the transcript."""
    before, after = change.before, change.after
    if before is None or after is None or not ls.may_write:
        return

    def write() -> tuple[str, ...]:
        loaded, events = after.loaded, new_events(before, after)
        key, is_on = loaded.session.state_key, ls.config.memory.is_enabled
        problems = capture(key, events, ls.places, known_secrets=loaded.known_secrets)
        calls = (event.arguments for event in events if isinstance(event, ToolEvent))
        if is_on and any("memory" in arguments.lower() for arguments in calls):
            workspace = workspace_of(loaded, ls.places)
            note_agent_writes(loaded.context.items, key, workspace, ls.places)
        return problems

    try:
        for problem in await asyncio.to_thread(write):
            log.warning("%s", problem)
    except UllageError as error:
        log.info("%s: the working state cannot be written now", type(error).__name__)


async def write_when_due(ls: UllageServer, change: SessionChange) -> None:
    """Write a checkpoint of a session that is full enough and has changed since the last one.

    Where that cannot be, the next change is the next chance; before a compaction one is written
    all the same.
    """
    if change.before is None or change.after is None or not ls.may_write:
        return
    loaded, settings = change.after.loaded, ls.config.checkpoint
    written = ls.sessions.checkpoint_tokens
    if not is_due(loaded, None, settings):
        written.pop(loaded.path, None)
        return
    if not is_due(loaded, written.get(loaded.path), settings):
        return
    try:
        checkpoint = await asyncio.to_thread(
            write_checkpoint, loaded, settings, ls.places, trigger="auto-80pct", origin=EDITOR
        )
    except UllageError as error:
        log.info("%s: a checkpoint cannot be written now", type(error).__name__)
        return
    written[loaded.path] = checkpoint.checkpoint.meta.token_usage.input_tokens
    if checkpoint.is_new:
        refresh_lists(ls, "checkpoints")
