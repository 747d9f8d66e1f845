"""The methods of memory: each is about a workspace, and needs no session."""

import asyncio
from collections.abc import Callable
from datetime import date
from typing import TYPE_CHECKING, TypeVar

from ullage.agent import memory_protocol as protocol
from ullage.agent.sessions import Sessions, read_folder
from ullage.core.memory.answer import MemoryAnswer, MemoryHit

if TYPE_CHECKING:
    from ullage.app.memory.open_memory import OpenMemory

T = TypeVar("T")


async def search_memory(sessions: Sessions, params: protocol.SearchMemory) -> protocol.MemoryFound:
    """Find what answers a question, in the files as they are now."""

    def search(memory: "OpenMemory") -> MemoryAnswer:
        from ullage.app.memory.search import search_memory

        return search_memory(
            memory,
            params.query,
            limit=params.limit,
            scope=params.scope,
            since=params.since,
            by=params.by,
            today=date.today(),
        )

    answer = await _ask(sessions, params, search)
    from ullage.app.memory.search_text import agent_text

    return protocol.MemoryFound(
        results=list(map(_hit_of, answer.results)),
        note=answer.note,
        text=agent_text(answer),
    )


async def _ask(
    sessions: Sessions, params: protocol.OfWorkspace, question: Callable[["OpenMemory"], T]
) -> T:
    """Answer a question by the memory of a workspace, in a thread."""
    workspace = read_folder(params.cwd)
    is_read_only = params.session is not None and sessions.find(params.session).info.is_read_only

    def ask() -> T:
        with sessions.memories().use(workspace, is_read_only=is_read_only) as memory:
            return question(memory)

    async with sessions.memory_turn:
        return await asyncio.to_thread(ask)


def _hit_of(hit: MemoryHit) -> protocol.MemoryHit:
    return protocol.MemoryHit(
        path=hit.path,
        first_line=hit.first_line,
        last_line=hit.last_line,
        heading=hit.heading,
        text=hit.text,
        origin=hit.origin,
        score=hit.score,
        by=hit.by,
    )
