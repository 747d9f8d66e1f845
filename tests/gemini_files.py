"""Chats of the Gemini CLI, built from readable calls, and a strategy of random ones.

>>> gemini = GeminiFile()
>>> gemini.user("hello")
>>> gemini.model("hi", n_input=120)
>>> gemini.data  # the bytes of the file
"""

import json

from hypothesis import strategies as st

from pi_files import Json, json_line

SESSION_ID = "4d0476f7-0000-4000-8000-000000000001"
AT = "2026-11-21T02:26:07.131Z"
METADATA: Json = {"sessionId": SESSION_ID, "projectHash": "0" * 64, "startTime": AT, "kind": "main"}


def tokens_of(n_input: int) -> Json:
    cached = n_input // 2
    return {"input": n_input, "output": 50, "cached": cached, "thoughts": 5, "total": n_input + 55}


def tool_call(call_id: str, output: str | None = None, **args: object) -> Json:
    call: Json = {"id": call_id, "name": "run_shell_command", "args": args}
    return call if output is None else call | {"result": [response(call_id, output)]}


def response(call_id: str, output: str) -> Json:
    said = {"id": call_id, "name": "run_shell_command", "response": {"output": output}}
    return {"functionResponse": said}


class GeminiFile:
    """A chat that grows by a line a call; each call that adds a message gives its id."""

    def __init__(self, **metadata: object) -> None:
        self.lines: list[bytes] = [json_line(METADATA | metadata)]
        self.history: dict[str, Json] = {}
        self.n_ids = 0

    @property
    def data(self) -> bytes:
        return b"".join(self.lines)

    @property
    def document(self) -> bytes:
        """The same messages as older versions wrote them."""
        whole = METADATA | {"messages": list(self.history.values())}
        return json.dumps(whole, indent=2).encode()

    def raw(self, line: bytes | Json) -> None:
        self.lines.append(line if isinstance(line, bytes) else json_line(line))

    def set(self, **changes: object) -> None:
        self.raw({"$set": changes})

    def add(self, kind: str, content: object, *, message_id: str | None = None, **more: object):
        if message_id is None:
            self.n_ids += 1
            message_id = f"m{self.n_ids}"
        record = {"id": message_id, "timestamp": AT, "type": kind, "content": content, **more}
        self.history[message_id] = record
        self.raw(record)
        return message_id

    def user(self, value: str) -> str:
        return self.add("user", [{"text": value}])

    def model(
        self,
        content: object = "",
        *,
        n_input: int | None = None,
        calls: tuple[Json, ...] = (),
        message_id: str | None = None,
    ) -> str:
        tokens = None if n_input is None else tokens_of(n_input)
        more: Json = {"toolCalls": list(calls)} if calls else {}
        return self.add(
            "gemini",
            content,
            message_id=message_id,
            thoughts=[{"subject": "s", "description": "a thought"}],
            tokens=tokens,
            model="gemini-2.5-flash",
            **more,
        )

    def answer(self, *answers: tuple[str, str]) -> str:
        return self.add("user", [response(call_id, output) for call_id, output in answers])

    def replace(self, *records: Json) -> None:
        self.history = {str(record["id"]): record for record in records}
        self.set(messages=list(records))

    def resume(self) -> None:
        """Write the history again, as the agent does; figures and calls beside are lost."""
        keys = ("id", "timestamp", "type", "content")
        self.replace(*({key: m[key] for key in keys} for m in self.history.values()))

    def compress(self, summary: str, n_kept: int = 1) -> None:
        kept = list(self.history.values())[-n_kept:] if n_kept else []
        self.n_ids += 2
        text = f"<state_snapshot>{summary}</state_snapshot>"
        made: list[Json] = [
            {"id": f"m{self.n_ids - 1}", "type": "user", "content": [{"text": text}]},
            {
                "id": f"m{self.n_ids}",
                "type": "gemini",
                "content": [{"text": "Got it. Thanks for the additional context!"}],
            },
        ]
        self.replace(*(m | {"timestamp": AT} for m in made), *kept)

    def rewind(self, message_id: str) -> None:
        ids = list(self.history)
        for dropped in ids[ids.index(message_id) if message_id in ids else 0 :]:
            del self.history[dropped]
        self.raw({"$rewindTo": message_id})


@st.composite
def gemini_files(draw: st.DrawFn) -> GeminiFile:
    gemini = GeminiFile()
    short = st.text("ab é\u2028", min_size=1, max_size=6)
    for n, step in enumerate(draw(st.lists(st.sampled_from(STEPS), max_size=25))):
        value, figure = draw(short), draw(st.none() | st.integers(0, 10**6))
        match step:
            case "user":
                gemini.user(value)
            case "model":
                gemini.model(value, n_input=figure)
            case "tool":
                called = gemini.model("", n_input=figure, calls=(tool_call(f"c{n}"),))
                gemini.set(lastUpdated=AT)
                if draw(st.booleans()):
                    calls = (tool_call(f"c{n}", value),)
                    gemini.model("", n_input=figure, calls=calls, message_id=called)
                if draw(st.booleans()):
                    gemini.answer((f"c{n}", value))
            case "info":
                gemini.add("info", value)
            case "resume":
                gemini.resume()
            case "compress":
                gemini.compress(value, draw(st.integers(0, 3)))
            case "rewind":
                gemini.rewind(draw(st.sampled_from((*gemini.history, "unknown"))))
            case _:
                gemini.set(lastUpdated=AT)
    return gemini


STEPS = (
    "user", "user", "model", "model", "tool", "tool", "info", "resume", "compress", "rewind", "set",
)  # fmt: skip
