"""The open sessions by their handles, and the methods that open, resume and close one."""

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from time import time
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ullage.agent import protocol
from ullage.agent.json_rpc import INVALID_PARAMS, Failure, RpcError
from ullage.app.checkpoint.offer import offer_work
from ullage.app.checkpoint.resume import Resume, restore_after_compaction, resume
from ullage.app.checkpoint.write import is_private
from ullage.app.runtime.progress import Restore, SessionProgress
from ullage.app.runtime.request import RequestMessages, measure_request
from ullage.app.runtime.session import (
    RuntimeInfo,
    RuntimeSession,
    open_runtime_session,
    save_progress,
)
from ullage.app.sessions.load import Loaded
from ullage.core.gauge.gauge import ratio_at, reserve_at
from ullage.formats.registry import agent_of_runtime, message_shape
from ullage.store.files.places import Places
from ullage.store.gauge.token_counts import CountText
from ullage.store.gauge.tokenizer import count_with_tokenizer

if TYPE_CHECKING:
    from ullage.app.memory.open_memories import OpenMemories

log = logging.getLogger(__name__)


class OpenSession:
    """A session and its progress, which changes on the event loop only."""

    def __init__(self, runtime: RuntimeSession, progress: SessionProgress) -> None:
        self.runtime = runtime
        self.progress = progress
        self.lock = asyncio.Lock()

    async def save(self, progress: SessionProgress) -> None:
        """Take up the progress of a call, and write what must outlive the process."""
        before, self.progress = self.progress, progress
        for note in await asyncio.to_thread(save_progress, self.runtime, before, progress):
            log.warning("%s", note)


class Sessions:
    """The sessions that are open: one request at a time in each, in order. And the memories."""

    def __init__(self, places: Places, count_text: CountText = count_with_tokenizer) -> None:
        self.places = places
        self.count_text = count_text
        self.memory_turn = asyncio.Lock()
        """Held by one question at a time: no other request waits for a thread because of an index
        that is built."""
        self._memories: OpenMemories | None = None
        self._open: dict[str, OpenSession] = {}
        self._numbers = count(1)

    def add(self, runtime: RuntimeSession, progress: SessionProgress) -> str:
        handle = f"s{next(self._numbers)}"
        self._open[handle] = OpenSession(runtime, progress)
        return handle

    @asynccontextmanager
    async def use(self, handle: str) -> AsyncGenerator[OpenSession]:
        """Wait until it is a request's turn; the lock is fair, so that requests stay in order.

        Raises:
            RpcError: there is no such session any more.
        """
        if handle in self._open:
            session = self._open[handle]
            async with session.lock:
                if handle in self._open:
                    yield session
                    return
        raise _not_open()

    def find(self, handle: str) -> RuntimeSession:
        """Give a session as it was opened, without waiting for its turn.

        Raises:
            RpcError: there is no such session any more.
        """
        if handle not in self._open:
            raise _not_open()
        return self._open[handle].runtime

    def close(self, handle: str) -> None:
        self._open.pop(handle, None)

    def memories(self) -> "OpenMemories":
        """Give the memories that are open; who asks for none does not pay for what they need."""
        if self._memories is None:
            from ullage.app.memory.open_memories import OpenMemories

            self._memories = OpenMemories(self.places)
        return self._memories

    def close_memories(self) -> None:
        if self._memories is not None:
            self._memories.close()


async def open_session(sessions: Sessions, params: protocol.Open) -> protocol.Opened:
    info = _read_info(params)

    def load() -> tuple[RuntimeSession, SessionProgress, Loaded, Resume | None]:
        runtime, progress = open_runtime_session(info, sessions.places, sessions.count_text)
        empty = measure_request(runtime, progress, RequestMessages(messages=[]))
        return runtime, progress, empty.loaded, _latest_checkpoint(runtime)

    runtime, progress, loaded, checkpoint = await asyncio.to_thread(load)
    # The first request is likely to need it, and comes only after the user's first words.
    asyncio.get_running_loop().run_in_executor(None, runtime.count.warm_up)
    window, policy = loaded.status.gauge.window, loaded.policy
    return protocol.Opened(
        session=sessions.add(runtime, progress),
        version=protocol.PROTOCOL_VERSION,
        session_key=runtime.key,
        checkpoint_id=None if checkpoint is None else checkpoint.checkpoint_id,
        window_tokens=window.n_tokens,
        window_source=window.source,
        thresholds=protocol.Thresholds(
            gauge_tokens=ratio_at(window.n_tokens, policy.gauge_ratio),
            checkpoint_tokens=ratio_at(window.n_tokens, policy.checkpoint_ratio),
            prune_tokens=ratio_at(window.n_tokens, policy.prune_ratio),
            summarize_tokens=ratio_at(window.n_tokens, policy.summarize_ratio),
            full_tokens=ratio_at(window.n_tokens, policy.full_ratio),
            reserve_tokens=reserve_at(window.n_tokens, policy),
        ),
    )


async def resume_session(sessions: Sessions, params: protocol.Resume) -> protocol.Resumed:
    async with sessions.use(params.session) as session:
        runtime = session.runtime
        restored = await asyncio.to_thread(
            restore_after_compaction, runtime.key, runtime.config.checkpoint, runtime.places
        )
        if restored is None:
            return protocol.Resumed(text=None, checkpoint_id=None, problem=None)
        await session.save(replace(session.progress, restore=Restore(is_fetched=True)))
    checkpoint = restored.checkpoint
    return protocol.Resumed(
        text=restored.text,
        checkpoint_id=None if checkpoint is None else checkpoint.checkpoint_id,
        problem=None if checkpoint is None else checkpoint.problem,
    )


async def offer_session(sessions: Sessions, params: protocol.Offer) -> protocol.Offered:
    async with sessions.use(params.session) as session:
        runtime = session.runtime
        offer = await asyncio.to_thread(
            offer_work,
            runtime.key,
            runtime.config,
            runtime.places,
            time(),
            session_id=runtime.info.session_id,
            is_private=is_private(runtime.session, runtime.origin),
            is_read_only=runtime.info.is_read_only,
        )
    if offer is None:
        return protocol.Offered(text=None, note=None, checkpoint_id=None)
    return protocol.Offered(text=offer.text, note=offer.note, checkpoint_id=offer.checkpoint_id)


async def close_session(sessions: Sessions, params: protocol.Close) -> protocol.Closed:
    async with sessions.use(params.session):
        sessions.close(params.session)
    return protocol.Closed()


def _latest_checkpoint(runtime: RuntimeSession) -> Resume | None:
    return resume(runtime.key, runtime.config.checkpoint, runtime.places)


def _read_info(params: protocol.Open) -> RuntimeInfo:
    agent = agent_of_runtime(params.agent)
    shape = None if agent is None else agent.in_memory
    if params.message_format is not None:
        shape = message_shape(params.message_format)
    if shape is None:
        raise refuse_params(
            f"messageFormat: Ullage does not know how {params.agent[:40]!r} has messages"
        )
    session_id = params.session_id or params.session_key
    if not session_id or not params.agent:
        raise refuse_params("agent, and sessionId or sessionKey: one of them is missing or empty")
    cwd = read_folder(params.cwd)
    if "\0" in (params.session_file or ""):
        raise refuse_params("sessionFile: a path has no character 0")
    return RuntimeInfo(
        name=params.agent,
        agent=None if agent is None else agent.agent,
        shape=shape,
        cwd=cwd,
        session_id=session_id,
        session_key=params.session_key,
        session_file=Path(params.session_file) if params.session_file else None,
        channel=params.channel,
        agent_id=params.agent_id,
        model=params.model,
        window_tokens=params.window_tokens,
        n_compactions=params.compaction_count,
        is_read_only=params.is_read_only,
        can_take_turn=params.can_take_turn,
    )


def read_folder(cwd: str) -> Path:
    """Take the path of a workspace.

    Raises:
        RpcError: it is not one that is absolute.
    """
    path = Path(cwd)
    if "\0" in cwd or not path.is_absolute():
        raise refuse_params("cwd: give an absolute path, without a character 0")
    return path


def _not_open() -> Failure:
    return Failure("not_open", "no session is open by this handle: call context/open first")


def refuse_params(problem: str) -> RpcError:
    """Make the error that names what is wrong with the params of a request."""
    return RpcError(INVALID_PARAMS, f"wrong params: {problem}")
