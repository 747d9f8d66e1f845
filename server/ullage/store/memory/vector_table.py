"""Vectors in memory, packed for the disk and compared: all that NumPy, an extra, is needed for."""

import math
from collections.abc import Container, Sequence
from typing import cast

import numpy as np
from numpy.typing import NDArray

_PACKED = np.dtype("<f2")
"""Half precision: a cosine differs by less than 0.001 (tests/store/memory/test_vectors.py)."""


class VectorTable:
    """The vectors of a space, ready to be compared: 4 bytes a number."""

    def __init__(self, digests: list[str], packed: bytes, n_dimensions: int) -> None:
        self._digests = digests
        self._places = {digest: place for place, digest in enumerate(digests)}
        shape = (len(digests), n_dimensions)
        self._matrix = np.frombuffer(packed, _PACKED).reshape(shape).astype(np.float32)

    @property
    def digests(self) -> Container[str]:
        return self._places

    def nearest(self, vector: Sequence[float], limit: int) -> dict[str, float]:
        """Give the cosines of the chunks nearest to a vector, best first."""
        return self._nearest(_unit(vector), limit)

    def nearest_to(self, digest: str, limit: int) -> dict[str, float]:
        """Give the cosines of the chunks nearest to one of them, itself first; none if unknown."""
        place = self._places.get(digest)
        if place is None:
            return {}
        return self._nearest(cast("NDArray[np.float32]", self._matrix[place]), limit)

    def _nearest(self, unit: NDArray[np.float32], limit: int) -> dict[str, float]:
        cosines = self._matrix @ unit
        best = np.arange(len(cosines))
        if limit < len(cosines):
            best = np.argpartition(-cosines, limit)[:limit]
        best = best[np.argsort(-cosines[best], kind="stable")]
        places = cast("list[int]", best.tolist())
        values = cast("list[float]", cosines[best].tolist())
        return {self._digests[at]: value for at, value in zip(places, values, strict=True)}


def pack_vector(vector: Sequence[float]) -> bytes:
    """Pack a vector as one of length 1, which fits into half precision however long it was."""
    return _unit(vector).astype(_PACKED).tobytes()


def _unit(vector: Sequence[float]) -> NDArray[np.float32]:
    exact = np.asarray(vector, np.float64)
    # Squares of very large or small numbers would not be finite, or nothing.
    scaled: NDArray[np.float64] = exact / max(map(abs, vector))
    return (scaled / math.sqrt(float(scaled @ scaled))).astype(np.float32)
