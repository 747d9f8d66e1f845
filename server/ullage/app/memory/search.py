"""Search memory: chunks of the workspace's Markdown that answer a question, with their places."""

from collections.abc import Sequence
from datetime import date
from functools import lru_cache

import msgspec

from ullage.app.memory.open_memory import OpenMemory
from ullage.app.sessions.secrets import secrets_in
from ullage.core.memory.answer import (
    DEFAULT_LIMIT,
    MAX_LIMIT,
    MAX_QUERY_CHARS,
    MemoryAnswer,
    MemoryHit,
    Scope,
)
from ullage.core.memory.journal import Asker, Recall, hash_query
from ullage.core.memory.origin import KnownOrigins
from ullage.core.memory.quoted import quote_memory
from ullage.core.memory.ranking import (
    N_RERANKED,
    Ranked,
    add_vectors,
    choose_gathering,
    drop_repeated,
    gather,
    has_answer,
    rank,
    weigh_age,
    weigh_question,
)
from ullage.core.memory.vector_weight import N_CANDIDATES, VectorHits
from ullage.core.memory.words import read_query
from ullage.errors import StorageError
from ullage.store.memory.index import IndexedChunk, MemoryIndex
from ullage.store.memory.journal import record_recall

NOTHING = "nothing found: memory holds no answer to this"
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
    query = query[:MAX_QUERY_CHARS]
    near = VectorHits() if is_by_words else memory.search_vectors(query)
    with memory.use() as (index, origins, notes):
        if not index.size().n_chunks:
            return MemoryAnswer(results=(), note="; ".join([*notes, EMPTY]))
        if near.note is not None:
            notes.append(near.note)
        ranked = rank_chunks(index, query, near)
        chunks = index.read_chunks([chunk.chunk_id for chunk in ranked])
        kept = _choose(ranked, chunks, scope, since, today)[: max(1, min(limit, MAX_LIMIT))]
        if not kept:
            notes.append(NOTHING)
        secrets = secrets_in((memory.workspace,), memory.places)
        results = tuple(_hit(chunks[chunk.chunk_id], chunk, origins, secrets) for chunk in kept)
        recalled = [(chunks[chunk.chunk_id].digest, round(chunk.score, 3)) for chunk in kept]
    if recalled and by is not None and memory.places.keeps_caches:
        recall = Recall(day=today.isoformat(), by=by, query=hash_query(query), hits=tuple(recalled))
        try:
            record_recall(recall, memory.workspace, memory.places)
        except StorageError as error:
            notes.append(f"the recall was not noted: {error}")
    return MemoryAnswer(results=results, note="; ".join(notes) or None)


def rank_chunks(index: MemoryIndex, query: str, near: VectorHits) -> list[Ranked]:
    """Rank the chunks that answer a question; none where nothing does."""
    words = read_query(query)
    counts = index.count_chunks(words)
    size = index.size()
    question = weigh_question(words, counts, size.n_chunks)
    postings = index.find_postings(choose_gathering(question.known, counts))
    gathered = gather(question, postings)
    candidates = index.read_candidates([chunk_id for chunk_id, _ in gathered[:N_RERANKED]])
    ranked = rank(question, gathered, candidates, size.mean_chars)
    if not has_answer(question, ranked):
        ranked = []
    if not near.weight:
        return ranked
    cosines = {at: near.cosines[digest] for at, digest in index.find_digests(near.cosines).items()}
    nearest = sorted(cosines, key=lambda at: -cosines[at])[:N_CANDIDATES]
    if not ranked and (not nearest or cosines[nearest[0]] < near.close_score):
        return []
    chunks = index.read_chunks([chunk.chunk_id for chunk in ranked])
    new = {at for at, chunk in chunks.items() if chunk.digest not in near.embedded}
    return add_vectors(ranked, {at: cosines[at] for at in nearest}, near.weight, new)


def _choose(
    ranked: Sequence[Ranked],
    chunks: dict[int, IndexedChunk],
    scope: Scope,
    since: date | None,
    today: date,
) -> list[Ranked]:
    """Leave out what was not asked for and what says the same again; older logs fall a little."""
    first_day = since.isoformat() if since else ""
    wanted = [
        msgspec.structs.replace(chunk, score=chunk.score * weigh_age(found.day, today))
        if found.is_log
        else chunk
        for chunk in ranked
        if (found := chunks.get(chunk.chunk_id)) is not None
        and found.day >= first_day
        and (scope == "all" or found.is_memory == (scope == "memory"))
    ]
    wanted.sort(key=lambda chunk: -chunk.score)
    return drop_repeated(wanted, {chunk_id: found.text for chunk_id, found in chunks.items()})


def _hit(
    found: IndexedChunk, ranked: Ranked, origins: KnownOrigins, secrets: tuple[str, ...]
) -> MemoryHit:
    return MemoryHit(
        path=found.path,
        first_line=found.first_line,
        last_line=found.last_line,
        heading=_quote(found.heading, secrets),
        text=_quote(found.text, secrets),
        origin=origins.tell(found.path, "\n".join((*found.heading.split(" › "), found.text))),
        score=round(ranked.score, 3),
        by=ranked.by,
    )


@lru_cache(maxsize=1_000)
def _quote(text: str, secrets: tuple[str, ...]) -> str:
    return quote_memory(text, secrets)
