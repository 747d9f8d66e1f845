"""What proposing costs by the number of points and of lines that are known, in CPU time.

    python benchmarks/memory/propose.py

Points say what known lines say, but for a sign, so that all are compared and none is proposed: the
lines of the made-up logs, and rules that differ in a number alone, which is the worst there is. The
exponent is that of the cost where points and known lines grow fourfold together; were each compared
with each, it would be 2.
"""

import json
import math
import random
import time
from datetime import date
from pathlib import Path

from ullage.core.dream.propose import MAX_COMPARED, Known, Statement, propose
from ullage.core.memory.origin import Origin

SAMPLES = Path(__file__).resolve().parents[2] / "tests" / "samples"
TODAY = date(2026, 11, 20)
N_POINTS = 1_000
"""Of which those that last, up to `MAX_COMPARED`, are compared."""
N_KNOWN = 4_000


def measure(lines: list[str], n_points: int, n_known: int) -> float:
    """Give the CPU seconds of one dream."""
    known = random.Random(1).sample(lines, n_known)
    statements = [
        Statement(text=f"{line}!", origin="user", day=TODAY.isoformat(), place="log#L1")
        for line in known[:n_points]
    ]
    standing: dict[str, Origin] = dict.fromkeys(known[::2], "user")
    started_s = time.process_time()
    assert not propose(
        statements, known=Known(standing=standing, others=tuple(known[1::2])), today=TODAY
    )
    return time.process_time() - started_s


def tell(name: str, lines: list[str]) -> None:
    n_known = min(N_KNOWN, len(lines))
    whole = measure(lines, N_POINTS, n_known)
    fewer = measure(lines, MAX_COMPARED // 4, n_known // 4)
    compared = measure(lines, MAX_COMPARED, n_known)
    print(
        f"{name}: {N_POINTS:,} points, {n_known:,} known lines {whole:.2f} s of CPU,"
        f" exponent {math.log(compared / fewer, 4):.2f}"
    )


def main() -> None:
    paths = sorted(SAMPLES.glob("memory_*.json"))
    logs = {line["text"] for path in paths for line in json.loads(path.read_text("utf-8"))}
    tell("made-up logs", sorted(logs))
    tell(
        "one rule with a number",
        [f"Never deploy build {n} to staging, always ask Ada first" for n in range(N_KNOWN)],
    )


if __name__ == "__main__":
    main()
