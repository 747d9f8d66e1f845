"""`context/open`, `context/resume` and `context/close`: the beginning and the end of a session."""

import asyncio
import logging
from pathlib import Path

from ullage.agent.protocol import (
    INVALID_PARAMS,
    PROTOCOL_VERSION,
    Close,
    Closed,
    Open,
    Opened,
    Resume,
    Resumed,
    Thresholds,
)
from ullage.agent.sessions import Sessions
from ullage.agent.wire import RpcError
from ullage.app.checkpoint.resume import Resume as Found
from ullage.app.checkpoint.resume import resume
from ullage.app.runtime.session import (
    Attached,
    Call,
    HeldAgent,
    Progress,
    Runtime,
    attach,
    keep,
    load_call,
    set_restored,
)
from ullage.app.sessions.load import Loaded
from ullage.core.gauge.policy import ratio_at, reserve_at

log = logging.getLogger(__name__)

_AGENTS: dict[str, HeldAgent] = {
    "pi": "openclaw",
    "openclaw": "openclaw",
    "claude-code": "claude-code",
    "codex": "codex",
}
"""The agents that we know, whose messages have a shape of their own."""


async def open_session(sessions: Sessions, params: Open) -> Opened:
    runtime = _runtime(params)

    def opened() -> tuple[Attached, Progress, Loaded, Found | None]:
        attached, progress = attach(runtime, sessions.places, sessions.count_text)
        empty = load_call(attached, progress, Call(messages=[]))
        return attached, progress, empty.loaded, _found(attached)

    attached, progress, loaded, found = await asyncio.to_thread(opened)
    # The first request is likely to need it, and comes only after the user's first words.
    asyncio.get_running_loop().run_in_executor(None, attached.count.warm_up)
    window, policy = loaded.status.gauge.window, loaded.policy
    return Opened(
        session=sessions.add(attached, progress),
        version=PROTOCOL_VERSION,
        session_key=attached.key,
        checkpoint_id=None if found is None else found.checkpoint_id,
        window_tokens=window.n_tokens,
        window_source=window.source,
        thresholds=Thresholds(
            gauge_tokens=ratio_at(window.n_tokens, policy.gauge_ratio),
            checkpoint_tokens=ratio_at(window.n_tokens, policy.checkpoint_ratio),
            prune_tokens=ratio_at(window.n_tokens, policy.prune_ratio),
            summarize_tokens=ratio_at(window.n_tokens, policy.summarize_ratio),
            full_tokens=ratio_at(window.n_tokens, policy.full_ratio),
            reserve_tokens=reserve_at(window.n_tokens, policy),
        ),
    )


async def resume_session(sessions: Sessions, params: Resume) -> Resumed:
    async with sessions.use(params.session) as opened:
        found = await asyncio.to_thread(_found, opened.attached)
        if found is not None:
            before, opened.progress = opened.progress, set_restored(opened.progress)
            for note in await asyncio.to_thread(keep, opened.attached, before, opened.progress):
                log.warning("%s", note)
    if found is None:
        return Resumed(text=None, checkpoint_id=None, problem=None)
    return Resumed(text=found.text, checkpoint_id=found.checkpoint_id, problem=found.problem)


async def close_session(sessions: Sessions, params: Close) -> Closed:
    async with sessions.use(params.session) as opened:
        sessions.close(params.session, opened)
    return Closed()


def _found(attached: Attached) -> Found | None:
    return resume(attached.key, attached.config.checkpoint, attached.places)


def _runtime(params: Open) -> Runtime:
    known = _AGENTS.get(params.agent)
    shape = params.message_format or known
    if shape is None:
        raise _wrong(f"messageFormat: Ullage does not know how {params.agent[:40]!r} has messages")
    session_id = params.session_id or params.session_key
    if not session_id or not params.agent:
        raise _wrong("agent, and sessionId or sessionKey: one of them is missing or empty")
    if "\0" in params.cwd or "\0" in (params.session_file or ""):
        raise _wrong("cwd and sessionFile: a path has no character 0")
    cwd = Path(params.cwd)
    if not cwd.is_absolute():
        raise _wrong("cwd: give an absolute path")
    return Runtime(
        agent=params.agent,
        known_as=known,
        shape=shape,
        cwd=cwd,
        session_id=session_id,
        session_key=params.session_key,
        session_file=Path(params.session_file) if params.session_file else None,
        model=params.model,
        window_tokens=params.window_tokens,
        n_compactions=params.compaction_count,
        is_read_only=params.is_read_only,
        can_take_turn=params.can_take_turn,
    )


def _wrong(what: str) -> RpcError:
    return RpcError(INVALID_PARAMS, f"wrong params: {what}")
