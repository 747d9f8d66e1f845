"""Messages that come by themselves: with buttons, or in words alone."""

from lsprotocol import types
from pygls.exceptions import JsonRpcMethodNotFound

from ullage.lsp.state import UllageServer


def say(ls: UllageServer, kind: types.MessageType, text: str) -> None:
    ls.window_show_message(types.ShowMessageParams(type=kind, message=text))


async def answer_to(
    ls: UllageServer, kind: types.MessageType, text: str, *buttons: str
) -> str | None:
    """Show a message, and wait, maybe for hours, for the button that is chosen.

    Raises:
        JsonRpcException: the client shows no such messages.
    """
    params = types.ShowMessageRequestParams(
        type=kind,
        message=text,
        actions=[types.MessageActionItem(title=title) for title in buttons],
    )
    try:
        answer = await ls.window_show_message_request_async(params)
    except JsonRpcMethodNotFound:
        ls.sessions.can_ask = False
        raise
    return None if answer is None else answer.title
