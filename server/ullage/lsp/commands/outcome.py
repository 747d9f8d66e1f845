"""What every command that changes something has: a refusal, a question, and what is told."""

import asyncio
import functools
import shlex
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Concatenate, ParamSpec

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from ullage.app.sessions.load import Loaded
from ullage.app.summary.write import ModelUse, model_use
from ullage.errors import WriteNotSupported
from ullage.lsp.changed import notify_changed
from ullage.lsp.error_edge import guarded
from ullage.lsp.follow import refresh
from ullage.lsp.permission import refuse_write
from ullage.lsp.protocol import Outcome
from ullage.lsp.session import load_session, meant_path
from ullage.lsp.state import UllageServer
from ullage.summary.request import Progress

P = ParamSpec("P")


def changing(
    handler: Callable[Concatenate[UllageServer, P], Awaitable[Outcome]],
) -> Callable[Concatenate[UllageServer, P], Awaitable[Outcome]]:
    """Make a handler one of a command that writes: refused where nothing may be written.

    What became of it is told to the user where the client does not do that by itself.
    """

    @functools.wraps(handler)
    async def answer(ls: UllageServer, *args: P.args, **kwargs: P.kwargs) -> Outcome:
        refuse_write(ls)
        outcome = await handler(ls, *args, **kwargs)
        resume = "" if outcome.resume is None else f". Go on with: {outcome.resume}"
        tell(ls, f"{outcome.message}{resume}")
        return outcome

    return guarded(answer)


def tell(ls: UllageServer, message: str) -> None:
    if not ls.editor.shows_outcomes:
        ls.window_show_message(
            types.ShowMessageParams(type=types.MessageType.Info, message=message)
        )


async def ask(ls: UllageServer, question: str, button: str, command: str, path: Path) -> bool:
    """Ask the user before something is changed; no answer is a no.

    Raises:
        WriteNotSupported: the client shows no questions; `command` of the shell does the same.
    """
    params = types.ShowMessageRequestParams(
        type=types.MessageType.Info,
        message=question,
        actions=[types.MessageActionItem(title=button)],
    )
    try:
        choice = await ls.window_show_message_request_async(params)
    except JsonRpcException:
        raise WriteNotSupported(
            "this editor does not let us ask, so that nothing was changed: run"
            f" `ullage {command} --session {shlex.quote(str(path))}` in a shell"
        ) from None
    is_yes = choice is not None and choice.title == button
    if is_yes:
        # The question may have stood for hours.
        refuse_write(ls)
    return is_yes


async def meant(ls: UllageServer, session: str | None) -> Loaded:
    """Give the session that is meant, as it is now."""
    return await load_session(ls, meant_path(ls, session))


async def model_for(
    ls: UllageServer, loaded: Loaded, report: Callable[[Progress], None]
) -> ModelUse:
    """Give the configured model; the keyring is asked for its key in a thread."""
    return await asyncio.to_thread(
        lambda: model_use(ls.config.model, loaded, ls.places, report=report)
    )


async def changed(ls: UllageServer, *paths: Path) -> None:
    """Show what a change led to."""
    for path in dict.fromkeys(paths):
        await refresh(ls, path)
    notify_changed(ls, "sessions", "checkpoints", "memory")
