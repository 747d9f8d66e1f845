"""Print each goal of speed beside what is measured now, and whether it is held.

    npm --prefix tests/peer ci --ignore-scripts && python benchmarks/goals.py [--rounds N]

All commands take turns in each round; ratios are of medians of CPU time. Linux only, as `idle.py`.
"""

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import counting
import hook
import idle
from looks import claude_folder
from measure import Cost, median, run
from run import PI_PACKAGES, environment, list_appended, pi, time_updates, ullage
from sessions import write_session

from ullage.core.transcript.entries import Line
from ullage.formats.agents.openclaw.entries import read_entry

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

N_ROUNDS = 7
MEGABYTE = 1_000_000
MILLION_TOKENS_MB = 8
"""Of the words of `sessions.py` and what stands around them."""
N_SESSIONS = 500
N_REPEATED = 100
TOO_LARGE_EXIT = 3
UNPACKED_BLOCKS = 1100
TEXTS = {
    "prose": ("English prose",),
    "source": ("Python", "TypeScript", "JSON"),
    "accented text": ("French", "Polish"),
    "Chinese": ("Chinese",),
}


class Task(NamedTuple):
    command: Sequence[str]
    state: str
    """Names the state folder; `{round}` stands for the round's number."""
    given: bytes = b""


class Goal(NamedTuple):
    what: str
    limit: float
    measured: float
    unit: str = "×"
    is_least: bool = False

    @property
    def is_held(self) -> bool:
        return self.measured >= self.limit if self.is_least else self.measured <= self.limit


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=N_ROUNDS, metavar="N")
    n_rounds: int = parser.parse_args().rounds
    print("| goal | limit | measured | |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="ullage-bench-") as name:
        for goal in list_goals(Path(name), n_rounds):
            limit = f"{'at least' if goal.is_least else 'at most'} {goal.limit:.3g} {goal.unit}"
            verdict = "held" if goal.is_held else "**missed**"
            print(f"| {goal.what} | {limit} | {goal.measured:.3g} | {verdict} |", flush=True)


def list_goals(folder: Path, n_rounds: int) -> Iterator[Goal]:
    sizes = {size_mb: folder / f"{size_mb}.jsonl" for size_mb in (1, 100, 1000)}
    for size_mb, path in sizes.items():
        write_session(path, size_mb * MEGABYTE)
    # At first: what starts a process tells its own peak as that of the process.
    memory = list(measure_memory(folder, sizes[1000]))
    costs = take_turns(list_tasks(folder, sizes), folder, n_rounds)
    yield from compare_starts(costs)
    yield from compare_sizes(costs)
    yield from compare_update(folder)
    yield count_wakeups(folder / "idle")
    yield from compare_counting()
    yield from memory


def list_tasks(folder: Path, sizes: dict[int, Path]) -> dict[str, Task]:
    claude = folder / ".claude/projects" / claude_folder(str(folder)) / "session.jsonl"
    claude.parent.mkdir(parents=True)
    hook.write_session(claude, folder)
    base = {"session_id": hook.SESSION_ID, "transcript_path": str(claude), "cwd": str(folder)}
    events = {
        event: Task(hook.installed("hook", "claude-code"), "hook", write(base | hook.EVENTS[event]))
        for event in ("PostToolUse", "UserPromptSubmit")
    }
    peers = {f"pi {version}": Task(pi(version, sizes[100]), "pi") for version in PI_PACKAGES}
    statuses = {
        f"{size_mb} MB, {when}": Task(ullage("context", "status", path), state)
        for size_mb, path in sizes.items()
        for when, state in (("first", f"{size_mb}-{{round}}"), ("later", f"{size_mb}-{{round}}"))
    }
    return {
        "python": Task([sys.executable, "-c", "pass"], "start"),
        "--version": Task([sys.executable, "-m", "ullage", "--version"], "start"),
        **events,
        "statusline": Task(hook.installed("statusline"), "hook", write(base)),
        "statusline, folder": Task(hook.installed("statusline"), "hook"),
        **peers,
        **statuses,
    }


def write(fields: dict[str, object]) -> bytes:
    return json.dumps(fields).encode()


def take_turns(tasks: dict[str, Task], folder: Path, n_rounds: int) -> dict[str, Cost]:
    """Run all tasks in turn, and give the medians; a round before those compiles the program."""
    costs: dict[str, list[Cost]] = {name: [] for name in tasks}
    for number in range(-1, n_rounds):
        for name, task in tasks.items():
            env = environment(folder, task.state.format(round=number))
            cost = run(task.command, env, task.given, cwd=folder)
            costs[name] += [cost] if number >= 0 else []
    return {name: median(each) for name, each in costs.items()}


def compare_starts(costs: dict[str, Cost]) -> Iterator[Goal]:
    for name, what, limit in (
        ("--version", "`--version`, to a bare Python", 5),
        ("1 MB, later", "`context status` of a session of 1 MB, to a bare Python", 8),
        ("PostToolUse", "hook of a tool call, to a bare Python", 1.5),
        ("UserPromptSubmit", "hook of a prompt, to a bare Python", 3),
        ("statusline", "`statusline`, to a bare Python", 3),
        ("statusline, folder", "`statusline` by the folder alone, to a bare Python", 3),
    ):
        yield Goal(what, limit, costs[name].cpu_s / costs["python"].cpu_s)


def compare_sizes(costs: dict[str, Cost]) -> Iterator[Goal]:
    for name, to, what, limit in (
        ("100 MB, later", "pi 0.87.1", "status of 100 MB, to pi 0.87.1", 0.1),
        ("100 MB, later", "pi 0.73.1", "status of 100 MB, to pi 0.73.1", 0.05),
        ("100 MB, first", "pi 0.87.1", "first status of 100 MB, to pi 0.87.1", 1 / 3),
        ("1000 MB, later", "100 MB, later", "status of 1,000 MB, to 100 MB", 1.5),
        ("1000 MB, first", "100 MB, first", "first status of 1,000 MB, to 100 MB", 6),
    ):
        yield Goal(what, limit, costs[name].cpu_s / costs[to].cpu_s)


def compare_update(folder: Path) -> Iterator[Goal]:
    costs, _ = time_updates(folder)
    lines, path = list_appended("f0000000"), folder / "1.jsonl"
    base_ms: list[float] = []
    for line in (Line(0, raw) for raw in islice(lines, len(costs))):
        began = time.process_time()
        for _ in range(N_REPEATED):
            _ = path.stat(), path.stat(), path.stat(), read_entry(line)
        base_ms.append((time.process_time() - began) * 1000 / N_REPEATED)
    yield Goal("gauge after one appended line", 1, statistics.median(costs), "ms")
    what = "the same, to three `stat` and parsing the line"
    yield Goal(what, 10, statistics.median(costs) / statistics.median(base_ms))


def count_wakeups(folder: Path) -> Goal:
    client, _ = idle.start(N_SESSIONS, folder)
    idle.wait_for_rest(client.process_id)
    n_wakeups = idle.use_in(client.process_id, idle.IDLE_S).n_wakeups
    client.stop()
    return Goal(
        f"wakeups of an idle server, {N_SESSIONS} sessions", 1, n_wakeups / idle.IDLE_S, "/s"
    )


def compare_counting() -> Iterator[Goal]:
    corpora = counting.corpora()
    for kind, names in TEXTS.items():
        rows = {
            encoding: [
                counting.compare(list(counting.cut(corpora[name])), encoding) for name in names
            ]
            for encoding in counting.ENCODINGS
        }
        for encoding, speeds in rows.items():
            least = min(row.ratio if row.is_equal else 0 for row in speeds)
            yield Goal(f"counting {kind}, {encoding}, to tiktoken", 4, least, is_least=True)


def measure_memory(folder: Path, large: Path) -> Iterator[Goal]:
    commands = ("status", "show", "inspect", "history")
    peaks = run_all(folder, (ullage("context", command, large) for command in commands))
    yield Goal("memory of reading commands, 1,000 MB", 150, max(peaks), "MB")
    path = folder / "million.jsonl"
    write_session(path, 2 * MILLION_TOKENS_MB * MEGABYTE, MILLION_TOKENS_MB * MEGABYTE)
    compact = ullage("compact", "--dry-run", path)
    yield Goal("memory of a compaction of a million tokens", 400, *run_all(folder, [compact]), "MB")
    packed = folder / "rollout-bomb.jsonl.zst"
    with zstd.open(packed, "wb") as file:
        meta = {"timestamp": "2026-01-01T00:00:00.000Z", "type": "session_meta"}
        file.write(write(meta | {"payload": {"id": "bomb", "cwd": "/bench"}}) + b"\n")
        for _ in range(UNPACKED_BLOCKS):
            file.write(b"x" * MEGABYTE)
    status = ullage("context", "status", packed)
    peak = run(status, environment(folder, "memory"), exit_code=TOO_LARGE_EXIT).peak_mb
    yield Goal("memory of refusing a transcript that unpacks to 1.1 GB", 150, peak, "MB")


def run_all(folder: Path, commands: Iterable[Sequence[str]]) -> list[float]:
    return [run(command, environment(folder, "memory")).peak_mb for command in commands]


if __name__ == "__main__":
    main()
