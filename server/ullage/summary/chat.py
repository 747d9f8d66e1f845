"""Chats: one question to a model, and its answer from a stream, whole or not at all."""

from collections.abc import AsyncGenerator, AsyncIterable
from contextlib import asynccontextmanager
from functools import partial

import msgspec
import openai
from openai.types.chat import ChatCompletionChunk, ChatCompletionMessageParam

from ullage.core.summary.prompts import Prompt
from ullage.core.transcript.entries import JsonObject
from ullage.errors import BadAnswer
from ullage.summary.client import Connection, open_connection, send_request
from ullage.summary.endpoint import Endpoint
from ullage.summary.limits import ClockAndJitter, Limits
from ullage.summary.request import Answer, Ask, Usage

_NATURAL = "stop"


class _Delta(msgspec.Struct, frozen=True, kw_only=True):
    content: str | None = None
    refusal: str | None = None
    tool_calls: list[JsonObject] | None = None
    function_call: JsonObject | None = None


class _Choice(msgspec.Struct, frozen=True, kw_only=True):
    delta: _Delta
    index: int = 0
    finish_reason: str | None = None


class _Chunk(msgspec.Struct, frozen=True, kw_only=True):
    choices: tuple[_Choice, ...] = ()
    usage: Usage | None = None


@asynccontextmanager
async def connect(
    endpoint: Endpoint, limits: Limits | None, chance: ClockAndJitter | None
) -> AsyncGenerator[Ask]:
    """Hold connections to an endpoint, and give what asks it; all are closed at the end."""
    limits = limits or endpoint.default_limits
    async with open_connection(endpoint, limits, chance, "text/event-stream") as connection:
        yield partial(ask, connection)


async def ask(connection: Connection, prompt: Prompt, max_tokens: int) -> Answer:
    """Ask a question, several times if need be.

    Raises:
        ModelError: there is no whole answer.
        EndpointRefused: the request would have left its origin.
    """
    return await send_request(connection, partial(_send, connection, prompt, max_tokens))


async def _send(connection: Connection, prompt: Prompt, max_tokens: int) -> Answer:
    endpoint = connection.endpoint
    messages: tuple[ChatCompletionMessageParam, ...] = (
        {"role": "system", "content": prompt.system},
        {"role": "user", "content": prompt.user},
    )
    is_openai = endpoint.provider == "openai"
    stream = await connection.client.chat.completions.create(
        model=endpoint.model,
        messages=messages,
        stream=True,
        stream_options={"include_usage": True},
        temperature=openai.omit if endpoint.temperature is None else endpoint.temperature,
        # OpenAI's newer models know only the one, most other servers only the other.
        max_completion_tokens=max_tokens if is_openai else openai.omit,
        max_tokens=openai.omit if is_openai else max_tokens,
    )
    async with stream:
        return await read_answer(stream)


async def read_answer(stream: AsyncIterable[ChatCompletionChunk]) -> Answer:
    """Read an answer to its end.

    Raises:
        BadAnswer: it is not a whole text that ended by itself.
    """
    texts: list[str] = []
    usage: Usage | None = None
    finish: str | None = None
    async for raw in stream:
        chunk = _check_chunk(raw)
        usage = chunk.usage or usage
        for choice in chunk.choices:
            if choice.index == 0:
                texts.append(_text_of(choice, finish))
                finish = choice.finish_reason or finish
    _check_finish(finish)
    return Answer(text="".join(texts), usage=usage)


def _check_chunk(raw: object) -> _Chunk:
    """Check a chunk's shape, which the openai client does not."""
    if not isinstance(raw, ChatCompletionChunk):
        raise BadAnswer("the model's answer is not in the form of the protocol: not used")
    return msgspec.convert(raw.to_dict(mode="json", warnings=False), _Chunk)


def _text_of(choice: _Choice, finish: str | None) -> str:
    delta = choice.delta
    if delta.refusal:
        raise BadAnswer("the model refused to summarize: try another one")
    if delta.tool_calls or delta.function_call:
        raise BadAnswer("the model called a tool instead of summarizing: try another one")
    if finish is not None and delta.content:
        raise BadAnswer("the model's answer went on after its end: not used")
    return delta.content or ""


def _check_finish(finish: str | None) -> None:
    if finish == _NATURAL:
        return
    match finish:
        case None:
            raise BadAnswer("the model's answer ended before it was whole: try again")
        case "length" | "max_tokens":
            raise BadAnswer("the model's answer was cut off at its limit of tokens: not used")
        case "content_filter":
            raise BadAnswer("the provider's content filter stopped the answer: try another model")
        case _:
            raise BadAnswer("the model's answer did not end as a text does: try another one")
