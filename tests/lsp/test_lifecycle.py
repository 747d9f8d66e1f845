"""The server's process: its framing, and its end when the client goes, however it goes."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import IO

import pytest

from pi_files import conversation
from running import WAIT_S
from ullage.store.files.processes import GRACE_S, PROCESS_CHECK_S


def frame(header: str = "Content-Length", **message: object) -> bytes:
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    return f"{header}: {len(body)}\r\n\r\n".encode() + body


def read_message(stream: IO[bytes]) -> dict:
    length = 0
    while (line := stream.readline()) != b"\r\n":
        assert line, "the server closed its output"
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    return json.loads(stream.read(length))


def answer_to(stream: IO[bytes], request_id: int) -> dict:
    while (message := read_message(stream)).get("id") != request_id:
        pass
    return message


def initialize(process_id: int | None = None, header: str = "Content-Length") -> bytes:
    params = {"processId": process_id, "rootUri": None, "capabilities": {}}
    return frame(header, id=1, method="initialize", params=params) + frame(
        header, method="initialized", params={}
    )


class Server(subprocess.Popen):
    """The server with pipes to it; started."""

    def __init__(self, place) -> None:
        super().__init__(
            [sys.executable, "-m", "ullage", "lsp"],
            env=place.env(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def send(self, data: bytes) -> None:
        assert self.stdin is not None
        self.stdin.write(data)
        self.stdin.flush()

    def answer(self, request_id: int) -> dict:
        assert self.stdout is not None
        return answer_to(self.stdout, request_id)

    def is_ready(self) -> None:
        """Wait until everything that was sent is worked on: an answer comes after it."""
        self.send(frame(id=99, method="ullage/none", params={}))
        self.answer(99)


@pytest.fixture
def server(place) -> Iterator[Server]:
    with Server(place) as server:
        yield server
        server.kill()


def test_the_timers_that_end_the_server_take_less_than_two_seconds() -> None:
    assert max(PROCESS_CHECK_S, GRACE_S) < 2


def test_the_server_ends_after_its_input_closed(server: Server) -> None:
    server.send(initialize(os.getpid()))
    server.is_ready()
    assert server.stdin is not None
    server.stdin.close()
    server.wait(WAIT_S)


def test_the_server_ends_when_its_input_closes_before_anything_was_said(server: Server) -> None:
    assert server.stdin is not None
    server.stdin.close()
    server.wait(WAIT_S)


def test_the_server_ends_when_its_input_breaks_off_inside_a_message(server: Server) -> None:
    server.send(initialize(os.getpid()))
    server.is_ready()
    server.send(b"Content-Length: 500\r\n\r\n{")
    assert server.stdin is not None
    server.stdin.close()
    server.wait(WAIT_S)


def test_the_server_ends_when_the_client_died_with_the_input_still_open(server: Server) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as client:
        server.send(initialize(client.pid))
        server.is_ready()
        client.kill()
        client.wait()
        server.wait(WAIT_S)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not hand orphans on")
def test_the_server_ends_when_its_parent_died_with_the_input_still_open(place) -> None:
    script = (
        "import subprocess, sys\nsubprocess.Popen([sys.executable, '-m', 'ullage', 'lsp']).wait()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script],
        env=place.env(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as parent:
        assert parent.stdin is not None
        assert parent.stdout is not None
        parent.stdin.write(initialize() + frame(id=99, method="ullage/none", params={}))
        parent.stdin.flush()
        answer_to(parent.stdout, 99)
        parent.kill()
        parent.wait()
        ended = threading.Thread(target=parent.stdout.read)  # the server holds its other end
        ended.start()
        ended.join(WAIT_S)
        is_gone = not ended.is_alive()
        parent.stdin.close()
        ended.join()
        assert is_gone


@pytest.mark.parametrize("header", ["content-length", "CONTENT-Length "])
def test_a_header_is_understood_in_any_case(server: Server, header: str) -> None:
    server.send(initialize(os.getpid(), header))
    assert "capabilities" in server.answer(1)["result"]


def test_another_header_before_the_length_is_passed_over(server: Server) -> None:
    content_type = b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\n"
    server.send(content_type + initialize(os.getpid()))
    assert "capabilities" in server.answer(1)["result"]


@pytest.mark.parametrize("length", [b"99999999999999", b"many"])
def test_a_message_of_impossible_length_ends_the_server(server: Server, length: bytes) -> None:
    server.send(initialize(os.getpid()))
    server.is_ready()
    server.send(b"Content-Length: " + length + b"\r\n\r\n{}")
    assert server.wait(WAIT_S) == 1


def test_a_header_without_an_end_ends_the_server(server: Server) -> None:
    server.send(initialize(os.getpid()))
    server.is_ready()
    server.send(b"Content-Type: " + b"x" * 10_000)
    assert server.wait(WAIT_S) == 1


def test_a_message_that_is_none_does_not_stop_the_server(server: Server) -> None:
    server.send(initialize(os.getpid()))
    for body in (
        b"{",
        b"[]",
        b"null",
        b'"text"',
        b"{}",
        b'{"jsonrpc":"2.0"}',
        b"\xff",
        b'{"id":{}}',
    ):
        server.send(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        server.is_ready()


def test_an_unknown_request_is_answered_with_an_error(server: Server) -> None:
    server.send(initialize(os.getpid()))
    server.send(frame(id=2, method="ullage/none", params={}))
    assert server.answer(2)["error"]["code"] == -32601


def test_a_shutdown_ends_with_exit_code_0_and_an_exit_without_one_with_1(place) -> None:
    for messages, exit_code in (
        (frame(id=2, method="shutdown") + frame(method="exit"), 0),
        (frame(method="exit"), 1),
    ):
        with Server(place) as server:
            server.send(initialize(os.getpid()))
            server.answer(1)
            server.send(messages)
            assert server.wait(WAIT_S) == exit_code


def test_the_text_of_a_transcript_never_reaches_the_log(server: Server, place) -> None:
    pi = conversation(1)
    pi.user("canary-7f3a " * 20)
    path = place.write("canary-name.jsonl", pi.data)
    document = {"uri": path.as_uri(), "languageId": "jsonl", "version": 1, "text": "canary-7f3a"}
    server.send(initialize(os.getpid()))
    server.send(frame(method="textDocument/didOpen", params={"textDocument": document}))
    params = {"session": str(path)}
    server.send(frame(id=2, method="ullage/status", params=params))
    assert "Context Status" in server.answer(2)["result"]["text"]
    wrong = {"session": ["canary-7f3a"]}
    server.send(frame(id=3, method="ullage/status", params=wrong))
    server.answer(3)
    path.write_bytes(b'{"canary-7f3a"\n')
    server.send(frame(id=4, method="ullage/status", params=params))
    server.answer(4)
    server.send(frame(id=5, method="shutdown"))
    server.answer(5)
    server.send(frame(method="exit"))
    assert server.stderr is not None
    assert b"canary-7f3a" not in server.stderr.read()


def test_a_refusal_is_an_answer_and_no_line_of_the_log(server: Server, place) -> None:
    server.send(initialize(os.getpid()))
    server.send(frame(id=2, method="ullage/status", params={"session": "gone.jsonl"}))
    assert "does not exist" in server.answer(2)["error"]["message"]
    server.send(frame(id=3, method="ullage/status", params={"a": 1}))
    server.answer(3)
    command = {"command": "ullage.apply", "arguments": []}
    server.send(frame(id=4, method="workspace/executeCommand", params=command))
    assert "error" in server.answer(4)
    server.send(frame(id=5, method="shutdown"))
    server.answer(5)
    server.send(frame(method="exit"))
    assert server.stderr is not None
    assert server.stderr.read() == b""
