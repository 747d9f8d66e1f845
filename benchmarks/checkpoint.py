"""Measure what a checkpoint costs once a session is loaded: to build, mask, dump and write it.

    python benchmarks/checkpoint.py [SESSION...]

CPU time in milliseconds. `first` is the first checkpoint of a session in a process; `again` is one
of a process that follows the session and made one before; p95 is of `again`. Aim: below 5 ms.
"""

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import sessions as growing
from summaries import quality_sessions

from ullage.app.checkpoint import build_checkpoint
from ullage.app.load import Loaded, load
from ullage.app.sessions import open_session
from ullage.core.claims import claims
from ullage.core.config.settings import Config
from ullage.core.context import ContextItem
from ullage.core.message import Text, ToolCall, ToolResult, plain_text, result_text
from ullage.core.secrets import mask_said
from ullage.core.sentences import agent_sentences, user_sentences
from ullage.core.tokens import estimate
from ullage.store.checkpoint_yaml import dump
from ullage.store.checkpoints import save
from ullage.store.demo import scratch_session
from ullage.store.places import Places

N_ROUNDS = 21
N_DENSE = 300
"""Messages of a dense session: all that anybody says in it is a fact or looks like one."""
CACHED = (claims, mask_said, agent_sentences, user_sentences)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("sessions", nargs="*", type=Path)
    paths: list[Path] = parser.parse_args().sessions
    print("| session | messages | KB said | KB of results | first | again | p95 | dump | write |")
    print("|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="ullage-bench-") as name, scratch_session() as demo:
        folder = Path(name)
        growing.write_session(folder / "plain.jsonl", 4_000_000)
        everything = [item for one in quality_sessions.sessions() for item in one.items]
        write_items(folder / "dense-1.jsonl", everything[:N_DENSE])
        write_items(folder / "dense-2.jsonl", everything[-N_DENSE:])
        for path in (demo[0], *sorted(folder.glob("*.jsonl")), *paths):
            measure(path, folder)


def measure(path: Path, folder: Path) -> None:
    # Two keys, as in most environments.
    env = {"SOME_API_KEY": "k3y-" + "a1b2" * 8, "OTHER_TOKEN": "t0k-" + "c3d4" * 8}
    places = Places(cwd=folder, home=folder, env=env, state_folder=folder / "state" / path.stem)
    loaded = load(open_session(path), Config(), places, lambda text, _: estimate(text))
    checkpoint = build_checkpoint(loaded, places, trigger="compaction")

    def build() -> None:
        build_checkpoint(loaded, places, trigger="compaction")

    def build_first() -> None:
        for function in CACHED:
            function.cache_clear()
        build()

    def write() -> None:
        save(checkpoint, places.state_folder / "saved", n_kept=5)
        (places.state_folder / "saved/cp_001.yaml").unlink()

    first, again = costs(build_first), costs(build)
    worst = sorted(again)[int(0.95 * len(again))]
    medians = (first, again, [worst], costs(lambda: dump(checkpoint)), costs(write))
    n_said, n_results = sizes(loaded)
    shown = " | ".join(f"{statistics.median(found):.2f}" for found in medians)
    n_items = len(loaded.context.items)
    print(f"| {path.stem[:24]} | {n_items} | {n_said} | {n_results} | {shown} |", flush=True)


def costs(action: Callable[[], object]) -> list[float]:
    found: list[float] = []
    for _ in range(N_ROUNDS):
        began = time.process_time()
        action()
        found.append((time.process_time() - began) * 1000)
    return found


def sizes(loaded: Loaded) -> tuple[int, int]:
    messages = [item.message for item in loaded.context.items]
    results = [
        block for message in messages for block in message.blocks if isinstance(block, ToolResult)
    ]
    n_said = sum(len(plain_text(message)) for message in messages)
    return n_said // 1000, sum(len(result_text(result)) for result in results) // 1000


def write_items(path: Path, items: Iterable[ContextItem]) -> None:
    """Write messages as a session of pi."""
    with path.open("wb") as file:
        file.write(growing.line({"type": "session", "version": 3, "id": path.stem, "cwd": "/b"}))
        parent: str | None = None
        for n, message in enumerate(messages_of(items)):
            entry = {"type": "message", "id": f"{n:08x}", "parentId": parent, "message": message}
            minute = f"2026-01-01T{n // 60:02}:{n % 60:02}:00.000Z"
            file.write(growing.line({**entry, "timestamp": minute}))
            parent = f"{n:08x}"


def messages_of(items: Iterable[ContextItem]) -> Iterator[dict[str, object]]:
    usage = {"input": 1000, "output": 1, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 1001}
    model = {"provider": "anthropic", "model": "claude-sonnet-4-5", "usage": usage}
    for item in items:
        content: list[dict[str, object]] = []
        for block in item.message.blocks:
            if isinstance(block, Text):
                content.append({"type": "text", "text": block.text})
            elif isinstance(block, ToolCall):
                call = {"id": block.call_id, "name": block.name}
                arguments = json.loads(block.arguments)
                content.append({"type": "toolCall", **call, "arguments": arguments})
            elif isinstance(block, ToolResult):
                text = [{"type": "text", "text": result_text(block)}]
                yield {"role": "toolResult", "toolCallId": block.call_id, "content": text} | {
                    "toolName": block.name, "isError": block.is_error,
                }  # fmt: skip
        if content and item.message.role == "assistant":
            yield {"role": "assistant", "content": content, "stopReason": "stop", **model}
        elif content:
            yield {"role": "user", "content": content}


if __name__ == "__main__":
    main()
