"""The methods and what answers them, bound by the one table of the protocol."""

from collections.abc import Awaitable, Callable

import msgspec

from ullage.agent.compact import compact
from ullage.agent.event import take_events
from ullage.agent.life import close_session, open_session, resume_session
from ullage.agent.overflow import overflow
from ullage.agent.prepare import decline, prepare
from ullage.agent.protocol import (
    CLOSE,
    COMPACT,
    DECLINE,
    EVENT,
    OPEN,
    OVERFLOW,
    PREPARE,
    RESUME,
    Method,
    P,
    R,
    Wire,
)
from ullage.agent.sessions import Sessions
from ullage.agent.wire import read_params


class Handler(msgspec.Struct, frozen=True):
    name: str
    answer: Callable[[Sessions, object], Awaitable[Wire]]
    """Takes the params as they came."""


def bound(method: Method[P, R], answer: Callable[[Sessions, P], Awaitable[R]]) -> Handler:
    async def answered(sessions: Sessions, params: object) -> Wire:
        return await answer(sessions, read_params(params, method.params))

    return Handler(method.name, answered)


HANDLERS = (
    bound(OPEN, open_session),
    bound(EVENT, take_events),
    bound(PREPARE, prepare),
    bound(DECLINE, decline),
    bound(COMPACT, compact),
    bound(OVERFLOW, overflow),
    bound(RESUME, resume_session),
    bound(CLOSE, close_session),
)
