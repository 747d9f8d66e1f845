"""Requests with parameters of wrong types, made from the model of the protocol."""

import asyncio
import enum
import json
from collections.abc import Mapping, Sequence
from types import NoneType, UnionType
from typing import Literal, Union, get_args, get_origin, get_type_hints

import attrs
from hypothesis import example, given, settings
from hypothesis import strategies as st
from lsprotocol import types

from language_server import RawClient, raw_client
from pi_files import Json, conversation
from profiles import examples
from running import Place
from ullage.lsp.server import COMMANDS, REQUESTS

JUNK = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**33), 2**33)
    | st.floats(allow_nan=False)
    | st.sampled_from(("", "file:///", "file:///%00", "ullage:", "../x", "\ud800", "x" * 300)),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=2), inner),
    max_leaves=4,
)
HERE = "file:///here"
"""Stands for the project folder in what is drawn."""
FILES = {
    "session.jsonl": conversation(6, chars=3000, usage=9_000).data,
    "AGENTS.md": b"# Rules\n\nAlways use `tabs`.\n",
    "MEMORY.md": b"# Memory\n\n- Parcels are in SQLite (memory/2026-01-01.md#L1)\n",
    ".ullage.yaml": b"pins:\n  - keep me\n",
}
OURS = {method.name: method.argument for method in REQUESTS}
"""What takes one of our own shapes, by name."""
STANDARD = {
    name: params
    for name, (_, response, params, _) in types.METHOD_TO_TYPES.items()
    if response is not None
    and types.message_direction(name) != "serverToClient"
    and name not in ("initialize", "shutdown")
}


@st.composite
def values(draw, shape: object, depth: int = 0) -> object:
    """Draw what has a type, wholly or in part."""
    if depth > 4 or draw(st.integers(0, 9)) == 0:
        return draw(JUNK)
    origin, args = get_origin(shape), get_args(shape)
    if origin in (Union, UnionType):
        return draw(values(draw(st.sampled_from(args)), depth))
    if origin is Mapping:
        return {}
    if origin in (Sequence, list, tuple):
        n_items = draw(st.integers(0, 2))
        return [draw(values(args[0], depth + 1)) for _ in range(n_items)]
    if isinstance(shape, type) and attrs.has(shape):
        hints = get_type_hints(shape)
        wanted = [name for name in hints if draw(st.integers(0, 5))]
        return {_camel(name): draw(values(hints[name], depth + 1)) for name in wanted}
    if isinstance(shape, type) and issubclass(shape, enum.Enum):
        return draw(st.sampled_from([member.value for member in shape]))
    return draw(st.sampled_from(args) if origin is Literal else PLAIN.get(shape, JUNK))


PLAIN: dict[object, st.SearchStrategy[object]] = {
    NoneType: st.none(),
    bool: st.booleans(),
    int: st.integers(0, 9),
    float: st.floats(allow_nan=False),
    str: st.sampled_from((*FILES, *(f"{HERE}/{name}" for name in FILES))) | st.text(max_size=3),
}


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))


@st.composite
def requests(draw) -> tuple[str, object]:
    kind = draw(st.integers(0, 2))
    if kind == 0:
        name = draw(st.sampled_from(sorted(STANDARD)))
        return name, draw(values(STANDARD[name]))
    if kind == 1:
        name = draw(st.sampled_from(sorted(OURS)))
        return name, draw(values(OURS[name]))
    command = draw(st.sampled_from(COMMANDS))
    argument = draw(values(command.argument))
    return "workspace/executeCommand", {"command": command.name, "arguments": [argument]}


def choose(session: str) -> tuple[str, object]:
    argument = {"session": session}
    return "workspace/executeCommand", {"command": "ullage.choose", "arguments": [argument]}


async def ask_all(client: RawClient, place: Place, asked: list[tuple[str, object]]) -> list[Json]:
    for name, data in FILES.items():
        item = {"uri": place.write(name, data).as_uri(), "languageId": "x", "version": 1}
        document = item | {"text": data.decode()}
        client.notify("textDocument/didOpen", {"textDocument": document})
    for number, (name, params) in enumerate(asked):
        plain = json.dumps(params).replace(HERE, place.cwd.as_uri())
        client.request(number, name, json.loads(plain))
    await client.until(lambda: set(range(len(asked))) <= set(client.answered()))
    await client.is_alive()
    return client.answers


@example(asked=[choose("")], reply=None)
@settings(max_examples=examples(300))
@given(asked=st.lists(requests(), min_size=1, max_size=30), reply=JUNK)
def test_every_request_is_answered_once(
    place: Place, asked: list[tuple[str, object]], reply: object
) -> None:
    async def main() -> list[Json]:
        async with raw_client(place) as client:
            client.reply = lambda _: {"result": reply}
            return await ask_all(client, place, asked)

    answers = asyncio.run(main())
    numbers = [answer["id"] for answer in answers if isinstance(answer["id"], int)]
    assert sorted(numbers) == list(range(len(asked)))
    for answer in answers:
        assert ("result" in answer) != ("error" in answer)
        error = answer.get("error")
        if error is not None:
            assert error["code"] != -32603
            assert "Traceback" not in str(error)
            assert "a fault of Ullage" not in error["message"], asked[answer["id"]]
