"""The offer of the last session's work, once, when an editor opens its folder.

Not where nothing may be written: then nobody could note that it was offered.
"""

import asyncio
import time
from pathlib import Path

from lsprotocol.types import MessageType, ShowDocumentParams
from msgspec.structs import replace

from ullage.app.checkpoint.last_work import find_work
from ullage.app.checkpoint.offer import name_agent
from ullage.app.sessions.secrets import secrets_in
from ullage.core.checkpoint.checkpoint import Checkpoint, clean
from ullage.core.checkpoint.offer import describe_work
from ullage.errors import UllageError
from ullage.lsp.commands.checkpoint import run_restore
from ullage.lsp.messages import is_pressed, say
from ullage.lsp.protocol import COPY_NOTIFICATION, CopyParams, RestoreArgument
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
    checkpoint = find_work(editor, ls.config, places, time.time())
    if checkpoint is None:
        return None
    meta = checkpoint.meta
    # By session: on two branches in turn each is told of once.
    if not mark_offered(f"{editor}:{meta.session_key}", meta.checkpoint_id, places):
        return None
    return clean(checkpoint, secrets_in((folder,), places))


async def _offer(ls: UllageServer, checkpoint: Checkpoint) -> None:
    message = f"You can go on with {describe_work(checkpoint, name_agent(checkpoint), time.time())}"
    if await is_pressed(ls, message, RESUME, can_ask=ls.sessions.can_ask and ls.can_show_text):
        try:
            await _resume(ls, checkpoint)
        except UllageError as error:
            say(ls, str(error))


async def _resume(ls: UllageServer, checkpoint: Checkpoint) -> None:
    """Show the text that a session is to begin with, and copy it where the client can do that.

    Raises:
        UllageError: the session or its checkpoint is gone meanwhile.
    """
    meta = checkpoint.meta
    argument = RestoreArgument(session=meta.session_file, checkpoint=meta.checkpoint_id)
    outcome = await run_restore(ls, argument)
    message = outcome.message
    if ls.editor.shows_outcomes and outcome.text is not None and outcome.uri is not None:
        ls.protocol.notify(COPY_NOTIFICATION, CopyParams(text=outcome.text))
        # A toast without buttons shows so much of it.
        message = f"{meta.checkpoint_id} is copied: paste it as a session's first message."
        if ls.shows_documents:
            await ls.window_show_document_async(
                ShowDocumentParams(uri=outcome.uri, take_focus=True)
            )
    say(ls, message, MessageType.Info)
