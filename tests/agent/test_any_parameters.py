"""Requests with parameters of wrong types, made from the protocol's shapes: each is answered."""

import asyncio
import json

import msgspec
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pi_files import Json
from profiles import examples
from ullage.agent.protocol import METHODS
from ullage.agent.server import Server
from ullage.agent.sessions import Sessions
from ullage.core.transcript.tokens import estimate
from ullage.store.files.places import Places

JUNK = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(("", "s1", "pi", "full", "\0", "\ud800", "../x", "/", "x" * 300)),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=2), inner),
    max_leaves=4,
)
MESSAGES = [
    {"role": "user", "content": "Please look at parser.py. " * 300},
    {"role": "assistant", "content": [{"type": "text", "text": "It is done. " * 300}]},
] * 4
MANY = "many"
"""Stands for the messages in what is drawn."""
PLAUSIBLE = {
    "session": "s1",
    "agent": "pi",
    "sessionId": "one",
    "messages": MANY,
    "layer": "full",
    "query": "parser",
    "path": "MEMORY.md",
    "text": "Use tabs.",
    "kind": "rule",
}


@st.composite
def requests(draw) -> tuple[str, object]:
    method = draw(st.sampled_from(METHODS))
    if not draw(st.integers(0, 9)):
        return method.name, draw(JUNK)
    params: Json = {}
    for field in msgspec.structs.fields(method.params):
        name = field.encode_name
        if draw(st.integers(0, 3)):
            is_junk = name not in PLAUSIBLE or not draw(st.integers(0, 3))
            params[name] = draw(JUNK) if is_junk else PLAUSIBLE[name]
    return method.name, params


async def ask_all(places: Places, asked: list[tuple[str, object]]) -> list[Json]:
    lines: asyncio.Queue[bytes] = asyncio.Queue()
    server = Server(Sessions(places, lambda text, _: estimate(text)), lines.put_nowait)
    cwd = str(places.cwd)
    first = "context/open", {"agent": "pi", "cwd": cwd, "sessionId": "one", "windowTokens": 20_000}
    for number, (method, drawn) in enumerate([first, *asked]):
        meant = {"cwd": cwd, "messages": MESSAGES}
        params = drawn
        if isinstance(drawn, dict):
            params = {
                name: meant.get(name, value) if name == "cwd" or value == MANY else value
                for name, value in drawn.items()
            }
        request = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        server.take(json.dumps(request).encode())
    answers = [json.loads(await lines.get()) for _ in range(len(asked) + 1)]
    await server.finish()
    assert lines.empty()
    return answers


@example(asked=[("context/prepare", {"session": "s1", "messages": [{"role": "\ud800"}]})])
@given(asked=st.lists(requests(), max_size=20))
@settings(max_examples=examples(1000))
def test_every_request_is_answered_once(places: Places, asked: list[tuple[str, object]]) -> None:
    answers = asyncio.run(ask_all(places, asked))
    assert sorted(answer["id"] for answer in answers) == list(range(len(asked) + 1))
    for answer in answers:
        assert ("result" in answer) != ("error" in answer)
        error = answer.get("error", {"code": 0, "message": ""})
        assert error["code"] != -32603, (answer, [("open", {}), *asked][answer["id"]])
        assert "\n" not in error["message"]
