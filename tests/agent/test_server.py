"""The service as a process: JSON-RPC to the letter, no line ends it, the end of its input does."""

import asyncio
import json
import sys
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import agent_client
import pytest
from agent_client import AgentClient, AgentError, ServiceEnded

from model_server import ModelServer, serving
from pi_files import Json
from running import WAIT_S, Place
from service import Service
from ullage.agent.json_rpc import RpcError
from ullage.agent.protocol import (
    CANCEL_REQUEST,
    CLOSE,
    COMPACT,
    OPEN,
    PREPARE,
    RESUME,
    Close,
    Compact,
    Open,
    Prepare,
    Resume,
)
from ullage.agent.server import Server

OPEN_LINE = {
    "jsonrpc": "2.0",
    "id": "last",
    "method": OPEN.name,
    "params": {"agent": "codex", "cwd": str(Path.cwd()), "sessionId": "one"},
}
BAD_LINES: list[tuple[bytes, object, int]] = [
    (b"junk", None, -32700),
    (b'{"jsonrpc":"2.0","id":1,"method"', None, -32700),
    (b"\xff\xfe\x00", None, -32700),
    (b"NaN", None, -32700),
    (b"[" * 100_000, None, -32700),
    (b"[]", None, -32600),
    (b'[{"jsonrpc":"2.0","id":1,"method":"context/close"}]', None, -32600),
    (b"7", None, -32600),
    (b'"text"', None, -32600),
    (b"{}", None, -32600),
    (b'{"jsonrpc":"1.0","id":2,"method":"context/close"}', 2, -32600),
    (b'{"jsonrpc":"2.0","id":3}', 3, -32600),
    (b'{"jsonrpc":"2.0","id":4,"method":7}', 4, -32600),
    (b'{"jsonrpc":"2.0","id":[],"method":"context/close"}', None, -32600),
    (b'{"jsonrpc":"2.0","id":5,"result":{}}', 5, -32600),
    (b'"\\ud800"', None, -32600),
    (b'{"jsonrpc":"\\ud800","id":15,"method":"context/close"}', 15, -32600),
    (b'{"jsonrpc":"2.0","id":16,"method":"context/close","params":"\\ud800"}', 16, -32602),
    (b'{"jsonrpc":"2.0","id":6,"method":"context/nothing"}', 6, -32601),
    (b'{"jsonrpc":"2.0","id":7,"method":"context/close"}', 7, -32602),
    (b'{"jsonrpc":"2.0","id":8,"method":"context/close","params":["s1"]}', 8, -32602),
    (b'{"jsonrpc":"2.0","id":9,"method":"context/close","params":{"session":1}}', 9, -32602),
    (b'{"jsonrpc":"2.0","id":10,"method":"context/close","params":{"session":"s9"}}', 10, -32000),
    (b'{"jsonrpc":"2.0","id":11,"method":"context/open","params":{"agent":"x"}}', 11, -32602),
    (
        b'{"jsonrpc":"2.0","id":12,"method":"context/open",'
        b'"params":{"agent":"pi","cwd":"relative","sessionId":"1"}}',
        12,
        -32602,
    ),
    (
        b'{"jsonrpc":"2.0","id":13,"method":"context/open",'
        b'"params":{"agent":"unknown","cwd":"/","sessionId":"1"}}',
        13,
        -32602,
    ),
    (
        b'{"jsonrpc":"2.0","id":14,"method":"context/open","params":{"agent":"pi","cwd":"/"}}',
        14,
        -32602,
    ),
]
SILENT_LINES = [
    b"",
    b"   ",
    b'{"jsonrpc":"2.0","method":"context/nothing"}',
    b'{"jsonrpc":"2.0","method":"context/close","params":{"session":"s9"}}',
    b'{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":99}}',
    b'{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":{}}}',
]


def test_no_line_ends_the_service(place: Place) -> None:
    lines = [line for line, *_ in BAD_LINES] + SILENT_LINES + [json.dumps(OPEN_LINE).encode()]
    with place.start("agent") as process:
        process.stdin.write(b"\n".join(lines) + b"\n")
        process.stdin.flush()
        answers = [json.loads(process.stdout.readline()) for _ in range(len(BAD_LINES) + 1)]
        out, err = process.communicate(timeout=WAIT_S)
    errors = sorted(
        (str(answer["id"]), answer["error"]["code"]) for answer in answers if "error" in answer
    )
    assert errors == sorted((str(request_id), code) for _, request_id, code in BAD_LINES)
    assert [answer["id"] for answer in answers if "result" in answer] == ["last"]
    assert all("\n" not in answer.get("error", {}).get("message", "") for answer in answers)
    assert out == b""
    assert process.returncode == 0
    assert b"Traceback" not in err


def opening(place: Place, session_id: str = "one") -> Open:
    return Open(
        agent="mine", message_format="claude-code", cwd=str(place.cwd), session_id=session_id
    )


def hanging_model() -> AbstractAsyncContextManager[ModelServer]:
    """Give a model that never answers."""
    return serving(("hang",))


def asking(place: Place, server: ModelServer) -> dict[str, str]:
    return place.env(
        ULLAGE_COMPACTION_MODEL_MODEL_NAME="some-model",
        ULLAGE_COMPACTION_MODEL_BASE_URL=server.base_url,
    )


MESSAGES = [
    {"role": "user", "content": "Please look at the parser. " * 300},
    {"role": "assistant", "content": "It keeps what it cannot read. " * 300},
] * 20


async def test_sessions_run_side_by_side_and_each_in_order(place: Place) -> None:
    async with (
        hanging_model() as server,
        AgentClient(env=asking(place, server)) as client,
    ):
        one = (await client.request(OPEN, opening(place))).session
        two = (await client.request(OPEN, opening(place, "two"))).session
        compaction = asyncio.create_task(
            client.request(COMPACT, Compact(session=one, messages=MESSAGES, layer="full"))
        )
        await server.until(lambda: server.asked)
        behind = asyncio.create_task(client.request(RESUME, Resume(session=one)))
        beside = await client.request(PREPARE, Prepare(session=two, messages=MESSAGES))
        assert beside.gauge.used_tokens
        assert not behind.done()
        compaction.cancel()
        # The checkpoint came before the model, so that it is there though nothing was compacted.
        assert (await behind).checkpoint_id == "cp_001"
        await client.request(CLOSE, Close(session=one))
        with pytest.raises(AgentError) as caught:
            await client.request(RESUME, Resume(session=one))
        assert caught.value.kind == "not_open"


async def test_the_end_of_the_input_ends_it_whatever_runs(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agent_client, "END_TIMEOUT_S", WAIT_S)
    async with hanging_model() as server:
        client = AgentClient(env=asking(place, server))
        async with client:
            session = (await client.request(OPEN, opening(place))).session
            compaction = asyncio.create_task(
                client.request(COMPACT, Compact(session=session, messages=MESSAGES, layer="full"))
            )
            await server.until(lambda: server.asked)
        with pytest.raises(AgentError):
            await compaction
        assert client.exit_code == 0


def test_a_thread_that_never_ends_does_not_hold_it_up(place: Place) -> None:
    """The tokenizer is loaded in a thread when a session is opened; here, forever."""
    script = (
        "import threading\n"
        "from ullage.agent import server, sessions\n"
        "wait = lambda text, encoding: threading.Event().wait()\n"
        "server.Sessions = lambda places: sessions.Sessions(places, wait)\n"
        "server.serve()"
    )
    with place.start(program=("-c", script)) as process:
        try:
            process.stdin.write(json.dumps(OPEN_LINE).encode() + b"\n")
            process.stdin.flush()
            assert b"result" in process.stdout.readline()
            process.stdin.close()
            assert process.wait(WAIT_S) == 0
        finally:
            process.kill()


async def test_a_request_that_takes_too_long_is_cancelled(place: Place) -> None:
    async with (
        hanging_model() as server,
        AgentClient(env=asking(place, server)) as client,
    ):
        session = (await client.request(OPEN, opening(place))).session
        request = Compact(session=session, messages=MESSAGES, layer="full")
        with pytest.raises(TimeoutError):
            await client.request(COMPACT, request, timeout_s=0.2)
        await client.request(RESUME, Resume(session=session))


async def test_a_service_that_is_gone_says_so(place: Place) -> None:
    async with AgentClient((sys.executable, "-c", "pass"), env=place.env()) as client:
        with pytest.raises(ServiceEnded):
            await client.request(OPEN, opening(place))


class InProcess:
    """The dispatch of the server without its process."""

    def __init__(self, service: Service) -> None:
        self._answers: asyncio.Queue[bytes] = asyncio.Queue()
        self._server = Server(service.sessions, self._answers.put_nowait)

    def send(self, request_id: object, method: str, **params: object) -> None:
        request = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}
        self._server.take(json.dumps(request).encode())

    async def answer(self) -> Json:
        return json.loads(await self._answers.get())

    async def open(self, service: Service) -> None:
        cwd = str(service.sessions.places.cwd)
        self.send(0, OPEN.name, agent="claude-code", cwd=cwd, sessionId="1")
        assert "result" in await self.answer()


async def test_requests_sent_at_once_are_answered_in_order(service: Service) -> None:
    process = InProcess(service)
    await process.open(service)
    methods = [(PREPARE, {"messages": MESSAGES}), (RESUME, {}), (PREPARE, {"messages": []})] * 4
    for number, (method, params) in enumerate(methods):
        process.send(number, method.name, session="s1", **params)
    answers = [await process.answer() for _ in methods]
    assert [answer["id"] for answer in answers] == list(range(len(methods)))
    assert all("result" in answer for answer in answers)


async def test_an_id_that_is_running_is_refused(service: Service) -> None:
    process = InProcess(service)
    process.send(1, RESUME.name, session="s1")
    process.send(1, RESUME.name, session="s1")
    codes = [(await process.answer())["error"]["code"] for _ in range(2)]
    assert codes == [-32600, -32000]


async def test_a_lone_surrogate_comes_through(service: Service) -> None:
    process = InProcess(service)
    await process.open(service)
    block = {"type": "tool_result", "tool_use_id": "c", "content": "half a glass \ud83c"}
    message = {"role": "user", "content": [block]}
    process.send(1, PREPARE.name, session="s1", messages=[message] * 2)
    assert "result" in await process.answer()


async def test_a_fault_is_told_without_content(service: Service) -> None:
    service.sessions.count_text = _broken
    process = InProcess(service)
    await process.open(service)
    message = {"role": "user", "content": "swordfish"}
    process.send(1, PREPARE.name, session="s1", messages=[message])
    error = (await process.answer())["error"]
    assert (error["code"], error["data"]["kind"]) == (-32603, "fault")
    assert "swordfish" not in error["message"]


async def test_a_request_cancelled_before_it_began_is_answered(service: Service) -> None:
    process = InProcess(service)
    process.send(1, RESUME.name, session="s1")
    process.send(None, CANCEL_REQUEST, id=1)
    assert (await process.answer())["error"]["code"] == -32800


def _broken(text: str, encoding: str) -> int:
    raise ValueError(f"{text} {encoding}")


def test_a_client_that_stops_reading_ends_it_cleanly(place: Place) -> None:
    """Its writing end stays open: the service still waits for a line of it."""
    with place.start("agent") as process:
        try:
            process.stdout.close()
            process.stdin.write(b"no JSON\n")
            process.stdin.flush()
            assert process.wait(WAIT_S) == 0
            assert process.stderr.read() == b""
        finally:
            process.kill()


def test_a_service_without_pipes_says_what_it_needs(place: Place) -> None:
    start = "os.execv(sys.executable, [sys.executable, '-m', 'ullage', 'agent'])"
    script = f"import os, sys; os.close(0); {start}"
    done = place.run_process(program=("-c", script))
    assert (done.returncode, len(done.stderr.splitlines())) == (3, 1)
    assert "start it with pipes" in done.stderr


@pytest.mark.parametrize("n_levels", [500, 900, 5_000])
async def test_a_request_nested_too_deeply_is_told_so(service: Service, n_levels: int) -> None:
    process = InProcess(service)
    await process.open(service)
    value = b"[" * n_levels + b"]" * n_levels
    head = (
        b'{"jsonrpc":"2.0","id":1,"method":"context/prepare","params":{"session":"s1","messages":'
    )
    process._server.take(head + b'[{"role":"user","content":"","more":' + value + b"}]}}")
    answer = await process.answer()
    if "error" in answer:
        assert answer["error"]["message"].startswith("this line is nested too deeply")


@pytest.mark.parametrize("field", ["cwd", "sessionFile"])
async def test_a_path_with_a_nul_is_refused(service: Service, field: str) -> None:
    with pytest.raises(RpcError, match="character 0"):
        await service.open(**{field: "/tmp/\0"})
