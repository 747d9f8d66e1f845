"""A large transcript holds up nothing else: its work is done beside the loop."""

import asyncio
import gc
import json
import time

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from pi_files import PiFile

N_LINES = 40_000
"""What takes long enough to be asked something meanwhile; `benchmarks/editor.py` has 100 MB."""
MAX_SHARE = 0.1
"""Of all the work; 0.01 to 0.04 was seen, with the outline made on the loop 0.2."""


async def test_other_requests_are_answered_while_a_large_transcript_is_read(editor) -> None:
    pi = PiFile(cwd=str(editor.place.cwd))
    at = "2026-02-03T10:00:00.000Z"
    for n in range(N_LINES):
        pi.raw(
            f'{{"type":"message","id":"{n:08x}","parentId":"{n - 1:08x}","timestamp":"{at}",'
            f'"message":{{"role":"user","content":"question {n} about the file"}}}}\n'.encode()
        )
    pi.leaf = f"{N_LINES - 1:08x}"
    pi.compaction("All of it", pi.leaf)
    path = editor.place.write("large.jsonl", pi.data)
    document = types.TextDocumentIdentifier(path.as_uri())
    await editor.start()
    editor.open(path)
    reading = asyncio.ensure_future(
        editor.client.text_document_document_symbol_async(types.DocumentSymbolParams(document))
    )
    # What the loop's thread works until it answers, as a part of all the work: on a busy machine
    # both are what they are on an idle one.
    works_s: list[float] = []
    began_s = time.process_time()
    # It would collect what all the tests before made, in whichever thread comes first.
    gc.disable()
    try:
        while not reading.done():
            started_s = time.thread_time()
            with pytest.raises(JsonRpcException):
                await editor.client.protocol.send_request_async("ullage/none", {})
            works_s.append(time.thread_time() - started_s)
    finally:
        gc.enable()
    assert len(await reading) > 200
    assert max(works_s) < MAX_SHARE * (time.process_time() - began_s), works_s


async def test_the_text_of_a_document_is_not_needed_whatever_its_size(stdio_editor) -> None:
    editor = stdio_editor
    pi = PiFile(cwd=str(editor.place.cwd))
    pi.user("question")
    path = editor.place.write("s.jsonl", pi.data)
    await editor.start()
    document = {"uri": path.as_uri(), "languageId": "jsonl", "version": 1}
    text = json.dumps('{"a": "\\\\"}\n' * 64)[1:-1].encode()
    head, tail = json.dumps({"params": {"textDocument": {"text": "?", **document}}}).split("?")
    n_texts = 80_000_000 // len(text)
    opened = b'{"jsonrpc": "2.0", "method": "textDocument/didOpen", ' + head[1:].encode()
    n_bytes = len(opened) + n_texts * len(text) + len(tail)
    stdin = editor.client._server.stdin
    stdin.write(b"Content-Length: %d\r\n\r\n" % n_bytes + opened)
    for _ in range(8):
        stdin.write(text * (n_texts // 8))
        await stdin.drain()
    stdin.write(text * (n_texts % 8) + tail.encode())
    await stdin.drain()
    found = await editor.client.text_document_document_symbol_async(
        types.DocumentSymbolParams(types.TextDocumentIdentifier(path.as_uri()))
    )
    assert [one.name for one in found] == ["question"]
    # It is open: what is open is followed.
    pi.assistant("answer", usage=100_000)
    path.write_bytes(pi.data)
    assert (await editor.gauge(lambda gauge: gauge.text == "50%")).session.path == str(path)
