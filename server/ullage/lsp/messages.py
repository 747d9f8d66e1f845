"""What is shown in the client's window: messages, questions, documents."""

from contextlib import suppress
from typing import cast

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcMethodNotFound

from ullage.lsp.error_edge import plain_message
from ullage.lsp.protocol import CONFIRM_QUESTION, ConfirmParams
from ullage.lsp.state import UllageServer


def say(ls: UllageServer, text: str, kind: types.MessageType = types.MessageType.Warning) -> None:
    ls.window_show_message(types.ShowMessageParams(type=kind, message=plain_message(text)))


def tell(ls: UllageServer, message: str) -> None:
    """Tell the user what became of a command, unless the client does so by itself."""
    if not ls.editor.shows_outcomes:
        say(ls, message, types.MessageType.Info)


async def is_confirmed(ls: UllageServer, asked: ConfirmParams) -> bool:
    """Ask what a command asks first; no answer is a no.

    Raises:
        JsonRpcException: the client shows no questions.
    """
    if ls.editor.shows_outcomes:
        with suppress(JsonRpcMethodNotFound):
            answer = cast(object, await ls.protocol.send_request_async(CONFIRM_QUESTION, asked))
            return getattr(answer, "isConfirmed", False) is True
    text = f"{asked.question} {asked.detail}".replace("\n", " ")
    return await choose(ls, text, asked.button) == asked.button


async def choose(
    ls: UllageServer, text: str, *buttons: str, kind: types.MessageType = types.MessageType.Info
) -> str | None:
    """Show a message, and wait, maybe for hours, for the button that is chosen.

    Raises:
        JsonRpcException: the client shows no such messages.
    """
    actions = [types.MessageActionItem(title=title) for title in buttons]
    params = types.ShowMessageRequestParams(type=kind, message=plain_message(text), actions=actions)
    try:
        answer = await ls.window_show_message_request_async(params)
    except JsonRpcMethodNotFound:
        ls.sessions.can_ask = False
        raise
    return None if answer is None else answer.title


async def is_pressed(ls: UllageServer, text: str, button: str, *, can_ask: bool) -> bool:
    """Tell something with a button, or without where the client cannot ask; True for a press."""
    if can_ask:
        with suppress(JsonRpcException):
            return await choose(ls, text, button) == button
    say(ls, text, types.MessageType.Info)
    return False


async def show_virtual_document(ls: UllageServer, uri: str) -> None:
    """Have a client open a document of our scheme that does not do so by itself, if it can."""
    if ls.shows_virtual_documents and not ls.editor.shows_outcomes:
        await ls.window_show_document_async(types.ShowDocumentParams(uri=uri))
