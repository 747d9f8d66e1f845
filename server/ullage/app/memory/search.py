"""Search memory: chunks of the workspace's Markdown that answer a question, with their places."""

from collections.abc import Sequence
from datetime import date
from functools import lru_cache

import msgspec

from ullage.app.memory.open_memory import OpenMemory
from ullage.core.memory.answer import (
    DEFAULT_LIMIT,
    MAX_LIMIT,
    MAX_QUERY_CHARS,
    MemoryAnswer,
    MemoryHit,
    Scope,
)
from ullage.core.memory.journal import Asker, Recall, hash_query
from ullage.core.memory.likeness import Likeness
from ullage.core.memory.quoted import quote_memory
from ullage.core.memory.ranking import (
    MORE_RERANKED,
    Ranked,
    add_vectors,
    choose_gathering,
    file_of,
    gather,
    has_answer,
    rank,
    weigh_age,
    weigh_question,
)
from ullage.core.memory.vector_weight import N_CANDIDATES, VectorHits
from ullage.core.memory.words import read_names, read_query
from ullage.errors import StorageError
from ullage.store.memory.index import IndexedChunk, MemoryIndex
from ullage.store.memory.journal import record_recall

_MORE_READ = 4
"""Chunks beyond those asked for that are read at once: some say the same again."""
NOTHING = "nothing found: no piece of memory holds enough of these words"
EMPTY = "there is no memory yet: no Markdown stands in this workspace"


def search_memory(
    memory: OpenMemory,
    query: str,
    *,
    limit: int = DEFAULT_LIMIT,
    scope: Scope = "all",
    since: date | None = None,
    by: Asker | None,
    today: date,
    is_by_words: bool = False,
) -> MemoryAnswer:
    """Search, and note in the journal what was handed out, unless nothing may be written.

    `since` leaves out what was written before that day, by the name of a log, else by its file.
    `by` None is a question that is still typed: what answers it counts when it is chosen
    (`app.memory.recalls`). With `is_by_words` no embedding endpoint is asked.

    Raises:
        StorageError: the state folder does not take the index.
    """
    limit = max(1, min(limit, MAX_LIMIT))
    query = query[:MAX_QUERY_CHARS]
    near = VectorHits() if is_by_words else memory.search_vectors(query)

    def find(index: MemoryIndex) -> list[tuple[str, MemoryHit]] | None:
        if not index.size().n_chunks:
            return None
        files = None if scope == "all" and since is None else _find_files(index, scope, since)
        ranked = rank_chunks(index, query, near, limit, files)
        found = _choose(ranked, index, limit, today)
        return [(chunk.digest, _hit(chunk, ranking, memory)) for chunk, ranking in found]

    notes: list[str] = []
    found = memory.read(find, notes)
    if near.note is not None:
        notes.append(near.note)
    if not found:
        notes.append(EMPTY if found is None else NOTHING)
        return MemoryAnswer(results=(), note="; ".join(notes))
    results = tuple(hit for _, hit in found)
    memory.recalled.extend(hit.text for hit in results)
    if by is not None and memory.places.keeps_caches:
        hits = tuple((digest, hit.score) for digest, hit in found)
        recall = Recall(day=today.isoformat(), by=by, query=hash_query(query), hits=hits)
        try:
            record_recall(recall, memory.workspace, memory.places)
        except StorageError as error:
            notes.append(f"the recall was not noted: {error}")
    return MemoryAnswer(results=results, note="; ".join(notes) or None)


def _find_files(index: MemoryIndex, scope: Scope, since: date | None) -> frozenset[int]:
    is_memory = None if scope == "all" else scope == "memory"
    return index.find_files(is_memory=is_memory, since="" if since is None else since.isoformat())


def rank_chunks(
    index: MemoryIndex,
    query: str,
    near: VectorHits,
    limit: int,
    files: frozenset[int] | None = None,
) -> list[Ranked]:
    """Rank the chunks that answer a question; none where nothing does.

    Only those of `files` are looked at, by their ids; all where it is None.
    """
    words = read_query(query)
    counts = index.count_chunks(words)
    size = index.size()
    question = weigh_question(words, counts, size.n_chunks)
    postings = index.find_postings(choose_gathering(question.known, counts))
    gathered = gather(question, postings)
    if files is not None:
        gathered = [found for found in gathered if file_of(found[0]) in files]
    best = [chunk_id for chunk_id, _ in gathered[: limit + MORE_RERANKED]]
    ranked = rank(question, gathered, index.read_candidates(best), size.mean_chars)
    if not has_answer(question, read_names(query), ranked):
        ranked = []
    if not near.weight:
        return ranked
    cosines = {
        at: near.cosines[digest]
        for at, digest in index.find_digests(near.cosines).items()
        if files is None or file_of(at) in files
    }
    nearest = sorted(cosines, key=lambda at: -cosines[at])[:N_CANDIDATES]
    if not ranked and (not nearest or cosines[nearest[0]] < near.close_score):
        return []
    chunks = index.read_chunks([chunk.chunk_id for chunk in ranked])
    new = {at for at, chunk in chunks.items() if chunk.digest not in near.embedded}
    return add_vectors(ranked, {at: cosines[at] for at in nearest}, near.weight, new)


def _choose(
    ranked: Sequence[Ranked], index: MemoryIndex, limit: int, today: date
) -> list[tuple[IndexedChunk, Ranked]]:
    """Read the best chunks, without those that say the same again."""
    found: list[tuple[IndexedChunk, Ranked]] = []
    shown: list[tuple[frozenset[str], str]] = []
    for start in range(0, len(ranked), batch := limit + _MORE_READ):
        if len(found) >= limit:
            break
        rankings = ranked[start : start + batch]
        chunks = index.read_chunks([ranking.chunk_id for ranking in rankings])
        weighed = [
            (chunk, _age(ranking, chunk, today))
            for ranking in rankings
            if (chunk := chunks.get(ranking.chunk_id)) is not None
        ]
        weighed.sort(key=lambda pair: -pair[1].score)
        for chunk, ranking in weighed:
            if len(found) >= limit:
                break
            words = frozenset(chunk.text.split())
            if not any(_is_repeated(chunk.text, words, text, others) for others, text in shown):
                found.append((chunk, ranking))
                shown.append((words, chunk.text))
    return found


def _is_repeated(text: str, words: frozenset[str], shown: str, others: frozenset[str]) -> bool:
    """Tell whether a better chunk says the same; most are told apart by their words alone."""
    n_common = len(words & others)
    is_near = n_common * 2 >= max(len(words), len(others))
    return is_near and Likeness(text).is_said_by(shown)


def _age(ranking: Ranked, chunk: IndexedChunk, today: date) -> Ranked:
    """Let older logs fall a little; pages without a day of their own stay."""
    if not chunk.is_log:
        return ranking
    return msgspec.structs.replace(ranking, score=ranking.score * weigh_age(chunk.day, today))


def _hit(found: IndexedChunk, ranking: Ranked, memory: OpenMemory) -> MemoryHit:
    heading, _, text = _quote(f"{found.heading}\n{found.text}", memory.secrets).partition("\n")
    return MemoryHit(
        path=found.path,
        first_line=found.first_line,
        last_line=found.last_line,
        heading=heading,
        text=text,
        origin=memory.tell_origin(found),
        score=round(ranking.score, 3),
        by=ranking.by,
    )


@lru_cache(maxsize=4_096)
def _quote(text: str, secrets: tuple[str, ...]) -> str:
    return quote_memory(text, secrets)
