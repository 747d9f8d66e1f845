"""A session whose messages its runtime holds in memory: what it is, and its state on disk."""

from collections.abc import Callable
from pathlib import Path

import msgspec

from ullage.app.checkpoint.write import RUNTIME_CHANNEL, Origin
from ullage.app.config.load import load_config
from ullage.app.runtime.progress import SessionProgress, progress_of, state_of
from ullage.app.sessions.load import counts_for, read
from ullage.app.sessions.open import open_session
from ullage.app.sessions.session import Session
from ullage.core.change.breaker import Breaker
from ullage.core.config.settings import Config
from ullage.core.transcript.context import Context, ContextItem
from ullage.core.transcript.entries import Agent, Header, JsonObject
from ullage.errors import InputError, UllageError
from ullage.formats.in_memory import MessageShape, SessionFacts, context_of_messages
from ullage.store.files.places import Places
from ullage.store.gauge.token_counts import CountText, TokenCounts
from ullage.store.gauge.tokenizer import count_tokens
from ullage.store.state.auto_state import change_breaker, read_auto_state
from ullage.store.state.runtime_state import read_runtime_state, write_runtime_state
from ullage.store.transcript.reader import NoLines


class RuntimeInfo(msgspec.Struct, frozen=True, kw_only=True):
    """What a runtime says of a session when it opens it."""

    name: str
    """The runtime's own."""
    agent: Agent | None = None
    """None for a runtime that we do not know."""
    shape: MessageShape
    cwd: Path
    session_id: str
    session_key: str | None = None
    session_file: Path | None = None
    channel: str | None = None
    agent_id: str | None = None
    model: str | None = None
    window_tokens: int | None = None
    n_compactions: int | None = None
    is_read_only: bool = False
    """By the runtime's word, or once it is opened by the configuration."""
    can_take_turn: bool = False


class RuntimeSession(msgspec.Struct, frozen=True, kw_only=True):
    """An opened session."""

    info: RuntimeInfo
    session: Session
    config: Config
    places: Places
    count: TokenCounts

    @property
    def key(self) -> str:
        return self.session.state_key

    @property
    def origin(self) -> Origin:
        """Tell where its user talks to which agent, by the runtime's word or by the key.

        Keys are `channel:…`, and in OpenClaw `agent:agentId:channel:…`.
        """
        info, channel, agent_id = self.info, None, None
        head, *parts = (info.session_key or "").split(":")
        if head == "agent" and len(parts) > 1:
            agent_id, channel = parts[0], parts[1] if len(parts) > 2 else None
        elif parts and head not in (info.name, info.agent):
            channel = head
        return Origin(
            channel=info.channel or channel or RUNTIME_CHANNEL,
            agent_id=info.agent_id or agent_id,
        )


def open_runtime_session(
    info: RuntimeInfo, places: Places, count_text: CountText = count_tokens
) -> tuple[RuntimeSession, SessionProgress]:
    """Open a session of a runtime, and go on from the state that it has on disk."""
    config = load_config(places, workspace=info.cwd)
    is_read_only = info.is_read_only or config.policy.is_read_only
    info = msgspec.structs.replace(info, is_read_only=is_read_only)
    places = msgspec.structs.replace(places, cwd=info.cwd).for_reading(is_read_only=is_read_only)
    session = RuntimeSession(
        info=info,
        session=Session(
            header=Header(
                agent=info.agent, session_id=info.session_id, version=0, cwd=str(info.cwd)
            ),
            agent_info=None,
            lines=NoLines(info.session_file or Path()),
            # The same key as of its transcript: the command line finds what the runtime saved.
            key=info.session_key or f"{info.agent or info.name}:{info.session_id}",
            runtime=info.name,
        ),
        config=config,
        places=places,
        count=counts_for(info.model, places, count_text),
    )
    return session, _load_progress(session)


def save_progress(
    session: RuntimeSession, before: SessionProgress, after: SessionProgress
) -> tuple[str, ...]:
    """Write what must outlive this process where it changed; give what the disk did not take."""
    state = state_of(after)
    if session.info.is_read_only or state is None or state == state_of(before):
        return ()
    return notes_of(lambda: write_runtime_state(session.key, state, session.places))


def remember_run(session: RuntimeSession, record: Callable[[Breaker], Breaker]) -> tuple[str, ...]:
    """Change what is known of the session's automatic runs; give what the disk did not take."""
    if session.info.is_read_only:
        return ()
    return notes_of(lambda: change_breaker(session.session.state_key, record, session.places))


def notes_of(write: Callable[[], object]) -> tuple[str, ...]:
    """Write what a request need not wait for; give the error as a note for the runtime's log."""
    try:
        write()
    except UllageError as error:
        return (str(error),)
    return ()


def read_messages(session: RuntimeSession, messages: list[JsonObject]) -> tuple[ContextItem, ...]:
    """Read single messages, apart from their context."""
    return read_context(session, messages).items


def read_context(session: RuntimeSession, messages: list[JsonObject]) -> Context:
    """Read messages as the context that they are, apart from what is known of earlier ones."""
    given = SessionFacts(header=session.session.header, n_compactions=0)
    return context_of_messages(session.info.shape, messages, given)


def _load_progress(session: RuntimeSession) -> SessionProgress:
    by_runtime = _count_compactions(session)
    state = read_runtime_state(session.key, session.places)
    if state is not None:
        return progress_of(state, by_runtime)
    epoch = read_auto_state(session.key, session.places).breaker.epoch
    return SessionProgress(n_compactions=epoch if by_runtime is None else by_runtime)


def _count_compactions(session: RuntimeSession) -> int | None:
    """Count as the runtime does, else by the transcript; None where neither can."""
    info = session.info
    if info.n_compactions is not None:
        return info.n_compactions
    if info.session_file is not None:
        try:
            return len(read(open_session(info.session_file), session.places).context.compactions)
        except InputError:
            pass  # it is not written yet, or not of an agent that we know
    return None
