"""One made-up session as each agent would keep it, for measurements on any of them."""

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Literal, NamedTuple

Json = dict[str, object]

AT = "2026-01-01T00:00:00.000Z"
SESSION_ID = "0199a0aa-0000-7000-8000-000000000001"
N_SENT = 150_000
"""Tokens that each answer reports."""


class Step(NamedTuple):
    """What a person or the model says, or a call with its output."""

    speaker: Literal["user", "assistant", "tool"]
    text: str
    tool: str = ""
    arguments: Mapping[str, object] = {}
    image: str = ""
    """Encoded, a part of the output."""


def write_pi(path: Path, steps: Iterable[Step]) -> str:
    return _write_lines(path, _pi_lines(str(path.parent), steps))


def _pi_lines(cwd: str, steps: Iterable[Step]) -> Iterator[Json]:
    yield {"type": "session", "version": 3, "id": SESSION_ID, "timestamp": AT, "cwd": cwd}
    parent: str | None = None
    for message in _pi_messages(steps):
        entry_id = f"{0 if parent is None else int(parent, 16) + 1:08x}"
        place: Json = {"type": "message", "id": entry_id, "parentId": parent, "timestamp": AT}
        yield place | {"message": message | {"timestamp": 1}}
        parent = entry_id


def _pi_messages(steps: Iterable[Step]) -> Iterator[Json]:
    cost = {"input": N_SENT, "output": 300, "cacheRead": 0, "cacheWrite": 0}
    answer = {"role": "assistant", "provider": "anthropic", "model": "claude-sonnet-4-5"}
    answer |= {"usage": {**cost, "totalTokens": N_SENT + 300}}
    for number, step in enumerate(steps):
        text = {"type": "text", "text": step.text}
        if step.speaker == "user":
            yield {"role": "user", "content": [text]}
        elif step.speaker == "assistant":
            yield {**answer, "content": [text], "stopReason": "stop"}
        else:
            call = {"type": "toolCall", "id": f"c{number}", "name": step.tool}
            call |= {"arguments": step.arguments}
            yield {**answer, "content": [call], "stopReason": "toolUse"}
            image = {"type": "image", "mimeType": "image/png", "data": step.image}
            yield {
                "role": "toolResult",
                "toolCallId": f"c{number}",
                "toolName": step.tool,
                "content": [text, image] if step.image else [text],
                "isError": False,
            }


def write_claude_code(path: Path, steps: Iterable[Step]) -> str:
    return _write_lines(path, _claude_lines(str(path.parent), steps))


def _claude_lines(cwd: str, steps: Iterable[Step]) -> Iterator[Json]:
    parent: str | None = None
    for number, (role, content) in enumerate(_claude_messages(steps)):
        message: Json = {"role": role, "content": content}
        if role == "assistant":
            usage = {"input_tokens": N_SENT, "output_tokens": 300}
            message |= {"id": f"msg_{number}", "model": "claude-sonnet-4-5", "usage": usage}
        yield {
            "parentUuid": parent,
            "isSidechain": False,
            "type": role,
            "uuid": f"u{number}",
            "timestamp": AT,
            "sessionId": SESSION_ID,
            "cwd": cwd,
            "message": message,
        }
        parent = f"u{number}"


def _claude_messages(steps: Iterable[Step]) -> Iterator[tuple[str, list[Json]]]:
    for number, step in enumerate(steps):
        text: Json = {"type": "text", "text": step.text}
        if step.speaker != "tool":
            yield step.speaker, [text]
            continue
        call: Json = {"type": "tool_use", "id": f"c{number}", "name": step.tool.capitalize()}
        yield "assistant", [call | {"input": step.arguments}]
        source: Json = {"type": "base64", "media_type": "image/png", "data": step.image}
        content = [text, {"type": "image", "source": source}] if step.image else [text]
        yield "user", [{"type": "tool_result", "tool_use_id": f"c{number}", "content": content}]


def write_codex(path: Path, steps: Iterable[Step]) -> str:
    return _write_lines(path, _codex_lines(str(path.parent), steps))


def _codex_lines(cwd: str, steps: Iterable[Step]) -> Iterator[Json]:
    meta = {"id": SESSION_ID, "cwd": cwd, "source": "cli"}
    yield {"timestamp": AT, "type": "session_meta", "payload": meta}
    yield {"timestamp": AT, "type": "turn_context", "payload": {"model": "gpt-5.5", "cwd": cwd}}
    usage = {"input_tokens": N_SENT, "cached_input_tokens": 0, "output_tokens": 300}
    info = {"last_token_usage": usage | {"total_tokens": N_SENT + 300}}
    tokens = {"type": "token_count", "info": info | {"model_context_window": 258_400}}
    for step, item in _codex_items(steps):
        yield {"timestamp": AT, "type": "response_item", "payload": item}
        if step.speaker == "user":
            event = {"type": "user_message", "message": step.text}
            yield {"timestamp": AT, "type": "event_msg", "payload": event}
        elif step.speaker == "assistant":
            yield {"timestamp": AT, "type": "event_msg", "payload": tokens}


def _codex_items(steps: Iterable[Step]) -> Iterator[tuple[Step, Json]]:
    for number, step in enumerate(steps):
        kind = "output_text" if step.speaker == "assistant" else "input_text"
        text: Json = {"type": kind, "text": step.text}
        if step.speaker != "tool":
            yield step, {"type": "message", "role": step.speaker, "content": [text]}
            continue
        call: Json = {"type": "function_call", "name": step.tool, "call_id": f"c{number}"}
        yield step, call | {"arguments": json.dumps(step.arguments)}
        image = {"type": "input_image", "image_url": f"data:image/png;base64,{step.image}"}
        output = [text, image] if step.image else step.text
        yield step, {"type": "function_call_output", "call_id": f"c{number}", "output": output}


def write_gemini(path: Path, steps: Iterable[Step]) -> str:
    return _write_lines(path, _gemini_lines(steps))


def _gemini_lines(steps: Iterable[Step]) -> Iterator[Json]:
    yield {"sessionId": SESSION_ID, "projectHash": "0" * 64, "startTime": AT, "kind": "main"}
    tokens = {"input": N_SENT, "output": 300, "cached": 0, "total": N_SENT + 300}
    answer: Json = {"type": "gemini", "model": "gemini-2.5-flash", "tokens": tokens}
    for number, step in enumerate(steps):
        place: Json = {"id": f"m{number}", "timestamp": AT}
        if step.speaker == "user":
            yield place | {"type": "user", "content": [{"text": step.text}]}
        elif step.speaker == "assistant":
            yield place | answer | {"content": step.text}
        else:
            call: Json = {"id": f"c{number}", "name": step.tool}
            output = {"functionResponse": call | {"response": {"output": step.text}}}
            image = {"inlineData": {"mimeType": "image/png", "data": step.image}}
            result: list[object] = [output, image] if step.image else [output]
            call |= {"args": step.arguments, "status": "success", "result": result}
            yield place | answer | {"content": "", "toolCalls": [call]}
            yield {"id": f"r{number}", "timestamp": AT, "type": "user", "content": result}


def write_opencode(path: Path, steps: Iterable[Step]) -> str:
    """Write a session into opencode's database, as 1.18 lays that out; gives its id."""
    session_id = f"ses_{path.stem}"
    database = path.parent / ".local/share/opencode/opencode.db"
    database.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.executescript(_OPENCODE_SCHEMA)
        row = (session_id, None, str(path.parent), "Bench", "1.18.33", None, 1, 2)
        connection.execute("INSERT INTO session VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
        for number, (info, parts) in enumerate(_opencode_messages(steps)):
            message_id = f"msg_{path.stem}_{number:08}"
            message = (message_id, session_id, number, number, json.dumps(info))
            connection.execute("INSERT INTO message VALUES (?, ?, ?, ?, ?)", message)
            for at, part in enumerate(parts):
                part_id = f"prt_{path.stem}_{number:08}_{at}"
                values = (part_id, message_id, session_id, number, number, json.dumps(part))
                connection.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)", values)
    return session_id


def _opencode_messages(steps: Iterable[Step]) -> Iterator[tuple[Json, Sequence[Json]]]:
    tokens = {"total": N_SENT + 300, "input": N_SENT, "output": 300, "reasoning": 0}
    answer: Json = {"role": "assistant", "modelID": "claude-sonnet-4-5", "tokens": tokens}
    for number, step in enumerate(steps):
        text: Json = {"type": "text", "text": step.text}
        if step.speaker == "user":
            yield {"role": "user"}, [text]
        elif step.speaker == "assistant":
            yield answer | {"finish": "stop"}, [{"type": "step-start"}, text]
        else:
            files = {"mime": "image/png", "url": f"data:image/png;base64,{step.image}"}
            state = {"status": "completed", "input": step.arguments, "output": step.text}
            state |= {"time": {"start": 1, "end": 2}}
            state |= {"attachments": [{"type": "file", **files}]} if step.image else {}
            call: Json = {"type": "tool", "tool": step.tool, "callID": f"c{number}", "state": state}
            yield answer | {"finish": "tool-calls"}, [{"type": "step-start"}, call]


_OPENCODE_SCHEMA = """
CREATE TABLE IF NOT EXISTS session (
  id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT NOT NULL, title TEXT NOT NULL,
  version TEXT NOT NULL, revert TEXT, time_created INTEGER NOT NULL, time_updated INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS message (
  id TEXT PRIMARY KEY, session_id TEXT NOT NULL, time_created INTEGER NOT NULL,
  time_updated INTEGER NOT NULL, data TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS part (
  id TEXT PRIMARY KEY, message_id TEXT NOT NULL, session_id TEXT NOT NULL,
  time_created INTEGER NOT NULL, time_updated INTEGER NOT NULL, data TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS message_session_time_created_id_idx
  ON message (session_id, time_created, id);
CREATE INDEX IF NOT EXISTS part_message_id_id_idx ON part (message_id, id);
CREATE INDEX IF NOT EXISTS part_session_idx ON part (session_id);
"""


def _write_lines(path: Path, lines: Iterable[Json]) -> str:
    with path.open("wb") as file:
        for line in lines:
            file.write(json.dumps(line, separators=(",", ":")).encode() + b"\n")
    return str(path)


WRITERS: dict[str, Callable[[Path, Iterable[Step]], str]] = {
    "pi": write_pi,
    "claude-code": write_claude_code,
    "codex": write_codex,
    "opencode": write_opencode,
    "gemini": write_gemini,
}
"""Each writes a session at a path, or beside it, and gives what `--session` is to be."""
