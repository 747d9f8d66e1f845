"""Make the session that `ullage demo` shows, from the story in the modules beside this one.

    PYTHONPATH=server python tools/make_demo_session.py

The product is server/ullage/data/demo/session.jsonl.gz. It is the same, byte for byte, at every
run: nothing depends on the clock, the machine or the order of sets.
"""

import argparse
import gzip
import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import TypeAlias

from demo_afternoon import afternoon
from demo_morning import morning
from demo_noon import noon
from demo_project import starting_files
from demo_script import Answer, Arguments, Call, Commit, Compact, Step, User
from demo_summary import SUMMARY
from demo_workspace import Workspace

from ullage.store.tokenizer import count_tokens

Object: TypeAlias = dict[str, object]

PRODUCT = Path(__file__).parents[1] / "server" / "ullage" / "data" / "demo" / "session.jsonl.gz"
START = datetime(2026, 3, 12, 9, 2, 11, 402_000, tzinfo=UTC)
CWD = "/home/you/parcel-api"
SESSION_ID = "019ce14a-6b7a-7c31-9f02-5d1f0e9a7b44"
MODEL = "claude-sonnet-4-5"

HIDDEN_TOKENS = 9_300
"""System prompt and tools, which pi does not write into the file; chosen."""
KEEP_RECENT_TOKENS = 20_000
"""What pi keeps at a compaction (pi 0.73.1, DEFAULT_COMPACTION_SETTINGS)."""
COMPACTION_TOKENS = 200_000 - 16_384
"""Where pi compacts by itself: window less reserve (pi 0.73.1)."""
CACHE_LIFE_S = 300
"""How long a prompt stays in the provider's cache."""
PRICES = {"input": 3.0, "output": 15.0, "cacheRead": 0.3, "cacheWrite": 3.75}
"""Dollars for a million tokens of the model, from pi 0.73.1's table."""
OUTPUT_TOKENS_PER_S = 70
SUMMARY_HEAD = (
    "The conversation history before this point was compacted into the following summary:"
    "\n\n<summary>\n"
)
SUMMARY_TAIL = "\n</summary>"
_BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


@dataclass
class Recorder:
    """Writes entries as pi does, and keeps the figures that they need."""

    tree: Workspace
    now: datetime = START
    entries: list[Object] = field(default_factory=list[Object])
    weights: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    """For each entry its tokens, and the estimate that pi's cut goes by."""
    first_in_context: int = 0
    n_summary_tokens: int = 0
    n_cached: int = 0
    answered_at: datetime = START
    random: Random = field(default_factory=lambda: Random("ullage demo"))

    def wait(self, seconds: float) -> None:
        """Let time pass, with some milliseconds that look measured."""
        self.now += timedelta(seconds=seconds, milliseconds=self.random.randint(3, 890))

    def add(self, kind: str, fields: Object, n_tokens: int = 0, n_estimated: int = 0) -> str:
        """Append an entry to the last one; gives its id."""
        entry_id = f"{self.random.getrandbits(32):08x}"
        parent = self.entries[-1]["id"] if self.entries else None
        head: Object = {"type": kind, "id": entry_id, "parentId": parent, "timestamp": iso(self.now)}
        self.entries.append(head | fields)
        self.weights.append((n_tokens, n_estimated))
        return entry_id

    def add_message(self, message: Object) -> None:
        """Append a message and weigh it."""
        text = list(texts_of(message))
        n_tokens = sum(count_tokens(part) for part in text)
        n_estimated = -(-sum(len(part) for part in text) // 4)
        message["timestamp"] = milliseconds(self.now)
        self.add("message", {"message": message}, n_tokens, n_estimated)

    def context_tokens(self) -> int:
        """Count what the model would be sent now."""
        messages = sum(n_tokens for n_tokens, _ in self.weights[self.first_in_context :])
        return HIDDEN_TOKENS + self.n_summary_tokens + messages

    def make_id(self, prefix: str) -> str:
        """Make an id as the provider does."""
        return prefix + "".join(self.random.choice(_BASE62) for _ in range(22))


def iso(moment: datetime) -> str:
    """Write a time as JavaScript does."""
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03}Z"


def milliseconds(moment: datetime) -> int:
    """Give a time as milliseconds since 1970."""
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)


def compact_json(value: object) -> str:
    """Write JSON as JavaScript does: no spaces, no escapes that are not needed."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def texts_of(message: Object) -> list[str]:
    """List the texts of a message that count as tokens."""
    content = message["content"]
    assert isinstance(content, list)
    found: list[str] = []
    for block in content:
        match block:
            case {"type": "text", "text": str(text)}:
                found.append(text)
            case {"type": "thinking", "thinking": str(text)}:
                found.append(text)
            case {"type": "toolCall", "name": str(name), "arguments": arguments}:
                found += [name, compact_json(arguments)]
            case _:
                raise ValueError(block)
    return found


def record(steps: list[Step], recorder: Recorder) -> None:
    """Play the story and write down what pi would."""
    recorder.add(
        "model_change", {"provider": "anthropic", "modelId": MODEL}
    )
    recorder.add("thinking_level_change", {"thinkingLevel": "low"})
    for step in steps:
        match step:
            case User():
                recorder.wait(step.wait_s)
                content = [{"type": "text", "text": step.text}]
                recorder.add_message({"role": "user", "content": content})
            case Answer():
                record_answer(step, recorder)
            case Compact():
                record_compaction(step, recorder)
            case Commit():
                recorder.tree.commit()


def record_answer(answer: Answer, recorder: Recorder) -> None:
    """Write an answer, its usage, and the results of its tool calls."""
    calls = [(call, recorder.make_id("toolu_01")) for call in answer.calls]
    content: list[Object] = []
    if answer.thinking:
        content.append({"type": "thinking", "thinking": answer.thinking})
    if answer.text:
        content.append({"type": "text", "text": answer.text})
    content += [
        {"type": "toolCall", "id": call_id, "name": call.tool, "arguments": call.arguments}
        for call, call_id in calls
    ]
    message: Object = {"role": "assistant", "content": content}
    n_output = sum(count_tokens(text) for text in texts_of(message))
    usage = usage_of(recorder, n_output)
    recorder.wait(1.5 + n_output / OUTPUT_TOKENS_PER_S)
    message |= {
        "api": "anthropic-messages",
        "provider": "anthropic",
        "model": MODEL,
        "usage": usage,
        "stopReason": "toolUse" if calls else "stop",
        "timestamp": 0,
        "responseId": recorder.make_id("msg_01"),
    }
    recorder.add_message(message)
    recorder.answered_at = recorder.now
    for call, call_id in calls:
        record_result(call, call_id, recorder)


def record_result(call: Call, call_id: str, recorder: Recorder) -> None:
    """Do a tool call in the work tree and write its result."""
    output = call.act(recorder.tree)
    recorder.wait(call.seconds)
    message: Object = {
        "role": "toolResult",
        "toolCallId": call_id,
        "toolName": call.tool,
        "content": [{"type": "text", "text": output}],
        "isError": call.is_error,
    }
    recorder.add_message(message)


def usage_of(recorder: Recorder, n_output: int) -> Object:
    """Make the usage of the next answer: prompt as counted, split by what the cache held."""
    n_prompt = recorder.context_tokens()
    is_warm = (recorder.now - recorder.answered_at).total_seconds() < CACHE_LIFE_S
    n_read = recorder.n_cached if is_warm else 0
    n_input = recorder.random.randint(3, 9)
    figures = {
        "input": n_input,
        "output": n_output,
        "cacheRead": n_read,
        "cacheWrite": n_prompt - n_read - n_input,
    }
    recorder.n_cached = n_prompt - n_input
    cost = {key: round(PRICES[key] * n_tokens / 1e6, 6) for key, n_tokens in figures.items()}
    total = round(sum(cost.values()), 6)
    return figures | {"totalTokens": n_prompt + n_output, "cost": cost | {"total": total}}


def record_compaction(step: Compact, recorder: Recorder) -> None:
    """Compact as pi does by itself; fails where pi would not have done it yet."""
    n_before = recorder.context_tokens()
    if n_before < COMPACTION_TOKENS:
        raise ValueError(f"pi does not compact at {n_before:,} tokens yet")
    first_kept = find_cut(recorder)
    files = touched_files(recorder.entries[:first_kept])
    summary = step.summary.strip() + written_files(files)
    recorder.wait(38)
    recorder.n_summary_tokens = count_tokens(SUMMARY_HEAD + summary + SUMMARY_TAIL)
    fields: Object = {
        "summary": summary,
        "firstKeptEntryId": recorder.entries[first_kept]["id"],
        "tokensBefore": n_before,
        "details": files,
        "fromHook": False,
    }
    recorder.add("compaction", fields)
    recorder.first_in_context = first_kept
    recorder.n_cached = HIDDEN_TOKENS


def find_cut(recorder: Recorder) -> int:
    """Find the first entry that pi keeps: the last 20,000 tokens, never starting at a result."""
    n_tokens = 0
    for at in range(len(recorder.entries) - 1, -1, -1):
        n_tokens += recorder.weights[at][1]
        if n_tokens >= KEEP_RECENT_TOKENS:
            return next(n for n in range(at, len(recorder.entries)) if not is_result(recorder.entries[n]))
    return 0


def is_result(entry: Object) -> bool:
    """Tell whether an entry is the result of a tool call."""
    message = entry.get("message")
    return isinstance(message, dict) and message.get("role") == "toolResult"


def touched_files(entries: list[Object]) -> dict[str, list[str]]:
    """List the files that tool calls read and changed, as pi does."""
    seen: dict[str, set[str]] = {"read": set(), "write": set(), "edit": set()}
    for entry in entries:
        match entry.get("message"):
            case {"role": "assistant", "content": list(content)}:
                for block in content:
                    match block:
                        case {"type": "toolCall", "name": str(name), "arguments": {"path": str(path)}}:
                            seen.setdefault(name, set()).add(path)
                        case _:
                            pass
            case _:
                pass
    modified = seen["write"] | seen["edit"]
    return {"readFiles": sorted(seen["read"] - modified), "modifiedFiles": sorted(modified)}


def written_files(files: dict[str, list[str]]) -> str:
    """Write the lists of files as pi adds them to a summary."""
    tags = (("read-files", files["readFiles"]), ("modified-files", files["modifiedFiles"]))
    return "".join(f"\n\n<{tag}>\n" + "\n".join(names) + f"\n</{tag}>" for tag, names in tags if names)


def make_session() -> tuple[bytes, Recorder]:
    """Make the session as bytes; the recorder tells the figures."""
    tree = Workspace(files=starting_files())
    tree.commit()
    recorder = Recorder(tree=tree)
    record([*morning(), Compact(summary=SUMMARY), *noon(), *afternoon()], recorder)
    header: Object = {
        "type": "session",
        "version": 3,
        "id": SESSION_ID,
        "timestamp": iso(START),
        "cwd": CWD,
    }
    lines = [compact_json(entry) + "\n" for entry in (header, *recorder.entries)]
    return "".join(lines).encode(), recorder


def main() -> None:
    """Write the session and print its figures."""
    parser = argparse.ArgumentParser(description="Make the session that `ullage demo` shows.")
    parser.add_argument("--output", type=Path, default=PRODUCT)
    output: Path = parser.parse_args().output
    data, recorder = make_session()
    packed = gzip.compress(data, 9, mtime=0)
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_bytes(packed)
    print(f"{len(recorder.entries)} entries, {len(data):,} bytes, {len(packed):,} packed")
    print(f"{recorder.context_tokens():,} tokens in the context at {iso(recorder.now)}")


if __name__ == "__main__":
    main()
