"""Zstandard: of the standard library from Python 3.14 on, of its backport before."""

import sys

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


def unpack(data: bytes, max_bytes: int) -> bytes | None:
    """Unpack one frame; None where it is damaged, cut off, or larger than allowed."""
    decompressor = zstd.ZstdDecompressor()
    try:
        unpacked = decompressor.decompress(data, max_length=max_bytes + 1)
    except zstd.ZstdError:
        return None
    return unpacked if decompressor.eof and len(unpacked) <= max_bytes else None
