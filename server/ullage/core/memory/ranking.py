"""Which chunks of memory answer a question, best first; none where nothing does.

Words bring candidates, rarest first; the best of these are scored by all words of the question,
by words that stand together, and by the company of their file. Figures are of
docs/design/memory.md, "Search".
"""

import math
from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from datetime import date
from itertools import pairwise
from operator import itemgetter

import msgspec

from ullage.core.memory.answer import FoundBy
from ullage.core.memory.vector_weight import fuse_scores
from ullage.core.memory.words import is_identifier

ChunkId = int
CONTEXT_WEIGHT = 0.35
"""Of a word that stands in a chunk's surroundings, against one in its text."""
MAX_GATHERED = 2_000
"""Chunks that words may bring one after the other; commoner words then bring none by themselves."""
MORE_RERANKED = 30
"""Besides as many candidates as were asked for, so many are scored by everything."""
N_FOR_FILES = 200
"""Candidates that tell how much a file has to say."""
MAX_PER_FILE_BITS = 20
"""A chunk's id is its file's, shifted by this, plus its number in the file."""
_FILE_WEIGHT = 0.3
_TEXT_WEIGHT = 0.3
_COVER_WEIGHT = 0.8
_PAIR_WEIGHT = 0.6
_LABEL_WEIGHT = 0.3
_NAME_WEIGHT = 0.3
_TOP_OF_FILE = 3
_K1 = 1.2
_B = 0.75
_MAX_AGED = 0.1
_HALF_LIFE_DAYS = 365
_MIN_HELD = 1.5
_HELD_FOR_UNKNOWN = 3.0
_HELD_FOR_NAME = 7.0
_N_JUDGED = 8
"""By the questions of `benchmarks/memory` on what is not there, and those of LoCoMo."""


class Posting(msgspec.Struct, frozen=True, kw_only=True):
    """Chunks that hold a word."""

    in_text: Sequence[ChunkId]
    in_context: Sequence[ChunkId]
    """Those whose neighbors do."""


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """The words of a chunk as an index keeps them: with a space before, between and behind.

    `words` are those of its text, then those of its headings.
    """

    chunk_id: ChunkId
    words: str
    context: str


class Ranked(msgspec.Struct, frozen=True, kw_only=True):
    chunk_id: ChunkId
    score: float
    """From 0 to 1; 1 is a chunk that has every word of the question, together, in the best file."""
    n_held: int = 0
    """How many words of the question text or surroundings hold; its label counts once more."""
    by: FoundBy = "words"


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """A question's words with their weights, by how rare they are in the whole index."""

    weights: Mapping[str, float]
    """In the order of the question."""
    known: tuple[str, ...]
    """Those that the index holds, rarest first."""
    identifiers: tuple[str, ...]
    """Those that the index holds of the words that name a thing exactly."""


def weigh_question(words: Sequence[str], counts: Mapping[str, int], n_chunks: int) -> Question:
    """Weigh the words of a question; `counts` says how many chunks hold each."""
    weights = {
        word: math.log(1 + (n_chunks - counts[word] + 0.5) / (counts[word] + 0.5)) for word in words
    }
    known = sorted((word for word in weights if counts[word]), key=lambda word: counts[word])
    return Question(
        weights=weights,
        known=tuple(known),
        identifiers=tuple(filter(is_identifier, known)),
    )


def choose_gathering(known: Sequence[str], counts: Mapping[str, int]) -> tuple[str, ...]:
    """Choose the words that bring candidates: the rarest, as far as they are few."""
    chosen: list[str] = []
    n_gathered = 0
    for word in known:
        n_gathered += counts[word]
        if chosen and n_gathered > MAX_GATHERED:
            break
        chosen.append(word)
    return tuple(chosen)


def gather(question: Question, postings: Mapping[str, Posting]) -> list[tuple[ChunkId, float]]:
    """Give the chunks that hold some of the words, best first, by a score that costs little."""
    scores: dict[ChunkId, float] = defaultdict(float)
    for word, posting in postings.items():
        weight = question.weights[word]
        for chunk_id in posting.in_text:
            scores[chunk_id] += weight
        weight *= CONTEXT_WEIGHT
        for chunk_id in posting.in_context:
            scores[chunk_id] += weight
    return sorted(scores.items(), key=itemgetter(1), reverse=True)


def rank(
    question: Question,
    gathered: Sequence[tuple[ChunkId, float]],
    candidates: Iterable[Candidate],
    mean_length: float,
) -> list[Ranked]:
    """Score candidates by everything that is known of them; best first.

    One that holds no word of the question in its text or its headings is left out. `mean_length`
    is the mean number of characters that the words and the context of a chunk have.
    """
    wanted = [(f" {word} ", weight) for word, weight in question.weights.items()]
    named = [f" {word} " for word in question.identifiers]
    pairs = [f" {first} {second} " for first, second in pairwise(question.weights)]
    total = sum(question.weights.values())
    k_fixed, k_length = _K1 * (1 - _B), _K1 * _B / mean_length
    scored: list[tuple[float, float, int, ChunkId]] = []
    for candidate in candidates:
        text, context = candidate.words, candidate.context
        k = k_fixed + k_length * (len(text) + len(context))
        relevance = in_text = in_context = 0.0
        n_held = n_in_text = 0
        for word, weight in wanted:
            frequency = text.count(word)
            if frequency:
                in_text += weight
                n_in_text += 1
                if word in context:
                    frequency += CONTEXT_WEIGHT
            elif word in context:
                in_context += weight
                frequency = CONTEXT_WEIGHT
            else:
                continue
            n_held += 1
            relevance += weight * frequency * (_K1 + 1) / (frequency + k)
        if not in_text:
            # What stands beside it answers, not this.
            continue
        extra = _COVER_WEIGHT * (in_text + in_context) / total + _TEXT_WEIGHT * in_text / total
        if named:
            extra += _NAME_WEIGHT * sum([name in text for name in named]) / len(named)
        if n_in_text > 1:
            n_together = sum([pair in text for pair in pairs])
            extra += _PAIR_WEIGHT * n_together / len(pairs)
        if text[1 : text.find(" ", 1)] in question.weights:
            extra += _LABEL_WEIGHT
            n_held += 1
        scored.append((relevance, extra, n_held, candidate.chunk_id))
    best = max((relevance for relevance, *_ in scored), default=0.0) or 1.0
    by_file = _score_files(gathered[:N_FOR_FILES])
    ranked = [
        (
            relevance / best + extra + _FILE_WEIGHT * by_file.get(chunk_id >> MAX_PER_FILE_BITS, 0),
            n_held,
            chunk_id,
        )
        for relevance, extra, n_held, chunk_id in scored
    ]
    ranked.sort(reverse=True)
    return [
        Ranked(chunk_id=chunk_id, score=min(1.0, score / _MAX_SCORE), n_held=n_held)
        for score, n_held, chunk_id in ranked
    ]


def file_of(chunk_id: ChunkId) -> int:
    """Give the id of a chunk's file."""
    return chunk_id >> MAX_PER_FILE_BITS


def has_answer(question: Question, names: Container[str], ranked: Sequence[Ranked]) -> bool:
    """Tell whether the best chunks hold enough of a question to be an answer.

    The more of the question the index does not know at all, the more words must be held together.
    That counts most for `names`, the words that the question writes as names: the index may say
    `kept` for `retained`, but nothing else for `Kafka`.
    """
    weights = question.weights
    n_for_unknown = sum(
        weight * (_HELD_FOR_NAME if word in names else _HELD_FOR_UNKNOWN)
        for word, weight in weights.items()
        if word not in question.known
    )
    n_needed = min(len(weights), _MIN_HELD + n_for_unknown / (sum(weights.values()) or 1))
    return any(chunk.n_held >= n_needed for chunk in ranked[:_N_JUDGED])


def add_vectors(
    ranked: Sequence[Ranked],
    cosines: Mapping[ChunkId, float],
    weight: float,
    without_vector: Container[ChunkId],
) -> list[Ranked]:
    """Add the chunks that are near to a question by their vectors; scores are on one scale then."""
    by_words = {chunk.chunk_id: chunk for chunk in ranked}
    scores = {chunk.chunk_id: chunk.score for chunk in ranked}
    joined: list[Ranked] = []
    for chunk_id, score in fuse_scores(scores, cosines, weight, without_vector).items():
        chunk = by_words.get(chunk_id)
        if chunk is None:
            joined.append(Ranked(chunk_id=chunk_id, score=score, by="vectors"))
        else:
            by: FoundBy = "both" if chunk_id in cosines else "words"
            joined.append(msgspec.structs.replace(chunk, score=score, by=by))
    return joined


def weigh_age(day: str, today: date) -> float:
    """Give 1 for a log of today, less for older ones, and never less than 0.9."""
    n_days = max(0, (today - date.fromisoformat(day)).days)
    return 1 - _MAX_AGED + _MAX_AGED * math.pow(0.5, n_days / _HALF_LIFE_DAYS)


_MAX_SCORE = 1.0 + sum(
    (_COVER_WEIGHT, _TEXT_WEIGHT, _PAIR_WEIGHT, _LABEL_WEIGHT, _NAME_WEIGHT, _FILE_WEIGHT)
)


def _score_files(gathered: Iterable[tuple[ChunkId, float]]) -> dict[int, float]:
    """Give each file the mean of its best chunks, against that of the best file."""
    tops: dict[int, list[float]] = defaultdict(list)
    for chunk_id, score in gathered:
        top = tops[chunk_id >> MAX_PER_FILE_BITS]
        if len(top) < _TOP_OF_FILE:
            top.append(score)
    sums = {file: sum(top) for file, top in tops.items()}
    best = max(sums.values(), default=1.0)
    return {file: total / best for file, total in sums.items()}
