"""Dreams by themselves: once a minute it is looked whether one is due; proposals are told of.

Not in a workspace that the client calls untrusted, and never while a file of memory has changes in
the editor that are not saved. Of several editors one dreams: what the last dream saw is in our
state.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable
from datetime import datetime
from pathlib import Path
from typing import TypeAlias

from lsprotocol.types import ShowDocumentParams

from ullage.app.dream.dream import DreamResult
from ullage.app.dream.due import find_due
from ullage.app.sessions.find import SeenSession
from ullage.core.dream.triggers import Trigger
from ullage.core.text.prose import plural
from ullage.errors import SessionLive, StateBusy, UllageError
from ullage.lsp.commands.dream import dream_of
from ullage.lsp.commands.progress import model_for
from ullage.lsp.convert import uri_of
from ullage.lsp.documents.memory_changes import find_unsaved
from ullage.lsp.error_edge import log_faults
from ullage.lsp.messages import is_pressed, say
from ullage.lsp.state import UllageServer
from ullage.store.files.local_time import local_now
from ullage.store.memory.places import DREAMS, MEMORY

LOOK_PAUSE_S = 60.0
"""A schedule is told in minutes."""
REVIEW = "Review"
Clock: TypeAlias = Callable[[], datetime]

log = logging.getLogger(__name__)


async def dream_when_due(ls: UllageServer, now: Clock = local_now) -> None:
    """Dream of the workspace's folders whenever that is due, until the server ends."""
    while True:
        await asyncio.sleep(LOOK_PAUSE_S)
        for folder in ls.workspace_folders():
            # A fault of one look does not end all others.
            await log_faults(consider_dream)(ls, folder, now)


async def consider_dream(ls: UllageServer, folder: Path, now: Clock = local_now) -> None:
    """Dream of a folder if that is due at this moment."""
    if not ls.may_write or not ls.config.memory.is_enabled or ls.sessions.seen is None:
        return
    try:
        result = await _dream_if_due(ls, folder, now())
    except (StateBusy, SessionLive):
        log.info("another program is at this folder's memory: no dream now")
        return
    except UllageError as error:
        _warn_once(ls, folder, error)
        return
    if result is not None and result.items:
        # The message may stand for hours.
        ls.begin(_tell, ls, folder, result)


async def _dream_if_due(ls: UllageServer, folder: Path, now: datetime) -> DreamResult | None:
    config, places, seen = ls.config, ls.places, ls.sessions.seen or ()

    def find() -> Trigger | None:
        return find_due(folder, config, places, now=now, last_active=_find_last(seen, folder))

    trigger = await asyncio.to_thread(find)
    if trigger is None or await find_unsaved(ls, folder) is not None:
        return None
    return await dream_of(ls, folder, await model_for(ls), trigger, now)


def _find_last(seen: Iterable[SeenSession], folder: Path) -> datetime | None:
    """Find when an agent wrote to a session of a folder last, among those that are known."""
    cwds = (None, str(folder), str(folder.resolve()))
    times = (each.written_ns for each in seen if each.session.header.cwd in cwds)
    newest_ns = max(times, default=None)
    return None if newest_ns is None else datetime.fromtimestamp(newest_ns / 1e9).astimezone()


async def _tell(ls: UllageServer, folder: Path, result: DreamResult) -> None:
    can_ask = ls.sessions.can_ask and ls.shows_documents
    if await is_pressed(ls, _word(result), REVIEW, can_ask=can_ask):
        uri = uri_of(folder / DREAMS)
        await ls.window_show_document_async(ShowDocumentParams(uri=uri, take_focus=True))


def _word(result: DreamResult) -> str:
    n_applied, n_waiting = len(result.applied), len(result.items) - len(result.applied)
    parts = (
        f"proposes {plural(n_waiting, 'line')} for {MEMORY}" if n_waiting else "",
        f"wrote {plural(n_applied, 'line')} into {MEMORY}" if n_applied else "",
    )
    return f"Ullage {' and '.join(filter(None, parts))}"


def _warn_once(ls: UllageServer, folder: Path, error: UllageError) -> None:
    """Warn of a folder once for each cause, however often it comes again."""
    cause = (folder, type(error).__name__)
    if cause not in ls.sessions.warned:
        ls.sessions.warned.add(cause)
        say(ls, str(error))
