"""The offer of the last session's work, once, when an editor opens its folder.

Not of a session that its agent has open still, and not where nothing may be written: then nobody
could note that it was offered.
"""

import asyncio
import time
from pathlib import Path

from lsprotocol.types import MessageType, ShowDocumentParams
from msgspec.structs import replace
from pygls.exceptions import JsonRpcException

from ullage.app.checkpoint.offer import find_work
from ullage.app.sessions.find import find_running_ids
from ullage.app.sessions.secrets import secrets_in
from ullage.core.checkpoint.checkpoint import Checkpoint, clean
from ullage.core.checkpoint.offer import describe_work
from ullage.errors import UllageError
from ullage.lsp.commands.checkpoint import run_restore
from ullage.lsp.messages import choose, say
from ullage.lsp.protocol import RestoreArgument
from ullage.lsp.state import UllageServer
from ullage.store.checkpoint.left_work import mark_offered
from ullage.store.files.places import folder_name

RESUME = "Resume"


async def offer_last_work(ls: UllageServer) -> None:
    """Offer what the last session of each folder of the workspace left."""
    if not ls.may_write or ls.config.resume.offer == "never":
        return
    for folder in ls.workspace_folders():
        checkpoint = await asyncio.to_thread(_take_offer, ls, folder)
        if checkpoint is not None:
            # The message may stand for hours.
            ls.begin(_offer, ls, checkpoint)


def _take_offer(ls: UllageServer, folder: Path) -> Checkpoint | None:
    places = replace(ls.places, cwd=folder)
    editor = f"editor:{folder_name(str(folder))}"
    checkpoint = find_work(editor, places, time.time())
    if checkpoint is None:
        return None
    meta = checkpoint.meta
    if meta.session_key.partition(":")[2] in find_running_ids(places):
        return None
    if not mark_offered(editor, f"{meta.session_key} {meta.checkpoint_id}", places):
        return None
    return clean(checkpoint, secrets_in((folder,), places))


async def _offer(ls: UllageServer, checkpoint: Checkpoint) -> None:
    message = f"Ullage has {describe_work(checkpoint, time.time())}"
    if not (ls.sessions.can_ask and ls.shows_documents):
        say(ls, message, MessageType.Info)
        return
    try:
        answer = await choose(ls, message, RESUME)
    except JsonRpcException:
        say(ls, message, MessageType.Info)
        return
    if answer == RESUME:
        meta = checkpoint.meta
        argument = RestoreArgument(session=meta.session_file, checkpoint=meta.checkpoint_id)
        try:
            outcome = await run_restore(ls, argument)
        except UllageError as error:
            say(ls, str(error))
            return
        if outcome.uri is not None and ls.editor.shows_outcomes:
            await ls.window_show_document_async(
                ShowDocumentParams(uri=outcome.uri, take_focus=True)
            )
