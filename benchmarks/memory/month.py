"""Dream of the made-up logs night by night, and print what came of each, as the docs have it.

    python benchmarks/memory/month.py

What was planted is a tool's or a page's, which no dream looks at. The last column has what would be
proposed of it if an agent had written it down as its own.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))

from core.dream.month import SAMPLES, dream_of_month, judge_nights, read_month, write_row

COLUMNS = (
    *("log", "facts", "newer of a pair", "older named", "older named, in memory", "others"),
    *("planted", "planted, an agent's"),
)


def main() -> None:
    print(f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}")
    for name in sorted(path.stem for path in SAMPLES.glob("memory_*.json")):
        lines = read_month(name)
        print(f"| {name} |{write_row(name, judge_nights(lines, dream_of_month(lines)))}")


if __name__ == "__main__":
    main()
