"""Every kind of secret in sessions of every format: an editor and the log get none of them."""

import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from language_server import RawClient, raw_client
from pi_files import Json
from running import Place, idle
from secret_sessions import MAKERS, TEXTS, leaks

COMMANDS = ("choose", "checkpoint", "flush", "compact", "preview", "prune", "restore", "undo")
REQUESTS = ("sessions", "window", "checkpoints", "history", "memory", "status", "prunable")
STRIDE = 3
"""Of lines that are pointed at: those of all speakers, as a turn has four."""
OF_DOCUMENT = ("codeLens", "documentSymbol", "documentLink", "foldingRange")


async def ask(client: RawClient, method: str, params: object) -> None:
    """Ask, and wait for whatever the answer is."""
    request_id = f"{method} {len(client.answers)}"
    client.request(request_id, method, params)
    await client.answer(request_id)


async def look_at(client: RawClient, path: Path) -> None:
    """Open a document and ask for all that an editor shows of it."""
    text = path.read_text("utf-8")
    document = {"textDocument": {"uri": path.as_uri()}}
    item = document["textDocument"] | {"languageId": "any", "version": 1, "text": text}
    client.notify("textDocument/didOpen", {"textDocument": item})
    lines = text.count("\n")
    for line in range(0, lines, STRIDE):
        position = {"line": line, "character": 3}
        await ask(client, "textDocument/hover", document | {"position": position})
    whole = {"start": {"line": 0, "character": 0}, "end": {"line": lines, "character": 0}}
    for name in OF_DOCUMENT:
        await ask(client, f"textDocument/{name}", document)
    await ask(client, "textDocument/inlayHint", document | {"range": whole})
    published = [notice["params"] for notice in client.notices if "diagnostics" in str(notice)]
    found = [each for params in published for each in params.get("diagnostics", ())]
    context: Json = {"diagnostics": found}
    await ask(client, "textDocument/codeAction", document | {"range": whole, "context": context})


@asynccontextmanager
async def overheard(place: Place, caplog: pytest.LogCaptureFixture) -> AsyncIterator[RawClient]:
    """Connect to a server, and read all that it said and logged when all is done."""
    caplog.set_level(logging.DEBUG)
    async with raw_client(place, folders=(place.cwd,)) as client:
        yield client
    said = [json.dumps(each, ensure_ascii=False) for each in (*client.answers, *client.notices)]
    assert any("[REDACTED" in text for text in said)
    for text in (*said, caplog.text):
        assert leaks(text) == [], text[:2000]


@pytest.mark.parametrize("agent", MAKERS)
async def test_no_secret_of_a_session_is_shown_or_logged(
    agent: str, place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    path = MAKERS[agent](place)
    session = {"session": str(path)}
    async with overheard(place, caplog) as client:
        if path.suffix == ".jsonl":
            await look_at(client, path)
        for name in REQUESTS:
            await ask(client, f"ullage/{name}", session)
        for name in COMMANDS:
            idle(path)
            command: Json = {"command": f"ullage.{name}", "arguments": [session]}
            await ask(client, "workspace/executeCommand", command)


@pytest.mark.parametrize("name", ["MEMORY.md", "AGENTS.md", "memory/2026-11-27.md"])
async def test_no_secret_of_a_page_is_shown_or_logged(
    name: str, place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    path = place.write(name, "".join(f"- We use {text}.\n" for text in TEXTS).encode())
    async with overheard(place, caplog) as client:
        await look_at(client, path)
        await ask(client, "ullage/memorySearch", {"query": "what do we use"})
