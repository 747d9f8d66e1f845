"""The sessions that are open, by their handles: one request at a time in each, in order."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from itertools import count

from ullage.agent.protocol import Usage
from ullage.agent.wire import RpcError, refused
from ullage.app.runtime.session import Attached, Call, Progress
from ullage.core.transcript.message import JsonObject
from ullage.store.files.places import Places
from ullage.store.gauge.token_counts import CountText
from ullage.store.gauge.tokenizer import count_tokens


class OpenSession:
    """A session and what its calls so far left behind, which changes on the event loop only."""

    def __init__(self, attached: Attached, progress: Progress) -> None:
        self.attached = attached
        self.progress = progress
        self.is_open = True
        self.lock = asyncio.Lock()


class Sessions:
    def __init__(self, places: Places, count_text: CountText = count_tokens) -> None:
        self.places = places
        self.count_text = count_text
        self._open: dict[str, OpenSession] = {}
        self._numbers = count(1)

    def add(self, attached: Attached, progress: Progress) -> str:
        handle = f"s{next(self._numbers)}"
        self._open[handle] = OpenSession(attached, progress)
        return handle

    @asynccontextmanager
    async def use(self, handle: str) -> AsyncGenerator[OpenSession]:
        """Wait until it is a request's turn; the lock is fair, so that requests stay in order.

        Raises:
            RpcError: there is no such session any more.
        """
        found = self._open.get(handle)
        if found is None:
            raise _not_open()
        async with found.lock:
            if not found.is_open:
                raise _not_open()
            yield found

    def close(self, handle: str, session: OpenSession) -> None:
        session.is_open = False
        self._open.pop(handle, None)


def call_of(
    messages: list[JsonObject],
    entry_ids: Sequence[str] | None,
    usage: Usage | None,
    n_compactions: int | None,
) -> Call:
    """Take the messages of a request together with what is known of them.

    Raises:
        RpcError: the ids are not one for each message, or the usage is of more messages.
    """
    if entry_ids is not None and len(set(entry_ids)) != len(messages):
        raise refused("bad_messages", "entryIds needs one id for each message, all different")
    n_reported = None if usage is None else usage.n_messages
    if n_reported is not None and n_reported > len(messages):
        raise refused("bad_messages", "usage.nMessages is more than the messages that were sent")
    return Call(
        messages=messages,
        entry_ids=None if entry_ids is None else list(entry_ids),
        used_tokens=None if usage is None else usage.used_tokens,
        n_reported=n_reported,
        window_tokens=None if usage is None else usage.window_tokens,
        n_compactions=n_compactions,
    )


def _not_open() -> RpcError:
    return refused("not_open", "no session is open by this handle: call context/open first")
