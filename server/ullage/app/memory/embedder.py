"""The embedder: who turns memory into vectors, as the user configured it, and their file."""

from pathlib import Path

import msgspec

from ullage.core.config.memory_settings import EmbeddingSettings
from ullage.store.files.places import Places
from ullage.store.gauge.models import find_model
from ullage.store.memory.vectors import VectorSpace, VectorStore, refuse_without_numpy
from ullage.summary.endpoint import (
    Endpoint,
    Prices,
    choose_embedder,
    endpoint_for,
    find_key,
    read_system_keyring,
)

_VECTORS = "vectors.db"


class Embedder(msgspec.Struct, frozen=True, kw_only=True):
    """Where texts of memory may be embedded, and how."""

    endpoint: Endpoint
    dimensions: int | None

    def made(self, space: VectorSpace) -> bool:
        """Tell whether a space is what this would make."""
        mine = (self.endpoint.model, self.dimensions, self.endpoint.origin)
        return (space.model, space.dimensions, space.origin) == mine


def find_embedder(settings: EmbeddingSettings, places: Places) -> Embedder | None:
    """Give the embedder that the user configured; None where none was.

    Raises:
        EndpointRefused: nothing may be sent there, or there is no key for it.
        StorageError: vectors cannot be compared here.
    """
    choice = choose_embedder(settings.base_url, settings.model)
    if choice is None:
        return None
    refuse_without_numpy()
    row = find_model(None, None, choice.model)
    endpoint = endpoint_for(
        choice, key=find_key(choice, places.env, read_system_keyring), window_tokens=0
    )
    price = row.prices[0] if row is not None and row.prices else None
    if price is not None and not endpoint.is_local:
        prices = Prices(input_usd=price, output_usd=0.0)
        endpoint = msgspec.structs.replace(endpoint, prices=prices)
    return Embedder(endpoint=endpoint, dimensions=settings.dimensions)


def open_vectors(folder: Path) -> VectorStore:
    """Give the vectors in the memory folder of a workspace."""
    return VectorStore(folder / _VECTORS)
