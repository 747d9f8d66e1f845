"""Every request gets one answer, whatever was sent."""

import asyncio

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from language_server import INITIALIZE, raw_client
from running import WAIT_S, Place

BAD_MESSAGES: list[tuple[bytes, object, int]] = [
    (b"{", None, -32700),
    (b"\xff", None, -32700),
    (b"[" * 100_000, None, -32700),
    (b'{"jsonrpc":"2.0","id":1,"method":"textDocument/hover"', None, -32700),
    (b"[]", None, -32600),
    (b'[{"jsonrpc":"2.0","id":1,"method":"ullage/status"}]', None, -32600),
    (b"null", None, -32600),
    (b'"text"', None, -32600),
    (b'"\\ud800"', None, -32600),
    (b'{"jsonrpc":"\\ud800","id":18,"method":"ullage/status"}', 18, -32600),
    (b'{"jsonrpc":"2.0","id":19,"method":"ullage/status","params":"\\ud800"}', 19, -32602),
    (b"{}", None, -32600),
    (b'{"jsonrpc":"2.0"}', None, -32600),
    (b'{"jsonrpc":"2.0","id":{},"method":"ullage/status"}', None, -32600),
    (b'{"jsonrpc":"2.0","id":true,"method":"ullage/status"}', None, -32600),
    (b'{"jsonrpc":"2.0","id":1.5,"method":"ullage/status"}', None, -32600),
    (b'{"jsonrpc":"2.0","id":null,"method":"ullage/status"}', None, -32600),
    (b'{"jsonrpc":"1.0","id":2,"method":"ullage/status"}', 2, -32600),
    (b'{"id":3,"method":"ullage/status"}', 3, -32600),
    (b'{"jsonrpc":"2.0","id":4}', 4, -32600),
    (b'{"jsonrpc":"2.0","id":5,"method":["ullage/status"]}', 5, -32600),
    (b'{"jsonrpc":"2.0","id":6,"method":"textDocument/didOpen","params":{}}', 6, -32602),
    (b'{"jsonrpc":"2.0","id":7,"method":"initialized","params":{}}', 7, -32600),
    (b'{"jsonrpc":"2.0","id":8,"method":"initialize","params":{"capabilities":{}}}', 8, -32600),
    (b'{"jsonrpc":"2.0","id":9,"method":"textDocument/hover"}', 9, -32602),
    (b'{"jsonrpc":"2.0","id":10,"method":"textDocument/hover","params":[1]}', 10, -32602),
    (b'{"jsonrpc":"2.0","id":11,"method":"textDocument/hover","params":"x"}', 11, -32602),
    (b'{"jsonrpc":"2.0","id":12,"method":"ullage/status","params":{"x":1}}', 12, -32602),
    (b'{"jsonrpc":"2.0","id":13,"method":"workspace/executeCommand","params":{}}', 13, -32602),
    (
        b'{"jsonrpc":"2.0","id":14,"method":"workspace/executeCommand",'
        b'"params":{"command":"ullage.none"}}',
        14,
        -32602,
    ),
    (
        b'{"jsonrpc":"2.0","id":15,"method":"workspace/executeCommand",'
        b'"params":{"command":"ullage.compact","arguments":[[1]]}}',
        15,
        -32602,
    ),
    (b'{"jsonrpc":"2.0","id":16,"method":"ullage/none","params":{"jsonrpc":[]}}', 16, -32601),
    (b'{"jsonrpc":"2.0","id":17,"method":"textDocument/rename","params":{}}', 17, -32602),
]
SILENT_MESSAGES = [
    b'{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{}}',
    b'{"jsonrpc":"2.0","method":"textDocument/didOpen","params":[{"jsonrpc":"2.0"}]}',
    b'{"jsonrpc":"2.0","method":"textDocument/hover","params":{}}',
    b'{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":{}}}',
    b'{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":99}}',
    b'{"jsonrpc":"2.0","method":"ullage/none"}',
    b'{"jsonrpc":"2.0","id":99,"result":null}',
    b'{"jsonrpc":"2.0","id":{},"result":null}',
    b'{"jsonrpc":"2.0","id":"none","error":{"code":"x"}}',
]


@pytest.mark.parametrize(("body", "request_id", "code"), BAD_MESSAGES)
async def test_a_wrong_message_is_answered_as_json_rpc_says(
    place: Place, body: bytes, request_id: object, code: int
) -> None:
    async with raw_client(place) as client:
        client.send_body(body)
        answer = await client.answer(request_id)
        await client.is_alive()
    assert "\n" not in answer["error"]["message"]
    assert answer["error"] == {"code": code, "message": answer["error"]["message"]}
    assert client.answered() == ["begin", request_id, "alive", "end"]


async def test_a_wrong_notification_or_answer_is_passed_over(place: Place) -> None:
    async with raw_client(place) as client:
        for body in SILENT_MESSAGES:
            client.send_body(body)
        await client.is_alive()
    assert client.answered() == ["begin", "alive", "end"]


async def test_a_request_before_the_beginning_is_refused(place: Place) -> None:
    async with raw_client(place, is_begun=False) as client:
        client.request(1, "ullage/status", {})
        assert (await client.answer(1))["error"]["code"] == -32002
        client.request("begin", "initialize", INITIALIZE)
        assert "result" in await client.answer("begin")


async def test_a_request_after_the_end_is_refused(place: Place) -> None:
    async with raw_client(place) as client:
        client.request(1, "shutdown")
        client.request(2, "ullage/status", {})
        client.request(3, "shutdown")
        assert "result" in await client.answer(1)
        await client.until(lambda: {2, 3} <= set(client.answered()))
        client.request(4, "ullage/status", {})
        assert (await client.answer(4))["error"]["code"] == -32600


async def test_an_answer_of_the_wrong_type_ends_the_wait_for_it(place: Place) -> None:
    async with raw_client(place) as client:
        params = types.ShowMessageRequestParams(types.MessageType.Info, "Compact?")
        client.reply = lambda _: {"result": ["yes"]}
        asked = asyncio.create_task(client.running.server.window_show_message_request_async(params))
        await client.until(lambda: "window/showMessageRequest" in str(client.notices))
        with pytest.raises(JsonRpcException):
            await asyncio.wait_for(asked, WAIT_S)


async def test_a_fault_beside_our_own_edge_is_told_without_its_traceback(place: Place) -> None:
    async def broken(*_: object) -> None:
        raise ValueError("of a library")

    async with raw_client(place) as client:
        client.running.server.feature("test/broken")(broken)
        client.request(1, "test/broken", {})
        error = (await client.answer(1))["error"]
    assert error == {"code": -32603, "message": "ValueError: of a library"}
