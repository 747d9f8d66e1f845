"""Event files and flat files that are large enough to be compacted, with calls of tools."""

from pi_files import Json, json_line

SECONDS = 1_707_820_000
MILLISECONDS = 1_769_076_000_000
N_STEPS = 80


def event_file(n_compactions: int = 0, n_steps: int = N_STEPS) -> bytes:
    """Write an event file: no header, no parents, times in seconds."""
    events: list[Json] = []
    for step in range(n_steps):
        at = SECONDS + step * 60
        messages: list[Json] = [
            {"role": "user", "content": _words(f"Step {step}:", 150)},
            {"role": "assistant", "content": [_text(f"Reading {step}."), _call(step)]},
            {"role": "tool", "toolCallId": f"c{step}", "toolName": "read", "content": _out(step)},
            {"role": "assistant", "content": _words(f"Step {step} is done:", 80)},
        ]
        for number, message in enumerate(messages):
            event_id = f"msg-{step * 4 + number:03d}"
            head: Json = {"id": event_id, "type": "message"}
            events.append(head | message | {"timestamp": at + number})
        if n_steps - n_compactions <= step + 1 < n_steps:
            events.append(
                {
                    "id": f"compact-{step}",
                    "type": "compaction",
                    "summary": f"Steps up to {step} were done.",
                    "messagesCompacted": 4 * step,
                    "tokensBeforeCompaction": 187_450,
                    "tokensAfterCompaction": 48_320,
                    "trigger": "auto",
                    "layer": "summarize",
                    "boundaryMessageId": f"msg-{step * 4 - 1:03d}",
                    "timestamp": at + 5,
                }
            )
    return b"".join(map(json_line, events))


def flat_file(
    n_compactions: int = 0, n_steps: int = N_STEPS, *, cwd: str = "/w", version: int = 2
) -> bytes:
    """Write a flat file: a message's own fields stand beside the entry's."""
    header: Json = {"type": "session", "version": version, "id": "flat-session-0001"}
    entries: list[Json] = [header | {"timestamp": "2026-01-22T10:00:00.000Z", "cwd": cwd}]

    def add(kind: str, fields: Json) -> str:
        parent = entries[-1]["id"] if len(entries) > 1 else None
        entry_id = f"e{len(entries):04d}"
        entries.append({"type": kind, "id": entry_id, "parentId": parent, **fields})
        return entry_id

    for step in range(n_steps):
        at = MILLISECONDS + step * 60_000
        first = add("message", _user(_words(f"Step {step}:", 150), at))
        add("message", _answer([_text(f"Reading {step}."), _call(step)], at + 1, step))
        result: Json = {"role": "tool", "toolCallId": f"c{step}", "toolName": "read"}
        add("message", result | {"content": _out(step), "timestamp": at + 2})
        add("message", _answer([_text(_words(f"Step {step} is done:", 80))], at + 3, step))
        add("custom_message", {"role": "user", "content": [_text(f"aside {step}")], "hidden": True})
        add("custom", {"name": "state", "data": {"step": step}})
        if n_steps - n_compactions <= step + 1 < n_steps:
            details: Json = {"provider": "anthropic", "model": "m-1", "timestamp": at + 4}
            summary = f"Steps up to {step} were done."
            fields: Json = {"summary": summary, "firstKeptEntryId": first, "tokensBefore": 50_000}
            add("compaction", fields | {"details": details})
    return b"".join(map(json_line, entries))


def _user(text: str, at: int) -> Json:
    return {"role": "user", "content": [_text(text)], "timestamp": at}


def _answer(content: list[Json], at: int, step: int) -> Json:
    n_total = 4000 + step * 900
    usage: Json = {"input": n_total - 50, "output": 50, "totalTokens": n_total}
    model: Json = {"provider": "openai", "model": "gpt-4-turbo", "usage": usage}
    return {"role": "assistant", "content": content, **model, "timestamp": at}


def _text(text: str) -> Json:
    return {"type": "text", "text": text}


def _call(step: int) -> Json:
    arguments = {"path": f"src/f{step}.py"}
    return {"type": "toolCall", "id": f"c{step}", "name": "read", "arguments": arguments}


def _out(step: int) -> list[Json]:
    return [_text(_words(f"file {step}", 400))]


def _words(head: str, n: int) -> str:
    words = ("route", "cache", "schema", "index", "queue", "retry", "token", "order")
    return " ".join((head, *(words[(at * 7 + len(head)) % len(words)] for at in range(n))))
