"""A streamed answer put together; whatever is odd in it is an error."""

from collections.abc import AsyncIterable

import msgspec
from openai.types.chat import ChatCompletionChunk

from ullage.core.transcript.message import JsonObject
from ullage.errors import BadAnswer
from ullage.summary.request import Answer, Usage

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


async def read_answer(stream: AsyncIterable[ChatCompletionChunk]) -> Answer:
    """Read an answer to its end.

    Raises:
        BadAnswer: it is not a whole text that ended by itself.
    """
    texts: list[str] = []
    usage: Usage | None = None
    finish: str | None = None
    async for raw in stream:
        chunk = _typed(raw)
        usage = chunk.usage or usage
        for choice in chunk.choices:
            if choice.index == 0:
                texts.append(_text_of(choice, finish))
                finish = choice.finish_reason or finish
    _check_finish(finish)
    return Answer(text="".join(texts), usage=usage)


def _typed(raw: object) -> _Chunk:
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
