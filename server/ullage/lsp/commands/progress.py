"""Progress of long work in the client's window, which its user can cancel."""

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import TypeAlias, TypeVar, cast
from uuid import uuid4

import msgspec
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from ullage.app.change.make import ChangeResult, made_change
from ullage.app.gauge.status_text import about
from ullage.app.sessions.load import Loaded
from ullage.app.summary.write import ModelUse, model_use
from ullage.core.documents.virtual_uri import write_session_uri
from ullage.core.text.shell_word import quote_word
from ullage.errors import WriteNotSupported
from ullage.lsp.convert import resume_of, session_ref
from ullage.lsp.language_protocol import client_token
from ullage.lsp.messages import is_confirmed
from ullage.lsp.protocol import ConfirmParams, NextCommand, Outcome
from ullage.lsp.state import UllageServer
from ullage.summary.request import Progress

T = TypeVar("T")
Report: TypeAlias = Callable[[Progress], None]
"""Tells the client how far a model is; silent if the client does not show it."""


async def with_model(ls: UllageServer, work: Callable[[ModelUse], Awaitable[T]]) -> T | None:
    """Do what may ask the configured model for a summary; the progress names that model.

    None where the user cancelled it.
    """
    model = await model_for(ls)
    endpoint = model.endpoint
    title = (
        "Planning a compaction" if endpoint is None else f"Asking {endpoint.model} for a summary"
    )
    return await with_progress(
        ls, title, lambda report: work(msgspec.structs.replace(model, report=report))
    )


async def model_for(ls: UllageServer, report: Report | None = None) -> ModelUse:
    """Give the configured model; the keyring is asked for its key in a thread."""
    return await asyncio.to_thread(model_use, ls.config.model, ls.places, report=report)


async def with_progress(
    ls: UllageServer, title: str, work: Callable[[Report], Awaitable[T]]
) -> T | None:
    """Do some work under a progress of the client's own, or of ours where it shows such.

    None where its user cancelled it in the window. A request that is cancelled is so as usual.
    """
    token = await _shown_token(ls)
    task = asyncio.ensure_future(work(partial(_report, ls, token)))
    if token is None:
        return await task
    loop = asyncio.get_running_loop()
    ls.work_done_progress.begin(token, types.WorkDoneProgressBegin(title=title, cancellable=True))
    tokens = cast("dict[str | int, Future[None]]", ls.work_done_progress.tokens)  # pyright: ignore[reportUnknownMemberType]: as below
    cancelled = tokens[token]
    cancelled.add_done_callback(lambda _: loop.call_soon_threadsafe(task.cancel))
    try:
        return await task
    except asyncio.CancelledError:
        if cancelled.cancelled() and not _is_request_cancelled():
            return None
        raise
    finally:
        tokens.pop(token, None)
        ls.work_done_progress.end(token, types.WorkDoneProgressEnd())


def _report(ls: UllageServer, token: str | int | None, progress: Progress) -> None:
    if token is None:
        return
    value = types.WorkDoneProgressReport(
        cancellable=True,
        message=progress.text,
        percentage=min(100, 100 * progress.n_done // max(1, progress.n_total)),
    )
    ls.work_done_progress.report(token, value)


def _is_request_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


async def _shown_token(ls: UllageServer) -> str | int | None:
    """Give the client's token, else a new one that it agreed to show."""
    given = client_token.get()
    if given is not None:
        return given
    if not ls.client_window.work_done_progress:
        return None
    made = uuid4().hex
    try:
        await ls.work_done_progress.create_async(made)  # pyright: ignore[reportUnknownMemberType]: pygls types its futures in part
    except JsonRpcException:
        return None
    return made


def detail(*parts: str) -> str:
    """Write what a question says below itself: each part that there is in a line."""
    return "\n".join(part.strip() for part in parts if part)


async def confirm(ls: UllageServer, asked: ConfirmParams, command: str, path: Path) -> bool:
    """Ask the user before a session is changed; no answer is a no.

    Raises:
        WriteNotSupported: the client shows no questions; `command` of the shell does the same.
    """
    way_out = f"run `ullage {command} --session {quote_word(str(path))}` in a shell"
    return await ask_first(ls, asked, way_out)


async def ask_first(ls: UllageServer, asked: ConfirmParams, way_out: str) -> bool:
    """Ask the user before something is changed; no answer is a no.

    Raises:
        WriteNotSupported: the client shows no questions; the way out is what to do then.
    """
    try:
        is_yes = await is_confirmed(ls, asked)
    except JsonRpcException:
        raise WriteNotSupported(
            f"this editor does not let us ask, so that nothing was changed: {way_out}"
        ) from None
    if is_yes:
        # The question may have stood for hours.
        ls.refuse_write()
    return is_yes


def report_done(message: str, loaded: Loaded, next_command: NextCommand | None = None) -> Outcome:
    return Outcome(
        outcome="done",
        message=about(loaded, message),
        session=session_ref(loaded.session),
        next=next_command,
    )


def report_change(
    ls: UllageServer, message: str, made: ChangeResult, uri: str | None = None
) -> Outcome:
    ls.sessions.made[made.session.path] = made_change(made)
    return Outcome(
        outcome="done",
        message=about(made.plan.loaded, message),
        session=session_ref(made.session),
        change=made.receipt_id,
        uri=uri,
        resume=resume_of(made.session, made.resume_command) if made.is_elsewhere else None,
    )


def report_cancelled(message: str) -> Outcome:
    return Outcome(outcome="cancelled", message=message)


def report_nothing(reason: str, uri: str | None = None) -> Outcome:
    return Outcome(outcome="nothing", message=f"Nothing to do: {reason}", uri=uri)


def report_unneeded(loaded: Loaded, reason: str) -> Outcome:
    """Say why nothing is done to a session; a view of its status says more."""
    uri = write_session_uri(str(loaded.path), "Context Status")
    return report_nothing(about(loaded, reason), uri)
