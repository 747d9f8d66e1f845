"""Measure counting against plain tiktoken, by kinds of text, and compare the counts.

    python benchmarks/counting.py [--random N]

Both take turns, in one thread, text by text of about 8 KB, as tool output is. Translated texts are
the messages of the TypeScript compiler: `npm --prefix tests/peer ci --ignore-scripts`. With
`--random`, counts of N random strings are compared too, made of all planes of Unicode.
"""

import argparse
import json
import random
import statistics
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from ullage.store.gauge.light_counter import LightCounter, is_plain
from ullage.store.gauge.tokenizer import accelerator, count_with_tokenizer, load_encoding

ROOT = Path(__file__).parent.parent
TRANSLATIONS = ROOT / "tests/peer/node_modules/typescript/lib"
ENCODINGS = ("o200k_base", "cl100k_base")
TEXT_CHARS = 8000
CORPUS_CHARS = 1_000_000
N_ROUNDS = 7
EMOJI = "😀 🎉 👩‍👩‍👧‍👦 ✅ ❌ 🇩🇪 👍🏽 🚀 ⚠️ 🍷".split()
JOINTS = (
    "",
    " ",
    "\n",
    "'",
    "’",
    "a",
    "É",
    "'s",
    "\r\n",
    "  ",
    "1",
    "世",
    "\t",
    "-",
    "\u0301",
    ".",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--random", type=int, default=0, metavar="N")
    n_random: int = parser.parse_args().random
    print(f"With the accelerator: {'yes' if accelerator(ENCODINGS[0]) else 'no'}\n")
    print("| text | encoding | KB | tiktoken MB/s | ours MB/s | ratio | light MB/s | equal |")
    print("|---|---|---|---|---|---|---|---|")
    for name, text in corpora().items():
        for encoding in ENCODINGS:
            row = compare(list(cut(text)), encoding)
            tiktoken, ours, light = row.mb_per_s.values()
            print(
                f"| {name} | {encoding} | {row.n_bytes // 1000} | {tiktoken:.1f} | {ours:.1f}"
                f" | {row.ratio:.1f} | {light:.1f} | {'yes' if row.is_equal else 'NO'} |",
                flush=True,
            )
    if n_random:
        for encoding in ENCODINGS:
            print(compare_random(n_random, encoding), flush=True)


class Speeds(NamedTuple):
    n_bytes: int
    mb_per_s: dict[str, float]
    """By counter."""
    is_equal: bool

    @property
    def ratio(self) -> float:
        return self.mb_per_s["ours"] / self.mb_per_s["tiktoken"]


def compare(texts: list[str], encoding: str) -> Speeds:
    """Time all on the same texts, in rounds in which they take turns."""
    light = LightCounter(encoding, max_cost=1 << 60)
    encode = load_encoding(encoding).encode_ordinary
    counters: dict[str, Callable[[str], int | None]] = {
        "tiktoken": lambda text: len(encode(text)),
        "ours": lambda text: count_with_tokenizer(text, encoding),
        "light": light.count,
    }
    costs: dict[str, list[float]] = {counter: [] for counter in counters}
    counts: dict[str, list[int | None]] = {}
    for _ in range(N_ROUNDS):
        for counter, count in counters.items():
            began = time.thread_time()
            counts[counter] = [count(text) for text in texts]
            costs[counter].append(time.thread_time() - began)
    n_bytes = sum(len(text.encode()) for text in texts)
    speeds = {name: n_bytes / 1e6 / statistics.median(each) for name, each in costs.items()}
    lightly = zip(counts["light"], counts["tiktoken"], strict=True)
    is_equal = counts["ours"] == counts["tiktoken"] and all(
        n_light in (None, n_tokens) for n_light, n_tokens in lightly
    )
    return Speeds(n_bytes, speeds, is_equal)


def corpora() -> dict[str, str]:
    found = {
        "English prose": read_all("docs/**/*.md", "*.md"),
        "Python": read_all("server/**/*.py"),
        "TypeScript": read_all("vscode-extension/src/**/*.ts", "server/ullage/data/**/*.ts"),
        "JSON": read_all("tests/peer/package-lock.json", "server/ullage/data/**/*.json"),
    }
    for name, folder in {"French": "fr", "Polish": "pl", "Chinese": "zh-cn"}.items():
        path = TRANSLATIONS / folder / "diagnosticMessages.generated.json"
        if path.exists():
            messages: dict[str, str] = json.loads(path.read_text("utf-8"))
            found[name] = "\n".join(messages.values())
    rng = random.Random(1)
    words = found["English prose"].split()
    found["emoji"] = "\n".join(
        " ".join((*rng.choices(words, k=9), rng.choice(EMOJI))) for _ in range(5000)
    )
    pieces = [piece for text in found.values() for piece in islice(cut(text, 300), 300)]
    rng.shuffle(pieces)
    return {**found, "mixed": "\n".join(pieces)}


def read_all(*patterns: str) -> str:
    paths = sorted(path for pattern in patterns for path in ROOT.glob(pattern))
    return "\n".join(path.read_text("utf-8") for path in paths)[:CORPUS_CHARS]


def cut(text: str, n_chars: int = TEXT_CHARS) -> Iterator[str]:
    return (text[at : at + n_chars] for at in range(0, len(text), n_chars))


def compare_random(n_texts: int, encoding: str) -> str:
    """Compare counts of random texts, and say how often the fast ways took part."""
    rng = random.Random(encoding)
    encode = load_encoding(encoding).encode_ordinary
    light = LightCounter(encoding, max_cost=1 << 60)
    began = time.monotonic()
    n_plain = n_unequal = 0
    for text in random_texts(rng, n_texts):
        n_tokens = len(encode(text))
        n_plain += is_plain(text)
        n_light = light.count(text)
        is_equal = count_with_tokenizer(text, encoding) == n_tokens
        n_unequal += not (is_equal and n_light in (None, n_tokens))
    return (
        f"\n{n_texts:,} random strings, {encoding}: {n_unequal} counts differ; {n_plain:,} were"
        f" counted by the fast ways. {time.monotonic() - began:.0f} s"
    )


def random_texts(rng: random.Random, n_texts: int) -> Iterable[str]:
    """Make short strings: half of them without the characters that are left to tiktoken."""
    planes = [range(0x20, 0x250), range(0x250, 0x3000), range(0x3000, 0xD800)]
    planes += [range(start, start + 0x10000) for start in range(0x10000, 0x110000, 0x10000)]
    planes += [range(0xE000, 0x10000), range(0x1F000, 0x20000), range(0xD800, 0xE000)]
    common = [plane for plane in planes[:3] for _ in range(8)]
    for _ in range(n_texts):
        is_any = rng.random() < 0.5
        parts: list[str] = []
        for _ in range(rng.randint(1, 12)):
            plane = rng.choice(planes if is_any else common)
            parts += (chr(rng.choice(plane)), rng.choice(JOINTS))
        yield "".join(parts)


if __name__ == "__main__":
    main()
