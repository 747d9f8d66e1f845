"""Measure commands: wall time, CPU time and peak memory of a process and its children."""

import os
import statistics
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple


class Cost(NamedTuple):
    wall_s: float
    cpu_s: float
    peak_mb: float


def run(
    command: Sequence[str],
    env: dict[str, str],
    given: bytes = b"",
    exit_code: int = 0,
    cwd: Path | None = None,
) -> Cost:
    """Run a command to its end, giving it some input; its output is thrown away.

    Raises:
        RuntimeError: it ended with another code.
    """
    started = time.perf_counter()
    process = subprocess.Popen(
        command,
        env=env,
        cwd=cwd,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    if process.stdin is not None:
        process.stdin.write(given)
        process.stdin.close()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    wall_s = time.perf_counter() - started
    if process.returncode != exit_code:
        raise RuntimeError(f"{' '.join(command[:4])} ended with {process.returncode}")
    return Cost(wall_s, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def median(costs: Sequence[Cost]) -> Cost:
    return Cost(*(statistics.median(values) for values in zip(*costs, strict=True)))


def alternate(
    commands: dict[str, Sequence[str]], env: dict[str, str], n_rounds: int
) -> dict[str, Cost]:
    """Run all commands in turn, several rounds, and give the median of each."""
    costs: dict[str, list[Cost]] = {name: [] for name in commands}
    for _ in range(n_rounds):
        for name, command in commands.items():
            costs[name].append(run(command, env))
    return {name: median(found) for name, found in costs.items()}
