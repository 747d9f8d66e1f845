"""Measure what a checkpoint costs once a session is loaded: to build, mask, dump and write it.

    python benchmarks/checkpoint.py [SESSION...]

CPU time in milliseconds. `first` is the first checkpoint of a session in a process; `again` is one
of a process that follows the session and made one before the last exchange; p95 is of `again`.
Aim: below 5 ms for `again` and `write` together, which includes `dump`.
"""

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import sessions as growing
from summaries import quality_sessions

from ullage.app.checkpoint.write import build_checkpoint, facts_of_session
from ullage.app.sessions.load import Loaded, load, replace_items
from ullage.app.sessions.open import open_session
from ullage.core.config.settings import Config
from ullage.core.transcript.context import Category, ContextItem
from ullage.core.transcript.entries import (
    Block,
    Message,
    Role,
    Text,
    ToolCall,
    ToolResult,
    plain_text,
    result_text,
)
from ullage.core.transcript.tokens import estimate
from ullage.store.checkpoint.files import save
from ullage.store.checkpoint.yaml_file import dump
from ullage.store.files.demo import scratch_session
from ullage.store.files.places import Places

N_ROUNDS = 21
N_DENSE = 300
"""Messages of a dense session: all that anybody says in it is a fact or looks like one."""


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

    def go_on() -> None:
        nonlocal loaded
        items = loaded.context.items
        loaded = replace_items(loaded, (*items, *exchange(len(items))))

    def write() -> None:
        save(checkpoint, places.state_folder / "saved", n_kept=5)
        (places.state_folder / "saved/cp_001.yaml").unlink()

    n_said, n_results = sizes(loaded)
    n_items = len(loaded.context.items)
    first, again = costs(build, before=forget), costs(build, before=go_on)
    worst = sorted(again)[int(0.95 * len(again))]
    medians = (first, again, [worst], costs(lambda: dump(checkpoint)), costs(write))
    shown = " | ".join(f"{statistics.median(found):.2f}" for found in medians)
    print(f"| {path.stem[:24]} | {n_items} | {n_said} | {n_results} | {shown} |", flush=True)


def forget() -> None:
    """Empty all that the process remembers of what it read."""
    for name, module in list(sys.modules.items()):
        if name.startswith("ullage.core.") or name == facts_of_session.__module__:
            for function in vars(module).values():
                if hasattr(function, "cache_clear"):
                    function.cache_clear()


def exchange(n: int) -> Iterator[ContextItem]:
    """Give what follows the first `n` messages: a request, a call, its result and an answer."""
    call = ToolCall(call_id=f"call-{n}", name="bash", arguments=f'{{"command": "pytest -k t{n}"}}')
    passed = Text(text=f"{n} passed in 0.3s\n" * 40)
    result = ToolResult(call_id=call.call_id, name="bash", content=(passed,), is_error=False)
    said = f"Set the limit of step {n} to {n + 7} and never touch src/step_{n}.py. Is that enough?"
    answer = f"Done: the limit is {n + 7} now. It was {n} before, because the pool had {n} threads."
    messages: tuple[tuple[Role, Category, Block], ...] = (
        ("user", "user", Text(text=said)),
        ("assistant", "assistant", call),
        ("tool", "tool results", result),
        ("assistant", "assistant", Text(text=answer)),
    )
    for at, (role, category, block) in enumerate(messages, n):
        yield ContextItem(
            entry_id=f"new-{at}",
            message=Message(role=role, blocks=(block,)),
            category=category,
            native={},
            at_ms=1_900_000_000_000 + 1000 * at,
            is_after_boundary=True,
        )


def costs(action: Callable[[], object], *, before: Callable[[], object] = str) -> list[float]:
    found: list[float] = []
    for _ in range(N_ROUNDS):
        before()
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
