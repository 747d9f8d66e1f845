"""Zstandard: of the standard library from Python 3.14 on, of its backport before."""

import sys
from collections.abc import Iterable, Iterator


class Damaged(Exception):
    """A frame that cannot be unpacked to its end."""


def unpack_blocks(packed: Iterable[bytes], max_bytes: int) -> Iterator[bytes]:
    """Unpack one frame, at most so many bytes at a time.

    Raises:
        Damaged: it is no frame, or not a whole one.
    """
    # It takes 2 ms to import, and few sessions are packed.
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd

    decompressor = zstd.ZstdDecompressor()
    try:
        for piece in packed:
            rest = piece
            while not decompressor.eof and (rest or not decompressor.needs_input):
                unpacked = decompressor.decompress(rest, max_length=max_bytes)
                rest = b""
                if unpacked:
                    yield unpacked
            if decompressor.eof:
                return
    except zstd.ZstdError:
        raise Damaged from None
    raise Damaged


def unpack(data: bytes, max_bytes: int) -> bytes | None:
    """Unpack one frame; None where it is damaged, cut off, or larger than allowed."""
    unpacked = b""
    try:
        for block in unpack_blocks((data,), max_bytes + 1):
            unpacked += block
            if len(unpacked) > max_bytes:
                return None
    except Damaged:
        return None
    return unpacked
