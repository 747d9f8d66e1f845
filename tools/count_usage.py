"""Count how full the context of a recorded session is, by the usage in its file alone.

    python tools/count_usage.py FILE...

Prints a line of JSON for each file: agent, tokens of the last usage after the last compaction, and
the window where the file tells it. It shares nothing with the readers of Ullage, so that both can
be held against each other: `ullage context status --json --session FILE` has `reported_tokens`.
"""

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

Record = dict[str, Any]


def read_records(path: Path) -> list[Record]:
    """Read the lines that are objects; a torn or damaged one is passed over."""
    text = path.read_text("utf-8", "replace")
    try:
        whole = json.loads(text)
        return whole["messages"] if isinstance(whole, dict) and "messages" in whole else [whole]
    except (ValueError, TypeError):
        pass
    records: list[Record] = []
    for line in text.split("\n"):
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if isinstance(record, dict):
            records.append(record)
    return records


def tell_agent(records: Iterable[Record]) -> str:
    for record in records:
        kind = record.get("type")
        if kind in ("session_meta", "response_item", "turn_context"):
            return "codex"
        if "parentUuid" in record or kind in ("queue-operation", "file-history-snapshot"):
            return "claude-code"
        if kind == "session":
            return "pi"
        if kind == "gemini" or "projectHash" in record:
            return "gemini"
    return "unknown"


def count_claude_code(records: list[Record]) -> int | None:
    """Take the last answer of the main thread; a subagent's file is one thread of its own."""
    is_side = all(r.get("isSidechain") for r in records if r.get("type") == "assistant")
    used = None
    for record in records:
        if record.get("subtype") == "compact_boundary":
            used = None
        message = record.get("message") or {}
        usage = message.get("usage")
        is_answer = record.get("type") == "assistant" and message.get("model") != "<synthetic>"
        if is_answer and usage and bool(record.get("isSidechain")) == is_side:
            kinds = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
            total = sum(usage.get(kind) or 0 for kind in kinds) + (usage.get("output_tokens") or 0)
            used = total or used
    return used


def count_codex(records: list[Record]) -> int | None:
    used = None
    for record in records:
        payload = record.get("payload") or {}
        if record.get("type") == "compacted":
            used = None
        if payload.get("type") == "token_count":
            last = (payload.get("info") or {}).get("last_token_usage") or {}
            used = last.get("total_tokens") or used
    return used


def count_gemini(records: list[Record]) -> int | None:
    used = None
    for record in records:
        if record.get("type") == "gemini" and record.get("tokens"):
            used = record["tokens"].get("input") or used
    return used


def count_pi(records: list[Record]) -> int | None:
    used = None
    for record in records:
        if record.get("type") == "compaction":
            used = None
        message = record.get("message") or {}
        is_answer = message.get("role") == "assistant"
        if is_answer and message.get("stopReason") not in ("aborted", "error"):
            usage = message.get("usage") or {}
            kinds = ("input", "output", "cacheRead", "cacheWrite")
            total = usage.get("totalTokens") or sum(usage.get(kind) or 0 for kind in kinds)
            used = total or used
    return used


def tell_window(records: Iterable[Record]) -> int | None:
    """Give the window of Codex's last record, where 0 is unknown, or of Claude Code's `[1m]`."""
    window = None
    for record in records:
        payload = record.get("payload") or {}
        info = payload.get("info") or payload
        if isinstance(info, dict) and "model_context_window" in info:
            window = info["model_context_window"] or None
        if "requestedModel" in record:
            window = 1_000_000 if record["requestedModel"].endswith("[1m]") else None
    return window


COUNTS = {
    "claude-code": count_claude_code,
    "codex": count_codex,
    "gemini": count_gemini,
    "pi": count_pi,
}


def main(names: list[str]) -> None:
    for name in names:
        records = read_records(Path(name))
        agent = tell_agent(records)
        count = COUNTS.get(agent)
        used = None if count is None else count(records)
        print(
            json.dumps({"file": name, "agent": agent, "used": used, "window": tell_window(records)})
        )


if __name__ == "__main__":
    main(sys.argv[1:])
