"""Following of sessions goes on, whatever one document or one moment is like."""

import asyncio
from pathlib import Path
from typing import cast

import pytest
from lsprotocol import types

from pi_files import PiFile, conversation
from running import Place
from ullage.lsp.follow import follow
from ullage.lsp.state import UllageServer
from ullage.store.places import Places
from ullage.store.token_worker import TokenWorker


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


class BrokenWorker:
    """Stands for any fault of ours that one session brings out: the one that has to be counted."""

    def count_tokens(self, *_: object) -> int:
        raise RuntimeError


async def test_a_fault_with_one_session_does_not_stop_the_following_of_another(
    place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    counted = PiFile()
    counted.user("question")
    places = Places(cwd=place.cwd, home=place.home, env={}, state_folder=place.state)
    server = UllageServer("ullage", "0", places)
    server.worker = cast(TokenWorker, BrokenWorker())
    for _ in server.protocol.lsp_initialize(types.InitializeParams(types.ClientCapabilities())):
        """The handler of ours has no part in this."""
    paths = [
        place.write("counted.jsonl", counted.data),
        place.write("reported.jsonl", conversation(2, usage=84_000).data),
    ]
    server.documents.open_uris = {path: path.as_uri() for path in paths}
    following = asyncio.create_task(follow(server))
    for _ in range(1000):
        await asyncio.sleep(0.01)
        if paths[1] in server.sessions.followed:
            break
    following.cancel()
    await asyncio.gather(following, return_exceptions=True)
    assert set(server.sessions.followed) == {paths[1]}
    assert "fault in refresh" in caplog.text
