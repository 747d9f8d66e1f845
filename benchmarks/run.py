"""Measure Ullage against pi, against a bare Python and against plain tiktoken.

Run as `python benchmarks/run.py` in the environment of the tests; prints Markdown. pi comes from
`npm --prefix tests/peer ci --ignore-scripts`. Everything compared is measured in the same run.
"""

import argparse
import json
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from measure import Cost, alternate, run
from sessions import prose, write_session

import ullage as ullage_package
from ullage.app.checkpoint.capture import capture
from ullage.app.sessions.follow import new_events, read_session
from ullage.core.config.settings import Config
from ullage.store.files.places import Places
from ullage.store.gauge.tokenizer import count_tokens, load_encoding

PEER = Path(__file__).parent.parent / "tests/peer"
PI_LIMIT_MB = 400
"""pi 0.73.1 reads a session into one string; Node ends at 512 MB."""
N_ROUNDS = 3
N_UPDATES = 200


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1, 10, 100, 1000], metavar="MB")
    sizes: list[int] = parser.parse_args().sizes
    with tempfile.TemporaryDirectory(prefix="ullage-bench-") as name:
        folder = Path(name)
        compare_sizes(folder, sizes)
        time_updates(folder)
        time_start_up(folder)
        time_tokens()


def compare_sizes(folder: Path, sizes: list[int]) -> None:
    print("| session | command | wall s | CPU s | peak MB | CPU of pi | memory of pi |")
    print("|---|---|---|---|---|---|---|")
    for size_mb in sizes:
        path = folder / f"{size_mb}.jsonl"
        write_session(path, size_mb * 1_000_000)
        pi = None
        if size_mb <= PI_LIMIT_MB and (PEER / "node_modules").is_dir():
            pi = run(
                ["node", str(PEER / "context.mjs"), "0.73.1", str(path)], environment(folder, "pi")
            )
            print_row(size_mb, "pi 0.73.1", pi, None)
        first = run(ullage("context", "status", path), environment(folder, f"new-{size_mb}"))
        print_row(size_mb, "status, first time", first, pi)
        commands = {
            "status": ullage("context", "status", path),
            "show --json": [*ullage("context", "show", path), "--json"],
        }
        for name, cost in alternate(commands, environment(folder, "warm"), N_ROUNDS).items():
            print_row(size_mb, name, cost, pi)
        path.unlink()


def print_row(size_mb: int, name: str, cost: Cost, pi: Cost | None) -> None:
    against = "| | |"
    if pi is not None:
        against = f"| {cost.cpu_s / pi.cpu_s:.2f} | {cost.peak_mb / pi.peak_mb:.2f} |"
    print(
        f"| {size_mb:,} MB | {name} | {cost.wall_s:.2f} | {cost.cpu_s:.2f}"
        f" | {cost.peak_mb:.0f} {against}",
        flush=True,
    )


def time_updates(folder: Path) -> None:
    """Append lines to a session of 100 MB, update its gauge and capture what is new after each."""
    path = folder / "growing.jsonl"
    write_session(path, 100_000_000)
    places = Places(cwd=folder, home=folder, env={}, state_folder=folder / "update")
    followed = read_session(path, None, Config(), places, count_tokens)
    key = followed.loaded.session.state_key
    costs: list[float] = []
    captures: list[float] = []
    for number in range(N_UPDATES):
        entry = {
            "type": "message",
            "id": f"f{number:07x}",
            "parentId": followed.loaded.context.leaf_id,
            "timestamp": f"2026-01-01T00:{number // 60:02}:{number % 60:02}.000Z",
            "message": {"role": "user", "content": f"line {number} of a user", "timestamp": 1},
        }
        with path.open("ab") as file:
            file.write(json.dumps(entry).encode() + b"\n")
        began = time.process_time()
        before, followed = followed, read_session(path, followed, Config(), places, count_tokens)
        updated = time.process_time()
        capture(key, new_events(before, followed), places, known_secrets=())
        costs.append((updated - began) * 1000)
        captures.append((time.process_time() - updated) * 1000)
    path.unlink()
    print(
        f"\nGauge update for one appended line, 100 MB: median {statistics.median(costs):.2f} ms,"
    )
    print(f"worst of {N_UPDATES} {max(costs):.2f} ms of CPU.")
    print(f"Capturing what it says, afterwards: median {statistics.median(captures):.2f} ms.\n")


def time_start_up(folder: Path) -> None:
    env = environment(folder, "start")
    commands = {
        "python -c pass": [sys.executable, "-c", "pass"],
        "ullage --version": [sys.executable, "-m", "ullage", "--version"],
        "ullage sessions": [sys.executable, "-m", "ullage", "sessions"],
        "ullage context --help": [sys.executable, "-m", "ullage", "context", "--help"],
        "ullage compact --help": [sys.executable, "-m", "ullage", "compact", "--help"],
        "import of the language server": [sys.executable, "-c", "import ullage.lsp.server"],
    }
    costs = alternate(commands, env, 2 * N_ROUNDS + 1)
    base = costs["python -c pass"].cpu_s
    print("| start-up | CPU ms | times a bare Python |")
    print("|---|---|---|")
    for name, cost in costs.items():
        print(f"| `{name}` | {cost.cpu_s * 1000:.0f} | {cost.cpu_s / base:.1f} |")


def time_tokens() -> None:
    """Count 4 MB of prose with our counter and with tiktoken itself, and the worst texts."""
    text = prose(random.Random(1), 4_000_000)
    encoding = load_encoding("o200k_base")
    plain_s = cpu_time(lambda: len(encoding.encode_ordinary(text)))
    ours_s = cpu_time(lambda: count_tokens(text))
    print(f"\nCounting: tiktoken {4 / plain_s:.1f} MB/s, ours {4 / ours_s:.1f} MB/s")
    sources = Path(ullage_package.__file__).parent.rglob("*.py")
    ordinary = "".join(source.read_text("utf-8") for source in sorted(sources))[:200_000]
    ordinary_s = cpu_time(lambda: count_tokens(ordinary))
    print("\n| 200 KB of | times as much Python source |")
    print("|---|---|")
    for name, worst in {
        "one letter": "a" * 200_000,
        "spaces": " " * 200_000,
        "newlines": "\n" * 200_000,
        "base64 without a break": "QmFzZTY0" * 25_000,
        "equals signs": "=" * 200_000,
        "Chinese without a space": "世界你好" * 50_000,
    }.items():
        seconds = cpu_time(lambda worst=worst: count_tokens(worst))
        print(f"| {name} | {seconds / ordinary_s:.1f} |")


def cpu_time(action: Callable[[], object]) -> float:
    costs: list[float] = []
    for _ in range(N_ROUNDS):
        began = time.process_time()
        action()
        costs.append(time.process_time() - began)
    return statistics.median(costs)


def ullage(group: str, command: str, path: Path) -> list[str]:
    return [sys.executable, "-m", "ullage", group, command, "--session", str(path)]


def environment(folder: Path, state: str) -> dict[str, str]:
    return {**os.environ, "HOME": str(folder), "ULLAGE_STATE_DIR": str(folder / "state" / state)}


if __name__ == "__main__":
    main()
