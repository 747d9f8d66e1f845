"""A model's server on loopback that answers as a script says, byte by byte."""

import asyncio
import json
import socket
import ssl
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Literal

from running import WAIT_S

Step = bytes | float | asyncio.Event | Literal["hang", "cut"]
"""Bytes to send; seconds or an event to wait for; wait forever; break the connection."""
Reply = tuple[Step, ...]


@dataclass
class Asked:
    head: str
    body: str

    @property
    def prompt(self) -> str:
        messages = json.loads(self.body)["messages"]
        return "\n".join(message["content"] for message in messages)


@dataclass
class ModelServer:
    replies: Sequence[Reply] | Callable[["Asked"], Reply]
    """One for each request, the last for all further ones; or a rule."""
    port: int = 0
    tls: ssl.SSLContext | None = None
    asked: list[Asked] = field(default_factory=list)
    n_open: int = 0
    n_connections: int = 0
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def base_url(self) -> str:
        return f"http{'s' if self.tls else ''}://127.0.0.1:{self.port}/v1"

    async def until(self, holds: Callable[[], object]) -> None:
        """Wait until something holds, looking whenever a request comes or a connection ends."""
        async with asyncio.timeout(WAIT_S):
            while not holds():
                self._changed.clear()
                await self._changed.wait()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.n_open += 1
        self.n_connections += 1
        try:
            await self._serve(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            self.n_open -= 1
            self._changed.set()
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        lengths = [
            line.partition(":")[2]
            for line in head.split("\r\n")
            if line.lower().startswith("content-length")
        ]
        body = await reader.readexactly(int(lengths[0]) if lengths else 0)
        asked = Asked(head, body.decode())
        if callable(self.replies):
            reply = self.replies(asked)
        else:
            reply = self.replies[min(len(self.asked), len(self.replies) - 1)]
        self.asked.append(asked)
        self._changed.set()
        gone = asyncio.ensure_future(reader.read(1))
        try:
            for step in reply:
                if gone.done():
                    return
                match step:
                    case bytes():
                        writer.write(step)
                        await writer.drain()
                    case float():
                        await asyncio.wait([gone], timeout=step)
                    case asyncio.Event():
                        going_on = asyncio.ensure_future(step.wait())
                        await asyncio.wait([gone, going_on], return_when=asyncio.FIRST_COMPLETED)
                        going_on.cancel()
                    case "hang":
                        await gone
                    case "cut":
                        writer.transport.abort()
        finally:
            gone.cancel()
            await asyncio.gather(gone, return_exceptions=True)


@asynccontextmanager
async def serving(*replies: Reply) -> AsyncIterator[ModelServer]:
    async with served(ModelServer(replies)) as server:
        yield server


@asynccontextmanager
async def served(server: ModelServer) -> AsyncIterator[ModelServer]:
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0, ssl=server.tls)
    server.port = listening.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listening.close()
        # One that is left open is never closed.
        await server.until(lambda: not server.n_open)


@asynccontextmanager
async def deaf_server() -> AsyncIterator[ModelServer]:
    """Give a port where connections are begun and never taken."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(0)
        server = ModelServer(((),), port=listening.getsockname()[1])
        waiting = []
        for _ in range(3):
            one = socket.socket()
            one.settimeout(0)
            one.connect_ex(("127.0.0.1", server.port))
            waiting.append(one)
        yield server
        for one in waiting:
            one.close()


@asynccontextmanager
async def no_server() -> AsyncIterator[ModelServer]:
    """Give a port where nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield ModelServer(((),), port=taken.getsockname()[1])


def head(status: int = 200, kind: str = "text/event-stream", **headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status} Said", f"content-type: {kind}", "connection: close"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join((*lines, "", "")).encode()


def chunked(data: bytes) -> bytes:
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


END = b"0\r\n\r\n"
DONE = b"data: [DONE]\n\n"


def event(value: object) -> bytes:
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def delta(content: str | None = None, finish: str | None = None, **others: object) -> dict:
    return {
        "id": "c1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "delta": {"content": content} | others, "finish_reason": finish}],
    }


USAGE = {
    "id": "c1",
    "object": "chat.completion.chunk",
    "created": 1,
    "model": "m",
    "choices": [],
    "usage": {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100},
}


def stream(*events: bytes, **headers: str) -> Reply:
    """Reply with a whole event stream."""
    start = head(transfer_encoding="chunked", **headers)
    return (start, *(chunked(one) for one in events), END)


def text_reply(text: str, finish: str | None = "stop") -> Reply:
    """Answer with a text in two pieces, as a model does when all is well."""
    half = len(text) // 2
    return stream(
        event(delta(text[:half])),
        event(delta(text[half:])),
        event(delta(None, finish)),
        event(USAGE),
        DONE,
    )


def error_reply(status: int, body: object = None, **headers: str) -> Reply:
    text = json.dumps(body if body is not None else {"error": {"message": "no"}}).encode()
    return (head(status, "application/json", content_length=str(len(text)), **headers), text)
