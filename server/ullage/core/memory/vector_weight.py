"""What vectors count beside words: fusion on one scale, and the weight that a self-test finds.

Fixed weights cost recall wherever the vectors are worse than the words. How much, and what the
self-test leaves of that, is measured by `benchmarks/memory/vectors.py`.
"""

from collections.abc import Collection, Container, Mapping
from typing import Literal, TypeAlias, TypeVar

import msgspec

T = TypeVar("T")

START_WEIGHT = 0.7
"""docs/design/memory.md, "Vectors"."""
N_CANDIDATES = 50
"""Chunks of each side that are fused; the least of them counts nothing (chosen)."""
UNTESTED_WEIGHT = 0.3
"""Where there is too little to test with: words count more (chosen)."""
MIN_QUERIES = 20
"""Fewer tell nothing (chosen)."""
OWN_TOLERANCE = 0.01
"""What vectors may cost where a chunk is asked for by its own words; chosen."""
_WEIGHTS = (START_WEIGHT, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.0)
_N_RANKS = 10
"""The first results, which are those that are read (chosen)."""

Scores: TypeAlias = Mapping[str, float]
"""Of the best chunks by one side, by the digest of each."""
QueryKind: TypeAlias = Literal["own", "neighbors"]
"""A heading or first words ask for their own chunk; a chunk asks for those around it."""


class SelfTestQuery(msgspec.Struct, frozen=True, kw_only=True):
    """A question made of memory itself, and what both sides answer it."""

    kind: QueryKind
    wanted: frozenset[str]
    held_out: str = ""
    """The chunk that the question is: either side would find it before all others."""
    words: Scores
    vectors: Scores


class VectorHits(msgspec.Struct, frozen=True, kw_only=True):
    """What vectors have to say to a question."""

    cosines: Scores = {}
    """Best first; of texts that may be gone, too."""
    embedded: Container[str] = ()
    """All texts that have a vector."""
    weight: float = 0.0
    """What they count beside words."""
    close_score: float = 1.0
    """From which cosine on a chunk answers a question that shares no word with it."""
    note: str | None = None
    """Why words alone are searched, or what is searched meanwhile."""


def fuse_scores(
    words: Mapping[T, float],
    vectors: Mapping[T, float],
    weight: float,
    without_vector: Container[T] = (),
) -> dict[T, float]:
    """Fuse the scores of both sides, best first, from 0 to 1.

    Words begin at nothing in common. Cosines begin anywhere, as most models put all texts into one
    direction: those of vectors count from the least of the list on. What has no vector yet counts
    by its words alone, or all that is new would come last.
    """
    top = max(words.values(), default=0.0)
    fused = {
        key: (1.0 if key in without_vector else 1 - weight) * max(score, 0.0) / top
        for key, score in words.items()
        if top > 0
    }
    floor = min(vectors.values(), default=0.0)
    span = max(vectors.values(), default=0.0) - floor
    if weight and span > 0:
        for key, score in vectors.items():
            fused[key] = fused.get(key, 0.0) + weight * (score - floor) / span
    return dict(sorted(fused.items(), key=lambda pair: -pair[1]))


def choose_weight(queries: Collection[SelfTestQuery]) -> float:
    """Give the weight of the vectors: the one with which a self-test does best, down to 0.

    Neighbors decide, as words alone do not find them. Short questions only lower the weight, where
    a model reads them badly.
    """
    own = [query for query in queries if query.kind == "own"]
    neighbors = [query for query in queries if query.kind == "neighbors"]
    if len(neighbors) < MIN_QUERIES:
        return min(UNTESTED_WEIGHT, _best_weight(own, OWN_TOLERANCE))
    return min(_best_weight(neighbors, 0.0), _best_weight(own, OWN_TOLERANCE))


def _best_weight(queries: Collection[SelfTestQuery], tolerance: float) -> float:
    """Give the largest weight that does as well as any other, or nearly."""
    if not queries:
        return START_WEIGHT
    ranks = {
        weight: sum(_rank_score(query, weight) for query in queries) / len(queries)
        for weight in _WEIGHTS
    }
    least = max(ranks.values()) - tolerance
    return max(weight for weight, rank in ranks.items() if rank >= least)


def _rank_score(query: SelfTestQuery, weight: float) -> float:
    """Give one by the rank of the first result that is wanted; 0 where none is among the first."""
    held_out = {query.held_out}
    words, vectors = (
        {digest: side[digest] for digest in side.keys() - held_out}
        for side in (query.words, query.vectors)
    )
    fused = list(fuse_scores(words, vectors, weight))[:_N_RANKS]
    return next((1 / rank for rank, digest in enumerate(fused, 1) if digest in query.wanted), 0.0)
