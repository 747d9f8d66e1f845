"""The methods of memory: each is about a workspace, and needs no session."""

import asyncio
from collections.abc import Callable
from datetime import date
from typing import TYPE_CHECKING, TypeVar

from ullage.agent import memory_protocol as protocol
from ullage.agent.json_rpc import Failure
from ullage.agent.sessions import Sessions, read_folder, refuse_params
from ullage.core.config.settings import Config
from ullage.core.memory.answer import MemoryHit

if TYPE_CHECKING:
    from ullage.app.memory.open_memory import OpenMemory

T = TypeVar("T")


async def search_memory(sessions: Sessions, params: protocol.SearchMemory) -> protocol.MemoryFound:
    """Find what answers a question, in the files as they are now."""

    def search(memory: "OpenMemory", _: Config) -> protocol.MemoryFound:
        from ullage.app.memory.agent_text import answer_text
        from ullage.app.memory.search import search_memory

        answer = search_memory(
            memory,
            params.query,
            limit=params.limit,
            scope=params.scope,
            since=params.since,
            by=params.by,
            today=date.today(),
        )
        results = [_hit_of(hit) for hit in answer.results]
        return protocol.MemoryFound(results=results, note=answer.note, text=answer_text(answer))

    return await _ask(sessions, params, search)


async def get_memory(sessions: Sessions, params: protocol.GetMemory) -> protocol.MemoryLines:
    """Read lines of a file."""

    def get(memory: "OpenMemory", config: Config) -> protocol.MemoryLines:
        from ullage.app.memory.agent_text import lines_text
        from ullage.app.memory.get import get_memory

        lines = get_memory(
            memory.workspace,
            params.path,
            params.first_line,
            params.n_lines,
            places=memory.places,
            config=config,
        )
        memory.recalled.append(lines.text)
        return protocol.MemoryLines(
            path=lines.path,
            first_line=lines.first_line,
            last_line=lines.last_line,
            n_lines=lines.n_lines,
            origin=lines.origin,
            lines=lines.text,
            text=lines_text(lines),
        )

    return await _ask(sessions, params, get)


async def store_memory(sessions: Sessions, params: protocol.StoreMemory) -> protocol.MemoryStored:
    """Store one item that is to be known in later sessions."""
    session = None if params.session is None else sessions.find(params.session)
    if session is not None and session.info.is_read_only:
        raise Failure("read_only", "the session is read-only: nothing is stored")
    key = "" if session is None else session.key

    def store(memory: "OpenMemory", config: Config) -> protocol.MemoryStored:
        from ullage.app.memory.store import store_memory

        stored = store_memory(
            params.text,
            params.kind,
            key if params.source is None else params.source,
            memory.workspace,
            config,
            memory.places,
            by=params.by,
            recalled=memory.recalled,
        )
        return protocol.MemoryStored(path=stored.path, item=stored.text, note=stored.note)

    return await _ask(sessions, params, store)


async def _ask(
    sessions: Sessions, params: protocol.OfWorkspace, question: Callable[["OpenMemory", Config], T]
) -> T:
    """Answer a question by the memory of a workspace, in a thread."""
    workspace = read_folder(params.cwd)
    is_read_only = params.session is not None and sessions.find(params.session).info.is_read_only

    def ask() -> T:
        if not workspace.is_dir():
            raise refuse_params("cwd: there is no such folder, name the workspace's")
        with sessions.memories().use(workspace, is_read_only=is_read_only) as (memory, config):
            return question(memory, config)

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
