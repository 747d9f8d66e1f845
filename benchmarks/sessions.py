"""pi sessions of any size, whose live part is 2 MB by default, whatever the size."""

import json
import random
from collections.abc import Iterator
from pathlib import Path

LIVE_BYTES = 2_000_000
WORDS = (
    "token parcel buffer route merge index query client handler retry window schema result "
    "cache value error stream parse render state context update message test config"
).split()


def write_session(path: Path, size_bytes: int, live_bytes: int = LIVE_BYTES) -> None:
    """Write a linear session: compactions every live part, the last one a live part from the end.

    It ends as real ones do while an agent works: with a tool's output behind the last answer.
    Writing goes through a list of prepared texts, so that a gigabyte takes seconds.
    """
    rng = random.Random(size_bytes)
    texts = write_texts(rng)
    n_live = min(live_bytes, size_bytes // 2)
    n_parts = max(1, size_bytes // n_live - 1)
    with path.open("wb") as file:
        file.write(line({"type": "session", "version": 3, "id": "bench", "cwd": "/bench"}))
        writer = Entries(rng, texts)
        for part in range(n_parts + 1):
            n_written = 0
            for entry in writer.turns():
                n_written += file.write(line(entry))
                if n_written >= n_live and is_output(entry):
                    break
            if part < n_parts:
                file.write(line(writer.compaction(part)))


class Entries:
    """Entries of a chain, each the child of the one before it, from the last one of a file on."""

    def __init__(self, rng: random.Random, texts: list[str], parent: str | None = None) -> None:
        self._rng = rng
        self._texts = texts
        self._n_entries = int(parent or "0", 16)
        self._parent = parent

    def turns(self) -> Iterator[dict[str, object]]:
        while True:
            yield self._message({"role": "user", "content": self._texts[0][:200]})
            for _ in range(4):
                call = {"type": "toolCall", "id": f"c{self._n_entries}", "name": "read"}
                yield self._answer([call | {"arguments": {"path": f"src/{self._n_entries}.py"}}])
                yield self._message(
                    {
                        "role": "toolResult",
                        "toolCallId": call["id"],
                        "toolName": "read",
                        "content": [{"type": "text", "text": self._rng.choice(self._texts)}],
                        "isError": False,
                    }
                )
            yield self._answer([{"type": "text", "text": self._texts[1]}])

    def compaction(self, number: int) -> dict[str, object]:
        kept = self._parent
        return self._entry(
            {
                "type": "compaction",
                "summary": f"## Goal\nPart {number}\n{self._texts[2][:2000]}",
                "firstKeptEntryId": kept,
                "tokensBefore": 180_000,
            }
        )

    def _answer(self, content: list[dict[str, object]]) -> dict[str, object]:
        usage = {"input": 150_000, "output": 300, "cacheRead": 0, "cacheWrite": 0}
        return self._message(
            {
                "role": "assistant",
                "content": content,
                "provider": "anthropic",
                "model": "claude-sonnet-4-5",
                "usage": {**usage, "totalTokens": 150_300},
                "stopReason": "stop",
            }
        )

    def _message(self, message: dict[str, object]) -> dict[str, object]:
        return self._entry({"type": "message", "message": {**message, "timestamp": 1}})

    def _entry(self, entry: dict[str, object]) -> dict[str, object]:
        self._n_entries += 1
        entry_id = f"{self._n_entries:08x}"
        kind = {"type": entry.pop("type"), "id": entry_id, "parentId": self._parent}
        self._parent = entry_id
        return {**kind, "timestamp": "2026-01-01T00:00:00.000Z", **entry}


def write_texts(rng: random.Random) -> list[str]:
    return [prose(rng, rng.randint(200, 9000)) for _ in range(200)]


def is_output(entry: dict[str, object]) -> bool:
    message = entry.get("message")
    return isinstance(message, dict) and message.get("role") == "toolResult"


def prose(rng: random.Random, n_chars: int) -> str:
    words: list[str] = []
    while n_chars > 0:
        words.append(rng.choice(WORDS))
        n_chars -= len(words[-1]) + 1
    return " ".join(words)


def line(entry: dict[str, object]) -> bytes:
    return json.dumps(entry, separators=(",", ":")).encode() + b"\n"
