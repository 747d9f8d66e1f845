"""An editor for tests: pytest-lsp's client, connected to the server.

For most tests the server is in this process, connected by memory; `stdio_editor` starts the real
one in a process of its own.
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import TypeVar

import pytest
import pytest_asyncio
from lsprotocol import types
from pygls.protocol import default_converter
from pytest_lsp import LanguageClient

from language_server import running_server, serve
from pi_files import MODEL, PiFile, conversation
from running import WAIT_S, Place
from siege.besieged import SCRIPT, Siege, besieged
from ullage.lsp.state import UllageServer

T = TypeVar("T")

client_converter = cache(default_converter)
"""It generates its code at first use, which takes 0.1 s: one does for all tests."""


class Editor:
    """The client, what it was told, and what its user answers to questions."""

    def __init__(self, place: Place) -> None:
        self.client = LanguageClient(converter_factory=client_converter)
        self.place = place
        self.server: UllageServer
        self.ended: asyncio.Future[object]
        """The exit code of the server."""
        self.answer: str | None = None
        """The button that is chosen in a question."""
        self.questions: list[str] = []
        self._gauges: asyncio.Queue[SimpleNamespace] = asyncio.Queue()
        self._published: asyncio.Queue[types.PublishDiagnosticsParams] = asyncio.Queue()
        self._asked: asyncio.Queue[str] = asyncio.Queue()
        self._changed: asyncio.Queue[SimpleNamespace] = asyncio.Queue()
        self._told: asyncio.Queue[str] = asyncio.Queue()
        self.told: list[str] = []
        """What the server said of its own accord."""
        self._shown: asyncio.Queue[str] = asyncio.Queue()
        self.shown: list[str] = []
        """URIs of the documents that it had shown."""
        self._copied: asyncio.Queue[str] = asyncio.Queue()
        self.selections: list[types.Range | None] = []
        """What it had selected in them."""
        self.progress: list[tuple[object, object]] = []
        """Tokens, and what was told of the work of each."""
        self._listen()

    def _listen(self) -> None:
        @self.client.feature("ullage/gauge")
        def on_gauge(params) -> None:
            self._gauges.put_nowait(_with_names(params))

        @self.client.feature("ullage/copy")
        def on_copy(params) -> None:
            self._copied.put_nowait(params.text)

        @self.client.feature("ullage/changed")
        def on_changed(params) -> None:
            self._changed.put_nowait(_with_names(params))

        @self.client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def on_diagnostics(params: types.PublishDiagnosticsParams) -> None:
            self._published.put_nowait(params)

        @self.client.feature(types.WINDOW_SHOW_MESSAGE_REQUEST)
        def on_question(params: types.ShowMessageRequestParams) -> types.MessageActionItem | None:
            self.questions.append(params.message)
            self._asked.put_nowait(params.message)
            titles = [action.title for action in params.actions or ()]
            return types.MessageActionItem(self.answer) if self.answer in titles else None

        @self.client.feature("ullage/confirm")
        def on_confirmation(params) -> dict[str, bool]:
            self.questions.append(f"{params.question}\n{params.detail}")
            self._asked.put_nowait(params.question)
            return {"isConfirmed": self.answer == params.button}

        @self.client.feature(types.WINDOW_SHOW_MESSAGE)
        def on_message(params: types.ShowMessageParams) -> None:
            self.told.append(params.message)
            self._told.put_nowait(params.message)

        @self.client.feature(types.WINDOW_SHOW_DOCUMENT)
        def on_document(params: types.ShowDocumentParams) -> types.ShowDocumentResult:
            self.shown.append(params.uri)
            self.selections.append(params.selection)
            self._shown.put_nowait(params.uri)
            return types.ShowDocumentResult(success=True)

        @self.client.feature(types.WINDOW_WORK_DONE_PROGRESS_CREATE)
        def on_token(params: types.WorkDoneProgressCreateParams) -> None:
            """Agree."""

        @self.client.feature(types.PROGRESS)
        def on_progress(params: types.ProgressParams) -> None:
            self.progress.append((params.token, params.value))

    async def start(
        self,
        *folders: Path,
        options: object = None,
        capabilities: types.ClientCapabilities | None = None,
    ) -> types.InitializeResult:
        return await self.client.initialize_session(
            types.InitializeParams(
                capabilities=capabilities or types.ClientCapabilities(),
                initialization_options=options,
                workspace_folders=[
                    types.WorkspaceFolder(uri=folder.as_uri(), name=folder.name)
                    for folder in folders
                ],
            )
        )

    def open(self, path: Path) -> None:
        self.client.text_document_did_open(
            types.DidOpenTextDocumentParams(
                types.TextDocumentItem(
                    uri=path.as_uri(), language_id="jsonl", version=1, text="not read from here"
                )
            )
        )

    def close(self, path: Path) -> None:
        self.client.text_document_did_close(
            types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(path.as_uri()))
        )

    async def gauge(self, is_wanted: Callable[[SimpleNamespace], bool]) -> SimpleNamespace:
        """Wait for a gauge that is as wanted, passing over others."""
        return await _first(self._gauges, is_wanted)

    async def asked(self, is_wanted: Callable[[str], bool]) -> str:
        """Wait until the server asks or tells something by a message with buttons."""
        return await _first(self._asked, is_wanted)

    async def said(self, is_wanted: Callable[[str], bool]) -> str:
        """Wait until the server says something of its own accord."""
        return await _first(self._told, is_wanted)

    async def showed(self, is_wanted: Callable[[str], bool]) -> str:
        """Wait until the server has a document shown."""
        return await _first(self._shown, is_wanted)

    async def copied(self) -> str:
        """Wait until the server has something copied."""
        return await _first(self._copied, lambda _: True)

    async def changed(self, what: str) -> None:
        """Wait until the server says that a list is to be asked for anew."""
        await _first(self._changed, lambda params: what in params.what)

    async def diagnostics(self, path: Path, *, count: int) -> list[types.Diagnostic]:
        """Wait until so many diagnostics stand at a file."""
        found = await _first(
            self._published,
            lambda params: params.uri == path.as_uri() and len(params.diagnostics) == count,
        )
        return list(found.diagnostics)

    async def command(self, name: str, session: object = None) -> SimpleNamespace:
        return await self.execute(name, {"session": session})

    async def execute(self, name: str, argument: object) -> SimpleNamespace:
        result = await asyncio.wait_for(
            self.client.workspace_execute_command_async(
                types.ExecuteCommandParams(command=name, arguments=[argument])
            ),
            WAIT_S,
        )
        return _with_names(result)

    async def request(self, method: str, params: object = None) -> SimpleNamespace:
        """Ask what only our server answers."""
        asked = self.client.protocol.send_request_async(method, params)
        return _with_names(await asyncio.wait_for(asked, WAIT_S))

    async def exit_code(self) -> object:
        """Shut the server down as an editor does and give its exit code."""
        await asyncio.wait_for(self.client.shutdown_session(), WAIT_S)
        return await asyncio.wait_for(asyncio.shield(self.ended), WAIT_S)

    async def leave(self) -> None:
        """Shut the server down unless a test did, or began no session with it."""
        if self.client.capabilities is None:
            self.client.protocol.writer.close()
            await asyncio.wait_for(asyncio.shield(self.ended), WAIT_S)
        elif not self.ended.done():
            assert await self.exit_code() == 0


def _with_names(value):
    """Give a value of the protocol with its fields as attributes."""
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, dict):
        return SimpleNamespace(**{key: _with_names(part) for key, part in value.items()})
    if isinstance(value, list):
        return [_with_names(part) for part in value]
    return value


async def _first(queue: asyncio.Queue[T], is_wanted: Callable[[T], bool]) -> T:
    async with asyncio.timeout(WAIT_S):
        while True:
            found = await queue.get()
            if is_wanted(found):
                return found


@pytest_asyncio.fixture
async def editor(place: Place) -> AsyncIterator[Editor]:
    async with running_editor(place) as editor:
        yield editor


@pytest_asyncio.fixture
async def other_editor(place: Place) -> AsyncIterator[Editor]:
    """A second window, with a server of its own."""
    async with running_editor(place) as editor:
        yield editor


@pytest_asyncio.fixture
async def stdio_editor(place: Place) -> AsyncIterator[Editor]:
    """An editor whose server is a process of its own."""
    command = (sys.executable, "-m", "ullage", "lsp")
    async with process_editor(place, command, env=place.env()) as editor:
        yield editor


@pytest_asyncio.fixture
async def besieged_editor(place: Place) -> AsyncIterator[tuple[Editor, Siege]]:
    """An editor that starts its server in a hostile repository."""
    with besieged(place) as siege:
        place_of_server = {"env": siege.env(), "cwd": place.cwd}
        async with process_editor(place, (SCRIPT, "lsp"), **place_of_server) as editor:
            yield editor, siege


@asynccontextmanager
async def process_editor(
    place: Place, command: Sequence[str], **options: object
) -> AsyncIterator[Editor]:
    editor = Editor(place)
    await editor.client.start_io(*command, **options)
    server = editor.client._server
    assert server is not None
    editor.ended = asyncio.ensure_future(server.wait())
    yield editor
    await editor.leave()
    await editor.client.stop()


@asynccontextmanager
async def running_editor(place: Place) -> AsyncIterator[Editor]:
    editor = Editor(place)
    async with running_server(place) as running:
        editor.server, editor.ended = running.server, running.ended
        listening = asyncio.create_task(
            serve(editor.client, running.to_client.reader, running.to_server)
        )
        yield editor
        await editor.leave()
        await asyncio.wait_for(listening, WAIT_S)


@pytest.fixture
def full_session(place: Place) -> Path:
    """A session at 91 % of its window, with enough behind the protected part to compact."""
    place.let_pi_fill_its_window()
    pi = conversation(12, chars=6000, usage=116_480, cwd=str(place.cwd))
    return place.write("full.jsonl", pi.data)


@pytest.fixture
def workspace_session(place: Place) -> tuple[PiFile, Path]:
    """A session at 42 % of its window, where pi keeps those of the project folder."""
    place.let_pi_fill_its_window()
    pi = conversation(2, usage=84_000, cwd=str(place.cwd), model=MODEL)
    folder = f"--{str(place.cwd).lstrip('/').replace('/', '-')}--"
    path = place.home / ".pi" / "agent" / "sessions" / folder / "2026-02-03_s.jsonl"
    return pi, place.write(str(path), pi.data)
