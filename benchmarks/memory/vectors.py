"""What vectors do for search beside words, however good or bad they are.

    python benchmarks/memory/vectors.py LOCOMO.json

LOCOMO.json is the data of LoCoMo (snap-research/locomo) or another file of its shape; it is read
and never copied. No model is asked: the vectors are simulated, and the words are those of the
program. `r@10` is the share of the turns that hold the answer among the first ten, pooled over all
conversations. A hybrid may be a point below its better side, whatever that is. `close` is the share
of questions that vectors would answer even if no word did.

- *random*: each text has a vector of its own that says nothing.
- *weak*: hashed grams of three to five characters.
- *strong*: an oracle with noise. Each turn has a vector of its own and shares a part with those
  around it; a question is near to the turns that answer it, more or less so, a piece of a turn to
  that turn.
- *middling*, *poor*: the same with more noise in the questions, and as good at everything else.
"""

import json
import re
import statistics
import sys
import tempfile
import time
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from ullage.app.memory.search import MAX_LIMIT, rank_chunks
from ullage.app.memory.self_test import SelfTest
from ullage.core.memory.ranking import ChunkId
from ullage.core.memory.vector_weight import N_CANDIDATES, START_WEIGHT, VectorHits
from ullage.store.memory.index import MemoryIndex, SourceFile
from ullage.store.memory.vector_table import VectorTable, pack_vector
from ullage.store.memory.vectors import VectorSpace, VectorStore

Vector: TypeAlias = NDArray[np.float64]
Embed: TypeAlias = Callable[[str], Vector]
N_DIMENSIONS = 256
ABSENT = 5
"""The category of LoCoMo's questions on what is not there."""


class Question(NamedTuple):
    text: str
    wanted: frozenset[ChunkId]


def main(path: Path) -> None:
    index = MemoryIndex(None)
    questions = load(json.loads(path.read_text("utf-8")), index)
    words = [search(index, question, VectorHits()) for question in questions]
    print(f"{index.size().n_chunks:,} turns, {len(questions):,} questions of {path.name}")
    print(f"words alone: r@10 {recall(words, questions):.1f}\n")
    print("| vectors | alone | fixed 0.7 | weight | hybrid | against the better | close |")
    print("|---|---|---|---|---|---|---|")
    for name, embed in make_sides(index, questions):
        print(judge(name, embed, index, questions, words), flush=True)
    print(f"\n{measure_speed()}")


def load(conversations: list, index: MemoryIndex) -> list[Question]:
    """Index each session as a file, a list item a turn; give the questions with their turns."""
    places: dict[tuple[str, str], tuple[str, int]] = {}
    files = []
    for each in conversations:
        talk = each["conversation"]
        for name in (key for key in talk if re.fullmatch(r"session_\d+", key)):
            file = f"memory/{each['sample_id']}-{name}.md"
            lines = [f"# {talk.get(f'{name}_date_time', name)}", ""]
            for turn in talk[name]:
                picture = f" [image: {turn['blip_caption']}]" if turn.get("blip_caption") else ""
                lines.append(f"- {turn['speaker']}: {' '.join(turn['text'].split())}{picture}")
                places[each["sample_id"], turn["dia_id"]] = (file, len(lines))
            source = SourceFile(
                path=file, size=0, changed_ns=0, day="2023-01-01", is_memory=True, is_log=False
            )
            files.append((source, "\n".join(lines)))
    index.update(files, ())
    chunks = index.read_chunks(list(index.list_digests()))
    chunk_at = {(chunk.path, chunk.first_line): at for at, chunk in chunks.items()}
    questions = []
    for each in conversations:
        for asked in each["qa"]:
            named = re.findall(r"D\d+:\d+", " ".join(asked["evidence"] or ()))
            turns = (places.get((each["sample_id"], turn)) for turn in named)
            wanted = frozenset(chunk_at[turn] for turn in turns if turn in chunk_at)
            if wanted and asked["category"] != ABSENT:
                questions.append(Question(asked["question"], wanted))
    return questions


def judge(
    name: str,
    embed: Embed,
    index: MemoryIndex,
    questions: list[Question],
    words: list[list[ChunkId]],
) -> str:
    digests = index.list_digests()
    texts = {chunk.digest: chunk.text for chunk in index.read_chunks(list(digests)).values()}
    packed = b"".join(pack_vector(embed(text).tolist()) for text in texts.values())
    table = VectorTable(list(texts), packed, N_DIMENSIONS)
    cosines = [table.nearest(embed(asked.text).tolist(), N_CANDIDATES) for asked in questions]
    test = SelfTest(index)
    judged = test.judge(table, {text: embed(text).tolist() for text in test.questions})

    def hybrid(weight: float, close_score: float) -> float:
        hits = VectorHits(embedded=table.digests, weight=weight, close_score=close_score)
        answers = [
            search(index, asked, msgspec.structs.replace(hits, cosines=near))
            for asked, near in zip(questions, cosines, strict=True)
        ]
        return recall(answers, questions)

    vectors = [[at for near in each for at in index.find_digests((near,))] for each in cosines]
    alone, found = recall(vectors, questions), hybrid(judged.weight, judged.close_score)
    difference = found - max(alone, recall(words, questions))
    n_close = sum(max(each.values()) >= judged.close_score for each in cosines)
    return (
        f"| {name} | {alone:.1f} | {hybrid(START_WEIGHT, 0.0):.1f} | {judged.weight:.1f}"
        f" | {found:.1f} | {difference:+.1f} | {100 * n_close / len(questions):.0f} % |"
    )


def search(index: MemoryIndex, asked: Question, near: VectorHits) -> list[ChunkId]:
    return [chunk.chunk_id for chunk in rank_chunks(index, asked.text, near, MAX_LIMIT)]


def recall(answers: list[list[ChunkId]], questions: list[Question]) -> float:
    """Give r@10 in percent."""
    shares = (
        len(question.wanted & set(answer[:10])) / len(question.wanted)
        for answer, question in zip(answers, questions, strict=True)
    )
    return 100 * statistics.fmean(shares)


def make_sides(index: MemoryIndex, questions: list[Question]) -> Iterator[tuple[str, Embed]]:
    yield "random", draw
    yield "weak", hash_grams
    for name, noise in (("poor", 6.0), ("middling", 4.0), ("strong", 2.8)):
        yield name, Oracle(index, questions, noise)


def measure_speed(n_vectors: int = 40_000) -> str:
    """Measure the CPU of loading a file of vectors, and of a question once that is done."""
    with tempfile.TemporaryDirectory() as folder:
        store = VectorStore(Path(folder) / "vectors.db")
        named = {"model": "m", "answered_by": "m", "origin": "http://127.0.0.1"}
        space = VectorSpace(id=0, dimensions=None, n_dimensions=N_DIMENSIONS, **named)
        space = store.add_space(space)
        store.put(space, {f"{n:064x}": draw(str(n)).tolist() for n in range(n_vectors)})
        asked = [draw(f"question {n}").tolist() for n in range(200)]
        began = time.process_time()
        store.load(store.list_spaces()[0])
        loaded_ms = 1000 * (time.process_time() - began)
        times_ms = []
        for question in asked:
            began = time.process_time()
            store.load(store.list_spaces()[0]).nearest(question, 4 * N_CANDIDATES)
            times_ms.append(1000 * (time.process_time() - began))
    p95 = statistics.quantiles(times_ms, n=20)[-1]
    return (
        f"{n_vectors:,} vectors of {N_DIMENSIONS} dimensions: loaded in {loaded_ms:.0f} ms of CPU,"
        f" a question in {p95:.1f} ms at the 95th percentile"
    )


def draw(text: str) -> Vector:
    """Draw the vector of a text, the same each time."""
    return unit(np.random.default_rng(zlib.crc32(text.encode())).normal(size=N_DIMENSIONS))


def hash_grams(text: str) -> Vector:
    vector = np.full(N_DIMENSIONS, 1e-6)
    for word in re.findall(r"\w+", text.lower()):
        padded = f" {word} "
        for n in (3, 4, 5):
            for at in range(len(padded) - n + 1):
                code = zlib.crc32(padded[at : at + n].encode())
                vector[code % N_DIMENSIONS] += 1 if code & 1 << 20 else -1
    return vector


class Oracle:
    """Vectors that know which turns answer a question, as far as noise lets them."""

    def __init__(self, index: MemoryIndex, questions: list[Question], noise: float) -> None:
        self._noise = noise
        self._turns: dict[ChunkId, Vector] = {}
        topic = draw("")
        chunks = index.read_chunks(list(index.list_digests()))
        self._known: dict[str, Vector] = {}
        by_heading: Mapping[str, list[Vector]] = defaultdict(list)
        for at, chunk in sorted(chunks.items()):
            topic = unit(0.8 * topic + 0.6 * draw(f"topic {at}"))
            vector = unit(draw(f"turn {at}") + 0.6 * topic)
            self._turns[at] = vector
            self._known[chunk.text] = vector
            by_heading[chunk.heading].append(vector)
            first_words = " ".join(chunk.text.split()[:8])
            self._known.setdefault(first_words, unit(vector + 0.8 * draw(first_words)))
        for heading, vectors in by_heading.items():
            self._known[heading] = unit(unit(sum(vectors, np.zeros(N_DIMENSIONS))) + draw(heading))
        self._answers = {question.text: question.wanted for question in questions}

    def __call__(self, text: str) -> Vector:
        if text not in self._answers:
            return self._known[text]
        answer = unit(sum((self._turns[at] for at in self._answers[text]), np.zeros(N_DIMENSIONS)))
        spread = np.random.default_rng(zlib.crc32(text.encode()) + 1).normal()
        return unit(answer + self._noise * np.exp(0.5 * spread) * draw(text))


def unit(vector: Vector) -> Vector:
    return vector / np.sqrt(vector @ vector)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
