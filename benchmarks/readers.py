"""Measure how long each agent's reader takes for a session without a compaction, as it grows.

    python benchmarks/readers.py [N_MESSAGES...]

CPU time in milliseconds for each thousand messages. A reader is linear: its figures stay the same
from left to right.
"""

import argparse
import json
import time
from collections.abc import Iterator

from ullage.core.transcript.entries import MemoryLines
from ullage.core.transcript.lineage import EMPTY_INDEX
from ullage.formats.registry import recognize

AT = "2026-01-01T00:00:00.000Z"
TEXT = "The checkout sums net prices twice, so the total of an order with a voucher is wrong. " * 4


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("sizes", type=int, nargs="*", default=[5_000, 10_000, 20_000])
    sizes: list[int] = parser.parse_args().sizes
    print("| agent |", " | ".join(f"{size:,}" for size in sizes), "|")
    print("|---|" + "---|" * len(sizes))
    for agent, records in (
        ("Claude Code", claude_code),
        ("Codex", codex),
        ("Gemini CLI", gemini),
        ("pi", pi),
    ):
        figures = (read_ms(records(size)) * 1000 / size for size in sizes)
        print(f"| {agent} |", " | ".join(f"{figure:.0f}" for figure in figures), "|", flush=True)


def read_ms(records: Iterator[dict[str, object]]) -> float:
    lines = MemoryLines(b"".join(json.dumps(record).encode() + b"\n" for record in records))
    recognized = recognize(lines)
    if recognized is None:
        raise AssertionError("no reader knows it")
    reader, header = recognized
    began = time.process_time()
    reader.read_context(lines, header, EMPTY_INDEX)
    return (time.process_time() - began) * 1000


def claude_code(n_messages: int) -> Iterator[dict[str, object]]:
    parent = None
    for number in range(n_messages):
        role = "assistant" if number % 2 else "user"
        message: dict[str, object] = {"role": role, "content": [{"type": "text", "text": TEXT}]}
        yield {
            "parentUuid": parent,
            "isSidechain": False,
            "type": role,
            "uuid": f"u{number}",
            "timestamp": AT,
            "sessionId": "bench",
            "cwd": "/bench",
            "message": message | ({"id": f"msg_{number}"} if number % 2 else {}),
        }
        parent = f"u{number}"


def codex(n_messages: int) -> Iterator[dict[str, object]]:
    yield {"timestamp": AT, "type": "session_meta", "payload": {"id": "bench", "cwd": "/bench"}}
    for number in range(n_messages):
        part = {"type": "output_text" if number % 2 else "input_text", "text": TEXT}
        role = "assistant" if number % 2 else "user"
        message = {"type": "message", "role": role, "content": [part]}
        yield {"timestamp": AT, "type": "response_item", "payload": message}


def gemini(n_messages: int) -> Iterator[dict[str, object]]:
    yield {"sessionId": "bench", "projectHash": "0", "startTime": AT, "kind": "main"}
    for number in range(n_messages):
        kind = "gemini" if number % 2 else "user"
        yield {"id": f"m{number}", "timestamp": AT, "type": kind, "content": [{"text": TEXT}]}


def pi(n_messages: int) -> Iterator[dict[str, object]]:
    yield {"type": "session", "version": 3, "id": "bench", "timestamp": AT, "cwd": "/bench"}
    parent = None
    for number in range(n_messages):
        role = "assistant" if number % 2 else "user"
        message = {"role": role, "content": [{"type": "text", "text": TEXT}]}
        yield {
            "type": "message",
            "id": f"{number:08x}",
            "parentId": parent,
            "timestamp": AT,
            "message": message,
        }
        parent = f"{number:08x}"


if __name__ == "__main__":
    main()
