"""The servers in this process: what comes in is damaged, and each is asked for its faults.

Both turn an exception into an answer and a line of their log; a fault of that kind is raised here.
"""

import asyncio
import io
import json
import logging
import threading

from pygls.io_ import run_async

from pi_files import Json, conversation
from ullage.agent.methods import HANDLERS
from ullage.agent.server import Server
from ullage.agent.sessions import Sessions
from ullage.lsp import protocol
from ullage.lsp.lifecycle import ClientInput
from ullage.lsp.server import make_server
from ullage.store.files.places import Places

HERE = "HERE"
"""Stands for the folder in what is sent, which each process has its own of."""
ANSWER_S = 9.0
"""What runs is waited for this long, so that what hangs is told of with its name."""
CALL = {"type": "toolCall", "id": "c1", "name": "bash", "arguments": {"command": "ls"}}
MESSAGES = [
    {"role": "user", "content": "Never touch the migrations folder."},
    {"role": "assistant", "content": [CALL]},
    {
        "role": "toolResult",
        "toolCallId": "c1",
        "toolName": "bash",
        "content": [{"type": "text", "text": "a b"}],
    },
]


def _request(method: str, request_id: object = 1, **params: object) -> bytes:
    return json.dumps(
        {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}
    ).encode()


def _notification(method: str, **params: object) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode()


PARAMS: Json = {
    "session": "s1",
    "agent": "pi",
    "cwd": HERE,
    "sessionId": "one",
    "windowTokens": 20_000,
    "messages": MESSAGES,
    "usage": {"usedTokens": 18_000},
    "layer": "full",
    "query": "ledgers",
    "path": "MEMORY.md",
    "text": "use pnpm",
    "kind": "fact",
    "mode": "full",
    "events": [
        {"type": "toolResult", "callId": "c", "name": "bash"},
        {"type": "message", "message": MESSAGES[0]},
    ],
}
"""Of all methods together: each takes those that it knows."""
OPEN = _request("context/open", **PARAMS)
AGENT_SEEDS = (
    *(_request(method, **PARAMS) for method in HANDLERS),
    b"",
    b"[]",
    b"{}",
    b'"\\ud800"',
)


class _FaultLog(logging.Handler):
    """Keeps what servers log of their own faults."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.faults: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        # What pygls logs is the client's fault: ours are told at the error edge.
        if not record.name.startswith("pygls"):
            self.faults.append(self.format(record))

    def raise_first(self) -> None:
        faults, self.faults = self.faults, []
        if faults:
            raise AssertionError(faults[0])


def _listen() -> _FaultLog:
    handler = _FaultLog()
    logging.getLogger().handlers[:] = [handler]
    return handler


class AgentServer:
    """The service for agents with a session that is open."""

    def __init__(self, places: Places) -> None:
        self._log = _listen()
        self._here = json.dumps(str(places.cwd))[1:-1].encode()
        (places.cwd / "MEMORY.md").write_bytes(b"# Memory\n\n- Ledgers are kept in SQLite.\n")
        self._loop = asyncio.new_event_loop()
        self._answers: list[bytes] = []
        self._server = Server(
            Sessions(places, lambda text, _: len(text) // 4), self._answers.append
        )

    def take(self, given: bytes) -> None:
        self._log.faults.clear()
        self._loop.run_until_complete(self._ask(given.replace(HERE.encode(), self._here)))
        self._log.raise_first()

    async def _ask(self, given: bytes) -> None:
        if "context/open" not in given.decode("latin-1"):
            await self._answer(OPEN.replace(HERE.encode(), self._here))
        for line in given.split(b"\n"):
            await self._answer(line)

    async def _answer(self, line: bytes) -> None:
        self._server.take(line)
        running = asyncio.all_tasks() - {asyncio.current_task()}
        if running and (await asyncio.wait(running, timeout=ANSWER_S))[1]:
            raise TimeoutError("the service does not answer")


def _document(**more: object) -> Json:
    return {"textDocument": {"uri": f"file://{HERE}/AGENTS.md"}, **more}


POSITION = {"line": 0, "character": 3}
RANGE = {"start": POSITION, "end": {"line": 2, "character": 0}}
SESSION = f"{HERE}/session.jsonl"
OWN = {"session": SESSION, "uri": f"file://{SESSION}", "query": "ledgers", "text": "x"}
OPENED = {
    "uri": f"file://{HERE}/AGENTS.md",
    "languageId": "markdown",
    "version": 1,
    "text": "# Rules\n",
}
STANDARD = (
    "hover",
    "codeLens",
    "foldingRange",
    "documentSymbol",
    "codeAction",
    "inlayHint",
    "documentLink",
    "completion",
    "definition",
    "semanticTokens/full",
    "diagnostic",
    "selectionRange",
)
OWN_REQUESTS = (
    protocol.STATUS_REQUEST,
    protocol.SESSIONS_REQUEST,
    protocol.WINDOW_REQUEST,
    protocol.HISTORY_REQUEST,
    protocol.USAGE_REQUEST,
    protocol.CHECKPOINTS_REQUEST,
    protocol.MEMORY_REQUEST,
    protocol.MEMORY_SEARCH_REQUEST,
    protocol.PREVIEW_REQUEST,
    protocol.PRUNABLE_REQUEST,
    protocol.PINNABLE_REQUEST,
)
PLACED = _document(position=POSITION, range=RANGE, context={"diagnostics": []})


def _frame(body: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


EDITOR_SEEDS = tuple(
    _frame(body)
    for body in (
        *(_request(f"textDocument/{method}", **PLACED) for method in STANDARD),
        *(_request(method, **OWN) for method in OWN_REQUESTS),
        _request("workspace/executeCommand", command="ullage.status", arguments=[OWN]),
        _request("workspace/textDocumentContent", uri="ullage:/checkpoint/x"),
        _notification("$/cancelRequest", id=1),
        _notification("workspace/didChangeConfiguration", settings={"ullage": {"pins": ["a"]}}),
        _notification("textDocument/didOpen", textDocument=OPENED),
        _notification(
            "textDocument/didChange", **_document(contentChanges=[{"text": "# Rules\n- a\n"}])
        ),
        b'{"jsonrpc":"2.0","id":7,"result":null}',
    )
)


class _Frames:
    """What a client sent, to pygls' reader; at its end the server just gets no more."""

    def __init__(self, given: bytes) -> None:
        self._stream = io.BytesIO(given)
        self._size = len(given)
        self._input = ClientInput(self._stream)

    async def readline(self) -> bytes:
        return self._input.readline() if self._stream.tell() < self._size else b""

    async def readexactly(self, n_bytes: int) -> bytes:
        return self._input.read(n_bytes)


class _Silent:
    def write(self, data: bytes) -> None:
        pass

    def close(self) -> None:
        pass


class EditorServer:
    """The language server with a folder that holds a session."""

    def __init__(self, places: Places) -> None:
        self._log = _listen()
        self._here = str(places.cwd).encode()
        (places.cwd / "session.jsonl").write_bytes(conversation(2, chars=200).data)
        (places.cwd / "AGENTS.md").write_bytes(b"# Rules\n\nAlways use `tabs`.\n")
        self._places = places
        self._loop = asyncio.new_event_loop()
        self._server = None

    def take(self, given: bytes) -> None:
        if given.startswith(b"Content-Length: ") and len(given) % 4:
            # Most damage is to bodies: their length is set right.
            given = _frame(given.partition(b"\r\n\r\n")[2])
        self._log.faults.clear()
        self._loop.run_until_complete(self._ask(given.replace(HERE.encode(), self._here)))
        self._log.raise_first()

    async def _ask(self, given: bytes) -> None:
        if self._server is None or self._server.is_shut_down or self._server.protocol._shutdown:
            self._server = make_server(self._places)
            self._server.protocol.set_writer(_Silent())
            folders = [{"uri": f"file://{self._places.cwd}", "name": "shop"}]
            await self._send(
                _request("initialize", 0, capabilities={}, processId=None, workspaceFolders=folders)
            )
        await self._send(given)

    async def _send(self, given: bytes) -> None:
        if not given.startswith(b"Content-Length"):
            given = _frame(given)
        server = self._server
        await run_async(
            threading.Event(),
            _Frames(given),
            server.protocol,
            error_handler=server.report_server_error,
        )
        running = asyncio.all_tasks() - {asyncio.current_task()}
        if running and (await asyncio.wait(running, timeout=ANSWER_S))[1]:
            raise TimeoutError("the server does not answer")
