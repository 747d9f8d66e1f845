"""A client of `ullage agent` for runtimes in Python.

>>> async with AgentClient() as client:
...     opened = await client.request(OPEN, Open(agent="codex", cwd=cwd, session_id="1"))
...     prepared = await client.request(PREPARE, Prepare(session=opened.session, messages=items))
"""

import asyncio
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import count
from types import TracebackType
from typing import Self

import msgspec

from ullage.agent.protocol import CANCEL_REQUEST, CancelRequest, Method, P, R, Wire
from ullage.agent.wire import MAX_LINE_BYTES, request_line
from ullage.formats.json_line import decode_any

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
        """One of `protocol.ErrorKind`; None for those of JSON-RPC itself."""


class ServiceEnded(AgentError):
    """The service is gone, or was never there."""

    def __init__(self) -> None:
        super().__init__(0, "ullage agent has ended: start a new client", None)


class _ErrorData(msgspec.Struct):
    kind: str | None = None


class _Error(msgspec.Struct):
    code: int
    message: str
    data: _ErrorData | None = None


class _Answer(msgspec.Struct):
    id: int | None
    result: object = None
    error: _Error | None = None


class AgentClient:
    """A running service. Requests may be sent side by side; one session's stay in order."""

    def __init__(
        self, command: Sequence[str] | None = None, *, env: Mapping[str, str] | None = None
    ) -> None:
        self._command = command or (sys.executable, "-m", "ullage", "agent")
        self._env = env
        self._process: asyncio.subprocess.Process | None = None
        self._reader: asyncio.Task[None] | None = None
        self._waiting: dict[int, asyncio.Future[object]] = {}
        self._numbers = count(1)

    async def __aenter__(self) -> Self:
        self._process = await asyncio.create_subprocess_exec(
            *self._command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=MAX_LINE_BYTES,
            env=self._env,
        )
        self._reader = asyncio.create_task(self._read())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        await asyncio.shield(self._end())

    @property
    def exit_code(self) -> int | None:
        """None while the service runs."""
        return None if self._process is None else self._process.returncode

    async def request(
        self, method: Method[P, R], params: P, *, timeout_s: float = REQUEST_TIMEOUT_S
    ) -> R:
        """Send a request and wait for its answer; one that is not awaited any more is cancelled.

        Raises:
            AgentError: the service answered with an error.
            ServiceEnded: it is gone.
            TimeoutError: it did not answer in time.
        """
        request_id = next(self._numbers)
        future: asyncio.Future[object] = asyncio.get_running_loop().create_future()
        self._waiting[request_id] = future
        try:
            async with asyncio.timeout(timeout_s):
                await self._send(request_line(request_id, method.name, params))
                result = await future
        finally:
            del self._waiting[request_id]
            if future.cancelled() or not future.done():
                self._cancel(request_id)
        return msgspec.convert(result, method.result)

    async def notify(self, method: Method[P, R], params: P) -> None:
        """Send what needs no answer.

        Raises:
            ServiceEnded: the service is gone.
        """
        await self._send(request_line(msgspec.UNSET, method.name, params))

    async def _send(self, line: bytes) -> None:
        if self._process is None or self._process.stdin is None or self._reader is None:
            raise RuntimeError("use the client as a context manager: async with AgentClient()")
        if self._reader.done():
            raise ServiceEnded
        try:
            self._process.stdin.write(line)
            await self._process.stdin.drain()
        except ConnectionError:
            raise ServiceEnded from None

    def _cancel(self, request_id: int) -> None:
        """Tell the service, without waiting: the caller is on its way out."""
        stdin = None if self._process is None else self._process.stdin
        if stdin is not None and not stdin.is_closing():
            params: Wire = CancelRequest(id=request_id)
            stdin.write(request_line(msgspec.UNSET, CANCEL_REQUEST, params))

    async def _read(self) -> None:
        process = self._process
        if process is None or process.stdout is None:
            return
        try:
            while line := await process.stdout.readline():
                self._take(line)
        except ValueError:
            pass  # a line without an end is no answer of ours
        finally:
            for future in self._waiting.values():
                if not future.done():
                    future.set_exception(ServiceEnded())

    def _take(self, line: bytes) -> None:
        try:
            answer = msgspec.convert(decode_any(line), _Answer)
        except msgspec.ValidationError:
            return
        future = None if answer.id is None else self._waiting.get(answer.id)
        if future is None or future.done():
            return
        error = answer.error
        if error is None:
            future.set_result(answer.result)
            return
        kind = None if error.data is None else error.data.kind
        future.set_exception(AgentError(error.code, error.message, kind))

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
