"""What searching memory costs, in CPU time against bare starts of Python, all in one run.

    python benchmarks/memory/cost.py [FILES]

Makes a workspace of FILES (10,000) daily notes with four items each. The service (`ullage agent`,
on Linux) indexes it, finds what changed in one file, and is asked 1,000 questions: of five words
that are neither rare nor common, and of five as they come, twice each. The shell is asked too.
"""

import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import date, timedelta
from itertools import accumulate
from pathlib import Path

N_WORDS = 20_000
N_QUESTIONS = 1_000
WORDS_PER_ITEM = 40
SYLLABLES = ("ba", "der", "ki", "lo", "mun", "nep", "or", "ras", "sil", "tov", "ul", "wen")


def make_words(rng: random.Random) -> list[str]:
    """Make words of two to five syllables, the commonest first."""
    words: dict[str, None] = {}
    while len(words) < N_WORDS:
        words["".join(rng.choices(SYLLABLES, k=rng.randint(2, 5)))] = None
    return list(words)


def write_workspace(root: Path, n_files: int, words: Sequence[str], rng: random.Random) -> None:
    """Write notes whose words are as common as in prose: the n-th is 1/n as common as the first."""
    weights = list(accumulate(1 / rank for rank in range(1, len(words) + 1)))
    first = date(2000, 1, 1)
    for number in range(n_files):
        day = first + timedelta(days=number)
        lines = [f"# {day}", ""]
        items = (rng.choices(words, cum_weights=weights, k=WORDS_PER_ITEM) for _ in range(4))
        lines += (f"- {' '.join(item)}" for item in items)
        path = root / "memory" / f"{number % 100:02}" / f"{day}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(lines) + "\n", "utf-8")


class BareStarts:
    """CPU time of a Python that does nothing, taken again and again as the machine's load moves."""

    def __init__(self) -> None:
        self._costs: list[float] = []

    def measure(self) -> float:
        self._costs += (measure_process([sys.executable, "-c", ""]) for _ in range(9))
        return statistics.median(self._costs[-18:])


def measure_process(command: Sequence[str], env: dict[str, str] | None = None) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True, env=env)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


class Service:
    """`ullage agent`, asked about one workspace."""

    def __init__(self, workspace: Path, env: dict[str, str]) -> None:
        command = [sys.executable, "-m", "ullage", "agent"]
        self._workspace = workspace
        self._process = subprocess.Popen(
            command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def ask(self, question: str) -> tuple[float, str]:
        """Give the CPU seconds of a search, and its answer as it came."""
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        params = {"cwd": str(self._workspace), "query": question}
        request = {"jsonrpc": "2.0", "id": 1, "method": "memory/search", "params": params}
        before = self._cpu_s()
        process.stdin.write(json.dumps(request).encode() + b"\n")
        process.stdin.flush()
        answer = process.stdout.readline().decode()
        return self._cpu_s() - before, answer

    def close(self) -> None:
        self._process.communicate()

    def _cpu_s(self) -> float:
        """Give the CPU time of all threads so far, as the scheduler counts it."""
        tasks = Path(f"/proc/{self._process.pid}/task")
        return (
            sum(int((task / "schedstat").read_text().split()[0]) for task in tasks.iterdir()) / 1e9
        )


def main() -> None:
    n_files = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    words = make_words(random.Random(1))
    bare = BareStarts()
    print(f"a bare start takes {1000 * bare.measure():.1f} ms of CPU; all below in bare starts\n")
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "workspace"
        write_workspace(root, n_files, words, random.Random(2))
        env = dict(os.environ, ULLAGE_STATE_DIR=str(Path(folder) / "state"))
        # As for users: what was compiled once is not compiled at every start.
        env.pop("PYTHONDONTWRITEBYTECODE", None)
        service = Service(root, env)
        try:
            cost, _ = service.ask(words[500])
            print(f"index of {n_files:,} files: {cost / bare.measure():.0f}")
            print(f"a changed file, found: {measure_change(service, root) / bare.measure():.2f}")
            for name, span in (("medium", (200, 3_000)), ("any", (20, 8_000))):
                rng = random.Random(7)
                pool = words[span[0] : span[1]]
                questions = [" ".join(rng.sample(pool, 5)) for _ in range(N_QUESTIONS)]
                for turn in ("first", "again"):
                    costs = sorted(service.ask(question)[0] for question in questions)
                    half, most = costs[N_QUESTIONS // 2], costs[int(0.95 * N_QUESTIONS)]
                    start = bare.measure()
                    print(
                        f"{name} words, asked {turn}:"
                        f" median {half / start:.3f}, 95th percentile {most / start:.3f}"
                    )
        finally:
            service.close()
        command = [sys.executable, "-m", "ullage", "memory", "search", *words[500:505]]
        os.chdir(root)
        measure_process(command, env)
        shell = statistics.median(measure_process(command, env) for _ in range(5))
        print(f"from the shell: {shell / bare.measure():.1f}")
        os.chdir("/")


def measure_change(service: Service, root: Path) -> float:
    """Give the CPU seconds of the search that finds what was just written, the median of ten."""
    changed = next((root / "memory").rglob("*.md"))
    costs: list[float] = []
    for number in range(10):
        changed.write_text(f"# note\n\n- change number{number}of10\n", "utf-8")
        time.sleep(0.2)  # the system's notice comes by a thread
        cost, answer = service.ask(f"number{number}of10")
        assert f"number{number}of10" in json.loads(answer)["result"]["results"][0]["text"]
        costs.append(cost)
    return statistics.median(costs)


if __name__ == "__main__":
    main()
