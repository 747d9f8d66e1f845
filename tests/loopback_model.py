"""A model on loopback that answers by a script: Anthropic's Messages, OpenAI's Responses and chats.

>>> with LoopbackModel() as model:
...     model.answers = [Answer("I look.", commands=("ls",)), Answer("Done.")]
...     run_agent(model.url)
...     model.requests  # what reached the model, in order
"""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import NamedTuple, Self, cast

from running import WAIT_S

Json = dict[str, object]


class Answer(NamedTuple):
    text: str
    commands: tuple[str, ...] = ()
    """Shell commands that the model asks for, side by side."""
    reads: tuple[str, ...] = ()
    """Files that it asks for by pi's own tool, in a chat."""
    calls: tuple[tuple[str, Json], ...] = ()
    """Other tools that it calls by the names that it was told, with their arguments."""
    n_tokens: int = 20_000
    """Tokens of the request, as the model reports them."""


class LoopbackModel:
    def __init__(self) -> None:
        self.answers: list[Answer] = []
        """What is said next; after the last of them the model only says `ok`."""
        self.requests: list[Json] = []
        """Bodies of the requests that an answer was given to; side requests are left out."""
        self.asides: list[Json] = []
        """Bodies of the requests without tools, such as for a title or a summary."""
        self.n_answered = 0
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.model = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._thread.join(timeout=WAIT_S)
        self._server.server_close()

    def next_answer(self, body: Json) -> tuple[int, Answer]:
        """Take the next answer; requests without tools are the agent's own, such as for titles."""
        with self._lock:
            if not body.get("tools"):
                self.asides.append(body)
                return 0, Answer("aside")
            self.requests.append(body)
            self.n_answered += 1
            return self.n_answered, self.answers.pop(0) if self.answers else Answer("ok")


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    model: LoopbackModel


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Keep quiet."""

    def do_HEAD(self) -> None:
        self._reply(b"", "application/json")

    def do_GET(self) -> None:
        self._reply(b'{"data": [], "models": []}', "application/json")

    def do_POST(self) -> None:
        body = cast(Json, json.loads(self._body() or b"{}"))
        model = cast(_Server, self.server).model
        path = self.path.partition("?")[0]
        if path.endswith("/count_tokens"):
            self._reply(b'{"input_tokens": 1000}', "application/json")
        elif path.endswith("/messages"):
            number, answer = model.next_answer(body)
            if body.get("stream"):
                self._stream(anthropic_events(number, answer, str(body.get("model"))))
            else:
                message = anthropic_message(number, answer, str(body.get("model")))
                self._reply(json.dumps(message).encode(), "application/json")
        elif path.endswith("/chat/completions"):
            number, answer = model.next_answer(body)
            self._stream(chat_chunks(number, answer, str(body.get("model"))), "[DONE]")
        elif path.endswith("/responses"):
            self._stream(responses_events(*model.next_answer(body)))
        else:
            self._reply(b"{}", "application/json")

    def _body(self) -> bytes:
        if self.headers.get("transfer-encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("content-length") or 0))
        data = b""
        while size := int(self.rfile.readline().strip() or b"0", 16):
            data += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return data

    def _reply(self, data: bytes, media_type: str) -> None:
        self.send_response(200)
        self.send_header("content-type", media_type)
        self.send_header("content-length", str(len(data)))
        self.send_header("connection", "close")
        self.end_headers()
        self.wfile.write(data)
        self.close_connection = True

    def _stream(self, events: Iterator[Json], *ends: str) -> None:
        lines = [
            (f"event: {event['type']}\n" if "type" in event else "") + f"data: {json.dumps(event)}"
            for event in events
        ]
        lines += [f"data: {end}" for end in ends]
        self._reply("".join(f"{line}\n\n" for line in lines).encode(), "text/event-stream")


def anthropic_message(number: int, answer: Answer, model: str) -> Json:
    calls: list[Json] = [
        {
            "type": "tool_use",
            "id": f"toolu_{number:04}_{n}",
            "name": "Bash",
            "input": {"command": command, "description": "Run it"},
        }
        for n, command in enumerate(answer.commands)
    ]
    calls += [
        {"type": "tool_use", "id": f"toolu_{number:04}_x{n}", "name": name, "input": arguments}
        for n, (name, arguments) in enumerate(answer.calls)
    ]
    return {
        "id": f"msg_{number:04}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [{"type": "text", "text": answer.text}, *calls],
        "stop_reason": "tool_use" if calls else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": answer.n_tokens - 10, "output_tokens": 10}
        | {"cache_creation_input_tokens": 0, "cache_read_input_tokens": 0},
    }


def anthropic_events(number: int, answer: Answer, model: str) -> Iterator[Json]:
    message = anthropic_message(number, answer, model)
    blocks = cast(list[Json], message["content"])
    yield {"type": "message_start", "message": message | {"content": [], "stop_reason": None}}
    for index, block in enumerate(blocks):
        if block["type"] == "text":
            empty: Json = {"type": "text", "text": ""}
            delta: Json = {"type": "text_delta", "text": block["text"]}
        else:
            empty = block | {"input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        yield {"type": "content_block_start", "index": index, "content_block": empty}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    stopped = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": stopped, "usage": message["usage"]}
    yield {"type": "message_stop"}


def responses_events(number: int, answer: Answer) -> Iterator[Json]:
    reasoning: Json = {
        "type": "reasoning",
        "id": f"rs_{number:04}",
        "summary": [{"type": "summary_text", "text": f"thought {number}"}],
        "encrypted_content": "c2VjcmV0",
    }
    said: Json = {
        "type": "message",
        "id": f"msg_{number:04}",
        "role": "assistant",
        "content": [{"type": "output_text", "text": answer.text}],
    }
    calls: list[Json] = [
        {
            "type": "function_call",
            "id": f"fc_{number:04}_{n}",
            "name": "exec_command",
            "arguments": json.dumps({"cmd": command}),
            "call_id": f"call_{number:04}_{n}",
        }
        for n, command in enumerate(answer.commands)
    ]
    calls += [
        {
            "type": "function_call",
            "id": f"fc_{number:04}_x{n}",
            **named_in_codex(name),
            "arguments": json.dumps(arguments),
            "call_id": f"call_{number:04}_x{n}",
        }
        for n, (name, arguments) in enumerate(answer.calls)
    ]
    response_id = f"resp_{number:04}"
    yield {"type": "response.created", "response": {"id": response_id}}
    for index, item in enumerate([reasoning, said, *calls]):
        yield {"type": "response.output_item.added", "output_index": index, "item": item}
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    usage: Json = {
        "input_tokens": answer.n_tokens - 10,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 10,
        "output_tokens_details": {"reasoning_tokens": 5},
        "total_tokens": answer.n_tokens,
    }
    yield {"type": "response.completed", "response": {"id": response_id, "usage": usage}}


def named_in_codex(tool: str) -> Json:
    """Name a tool as Codex has it: those of a server over MCP are in a namespace of their own."""
    namespace, _, name = tool.rpartition("__")
    return {"namespace": namespace, "name": name} if namespace else {"name": name}


def chat_chunks(number: int, answer: Answer, model: str) -> Iterator[Json]:
    head: Json = {"id": f"chat_{number:04}", "object": "chat.completion.chunk", "model": model}
    wanted: list[tuple[str, Json]] = [("bash", {"command": each}) for each in answer.commands]
    wanted += [("read", {"path": path}) for path in answer.reads]
    wanted += answer.calls
    calls: list[Json] = [
        {
            "index": n,
            "id": f"call_{number:04}_{n}",
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(arguments)},
        }
        for n, (name, arguments) in enumerate(wanted)
    ]
    said: Json = {"role": "assistant", "content": answer.text, "tool_calls": calls}
    delta = {key: value for key, value in said.items() if value}
    ended = "tool_calls" if calls else "stop"
    yield head | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    yield head | {"choices": [{"index": 0, "delta": {}, "finish_reason": ended}]}
    usage = {"prompt_tokens": answer.n_tokens - 10, "completion_tokens": 10}
    yield head | {"choices": [], "usage": usage | {"total_tokens": answer.n_tokens}}
