"""Rollouts of Codex, built from readable calls, and a strategy of random ones.

>>> codex = CodexFile()
>>> codex.user("hello")
>>> codex.assistant("hi", n_total=120)
>>> codex.data  # the bytes of the file
"""

from hypothesis import strategies as st

from pi_files import Json, json_line

SESSION_ID = "01a1fbde-0000-7000-8000-000000000001"
AT = "2026-11-21T02:09:56.794Z"


def message(role: str, value: str) -> Json:
    kind = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": value}]}


def usage_of(n_total: int, *, n_cached: int = 0) -> Json:
    n_output = min(5, n_total)
    return {
        "input_tokens": n_total - n_output,
        "cached_input_tokens": n_cached,
        "cache_write_input_tokens": 0,
        "output_tokens": n_output,
        "reasoning_output_tokens": 0,
        "total_tokens": n_total,
    }


class CodexFile:
    """A rollout that grows by a line or more a call."""

    def __init__(self, **meta: object) -> None:
        self.lines: list[bytes] = []
        self.n_calls = 0
        self.line("session_meta", {"id": SESSION_ID, "cwd": "/work/shop", "source": "cli", **meta})

    @property
    def data(self) -> bytes:
        return b"".join(self.lines)

    def raw(self, line: bytes | Json) -> None:
        self.lines.append(line if isinstance(line, bytes) else json_line(line))

    def line(self, kind: str, payload: object) -> None:
        self.raw({"timestamp": AT, "type": kind, "payload": payload})

    def event(self, kind: str, **fields: object) -> None:
        self.line("event_msg", {"type": kind, **fields})

    def item(self, payload: Json) -> None:
        self.line("response_item", payload)

    def turn(self, model: str = "gpt-5.5", window: int = 258_400) -> None:
        self.event("task_started", model_context_window=window)
        self.line("turn_context", {"model": model, "cwd": "/work/shop"})

    def user(self, value: str) -> None:
        self.item(message("user", value))
        self.event("user_message", message=value)

    def assistant(self, value: str, *, n_total: int | None = None) -> None:
        self.item(message("assistant", value))
        if n_total is not None:
            self.tokens(usage_of(n_total))

    def tool(self, output: object = "done", *, n_total: int | None = None) -> None:
        """Call a tool; a usage is told after its output, as 0.169 does, but does not cover it."""
        self.n_calls += 1
        call_id = f"call_{self.n_calls}"
        call: Json = {"name": "exec_command", "arguments": '{"cmd":"ls"}', "call_id": call_id}
        self.item({"type": "function_call", **call})
        self.item({"type": "function_call_output", "call_id": call_id, "output": output})
        if n_total is not None:
            self.tokens(usage_of(n_total))

    def tokens(self, usage: object, window: int = 258_400) -> None:
        info = {"last_token_usage": usage, "model_context_window": window}
        limit = {"used_percent": len(self.lines), "window_minutes": 300, "resets_at": 1}
        self.event("token_count", info=info, rate_limits={"primary": limit, "secondary": None})

    def estimate(self, n_total: int) -> None:
        self.tokens({**usage_of(0), "total_tokens": n_total})

    def compact(self, summary: str, *kept: str, is_legacy: bool = False) -> None:
        payload: Json = {"message": summary}
        if not is_legacy:
            natives = [message("user", value) for value in (*kept, summary)]
            payload["replacement_history"] = natives
        self.line("compacted", payload)

    def roll_back(self, n_turns: int = 1) -> None:
        self.event("thread_rolled_back", num_turns=n_turns)


@st.composite
def codex_files(draw: st.DrawFn) -> CodexFile:
    codex = CodexFile()
    short = st.text("ab é\u2028", max_size=6)
    for n, step in enumerate(draw(st.lists(st.sampled_from(STEPS), max_size=25))):
        value = draw(short)
        match step:
            case "turn":
                codex.turn(draw(st.sampled_from(("gpt-5.5", "o3"))))
            case "user":
                codex.user(value)
            case "assistant":
                codex.assistant(value, n_total=draw(st.none() | st.integers(10, 10**6)))
            case "tool":
                codex.tool(value, n_total=draw(st.none() | st.integers(10, 10**6)))
            case "compact":
                codex.compact(f"summary {n}", value, is_legacy=draw(st.booleans()))
            case "estimate":
                codex.estimate(draw(st.integers(1, 99)))
            case "repeat":
                codex.raw(codex.lines[-1])
            case "roll back":
                codex.roll_back(draw(st.integers(0, 3)))
            case _:
                codex.line("world_state", {"full": True})
    return codex


STEPS = (
    "turn", "user", "user", "assistant", "assistant", "tool", "compact", "estimate", "repeat",
    "roll back", "note",
)  # fmt: skip
