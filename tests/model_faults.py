"""What a server may do to us, as rows: its replies, and what must come of them."""

import gzip
import json
import traceback
from collections.abc import Callable
from typing import NamedTuple

from model_server import (
    DONE,
    END,
    Reply,
    chunked,
    delta,
    error_reply,
    event,
    head,
    stream,
    text_reply,
)
from model_session import CANARY, GOOD, KEY, LAST_REPLY
from ullage.errors import BadAnswer, ModelBusy, ModelDenied, ModelError, ModelUnreachable

FINE = text_reply(GOOD)
SUMMARY = "summary"
NOTE = "note"


class Row(NamedTuple):
    outcome: type[ModelError] | str
    n_tries: int
    replies: tuple[Reply, ...]
    at_most_s: float = 1.0


def bad(*replies: Reply) -> Row:
    """A row whose answer is not used, and not asked for again."""
    return Row(BadAnswer, 1, replies)


def text(answer: str) -> Row:
    return bad(text_reply(answer))


def overflow(message: str, status: int = 400, **fields: object) -> Row:
    # The one part is tried as a whole and in a smaller chunk; then there is a note.
    return Row(NOTE, 2, (error_reply(status, {"error": {"message": message} | fields}),))


def busy(outcome: str, fine: Reply, retry_after: str, at_most_s: float) -> Row:
    return Row(outcome, 2, (error_reply(429, retry_after=retry_after), fine), at_most_s)


def raw(body: bytes, kind: str = "text/event-stream") -> Row:
    return bad((head(200, kind), body))


def dripping(*parts: bytes, every_s: float) -> Reply:
    return (START, *(step for part in parts for step in (chunked(part), every_s)), END)


START = head(transfer_encoding="chunked")
HALF = chunked(event(delta(GOOD[:200])))
DRIP = b"".join(
    (event(delta(GOOD[:150])), event(delta(GOOD[150:])), event(delta(None, "stop")), DONE)
)
BYTES = [bytes([one]) for one in DRIP]
DROPS = [DRIP[at : at + 9] for at in range(0, len(DRIP), 9)]


def wire_rows(
    outcome: str, fine: Reply, half: bytes, kind: str, too_long: Callable[..., Row]
) -> dict[str, Row]:
    """Give what any server may do, whatever it is asked for.

    `fine` is a whole answer in four steps or more, `half` a chunk of one, `kind` its content type.
    """
    start = head(200, kind, transfer_encoding="chunked")
    return {
        "all is well": Row(outcome, 1, (fine,)),
        # Time
        "hangs before its headers": Row(ModelUnreachable, 4, (("hang",),), 300),
        "hangs after its headers": Row(ModelUnreachable, 4, ((start, "hang"),), 300),
        "hangs once, then answers": Row(outcome, 2, (("hang",), fine), 62),
        "stalls in mid-answer": Row(ModelUnreachable, 4, ((start, half, "hang"),), 300),
        "pauses 50 seconds twice": Row(
            outcome, 1, ((fine[0], fine[1], 50.0, fine[2], 50.0, *fine[3:]),), 101
        ),
        # Connections
        "breaks off at once": Row(ModelUnreachable, 4, (("cut",),), 10),
        "breaks off after its headers": Row(ModelUnreachable, 4, ((start, "cut"),), 10),
        "breaks off in mid-answer": Row(ModelUnreachable, 4, ((start, half, "cut"),), 10),
        "breaks off once, then answers": Row(outcome, 2, ((start, half, "cut"), fine), 10),
        "ends without its last chunk": Row(ModelUnreachable, 4, ((start, half),), 10),
        "ends in mid-answer": bad((start, half, END)),
        "asks for patience for ever": Row(
            ModelUnreachable, 1, (((b"HTTP/1.1 100 Continue\r\n\r\n", 20.0) * 40),), 301
        ),
        "speaks no HTTP": Row(ModelUnreachable, 4, ((b"SSH-2.0-OpenSSH_9.9\r\n",),), 10),
        "sends a header without an end": Row(
            ModelUnreachable, 4, ((b"HTTP/1.1 200 OK\r\nx: " + b"a" * 300_000,),), 10
        ),
        # Bodies
        "garbage": raw(bytes(range(256)) * 8, kind),
        "an empty body": raw(b"", kind),
        "HTML": raw(b"<html><body>Sign in to the network</body></html>", "text/html"),
        "a gzip bomb": bad(
            (head(200, kind, content_encoding="gzip"), gzip.compress(bytes(20_000_000)))
        ),
        "a gigabyte announced": bad((head(200, kind, content_length="1000000000"), b": \n" * 1000)),
        "more than the limit": bad((head(200, kind), *([b": " + b"x" * 1_000_000 + b"\n"] * 20))),
        "an error of more than the limit": bad((head(500), *([b"x" * 1_000_000] * 20))),
        # Statuses
        "429 for ever": Row(ModelBusy, 4, (error_reply(429),), 10),
        "429 with seconds": busy(outcome, fine, "7", 7.1),
        "429 with a date": busy(outcome, fine, "Sat, 21 Nov 2026 12:00:09 GMT", 9.1),
        "429 with a past date": busy(outcome, fine, "Sat, 21 Nov 2020 12:00:09 GMT", 1),
        "429 with a date of no calendar": busy(
            outcome, fine, "Sat, 99 Nov 9999999 12:00:09 GMT", 1
        ),
        "429 with garbage": busy(outcome, fine, "soon", 1),
        "429 with a negative pause": busy(outcome, fine, "-5", 1),
        "429 with not a number": busy(outcome, fine, "nan", 1),
        "429 with 10^9 seconds": Row(ModelBusy, 1, (error_reply(429, retry_after="1000000000"),)),
        "429 with a date next year": Row(
            ModelBusy, 1, (error_reply(429, retry_after="Sun, 21 Nov 2027 12:00:00 GMT"),)
        ),
        "429 without any": Row(outcome, 2, (error_reply(429), fine), 1),
        "429 three times": Row(outcome, 4, (*[error_reply(429, retry_after="50")] * 3, fine), 151),
        "429 as the quota is used up": Row(
            ModelDenied, 1, (error_reply(429, {"error": {"code": "insufficient_quota"}}),)
        ),
        "500": Row(ModelUnreachable, 4, (error_reply(500),), 10),
        "502 with HTML": Row(ModelUnreachable, 4, ((head(502, "text/html"), b"<h1>Bad"),), 10),
        "503 with a pause": Row(outcome, 2, (error_reply(503, retry_after="3"), fine), 3.1),
        "529": Row(outcome, 3, (error_reply(529), error_reply(529), fine), 10),
        "408": Row(outcome, 2, (error_reply(408), fine), 10),
        "401 that repeats the key": Row(
            ModelDenied, 1, (error_reply(401, {"error": {"message": f"Incorrect key {KEY}"}}),)
        ),
        "402": Row(ModelDenied, 1, (error_reply(402),)),
        "403": Row(ModelDenied, 1, (error_reply(403),)),
        "404 for the model": Row(
            ModelDenied, 1, (error_reply(404, {"error": {"code": "model_not_found"}}),)
        ),
        "400 for a parameter": Row(
            ModelDenied, 1, (error_reply(400, {"error": {"message": f"bad {CANARY}"}}),)
        ),
        "204": bad((head(204),)),
        # Overflow, as servers word it
        "overflow of llama.cpp": too_long(
            "request (63147 tokens) exceeds the available context size (32768 tokens)",
            type="exceed_context_size_error",
        ),
        "overflow of OpenAI": too_long(
            "This model's maximum context length is 128000 tokens. However, your messages resulted"
            " in 131072 tokens. Please reduce the length of the messages.",
            code="context_length_exceeded",
        ),
        "overflow of OpenRouter": too_long(
            "This endpoint's maximum context length is 32768 tokens. However, you requested about"
            " 40000 tokens (36000 of text input, 4000 in the output).",
        ),
        "overflow of vLLM": too_long(
            "'max_tokens' is too large: 4000. This model's maximum context length is 8192 tokens"
            " and your request has 7000 input tokens",
        ),
        "overflow of Ollama": too_long("the input length exceeds the context length"),
        "overflow of Anthropic's gateway": too_long(
            "prompt is too long: 210000 tokens > 200000 maximum"
        ),
        "overflow with 500": too_long("the request exceeds the available context size", 500),
        "413": too_long("Payload Too Large", 413),
    }


ROWS: dict[str, Row] = wire_rows(SUMMARY, FINE, HALF, "text/event-stream", overflow) | {
    "stalls after [DONE]": Row(SUMMARY, 1, ((*FINE[:-1], "hang"),), 61),
    "drips a byte every five seconds": Row(
        ModelUnreachable, 1, (dripping(*BYTES, every_s=5.0),), 301
    ),
    "drips nine bytes a second": Row(SUMMARY, 1, (dripping(*DROPS, every_s=1.0),), 250),
    "sends comments for ever": Row(
        ModelUnreachable, 1, ((head(), *((b": wait\n\n", 20.0) * 40)),), 301
    ),
    "ends by itself without [DONE]": Row(SUMMARY, 1, ((*FINE[:-2], END),)),
    "garbage in an event": raw(b"data: \xff\xfe\xfa{{{\n\n"),
    "no UTF-8 in an event": raw(b'data: {"choices": "\xff"}\n\n'),
    "HTML that claims to be a stream": raw(b"<html><body>Sign in</body></html>"),
    "JSON instead of a stream": raw(
        json.dumps({"choices": [{"message": {"content": GOOD}}]}).encode(), "application/json"
    ),
    "no content type": bad((b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n", DRIP)),
    "unknown compression": bad((head(content_encoding="br"), DRIP)),
    "a length that is no number": Row(
        ModelUnreachable, 4, ((head(content_length="many"), DRIP),), 10
    ),
    "more than 8 MB in one line": bad((head(), b"data: ", *([b"x" * 1_000_000] * 20))),
    "overflow in the stream": Row(
        NOTE, 2, (stream(event({"error": {"message": "context length exceeded", "code": 400}})),)
    ),
    # Streams
    "an error in the stream": bad(
        stream(event(delta("## Goal")), event({"error": {"message": KEY}}))
    ),
    "a passing error in the stream": Row(
        SUMMARY, 2, (stream(event({"error": {"message": "overloaded", "code": 502}})), FINE), 10
    ),
    "no choices": bad(stream(event(delta() | {"choices": []}), DONE)),
    "choices that are no list": bad(stream(event(delta() | {"choices": "two"}), DONE)),
    "choices of numbers": bad(stream(event(delta() | {"choices": [1, 2]}), DONE)),
    "null content": bad(stream(event(delta(None)), event(delta(None, "stop")), DONE)),
    "content that is a list": bad(
        stream(event(delta([{"type": "text", "text": GOOD}], "stop")), DONE)
    ),
    "wrong JSON": bad(stream(b"data: {'choices': []}\n\n", DONE)),
    "JSON that is a number": bad(stream(b"data: 42\n\n", DONE)),
    "JSON nested a million deep": bad(stream(b"data: " + b"[" * 1_000_000 + b"\n\n")),
    "infinite usage": bad(stream(b'data: {"choices": [], "usage": {"prompt_tokens": 1e999}}\n\n')),
    "a tool call instead of text": bad(
        stream(
            event(
                delta(tool_calls=[{"index": 0, "function": {"name": "bash", "arguments": "{}"}}])
            ),
            event(delta(None, "tool_calls")),
            DONE,
        )
    ),
    "a refusal field": bad(stream(event(delta(None, refusal="No.")), event(delta(None, "stop")))),
    "content_filter": bad(text_reply(GOOD, "content_filter")),
    "length": bad(text_reply(GOOD[:300], "length")),
    "an unknown end": bad(text_reply(GOOD, "because")),
    "goes on after its end": bad(
        stream(event(delta(GOOD, "stop")), event(delta(" and more")), DONE)
    ),
    "duplicate chunks": bad(
        stream(event(delta(GOOD)), event(delta(GOOD)), event(delta(None, "stop")), DONE)
    ),
    "duplicate ends": Row(
        SUMMARY, 1, (stream(event(delta(GOOD)), *[event(delta(None, "stop"))] * 3, DONE),)
    ),
    "no usage": Row(SUMMARY, 1, (stream(event(delta(GOOD, "stop")), DONE),)),
    # Texts
    "whitespace": text(" \n\t" * 100),
    "a refusal": text("I'm sorry, but I can't help with summarizing src/billing/totals.py."),
    "a question back": text("Could you provide the conversation? I only see totals.py."),
    "no prior history": text("## Goal\n- No prior history.\n\n## Files\n(none)"),
    "nothing but headings": text(
        "\n".join(f"## {name}\n(none)\n" for name in ("Goal", "Constraints", "Files"))
    ),
    "the last reply": text(LAST_REPLY),
    "longer than half of the input": text(GOOD + "- src/billing/totals.py again and again\n" * 300),
    "about something else": text("## Goal\n- Bake a cake for the birthday of grandmother.\n"),
}


def shown(error: BaseException) -> str:
    return "".join((*traceback.format_exception(error), repr(error), repr(vars(error))))
