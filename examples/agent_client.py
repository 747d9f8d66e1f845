"""A client of `ullage agent`; copy it beside your runtime.

>>> async with AgentClient() as client:
...     opened = await client.request(OPEN, Open(agent="codex", cwd=cwd, session_id="1"))
...     prepared = await client.request(PREPARE, Prepare(session=opened.session, messages=items))
"""

import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import count
from typing import Self

import msgspec

from ullage.agent.protocol import CANCEL_REQUEST, CancelRequest
from ullage.agent.wire import MAX_LINE_BYTES, Method, P, R, Wire

REQUEST_TIMEOUT_S = 60.0
"""A compaction by a model may take longer: give it a timeout of its own (chosen)."""
END_TIMEOUT_S = 3.0
"""The service ends within two seconds of the end of its input."""


class AgentError(Exception):
    """The service answered with an error."""

    def __init__(self, code: int, message: str, kind: str | None) -> None:
        super().__init__(message)
        self.code = code
        self.kind = kind
        """One of `protocol.ErrorKind`; None for the errors of JSON-RPC itself."""


class ServiceEnded(AgentError):
    """The service is gone, or was never there."""

    def __init__(self) -> None:
        super().__init__(0, "ullage agent has ended: start a new client", None)


class _ErrorData(msgspec.Struct):
    kind: str | None = None


class _Error(msgspec.Struct):
    code: int
    message: str
    data: _ErrorData = msgspec.field(default_factory=_ErrorData)


class _Answer(msgspec.Struct):
    id: int | None
    result: object = None
    error: _Error | None = None


class AgentClient:
    """A running service. Requests may be sent side by side; those of one session stay in order."""

    def __init__(
        self, command: Sequence[str] | None = None, *, env: Mapping[str, str] | None = None
    ) -> None:
        self._command = command or (sys.executable, "-m", "ullage", "agent")
        self._env = env
        self._process: asyncio.subprocess.Process | None = None
        self._reader: asyncio.Task[None] | None = None
        self._waiting: dict[int, asyncio.Future[object]] = {}
        self._ids = count(1)

    async def __aenter__(self) -> Self:
        pipe = asyncio.subprocess.PIPE
        self._process = await asyncio.create_subprocess_exec(
            *self._command, stdin=pipe, stdout=pipe, limit=MAX_LINE_BYTES, env=self._env
        )
        self._reader = asyncio.create_task(self._read(self._process.stdout))
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.shield(self._end())

    @property
    def exit_code(self) -> int | None:
        """None while the service runs."""
        return None if self._process is None else self._process.returncode

    async def request(
        self, method: Method[P, R], params: P, *, timeout_s: float = REQUEST_TIMEOUT_S
    ) -> R:
        """Send a request and wait for its answer; one that nobody waits for is cancelled.

        Raises:
            AgentError: the service answered with an error.
            ServiceEnded: it is gone.
            TimeoutError: it did not answer in time.
        """
        request_id = next(self._ids)
        future: asyncio.Future[object] = asyncio.get_running_loop().create_future()
        self._waiting[request_id] = future
        try:
            async with asyncio.timeout(timeout_s):
                await self._send(method.name, params, request_id)
                result = await future
        finally:
            del self._waiting[request_id]
            if future.cancelled() or not future.done():
                self._write(CANCEL_REQUEST, CancelRequest(id=request_id))
        return msgspec.convert(result, method.result)

    async def notify(self, method: Method[P, R], params: P) -> None:
        """Send what needs no answer.

        Raises:
            ServiceEnded: the service is gone.
        """
        await self._send(method.name, params)

    async def _send(self, method: str, params: Wire, request_id: int | None = None) -> None:
        if self._process is None or self._process.stdin is None or self._reader is None:
            raise RuntimeError("use the client as a context manager: async with AgentClient()")
        if self._reader.done():
            raise ServiceEnded
        try:
            self._write(method, params, request_id)
            await self._process.stdin.drain()
        except ConnectionError:
            raise ServiceEnded from None

    def _write(self, method: str, params: Wire, request_id: int | None = None) -> None:
        stdin = None if self._process is None else self._process.stdin
        if stdin is None or stdin.is_closing():
            return
        message = {"jsonrpc": "2.0", "method": method, "params": msgspec.to_builtins(params)}
        if request_id is not None:
            message["id"] = request_id
        stdin.write(json.dumps(message).encode() + b"\n")

    async def _read(self, stdout: asyncio.StreamReader | None) -> None:
        try:
            with suppress(ValueError, msgspec.ValidationError):  # no line of the service
                while stdout is not None and (line := await stdout.readline()):
                    self._settle(msgspec.convert(json.loads(line), _Answer))
        finally:
            for future in self._waiting.values():
                if not future.done():
                    future.set_exception(ServiceEnded())

    def _settle(self, answer: _Answer) -> None:
        future = None if answer.id is None else self._waiting.get(answer.id)
        if future is None or future.done():
            return
        if answer.error is None:
            future.set_result(answer.result)
        else:
            error = answer.error
            future.set_exception(AgentError(error.code, error.message, error.data.kind))

    async def _end(self) -> None:
        process, reader = self._process, self._reader
        if process is None or reader is None:
            return
        if process.stdin is not None:
            process.stdin.close()
        try:
            async with asyncio.timeout(END_TIMEOUT_S):
                await process.wait()
        except TimeoutError:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
        await reader
