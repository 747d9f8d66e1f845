"""`ullage agent`: JSON-RPC 2.0 over standard input and output, one JSON object a line.

Requests run side by side, in order within a session. No line ends the server; the end of its
input does, within two seconds.
"""

import asyncio
import logging
import os
import queue
import signal
import sys
import threading
from collections.abc import Callable, Coroutine
from typing import BinaryIO, NoReturn, TypeAlias, cast

import msgspec

from ullage.agent import json_rpc
from ullage.agent.methods import HANDLERS
from ullage.agent.protocol import CANCEL_REQUEST, CancelRequest
from ullage.agent.sessions import Sessions
from ullage.agent.wire import MAX_LINE_BYTES, ErrorKind
from ullage.core.secrets.scan import mask
from ullage.errors import InputError, ModelError, Refused, StorageError, UllageError, describe_fault
from ullage.store.files.places import current_places
from ullage.store.files.processes import claim_stdout, exit_soon, exit_with_parent

WAIT_S = 0.3
"""What running requests get after the end of the input, to be answered still (chosen)."""
_KINDS: tuple[tuple[type[UllageError], ErrorKind], ...] = (
    (InputError, "unreadable"),
    (Refused, "refused"),
    (StorageError, "storage"),
    (ModelError, "model"),
)

Work: TypeAlias = asyncio.Task[bytes | None]
"""Ends with the line to answer, None for a notification."""

log = logging.getLogger(__name__)


class Server:
    """Answers lines with lines; `write` takes those."""

    def __init__(self, sessions: Sessions, write: Callable[[bytes], None]) -> None:
        self._sessions = sessions
        self._write = write
        self._running: dict[json_rpc.RequestId, Work] = {}
        self._tasks: set[Work] = set()

    def take(self, line: bytes) -> None:
        """Begin what a line asks for; blank lines are passed over."""
        if not line.strip():
            return
        incoming = json_rpc.read_line(line)
        match incoming:
            case json_rpc.BadLine():
                self._write(json_rpc.error_line(incoming.id, incoming.error))
            case json_rpc.Incoming(method=method) if method == CANCEL_REQUEST:
                self._cancel(incoming)
            case json_rpc.Incoming(id=msgspec.UNSET):
                self._begin(self._handle_notification(incoming))
            case json_rpc.Incoming():
                self._begin_request(incoming, cast(json_rpc.RequestId, incoming.id))

    async def finish(self) -> None:
        """Let what runs come to its end for a moment, then cancel it."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=WAIT_S)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.to_thread(self._sessions.close_memories)

    def _begin_request(self, incoming: json_rpc.Incoming, request_id: json_rpc.RequestId) -> None:
        if request_id in self._running:
            error = json_rpc.RpcError(json_rpc.INVALID_REQUEST, "a request with this id is running")
            self._write(json_rpc.error_line(request_id, error))
            return

        def finished(task: Work) -> None:
            del self._running[request_id]
            # It may be cancelled before it began, and so could not answer by itself.
            line = None if task.cancelled() else task.result()
            self._write(
                line
                or json_rpc.error_line(
                    request_id, json_rpc.RpcError(json_rpc.CANCELLED, "cancelled")
                )
            )

        task = self._begin(self._answer(incoming, request_id))
        self._running[request_id] = task
        task.add_done_callback(finished)

    def _begin(self, work: Coroutine[None, None, bytes | None]) -> Work:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _answer(self, incoming: json_rpc.Incoming, request_id: json_rpc.RequestId) -> bytes:
        try:
            handle = HANDLERS.get(incoming.method)
            if handle is None:
                raise json_rpc.RpcError(
                    json_rpc.METHOD_NOT_FOUND, "no such method: see docs/agent-protocol.md"
                )
            return json_rpc.result_line(request_id, await handle(self._sessions, incoming.params))
        except Exception as error:
            return json_rpc.error_line(request_id, _rpc_error_of(error, incoming.method))

    async def _handle_notification(self, incoming: json_rpc.Incoming) -> None:
        handle = HANDLERS.get(incoming.method)
        if handle is None:
            return
        try:
            await handle(self._sessions, incoming.params)
        except Exception as error:
            log.warning("%s: %s", incoming.method, _rpc_error_of(error, incoming.method))

    def _cancel(self, incoming: json_rpc.Incoming) -> None:
        try:
            task = self._running.get(json_rpc.read_params(incoming.params, CancelRequest).id)
        except json_rpc.RpcError as error:
            log.warning("%s: %s", CANCEL_REQUEST, error)
            return
        if task is not None:
            task.cancel()


def serve() -> NoReturn:
    """Serve one client until it leaves, then end this process.

    Raises:
        InputError: there is no standard input or output.
    """
    # Both are None where they are closed, whatever typeshed says.
    if None in (cast(object, sys.stdin), cast(object, sys.stdout)):
        raise InputError("ullage agent needs its standard input and output: start it with pipes")
    stdout = claim_stdout()
    logging.basicConfig(
        stream=sys.stderr, level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s"
    )
    if not sys.stdin.isatty():
        # The user's Ctrl-C is for the agent that started us, and goes to the whole group.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    exit_with_parent()
    asyncio.run(_serve(sys.stdin.buffer, stdout))
    # The reader may wait for its pipe still: Python aborts where it must take the pipe from it.
    os._exit(0)


async def _serve(stdin: BinaryIO, stdout: BinaryIO) -> None:
    loop = asyncio.get_running_loop()
    lines: asyncio.Queue[bytes | None] = asyncio.Queue()
    answers: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()

    def put(line: bytes | None) -> None:
        loop.call_soon_threadsafe(lines.put_nowait, line)

    server = Server(Sessions(current_places()), answers.put)
    threading.Thread(target=_read, args=(stdin, put, answers.put), daemon=True).start()
    writer = threading.Thread(target=_write, args=(stdout, answers, put), daemon=True)
    writer.start()
    while (line := await lines.get()) is not None:
        server.take(line)
    exit_soon(0)
    await server.finish()
    answers.put(None)
    await asyncio.to_thread(writer.join)


def _read(
    stdin: BinaryIO, put: Callable[[bytes | None], None], answer: Callable[[bytes], None]
) -> None:
    """Read lines in a thread of its own: Windows has no other way to wait for a pipe."""
    while line := stdin.readline(MAX_LINE_BYTES):
        if line.endswith(b"\n") or len(line) < MAX_LINE_BYTES:
            put(line)
            continue
        while line and not line.endswith(b"\n"):
            line = stdin.readline(MAX_LINE_BYTES)
        error = json_rpc.RpcError(
            json_rpc.INVALID_REQUEST, f"a line is longer than {MAX_LINE_BYTES:,} bytes"
        )
        answer(json_rpc.error_line(None, error))
    put(None)


def _write(
    stdout: BinaryIO, answers: "queue.SimpleQueue[bytes | None]", put: Callable[[None], None]
) -> None:
    """Write answers in a thread of its own: a client that does not read holds up no other."""
    try:
        while (line := answers.get()) is not None:
            stdout.write(line)
            stdout.flush()
    except OSError:
        put(None)  # the client is gone


def _rpc_error_of(error: Exception, method: str) -> json_rpc.RpcError:
    """Give the error that the client gets; faults are logged without content."""
    if isinstance(error, json_rpc.RpcError):
        return error
    if isinstance(error, UllageError):
        kinds: list[ErrorKind] = [kind for shape, kind in _KINDS if isinstance(error, shape)]
        return json_rpc.Failure(kinds[0] if kinds else "fault", mask(str(error)))
    log.error("fault in %s:\n%s", method, describe_fault(error))
    message = f"a fault of Ullage ({type(error).__name__}): see its log on standard error"
    return json_rpc.RpcError(json_rpc.INTERNAL_ERROR, message, "fault")
