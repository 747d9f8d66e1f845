"""Measure by which power the CPU time of each command grows with the live entries of a session.

    python benchmarks/scaling.py [WORD...]

Rows are an input, an agent and a command; only those are measured that hold every word, so that
`scaling.py tiny codex checkpoint` is one row. Each is the real command with an empty state folder,
on a session of n and of 4n entries, in a process forked off this one, which has imported it and
loaded the tokenizers; what a session of a few entries takes is taken off. The power is the
logarithm of the ratio of both costs to the base of the ratio of both sizes: 1 is linear, 2
quadratic. Where it is above the limit, both are run again, and the medians count.
"""

import math
import os
import random
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from agent_sessions import WRITERS, Json, Step
from measure import Cost, median
from sessions import prose

from ullage.__main__ import main as main_of_ullage
from ullage.store.gauge.tokenizer import count_tokens, count_with_tokenizer

FACTOR = 4
N_SMALL = 12
MAX_POWER = 1.15
N_ROUNDS = 3
LIMIT_S = 100
READ_ONLY = frozenset({"opencode", "gemini"})
"""Agents whose sessions are read, not changed."""

COMMANDS: dict[str, Sequence[str]] = {
    "status": ["context", "status"],
    "show": ["context", "show"],
    "inspect": ["context", "inspect"],
    "history": ["context", "history"],
    "assemble": ["context", "assemble"],
    "checkpoint": ["checkpoint", "write"],
    "flush": ["memory", "flush", "--dry-run"],
    "prune": ["prune", "--all", "--dry-run"],
    "rescue": ["prune", "--rescue", "--dry-run"],
    "compact": ["compact", "--window", "4000", "--dry-run"],
    "full": ["compact", "--layer", "full", "--window", "4000", "--dry-run"],
    "auto": ["compact", "--auto", "--window", "4000", "--dry-run"],
    "restore": ["checkpoint", "restore", "--into", "session", "--dry-run"],
    "doctor": ["doctor"],
}
CHANGES = frozenset({"prune", "rescue", "compact", "full", "auto", "restore"})
PREPARED_BY = {"restore": [["checkpoint", "write"]]}
"""What a command needs first, not measured."""
IMPORTED = ("app.change.auto", "app.change.compact_report", "app.gauge.inspect", "cli.previews")
"""What commands import when they are called."""
QUIET_S = 3600
"""How long nobody has written to a session, so that it may be changed."""


class Input(NamedTuple):
    n: int
    """Of the smaller session; in steps, or what the input counts."""
    steps: Callable[[int], Iterator[Step]]


def tiny(n: int) -> Iterator[Step]:
    for number in range(n // 2):
        yield Step("user", f"go on with part {number}")
        yield Step("assistant", f"part {number} is done")


def edits(n: int) -> Iterator[Step]:
    yield Step("user", "Rename the parcel everywhere.")
    for number in range(n):
        change: Json = {"old_string": "a", "new_string": f"b{number}"}
        yield Step("tool", "ok", "edit", name_file(f"src/{number}/file{number}.py") | change)
    yield Step("assistant", "Everything is renamed.")


def reads(n: int) -> Iterator[Step]:
    """Each file is read three times."""
    yield Step("user", "Read all of it.")
    rng = random.Random(n)
    for number in range(n):
        yield Step(
            "tool", prose(rng, 300), "read", name_file(f"src/part{number % (n // 3 + 1)}.py")
        )
    yield Step("assistant", "All of it is read.")


def identical(n: int) -> Iterator[Step]:
    text = prose(random.Random(1), 2000)
    for number in range(n):
        if number % 10 == 0:
            yield Step("user", f"look again, {number}")
        yield Step("tool", text, "read", name_file("a.py"))
    yield Step("assistant", "It is the same.")


def decisions(n: int) -> Iterator[Step]:
    for number in range(n // 2):
        yield Step("user", f"We decided to use library{number} version {number} for part{number}.")
        yield Step(
            "assistant", f"Decision: use library{number} for part{number}, not tool{number}."
        )


def replaced(n: int) -> Iterator[Step]:
    """The same two values are settled again and again."""
    for number in range(n // 2):
        yield Step("user", f"The timeout is {number} seconds now, and the port is {8000 + number}.")
        yield Step(
            "assistant", f"I set the timeout to {number} seconds and the port to {8000 + number}."
        )


def rules(n: int) -> Iterator[Step]:
    for number in range(n // 2):
        yield Step(
            "user", f"Always run check{number} before you touch module{number}, never skip it."
        )
        yield Step("assistant", "Understood.")


def requests(n: int) -> Iterator[Step]:
    for number in range(n // 2):
        yield Step("user", f"Please add a test for module{number} and fix issue #{number}.")
        yield Step("assistant", f"I could not fix issue #{number} yet: should I try plan {number}?")


def failures(n: int) -> Iterator[Step]:
    yield Step("user", "Make the tests pass.")
    for number in range(n):
        text = f"E   ValueError: part {number} has no total\ntests/test_{number}.py:9\n1 failed"
        yield Step("tool", text, "bash", {"command": f"pytest tests/test_{number}.py"})
    yield Step("assistant", "They fail still.")


def asides(n: int) -> Iterator[Step]:
    """A person goes on typing while the agent works, and never gets an answer."""
    for number in range(n // 2):
        yield Step("user", f"Also look at part {number} and its tests.")
        yield Step("tool", f"part {number}", "bash", {"command": f"cat part{number}"})


def replies(n: int) -> Iterator[Step]:
    for number in range(n // 2):
        yield Step("assistant", f"Shall module{number} keep library{number}, or use tool{number}?")
        yield Step("user", f"Use tool{number}, it is faster.")


def cures(n: int) -> Iterator[Step]:
    """A test that fails, an edit, the test that passes, again and again."""
    for number in range(n // 4):
        test = {"command": f"pytest tests/test_{number}.py"}
        yield Step("tool", f"ValueError: part {number}\n1 failed", "bash", test)
        yield Step("assistant", f"The total of part {number} is computed twice, that is the cause.")
        edit = name_file(f"src/part{number}.py") | {"new_string": "b"}
        yield Step("tool", "ok", "edit", edit)
        yield Step("tool", "1 passed", "bash", test)


def directives(n: int) -> Iterator[Step]:
    """What tools show, and instructions in the agent's words, which may be taken from there."""
    rng = random.Random(n)
    for number in range(n // 2):
        yield Step("tool", prose(rng, 1000), "read", {"path": f"src/{number}.py"})
        yield Step(
            "assistant", f"TODO: always use library{number} for part{number}, never tool{number}."
        )


def lines(n: int) -> Iterator[Step]:
    yield Step("user", "\n".join(["- the same line is said again and again"] * n))
    yield Step("assistant", "Yes.")
    yield from tiny(N_SMALL)


def points(n: int) -> Iterator[Step]:
    """One message of many points."""
    yield Step("user", "Do this:\n" + "\n".join(f"- add field{i} to table{i}" for i in range(n)))
    yield Step("assistant", "\n".join(f"- [x] field{i} is in table{i}" for i in range(n)))
    yield from tiny(N_SMALL)


def entries(n: int) -> Iterator[Step]:
    """What sessions are like: a request, some calls, an answer."""
    rng = random.Random(n)
    texts = [prose(rng, rng.randint(20, 400)) for _ in range(500)]
    for number in range(n // 10):
        yield Step("user", f"Please look at part {number}: {rng.choice(texts)}")
        for call in range(4):
            path = f"src/{rng.randrange(n)}.py"
            tool = ("read", "edit", "bash", "grep")[call]
            where = {
                "file_path": f"/bench/{path}",
                "path": path,
                "command": f"grep -n {number} {path}",
            }
            yield Step("tool", rng.choice(texts), tool, where)
        yield Step("assistant", f"{rng.choice(texts)}. Part {number} is done.")


def images(n: int) -> Iterator[Step]:
    """`n` hundred KB, most of it in images and long texts."""
    rng = random.Random(n)
    for number in range(n):
        yield Step("user", f"Look at screen {number}.")
        image = rng.randbytes(45_000).hex()[:60_000]
        yield Step("tool", prose(rng, 40_000), "read", name_file(f"{number}.png"), image)
        yield Step("assistant", f"Screen {number} is as it should be.")


def name_file(path: str) -> Json:
    """Name a file as pi and as Claude Code do."""
    return {"path": path, "file_path": f"/bench/{path}"}


INPUTS = {
    "tiny": Input(5_000, tiny),
    "edits": Input(10_000, edits),
    "reads": Input(5_000, reads),
    "identical": Input(1_500, identical),
    "decisions": Input(1_000, decisions),
    "replaced": Input(2_000, replaced),
    "rules": Input(2_000, rules),
    "requests": Input(2_000, requests),
    "failures": Input(2_000, failures),
    "asides": Input(2_000, asides),
    "replies": Input(2_000, replies),
    "cures": Input(2_000, cures),
    "directives": Input(2_000, directives),
    "lines": Input(10_000, lines),
    "points": Input(5_000, points),
    "entries": Input(12_500, entries),
    "images": Input(50, images),
}


class Row(NamedTuple):
    name: str
    agent: str
    command: str


def main() -> None:
    words = {*sys.argv[1:]}
    rows = [row for row in list_rows() if words <= {*row}]
    for module in IMPORTED:
        import_module(f"ullage.{module}")
    for encoding in ("o200k_base", "cl100k_base"):
        count_tokens("plain", encoding)
        count_with_tokenizer("plain", encoding)
    print("| input | agent | command | CPU s, n | 4n | power | peak MB |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="ullage-scaling-") as name:
        folder = Path(name)
        for place in dict.fromkeys((row.name, row.agent) for row in rows):
            commands = [row.command for row in rows if (row.name, row.agent) == place]
            measure_session(folder, *place, commands)


def list_rows() -> Iterator[Row]:
    for row in (Row(n, a, c) for n in INPUTS for a in WRITERS for c in COMMANDS):
        is_refused = row.agent in READ_ONLY and row.command in CHANGES
        # Into other agents' sessions nothing is put.
        if not is_refused and (row.agent == "pi" or row.command != "restore"):
            yield row


def measure_session(folder: Path, name: str, agent: str, commands: Sequence[str]) -> None:
    n, steps = INPUTS[name]
    home = folder / f"{name}-{agent}"
    home.mkdir()
    small, first, second = (
        WRITERS[agent](home / f"{name}{size}.jsonl", steps(size))
        for size in (N_SMALL, n, FACTOR * n)
    )
    for command in commands:
        pairs: list[tuple[Cost, Cost]] = []
        try:
            base_s = run_command(home, command, small).cpu_s
            while not pairs or (len(pairs) < N_ROUNDS and power_of(pairs, base_s, n) > MAX_POWER):
                one = run_command(home, command, first)
                pairs.append((one, run_command(home, command, second)))
        except RuntimeError as error:
            print(f"| {name} | {agent} | {command} | {error} | | | |", flush=True)
            continue
        one, four = (median(costs) for costs in zip(*pairs, strict=True))
        power = power_of(pairs, base_s, n)
        mark = "**" if power > MAX_POWER else ""
        print(
            f"| {name} | {agent} | {command} | {one.cpu_s:.2f} | {four.cpu_s:.2f}"
            f" | {mark}{power:.2f}{mark} | {four.peak_mb:.0f} |",
            flush=True,
        )
    shutil.rmtree(home)


def power_of(pairs: Sequence[tuple[Cost, Cost]], base_s: float, n: int) -> float:
    one, four = (median(costs).cpu_s - base_s for costs in zip(*pairs, strict=True))
    ratio = (FACTOR * n - N_SMALL) / (n - N_SMALL)
    return math.log(max(four, 0.01) / max(one, 0.01)) / math.log(ratio)


def run_command(home: Path, command: str, session: str) -> Cost:
    path = Path(session)
    if path.is_file():
        path = home / "sessions" / path.name
        path.parent.mkdir(exist_ok=True)
        shutil.copy(session, path)
    chosen = ["--session", str(path) if path.suffix else session]
    with tempfile.TemporaryDirectory(dir=home) as state:
        costs: list[Cost] = []
        for arguments in (*PREPARED_BY.get(command, ()), COMMANDS[command]):
            if path.is_file():
                os.utime(path, (quiet := time.time() - QUIET_S, quiet))
            costs.append(fork([*arguments, *chosen], home, state))
        return costs[-1]


def fork(arguments: Sequence[str], home: Path, state: str) -> Cost:
    """Run a command in a copy of this process.

    Raises:
        RuntimeError: it failed, or took longer than the limit.
    """
    started = time.perf_counter()
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (LIMIT_S, LIMIT_S))
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        os.environ |= {"HOME": str(home), "ULLAGE_STATE_DIR": state}
        os.chdir(home)
        sys.argv = ["ullage", *arguments]
        try:
            main_of_ullage()
        except SystemExit as ended:
            os._exit(ended.code if isinstance(ended.code, int) else 0)
        except BaseException:  # noqa: BLE001 -- a copy of this process must not go on
            os._exit(1)
        os._exit(0)
    _, status, usage = os.wait4(child, 0)
    if (code := os.waitstatus_to_exitcode(status)) != 0:
        raise RuntimeError(f"ended with {code}")
    wall_s = time.perf_counter() - started
    return Cost(wall_s, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


if __name__ == "__main__":
    main()
