"""The vectors' side of a search: the question embedded, chunks near to it, and what failed."""

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from ullage.app.memory.embedder import Embedder, find_embedder, open_vectors
from ullage.core.config.settings import EmbeddingSettings
from ullage.core.memory.vector_weight import N_CANDIDATES, VectorHits
from ullage.errors import EndpointRefused, ModelError, StorageError
from ullage.store.files.places import Places
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


class VectorSearch:
    """The vectors of one workspace, for one question or for all of a process."""

    def __init__(self, settings: EmbeddingSettings, places: Places, folder: Path) -> None:
        self._settings = settings
        self._places = places
        self._store = open_vectors(folder)
        self._embedder: Embedder | None = None
        self._failure: tuple[float, str] = (0.0, "")

    async def search(self, query: str) -> VectorHits:
        """Find the chunks near to a question; whatever goes wrong is a note."""
        rests_until, note = self._failure
        if time.monotonic() < rests_until:
            return VectorHits(note=note)
        try:
            return await self._search(query)
        except ModelError as error:
            note = f"searched by words alone: {error}"
            self._failure = (time.monotonic() + REST_S, note)
            return VectorHits(note=note)
        except (EndpointRefused, StorageError) as error:
            return VectorHits(note=f"searched by words alone: {error}")

    async def _search(self, query: str) -> VectorHits:
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
        vector = await self._embed(query, embedder, space)
        table = await asyncio.to_thread(self._store.load, space)
        return VectorHits(
            cosines=await asyncio.to_thread(table.nearest, vector, N_NEAREST),
            weight=space.weight,
            close_score=space.close_score,
            note=note,
        )

    async def _embed(self, query: str, embedder: Embedder, space: VectorSpace) -> Sequence[float]:
        """Embed a question as the chunks of a space were."""
        vectors: list[Sequence[float]] = []

        async def take(batch: EmbeddedBatch, _: TokenSpending) -> None:
            vectors.extend(batch.vectors)

        await embed(
            (query,),
            msgspec.structs.replace(embedder.endpoint, model=space.model),
            take=take,
            dimensions=space.dimensions,
            space=Space(answered_by=space.answered_by, n_dimensions=space.n_dimensions),
            known_secrets=embedder.known_secrets,
            limits=QUERY_LIMITS,
        )
        return vectors[0]
