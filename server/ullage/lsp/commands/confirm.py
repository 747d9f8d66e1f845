"""The question before a command changes something, and what it answers where nothing changed."""

import shlex
from pathlib import Path

from pygls.exceptions import JsonRpcException

from ullage.errors import WriteNotSupported
from ullage.lsp.messages import choose
from ullage.lsp.protocol import Outcome
from ullage.lsp.state import UllageServer


async def confirm(ls: UllageServer, question: str, button: str, command: str, path: Path) -> bool:
    """Ask the user before something is changed; no answer is a no.

    Raises:
        WriteNotSupported: the client shows no questions; `command` of the shell does the same.
    """
    try:
        is_yes = await choose(ls, question, button) == button
    except JsonRpcException:
        raise WriteNotSupported(
            "this editor does not let us ask, so that nothing was changed: run"
            f" `ullage {command} --session {shlex.quote(str(path))}` in a shell"
        ) from None
    if is_yes:
        # The question may have stood for hours.
        ls.refuse_write()
    return is_yes


def cancelled(message: str) -> Outcome:
    return Outcome(outcome="cancelled", message=message)


def nothing_to_do(reason: str) -> Outcome:
    return Outcome(outcome="nothing", message=f"Nothing to do: {reason}")
