"""Following of sessions goes on, whatever one document or one moment is like."""

import asyncio
import shutil
import sqlite3
import threading
from contextlib import closing
from pathlib import Path
from typing import cast

import pytest
from lsprotocol import types

from codex_files import SESSION_ID, CodexFile
from database_files import OpencodeSession
from pi_files import MODEL, PiFile, conversation
from running import WAIT_S, Place
from ullage.lsp import follow as follow_module
from ullage.lsp.config import reload_config
from ullage.lsp.follow import follow, refresh
from ullage.lsp.server import REACTIONS, shut_down
from ullage.lsp.state import UllageServer
from ullage.store.gauge.token_worker import TokenWorker
from ullage.store.transcript.database import database_of


def opened(uri: str) -> types.DidOpenTextDocumentParams:
    return types.DidOpenTextDocumentParams(
        types.TextDocumentItem(uri=uri, language_id="jsonl", version=1, text="")
    )


def grow(pi: PiFile, path: Path, usage: int) -> None:
    n_before = len(pi.data)
    pi.assistant("one more", usage=usage)
    with path.open("ab") as file:
        file.write(pi.data[n_before:])


@pytest.mark.parametrize("name", ["a%00b.jsonl", "a%00b/c.jsonl", "%ff%00", "a" * 300 + ".jsonl"])
async def test_a_document_whose_name_no_file_can_have_ends_nothing(
    editor, workspace_session: tuple[PiFile, Path], name: str
) -> None:
    pi, path = workspace_session
    await editor.start(editor.place.cwd)
    await editor.gauge(lambda gauge: gauge.text == "42%")
    editor.client.text_document_did_open(opened(f"file:///tmp/{name}"))
    editor.open(path)  # taken after it
    await editor.diagnostics(path, count=0)
    grow(pi, path, 150_000)
    await editor.gauge(lambda gauge: gauge.text == "75%")


class Client:
    """Notes that it was told something."""

    def __init__(self) -> None:
        self.was_told = asyncio.Event()

    def write(self, data: bytes) -> None:
        self.was_told.set()


class BrokenWorker:
    """Stands for any fault of ours that one session brings out: the one that has to be counted."""

    def count_tokens(self, *_: object) -> int:
        raise RuntimeError


def initialized(place: Place, worker: object) -> UllageServer:
    """A server in this process, which counts as it is told to."""
    places = place.places()
    server = UllageServer("ullage", "0", places, REACTIONS)
    server.worker = cast(TokenWorker, worker)
    for _ in server.protocol.lsp_initialize(types.InitializeParams(types.ClientCapabilities())):
        """The handler of ours has no part in this."""
    return server


async def test_a_fault_with_one_session_does_not_stop_the_following_of_another(
    place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    server = initialized(place, BrokenWorker())
    counted = PiFile()
    counted.user("question")
    reported = place.write("reported.jsonl", conversation(2, usage=84_000).data)
    # The one that was opened last is read first.
    paths = (reported, place.write("counted.jsonl", counted.data))
    server.documents.open_uris = {path: path.as_uri() for path in paths}
    client = Client()
    server.protocol.set_writer(client)
    following = asyncio.create_task(follow(server))
    async with asyncio.timeout(WAIT_S):
        while reported not in server.sessions.followed:
            await client.was_told.wait()
            client.was_told.clear()
    following.cancel()
    await asyncio.gather(following, return_exceptions=True)
    assert set(server.sessions.followed) == {reported}
    assert "fault in refresh" in caplog.text


class SlowWorker:
    """Counts when it is let."""

    def __init__(self) -> None:
        self.is_reading = threading.Event()
        self.may_go_on = threading.Event()

    def count_tokens(self, *_: object) -> int:
        self.is_reading.set()
        assert self.may_go_on.wait(WAIT_S)
        return 1


async def test_what_is_configured_while_a_session_is_read_counts_for_it(place: Place) -> None:
    worker = SlowWorker()
    server = initialized(place, worker)
    pi = PiFile()
    pi.user("question")
    path = place.write("s.jsonl", pi.data)
    reading = asyncio.create_task(refresh(server, path))
    assert await asyncio.to_thread(worker.is_reading.wait, WAIT_S)
    server.editor.settings = {"contextWindow": 1_000_000}
    await reload_config(server)
    worker.may_go_on.set()
    await reading
    assert server.sessions.followed[path].loaded.status.gauge.window.n_tokens == 1_000_000


async def test_a_file_that_is_no_session_is_not_the_one_that_is_meant(
    editor, full_session: Path
) -> None:
    await editor.start()
    editor.open(full_session)
    await editor.gauge(lambda gauge: gauge.text == "91%")
    notes = editor.place.write("README.txt", b"These are notes.\n")
    editor.open(notes)
    assert "pi / OpenClaw" in (await editor.request("ullage/status")).text
    editor.close(full_session)
    await editor.gauge(lambda gauge: gauge.session is None)


async def test_a_file_that_becomes_a_session_is_followed(editor, full_session: Path) -> None:
    notes = editor.place.write("notes.txt", b"These are notes.\n")
    await editor.start()
    editor.open(notes)
    editor.open(full_session)
    await editor.gauge(lambda gauge: gauge.text == "91%")
    editor.close(full_session)
    await editor.gauge(lambda gauge: gauge.session is None)
    notes.write_bytes(full_session.read_bytes())
    gauge = await editor.gauge(lambda gauge: gauge.session is not None)
    assert gauge.session.path == str(notes)


async def test_nothing_is_under_way_any_more_after_a_shutdown(place: Place) -> None:
    server = initialized(place, TokenWorker())
    pi = conversation(2, usage=84_000)
    path = place.write("s.jsonl", pi.data)
    server.documents.open_uris[path] = path.as_uri()
    following = server.begin(follow, server)
    await refresh(server, path)
    assert server.tasks > {following}
    await shut_down(server, None)
    assert not server.tasks
    assert following.cancelled()


@pytest.fixture
def only_by_notices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nothing be found by looking for it now and then."""
    monkeypatch.setattr(follow_module, "IDLE_LOOK_S", 10.0 * WAIT_S)


def write_codex(place: Place) -> Path:
    """Write a session that is live, in the folder of a day."""
    codex = CodexFile(cwd=str(place.cwd))
    codex.turn()
    codex.user("question")
    codex.assistant("answer", n_total=129_200)
    folder = place.home / ".codex" / "sessions" / "2026" / "11" / "21"
    name = f"rollout-2026-11-21T02-09-56-{SESSION_ID}.jsonl"
    return place.write(str(folder / name), codex.data, age_s=0)


async def test_a_session_of_a_new_day_is_shown(
    editor, only_by_notices, workspace_session: tuple[PiFile, Path]
) -> None:
    (editor.place.home / ".codex" / "sessions" / "2026").mkdir(parents=True)
    await editor.start(editor.place.cwd)
    await editor.gauge(lambda gauge: gauge.text == "42%")
    path = write_codex(editor.place)
    await editor.gauge(lambda gauge: gauge.session.path == str(path))


async def test_the_first_session_of_an_agent_is_shown_and_followed(
    editor, only_by_notices, workspace_session: tuple[PiFile, Path]
) -> None:
    pi, path = workspace_session
    shutil.rmtree(editor.place.home / ".pi")
    write_codex(editor.place)
    await editor.start(editor.place.cwd)
    await editor.gauge(lambda gauge: gauge.session is not None)
    editor.place.let_pi_fill_its_window()
    editor.place.write(str(path), pi.data, age_s=-10)
    await editor.gauge(lambda gauge: gauge.text == "42%")
    grow(pi, path, 150_000)
    await editor.gauge(lambda gauge: gauge.text == "75%")


async def test_what_is_new_in_the_log_of_a_database_is_shown(editor, only_by_notices) -> None:
    path = editor.place.home / ".local" / "share" / "opencode" / "opencode.db"
    path.parent.mkdir(parents=True)
    session = OpencodeSession(path)
    session.execute("UPDATE session SET directory = ?", str(editor.place.cwd))
    session.user("question")
    session.assistant("answer", total=20_000)
    with closing(sqlite3.connect(path)) as agent:
        agent.execute("PRAGMA journal_mode=WAL")
        await editor.start(editor.place.cwd)
        before = await editor.gauge(lambda gauge: "20,000" in gauge.label)
        session.assistant("more", total=30_000)
        after = await editor.gauge(lambda gauge: "30,000" in gauge.label)
    assert after.session == before.session


@pytest.mark.parametrize("name", ["-wal", "fault"])
async def test_a_file_of_any_name_ends_no_following(
    editor,
    only_by_notices,
    workspace_session: tuple[PiFile, Path],
    monkeypatch: pytest.MonkeyPatch,
    name: str,
) -> None:
    def read_name(path: Path) -> Path:
        assert path.name != "fault"
        return database_of(path)

    monkeypatch.setattr(follow_module, "database_of", read_name)
    pi, path = workspace_session
    await editor.start(editor.place.cwd)
    await editor.gauge(lambda gauge: gauge.text == "42%")
    path.with_name(name).write_bytes(b"")
    grow(pi, path, 150_000)
    await editor.gauge(lambda gauge: gauge.text == "75%")


async def test_what_is_configured_in_a_file_that_did_not_exist_counts(
    editor, only_by_notices, workspace_session: tuple[PiFile, Path]
) -> None:
    await editor.start(editor.place.cwd)
    await editor.gauge(lambda gauge: gauge.text == "42%")
    config = editor.place.home / ".openclaw" / "config.yaml"
    editor.place.write(str(config), b"contextWindow: 840000\n")
    await editor.gauge(lambda gauge: gauge.text == "10%")


async def test_what_the_editor_configures_counts_for_what_is_followed(
    editor, only_by_notices, workspace_session: tuple[PiFile, Path]
) -> None:
    await editor.start(editor.place.cwd)
    await editor.gauge(lambda gauge: gauge.text == "42%")
    settings = {"ullage": {"contextWindow": 840_000}}
    editor.client.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings))
    await editor.gauge(lambda gauge: gauge.text == "10%")


async def test_a_document_of_any_folder_is_followed_while_it_is_open(
    editor, only_by_notices, workspace_session: tuple[PiFile, Path]
) -> None:
    pi = conversation(2, usage=40_000, model=MODEL)
    path = editor.place.write(str(editor.place.root / "elsewhere" / "s.jsonl"), pi.data)
    await editor.start(editor.place.cwd)
    await editor.gauge(lambda gauge: gauge.text == "42%")
    editor.open(path)
    await editor.diagnostics(path, count=0)
    grow(pi, path, 191_000)
    await editor.diagnostics(path, count=1)


async def test_a_session_that_its_agent_left_is_no_longer_live(
    editor, only_by_notices, workspace_session: tuple[PiFile, Path]
) -> None:
    pi, path = workspace_session
    await editor.start(editor.place.cwd)
    await editor.gauge(lambda gauge: gauge.text == "42%")
    grow(pi, path, 150_000)
    for is_live in (True, False):
        async with asyncio.timeout(WAIT_S):
            while editor.server.sessions.seen[0].is_live != is_live:
                await editor.changed("sessions")
