"""The self-test of vectors: questions made of memory itself, answered by words and by vectors."""

import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

import msgspec

from ullage.core.memory.ranking import (
    MORE_RERANKED,
    ChunkId,
    Posting,
    choose_gathering,
    gather,
    rank,
    weigh_question,
)
from ullage.core.memory.vector_weight import N_CANDIDATES, SelfTestQuery, choose_weight
from ullage.core.memory.words import read_query
from ullage.store.memory.index import N_NEIGHBORS, IndexedChunk, MemoryIndex

if TYPE_CHECKING:
    from ullage.store.memory.vector_table import VectorTable

T = TypeVar("T")

N_NEIGHBOR_QUERIES = 300
N_OWN_QUERIES = 64
"""Of headings and of first words each: two batches are sent for them. Both figures are chosen."""
_MIN_WORDS = 8
"""A shorter chunk is like many others; chosen, as is how many words are its first ones."""
_UNANSWERED_SHARE = 0.9
"""Of questions without an answer, so many are to be told that there is none (chosen)."""
_SLICE = 500


class Judgment(msgspec.Struct, frozen=True, kw_only=True):
    weight: float
    close_score: float
    """The cosine that nine of ten questions have with nothing but their own answer."""


class SelfTest:
    """Questions of a workspace's memory, evenly from all of it."""

    def __init__(self, index: MemoryIndex) -> None:
        self._index = index
        self._digests = index.list_digests()
        chunks = list(read_many(index, spread(list(self._digests), 4 * N_NEIGHBOR_QUERIES)))
        self._chunks = [found for found in chunks if len(found[1].text.split()) >= _MIN_WORDS]
        first_words = {
            " ".join(chunk.text.split()[:_MIN_WORDS]): frozenset((chunk.digest,))
            for _, chunk in spread(self._chunks, N_OWN_QUERIES)
        }
        by_heading: dict[str, set[str]] = {}
        for _, chunk in self._chunks:
            if chunk.heading:
                by_heading.setdefault(chunk.heading.split(" › ")[-1], set()).add(chunk.digest)
        headings = {
            heading: frozenset(by_heading[heading])
            for heading in spread(list(by_heading), N_OWN_QUERIES)
        }
        self._own: dict[str, frozenset[str]] = {**headings, **first_words}
        self.questions = tuple(self._own)
        """Texts whose vectors `judge` wants."""

    def judge(self, table: "VectorTable", vectors: Mapping[str, Sequence[float]]) -> Judgment:
        """Compare both sides; takes some 5 ms a question."""
        neighbors = [
            self._ask_neighbors(chunk_id, chunk, table)
            for chunk_id, chunk in spread(self._chunks, N_NEIGHBOR_QUERIES)
        ]
        own = [
            SelfTestQuery(
                kind="own",
                wanted=self._own[text],
                words=self._by_words(text),
                vectors=table.nearest(vectors[text], N_CANDIDATES),
            )
            for text in self.questions
        ]
        others = sorted(
            max(query.vectors[digest] for digest in foreign)
            for query in own
            if (foreign := query.vectors.keys() - query.wanted)
        )
        return Judgment(
            weight=choose_weight([*neighbors, *own]),
            close_score=others[int(_UNANSWERED_SHARE * len(others))] if others else 1.0,
        )

    def _ask_neighbors(
        self, chunk_id: ChunkId, chunk: IndexedChunk, table: "VectorTable"
    ) -> SelfTestQuery:
        around = range(chunk_id - N_NEIGHBORS, chunk_id + N_NEIGHBORS + 1)
        wanted = {self._digests[at] for at in around if at in self._digests} - {chunk.digest}
        return SelfTestQuery(
            kind="neighbors",
            wanted=frozenset(wanted),
            held_out=chunk.digest,
            words=self._by_words(chunk.text),
            vectors=table.nearest_to(chunk.digest, N_CANDIDATES + 1),
        )

    def _by_words(self, text: str) -> dict[str, float]:
        """Search the texts alone: what stands around a chunk gives its neighbors away."""
        words = read_query(text)
        counts = self._index.count_chunks(words)
        question = weigh_question(words, counts, len(self._digests))
        postings = {
            word: Posting(in_text=posting.in_text, in_context=())
            for word, posting in self._index.find_postings(
                choose_gathering(question.known, counts)
            ).items()
        }
        gathered = gather(question, postings)[: 2 * MORE_RERANKED]
        candidates = [
            msgspec.structs.replace(candidate, context="")
            for candidate in self._index.read_candidates([at for at, _ in gathered])
        ]
        if not candidates:
            return {}
        mean_chars = statistics.fmean(len(candidate.words) for candidate in candidates)
        ranked = rank(question, gathered, candidates, mean_chars)[:N_CANDIDATES]
        # Of one text in several places, the best; files may have changed meanwhile.
        found = ((self._digests.get(each.chunk_id), each.score) for each in reversed(ranked))
        return {digest: score for digest, score in found if digest is not None}


def read_many(
    index: MemoryIndex, chunk_ids: Sequence[ChunkId]
) -> Iterator[tuple[ChunkId, IndexedChunk]]:
    """Read chunks in their order; those that are gone meanwhile are left out."""
    for start in range(0, len(chunk_ids), _SLICE):
        wanted = chunk_ids[start : start + _SLICE]
        chunks = index.read_chunks(wanted)
        yield from ((chunk_id, chunks[chunk_id]) for chunk_id in wanted if chunk_id in chunks)


def spread(values: Sequence[T], n_values: int) -> Sequence[T]:
    """Take so many values, or fewer, at even distances."""
    return values[:: -(-len(values) // n_values) or 1]
