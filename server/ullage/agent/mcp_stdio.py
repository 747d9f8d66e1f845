"""MCP over standard input, where a line that is no message gets its answer too."""

from collections.abc import AsyncIterable, Awaitable, Callable

import anyio
from anyio.streams.memory import MemoryObjectSendStream
from mcp.server.mcpserver import MCPServer
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import ErrorData, JSONRPCError
from pydantic import ValidationError

from ullage.agent import json_rpc


class StdioServer(MCPServer):
    async def run_stdio_async(self) -> None:
        """Serve until the input ends; the library passes over what it cannot read (2.3.0)."""
        if not hasattr(self, "_lowlevel_server"):
            # It is theirs alone to name: another release serves as it does by itself.
            await super().run_stdio_async()
            return
        server = self._lowlevel_server
        async with stdio_server() as (lines, answers), anyio.create_task_group() as tasks:
            to_server, messages = anyio.create_memory_object_stream[SessionMessage | Exception]()
            tasks.start_soon(_answer_wrong_lines, lines, to_server, answers.send)
            await server.run(messages, answers, server.create_initialization_options())


async def _answer_wrong_lines(
    lines: AsyncIterable[SessionMessage | Exception],
    messages: MemoryObjectSendStream[SessionMessage | Exception],
    answer: Callable[[SessionMessage], Awaitable[None]],
) -> None:
    """Pass on what is a message, and say of anything else that it is none."""
    async with messages:
        async for line in lines:
            if not isinstance(line, Exception):
                await messages.send(line)
            elif (error := _error_of(line)) is not None:
                await answer(SessionMessage(JSONRPCError(jsonrpc="2.0", id=None, error=error)))


def _error_of(wrong: Exception) -> ErrorData | None:
    """Say what is wrong with a line; None where it is blank."""
    error = wrong.errors()[0] if isinstance(wrong, ValidationError) else {"type": "", "input": ""}
    if error["type"] != "json_invalid":
        return ErrorData(code=json_rpc.INVALID_REQUEST, message="this line is no message of MCP")
    if not str(error["input"]).strip():
        return None
    return ErrorData(code=json_rpc.PARSE_ERROR, message="this line is not JSON")
