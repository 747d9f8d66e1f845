"""What an index of memory costs, in CPU time against bare starts of Python, all in one run.

    python benchmarks/memory/cost.py [FILES]

Makes a workspace of FILES (10,000) daily notes with four items each, indexes it, changes one file,
and asks 1,000 questions: of five words that are neither rare nor common, and of six words as they
come. The service (`ullage agent`) and the shell are asked too, with all that belongs to them.
"""

import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import date, timedelta
from functools import partial
from itertools import accumulate
from pathlib import Path

from ullage.app.memory.open_memory import OpenMemory
from ullage.app.memory.search import search_memory
from ullage.core.config.settings import EmbeddingSettings
from ullage.store.files.places import Places

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


def measure_bare_start() -> float:
    """Give the CPU seconds of a Python that does nothing, the median of twenty."""
    return statistics.median(measure_process([sys.executable, "-c", ""]) for _ in range(20))


def measure_process(command: Sequence[str], env: dict[str, str] | None = None) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True, env=env)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def main() -> None:
    n_files = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    rng = random.Random(1)
    words = make_words(rng)
    bare = measure_bare_start()
    print(f"bare start: {1000 * bare:.1f} ms of CPU; all below in bare starts\n")
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "workspace"
        write_workspace(root, n_files, words, rng)
        env = dict(os.environ, ULLAGE_STATE_DIR=str(Path(folder) / "state"))
        places = Places(cwd=root, home=Path(folder), env=env, state_folder=Path(folder, "state"))
        memory = OpenMemory(root, places, EmbeddingSettings(), is_watching=True)
        try:

            def ask(question: str) -> object:
                return search_memory(memory, question, by="ullage", today=date(2026, 1, 1))

            print(f"index of {n_files:,} files: {measure(lambda: ask(words[0])) / bare:.0f}")
            changed = next((root / "memory").rglob("*.md"))
            costs: list[float] = []
            for number in range(10):
                changed.write_text(f"# note\n\n- change {number} {words[number]}\n", "utf-8")
                time.sleep(0.2)  # the system's notice comes by a thread
                costs.append(measure(lambda: ask("change")))
            print(f"a changed file, found: {statistics.median(costs) / bare:.2f}")
            for name, span in (("medium", (200, 3_000)), ("any", (20, 8_000))):
                for turn in ("first", "again"):
                    rng = random.Random(7)
                    questions = [
                        " ".join(rng.sample(words[span[0] : span[1]], 5))
                        for _ in range(N_QUESTIONS)
                    ]
                    costs = sorted(measure(partial(ask, question)) for question in questions)
                    half, most = costs[N_QUESTIONS // 2], costs[int(0.95 * N_QUESTIONS)]
                    print(
                        f"{name} words, asked {turn}:"
                        f" median {half / bare:.3f}, 95th percentile {most / bare:.3f}"
                    )
        finally:
            memory.close()


if __name__ == "__main__":
    main()
