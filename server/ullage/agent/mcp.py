"""`ullage mcp`: three tools over the Model Context Protocol, for agents without hooks.

The descriptions are part of every request that the agent makes, so they are short and few.
"""

import asyncio
from collections.abc import Callable
from importlib.metadata import version
from typing import TypeVar

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations

from ullage.app.checkpoint.resume import resume
from ullage.app.checkpoint.write import MCP, write_checkpoint
from ullage.app.config.load import load_config, refuse_read_only
from ullage.app.gauge.status_text import status_text
from ullage.app.sessions.find import find_session
from ullage.app.sessions.load import Loaded, load
from ullage.core.config.settings import Config
from ullage.errors import UllageError
from ullage.store.files.places import Places

SESSION_VARIABLE = "CLAUDE_CODE_SESSION_ID"
"""Where an agent says which session its servers work for; else it is the folder's newest."""
READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
WRITES = ToolAnnotations(destructive_hint=False, idempotent_hint=True, open_world_hint=False)
T = TypeVar("T")


def mcp_server(places: Places) -> MCPServer:
    """Make the server for the sessions of the folder that the agent works in."""
    server = MCPServer("ullage", version=version("ullage"), log_level="WARNING")

    async def context_status(session: str | None = None) -> str:
        """Tell how full your context window is, and what comes next.

        session: id or transcript path; by default the session of this folder.
        """
        return await _answer(lambda: status_text(_load(session, places)[0]))

    async def checkpoint_write(session: str | None = None) -> str:
        """Save your working state (topic, decisions, open items, files) before it is forgotten.

        session: id or transcript path; by default the session of this folder.
        """
        return await _answer(lambda: _write(session, places))

    async def checkpoint_read(session: str | None = None) -> str:
        """Give back the working state that was saved last, 600 to 800 tokens.

        session: id or transcript path; by default the session of this folder.
        """
        return await _answer(lambda: _read(session, places))

    server.add_tool(context_status, annotations=READS, structured_output=False)
    server.add_tool(checkpoint_write, annotations=WRITES, structured_output=False)
    server.add_tool(checkpoint_read, annotations=READS, structured_output=False)
    return server


async def _answer(work: Callable[[], T]) -> T:
    """Work in a thread; what is meant for the user becomes the tool's error, for the model."""
    try:
        return await asyncio.to_thread(work)
    except UllageError as error:
        raise ToolError(str(error)) from None


def _load(session: str | None, places: Places) -> tuple[Loaded, Config]:
    config = load_config(places, workspace=places.cwd)
    chosen = find_session(session or places.env.get(SESSION_VARIABLE), places)
    return load(chosen, config, places), config


def _write(session: str | None, places: Places) -> str:
    loaded, config = _load(session, places)
    refuse_read_only(loaded.policy)
    written = write_checkpoint(loaded, config.checkpoint, places, trigger="manual", origin=MCP)
    checkpoint_id = written.checkpoint.meta.checkpoint_id
    if not written.is_new:
        return f"Nothing changed since checkpoint {checkpoint_id}."
    return f"Saved as checkpoint {checkpoint_id}."


def _read(session: str | None, places: Places) -> str:
    loaded, config = _load(session, places)
    checkpoint = resume(loaded.session.state_key, config.checkpoint, places)
    if checkpoint is None:
        return "There is no checkpoint of this session yet: checkpoint_write makes one."
    problem, text = checkpoint.problem, checkpoint.text
    return text if problem is None else f"{problem}\n\n{text}"
