"""The memory of the workspace's folders: opened when it is first asked for, closed at the end."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from ullage.app.config.load import refuse_without_memory
from ullage.app.memory.open_memories import open_memory
from ullage.app.memory.open_memory import INDEX, OpenMemory
from ullage.errors import Refused, UnknownItem
from ullage.formats.registry import agent_of_shell
from ullage.lsp.state import UllageServer
from ullage.store.files.text_files import exists
from ullage.store.memory.places import memory_folder

T = TypeVar("T")


async def read_memory(ls: UllageServer, workspace: Path, read: Callable[[OpenMemory], T]) -> T:
    """Read the memory of a folder in a thread; what was opened stays so until the server ends.

    Raises:
        Refused: memory is switched off.
        StorageError: the state folder does not take the index.
    """
    refuse_without_memory(ls.config)
    async with ls.memories.locks[workspace]:
        memory = ls.memories.opened.get(workspace)
        if memory is not None and not _is_current(ls, memory):
            del ls.memories.opened[workspace]
            await asyncio.to_thread(memory.close)
            memory = None
        if memory is None:
            memory = await asyncio.to_thread(
                open_memory, workspace, ls.config, ls.places, is_watching=True
            )
            ls.memories.opened[workspace] = memory
        return await asyncio.to_thread(read, memory)


def _is_current(ls: UllageServer, memory: OpenMemory) -> bool:
    """Tell whether nothing else is configured than when a memory was opened."""
    return memory.places == ls.places and memory.embeddings == ls.config.embeddings


async def list_indexed(ls: UllageServer) -> tuple[Path, ...]:
    """List the folders whose memory was searched before, in whatever way: nothing is built."""
    folders, opened, places = ls.workspace_folders(), ls.memories.opened, ls.places

    def has_index(folder: Path) -> bool:
        return folder in opened or exists(memory_folder(folder, places) / INDEX)

    return await asyncio.to_thread(lambda: tuple(filter(has_index, folders)))


async def close_memories(ls: UllageServer) -> None:
    """Close the memory of all folders, or of those that are the workspace's no more."""
    kept = () if ls.is_shut_down else ls.workspace_folders()
    for workspace in set(ls.memories.opened) - set(kept):
        async with ls.memories.locks[workspace]:
            memory = ls.memories.opened.pop(workspace, None)
            if memory is not None:
                await asyncio.to_thread(memory.close)


def find_memory(ls: UllageServer, path: Path) -> tuple[Path, str]:
    """Give the folder of the workspace that a file is in, and its path there with `/`.

    Raises:
        UnknownItem: it is in none.
    """
    workspace = ls.surroundings().workspace_of(path)
    if workspace is None:
        raise UnknownItem(f"{path.name} is in no folder of this workspace")
    return workspace, path.relative_to(workspace).as_posix()


def refuse_agents(ls: UllageServer) -> None:
    """Refuse to decide what is remembered in a server that an agent's shell started.

    Raises:
        Refused: it did.
    """
    agent = agent_of_shell(ls.places.env)
    if agent is not None:
        raise Refused(
            f"only a person decides what stands in memory, and a shell of {agent.name} started this"
            " server: start the editor elsewhere"
        )
