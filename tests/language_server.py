"""The language server in this process, with pipes in memory, and a client that sends anything.

>>> async with raw_client(place) as client:
...     client.request(1, "textDocument/hover", {"position": "?"})
...     await client.answer(1)
"""

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import NamedTuple

from pygls.client import JsonRPCClient
from pygls.io_ import run_async
from pygls.server import JsonRPCServer

from pi_files import Json
from running import WAIT_S, Place
from ullage.lsp import state
from ullage.lsp.language_protocol import plain_converter
from ullage.lsp.server import make_server
from ullage.lsp.state import UllageServer
from ullage.store.files.places import current_places
from ullage.store.gauge.tokenizer import count_tokens

INITIALIZE: Json = {"processId": None, "rootUri": None, "capabilities": {}}
server_converter = cache(plain_converter)
"""It generates its code at first use, which takes 0.1 s: one does for all tests."""


class Pipe:
    """One direction of a connection in memory; any thread may write to it."""

    def __init__(self) -> None:
        self.reader = asyncio.StreamReader()
        self._loop = asyncio.get_running_loop()
        self._is_closed = False

    def write(self, data: bytes) -> None:
        if not self._is_closed:
            self._loop.call_soon_threadsafe(self.reader.feed_data, data)

    def close(self) -> None:
        self._is_closed = True
        self._loop.call_soon_threadsafe(self.reader.feed_eof)


async def serve(
    peer: JsonRPCServer | JsonRPCClient, reader: asyncio.StreamReader, writer: Pipe
) -> object:
    """Let one end of a connection work until the other one closes it; give its exit code."""
    peer.protocol.set_writer(writer)
    try:
        await run_async(threading.Event(), reader, peer.protocol, None, peer.report_server_error)
    except SystemExit as ended:
        return ended.code
    finally:
        writer.close()
    return None


class Running(NamedTuple):
    server: UllageServer
    ended: asyncio.Future[object]
    """The exit code of the server."""
    to_server: Pipe
    to_client: Pipe


@asynccontextmanager
async def running_server(place: Place) -> AsyncIterator[Running]:
    """Run a server until its user is done with it; its input has to end before."""
    with place.entered() as patch:
        patch.setattr(state, "plain_converter", server_converter)
        server = make_server(current_places())
        server.worker.count_tokens = count_tokens
        to_server, to_client = Pipe(), Pipe()
        ended = asyncio.create_task(serve(server, to_server.reader, to_client))
        yield Running(server, ended, to_server, to_client)


class RawClient:
    def __init__(self, running: Running) -> None:
        self.running = running
        self.answers: list[Json] = []
        """All answers that came, in order."""
        self.notices: list[Json] = []
        """What the server sent of its own accord."""
        self.reply: Callable[[Json], Json] = lambda _: {"result": None}
        """What a request of the server is answered with."""

    def send(self, message: object) -> None:
        self.send_body(json.dumps(message).encode())

    def send_body(self, body: bytes) -> None:
        self.running.to_server.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def request(self, request_id: object, method: object, params: object = None) -> None:
        self.send({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params})

    def notify(self, method: str, params: object) -> None:
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    async def until(self, holds: Callable[[], object]) -> None:
        """Read what the server says until something holds."""
        async with asyncio.timeout(WAIT_S):
            while not holds():
                await self._read()

    async def answer(self, request_id: object) -> Json:
        """Wait for the answer to a request."""
        await self.until(lambda: request_id in self.answered())
        return self.answers[self.answered().index(request_id)]

    async def is_alive(self) -> None:
        """Wait until what was sent is read, which the server tells by a further answer."""
        self.request("alive", "ullage/none")
        await self.answer("alive")

    def answered(self) -> list[object]:
        """Give the ids of all answers that came."""
        return [answer["id"] for answer in self.answers]

    async def _read(self) -> None:
        reader = self.running.to_client.reader
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        message = json.loads(await reader.readexactly(int(head.split()[1])))
        if "method" not in message:
            self.answers.append(message)
            return
        self.notices.append(message)
        if "id" in message:
            self.send({"jsonrpc": "2.0", "id": message["id"]} | self.reply(message))


@asynccontextmanager
async def raw_client(
    place: Place, *, is_begun: bool = True, folders: Sequence[Path] = ()
) -> AsyncIterator[RawClient]:
    """Connect to a server that is shut down in the end."""
    async with running_server(place) as running:
        client = RawClient(running)
        if is_begun:
            named = [{"uri": folder.as_uri(), "name": folder.name} for folder in folders]
            client.request("begin", "initialize", INITIALIZE | {"workspaceFolders": named})
            await client.answer("begin")
            client.notify("initialized", {})
        yield client
        if not running.server.is_shut_down:
            client.request("end", "shutdown")
            await client.answer("end")
        running.to_server.close()
        await asyncio.wait_for(running.ended, WAIT_S)
