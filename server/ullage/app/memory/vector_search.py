"""The vectors' side of a search: the question embedded, chunks near to it, and what failed."""

import asyncio
import time
from collections.abc import Callable, Container, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import msgspec

from ullage.app.memory.embedder import Embedder, find_embedder, open_vectors
from ullage.app.sessions.secrets import secrets_in
from ullage.core.config.memory_settings import EmbeddingSettings
from ullage.core.memory.vector_weight import N_CANDIDATES, VectorHits
from ullage.errors import EndpointRefused, ModelError, StorageError
from ullage.store.files.places import Places
from ullage.store.memory.places import memory_folder
from ullage.store.memory.vectors import VectorSpace
from ullage.summary.embeddings import EmbeddedBatch, Space, embed
from ullage.summary.limits import Limits
from ullage.summary.request import TokenSpending

QUERY_LIMITS = Limits(connect_s=1.0, idle_s=3.0, total_s=3.0, max_tries=1)
"""Somebody waits for the answer, which words alone give as well (chosen)."""
REST_S = 60.0
"""How long an endpoint that failed is not asked again (chosen)."""
N_NEAREST = 4 * N_CANDIDATES
"""Some may be of texts that are gone (chosen)."""
ListNew: TypeAlias = Callable[[Container[str]], Mapping[str, str]]
"""Takes the digests that have a vector, and gives some texts that have none, by theirs."""


class VectorSearch:
    """The vectors of one workspace, for one question or for all of a process."""

    def __init__(self, settings: EmbeddingSettings, places: Places, workspace: Path) -> None:
        self._settings = settings
        self._places = places
        self._workspace = workspace
        self._store = open_vectors(memory_folder(workspace, places))
        self._embedder: Embedder | None = None
        self._failure: tuple[float, str] = (0.0, "")

    async def search(self, query: str, list_new: ListNew) -> VectorHits:
        """Find the chunks near to a question; whatever goes wrong is a note.

        New chunks, a few, are embedded along with it, so that vectors follow the files.
        """
        rests_until, note = self._failure
        if time.monotonic() < rests_until:
            return VectorHits(note=note)
        try:
            return await self._search(query, list_new)
        except ModelError as error:
            note = f"searched by words alone: {error}"
            self._failure = (time.monotonic() + REST_S, note)
            return VectorHits(note=note)
        except (EndpointRefused, StorageError) as error:
            return VectorHits(note=f"searched by words alone: {error}")

    async def _search(self, query: str, list_new: ListNew) -> VectorHits:
        embedder = self._embedder
        if embedder is None:
            # A keyring may take its time.
            embedder = await asyncio.to_thread(find_embedder, self._settings, self._places)
        if embedder is None:
            return VectorHits()
        self._embedder = embedder
        spaces = await asyncio.to_thread(self._store.list_spaces)
        space = next((each for each in spaces if each.is_active), None)
        if space is None or space.origin != embedder.endpoint.origin:
            return VectorHits(
                note="searched by words alone: memory is not embedded yet, `ullage memory reindex`"
                " shows what that takes"
            )
        note = None
        if not embedder.made(space):
            note = (
                f"searched by the vectors of {space.model} until those of"
                f" {embedder.endpoint.model} are whole: `ullage memory reindex`"
            )
        if not space.weight:
            return VectorHits(note=note)
        table = await asyncio.to_thread(self._store.load, space)
        new: Mapping[str, str] = {}
        if note is None and self._places.keeps_caches:
            new = await asyncio.to_thread(list_new, table.digests)
        vector, *others = await self._embed((query, *new.values()), embedder, space)
        if others:
            vectors = dict(zip(new, others, strict=True))
            await asyncio.to_thread(self._store.put, space, vectors)
        return VectorHits(
            cosines=await asyncio.to_thread(table.nearest, vector, N_NEAREST),
            embedded=table.digests,
            weight=space.weight,
            close_score=space.close_score,
            note=note,
        )

    async def _embed(
        self, texts: Sequence[str], embedder: Embedder, space: VectorSpace
    ) -> list[Sequence[float]]:
        """Embed a batch as the chunks of a space were."""
        vectors: list[Sequence[float]] = []

        async def take(batch: EmbeddedBatch, _: TokenSpending) -> None:
            vectors.extend(batch.vectors)

        await embed(
            texts,
            msgspec.structs.replace(embedder.endpoint, model=space.model),
            take=take,
            dimensions=space.dimensions,
            space=Space(answered_by=space.answered_by, n_dimensions=space.n_dimensions),
            known_secrets=await asyncio.to_thread(secrets_in, (self._workspace,), self._places),
            limits=QUERY_LIMITS,
        )
        return vectors
