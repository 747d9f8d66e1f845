"""The tools of the example agent: files and commands of the workspace, and its memory."""

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias, assert_never, cast

import msgspec
from agent_client import AgentClient, AgentError

from ullage.agent import memory_protocol as memory
from ullage.core.assembly.prompt_parameters import Tool
from ullage.core.memory.journal import Kind
from ullage.core.transcript.entries import JsonObject

KEY_VARIABLE = "OPENAI_API_KEY"
"""Of the environment; no command is given it, as its output goes to the model."""
RUN_TIMEOUT_S = 120
"""Chosen: long enough for a build or a run of tests."""


class ReadFile(msgspec.Struct):
    """Read a text file of the workspace."""

    path: str


class WriteFile(msgspec.Struct):
    """Write a text file of the workspace, in the place of the one that is there."""

    path: str
    content: str


class Run(msgspec.Struct):
    """Run a shell command in the workspace."""

    command: str


class MemorySearch(msgspec.Struct):
    """Search what earlier sessions noted, and the documents of the workspace."""

    query: str


class MemoryStore(msgspec.Struct):
    """Note one thing, in a sentence, that later sessions should know."""

    text: str
    kind: Kind


Call: TypeAlias = ReadFile | WriteFile | Run | MemorySearch | MemoryStore
CALLS: dict[str, type[Call]] = {
    "read_file": ReadFile,
    "write_file": WriteFile,
    "run": Run,
    "memory_search": MemorySearch,
    "memory_store": MemoryStore,
}
"""By the names that the model calls them by; it is told their docstrings and fields."""


class Refused(Exception):
    """A call is not done; the model is told why."""


class Tools:
    def __init__(
        self, service: AgentClient, session: str, agree: Callable[[str], bool], *, max_chars: int
    ) -> None:
        self._service, self._session, self._agree = service, session, agree
        self._max_chars = max_chars
        self._workspace = Path.cwd()

    async def use(self, name: str, arguments: str) -> tuple[str, bool]:
        """Do what the model asks for; give what it is told, and whether that is an error."""
        try:
            if name not in CALLS:
                raise Refused(f"there is no tool {name}")
            output = await self._use(msgspec.json.decode(arguments, type=CALLS[name]))
        except (Refused, AgentError, OSError, ValueError) as failure:
            return f"failed: {failure}", True
        if (n_left_out := len(output) - self._max_chars) > 0:
            output = f"{output[:-n_left_out]}\n[{n_left_out} more characters are left out]"
        return output, False

    async def _use(self, call: Call) -> str:
        cwd, session = str(self._workspace), self._session
        match call:
            case ReadFile():
                return self._resolve(call.path).read_text("utf-8")
            case WriteFile():
                path = self._resolve(call.path)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(call.content, "utf-8")
                return "written"
            case Run():
                if not self._agree(f"Run {call.command!r}?"):
                    raise Refused("the user does not want it")
                return await self._run(call.command)
            case MemorySearch():
                search = memory.SearchMemory(cwd=cwd, session=session, query=call.query)
                return (await self._service.request(memory.SEARCH, search)).text
            case MemoryStore():
                item = memory.StoreMemory(cwd=cwd, session=session, text=call.text, kind=call.kind)
                return (await self._service.request(memory.STORE, item)).note
            case _:
                assert_never(call)

    def _resolve(self, name: str) -> Path:
        path = (self._workspace / name).resolve()
        if not path.is_relative_to(self._workspace.resolve()):
            raise Refused(f"{name} is outside the workspace")
        return path

    async def _run(self, command: str) -> str:
        process = await asyncio.create_subprocess_shell(
            command,
            cwd=self._workspace,
            env={name: value for name, value in os.environ.items() if name != KEY_VARIABLE},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
        )
        output = b""
        try:
            async with asyncio.timeout(RUN_TIMEOUT_S):
                while process.stdout and (chunk := await process.stdout.read(65_536)):
                    output += chunk[: 4 * self._max_chars + 1 - len(output)]
                await process.wait()
            ended = f"[exit code {process.returncode}]"
        except TimeoutError:
            ended = f"[ended after {RUN_TIMEOUT_S} s]"
        finally:
            end_group(process)
        return f"{ended}\n{output.decode(errors='replace')}"


def end_group(process: asyncio.subprocess.Process) -> None:
    """End a command with all that it started, also where it has ended itself."""
    with suppress(ProcessLookupError):
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)


def describe_tools() -> tuple[Tool, ...]:
    """Write the definitions of the tools as a model is sent them."""
    _, schemas = msgspec.json.schema_components(CALLS.values())
    return tuple(
        Tool(
            name=name,
            description=call.__doc__ or "",
            parameters=cast(JsonObject, schemas[call.__name__]),
        )
        for name, call in CALLS.items()
    )
