"""What a request is assembled from: a workspace, a session of it, and what counts its tokens."""

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from ullage.app.runtime.progress import SessionProgress
from ullage.app.runtime.request import RequestMessages, measure_request
from ullage.app.runtime.session import RuntimeSession, read_context
from ullage.app.sessions.load import counts_for, load, read
from ullage.app.sessions.named import find_session
from ullage.app.sessions.open import open_session
from ullage.app.sessions.secrets import secrets_in
from ullage.app.sessions.title import name_of
from ullage.core.config.settings import DEFAULT_WINDOW_TOKENS, Config
from ullage.core.transcript.context import Context
from ullage.core.transcript.entries import JsonObject
from ullage.errors import InputError, SessionNotFound
from ullage.formats.in_memory import as_system_message
from ullage.store.files.places import Places
from ullage.store.gauge.token_counts import TokenCounts
from ullage.store.gauge.tokenizer import count_tokens


def _list_natives(context: Context) -> list[JsonObject]:
    return [item.native for item in context.items]


class AssemblySource(msgspec.Struct, frozen=True, kw_only=True):
    """What a request is assembled from."""

    workspace: Path
    config: Config
    places: Places
    count: TokenCounts
    """With the encoding of the session's model."""
    window_tokens: int
    model: str | None = None
    session: str = ""
    """Its name, for people; empty where there is none yet."""
    context: Context | None = None
    """None where there is no session yet."""
    list_messages: Callable[[Context], Sequence[JsonObject]] = _list_natives
    """Lists those that would be sent, in the shape of the session's agent."""
    begin_history: Callable[[str], JsonObject] = as_system_message
    """Makes the message of the latest summary."""


def open_source(
    named: str | None, config: Config, places: Places, *, begins_anew: bool = False
) -> tuple[AssemblySource, tuple[str, ...]]:
    """Give what a session's request is assembled from, and the secrets that nobody is shown.

    Where none is named and the working folder has none, or `begins_anew`, that of a new session.

    Raises:
        SessionNotFound: the one that is named is not there.
    """
    places = places.for_reading(is_read_only=config.policy.is_read_only)
    try:
        session = None if begins_anew and named is None else find_session(named, places)
    except SessionNotFound:
        if named is not None:
            raise
        session = None
    if session is None:
        window = config.window_for(None) or DEFAULT_WINDOW_TOKENS
        source = AssemblySource(
            workspace=places.cwd,
            config=config,
            places=places,
            count=counts_for(None, places, count_tokens),
            window_tokens=window,
        )
        return source, secrets_in((places.cwd,), places)
    loaded, shape = load(session, config, places), session.agent.in_memory
    source = AssemblySource(
        workspace=Path(session.header.cwd or places.cwd),
        config=config,
        places=places,
        count=loaded.count,
        window_tokens=loaded.status.gauge.window.n_tokens,
        model=loaded.context.model,
        session=name_of(session, loaded.known_secrets),
        context=loaded.context,
        list_messages=session.agent.messages,
        begin_history=as_system_message if shape is None else shape.begin_history,
    )
    return source, loaded.known_secrets


def runtime_source(
    runtime: RuntimeSession, progress: SessionProgress, messages: list[JsonObject] | None
) -> AssemblySource:
    """Give what the request of a runtime's session is assembled from.

    Its history is `messages`; where it sends none, what its transcript holds.
    """
    info = runtime.info
    empty = measure_request(runtime, progress, RequestMessages(messages=[]))
    source = AssemblySource(
        workspace=info.cwd,
        config=runtime.config,
        places=runtime.places,
        count=runtime.count,
        window_tokens=empty.loaded.status.gauge.window.n_tokens,
        model=info.model,
        begin_history=info.shape.begin_history,
    )
    if messages is not None:
        return msgspec.structs.replace(source, context=read_context(runtime, messages))
    if info.session_file is None:
        return source
    try:
        session = open_session(info.session_file)
    except InputError:
        return source  # it is not written yet, or not of an agent that we know
    return msgspec.structs.replace(
        source,
        context=read(session, runtime.places).context,
        list_messages=session.agent.messages,
    )
