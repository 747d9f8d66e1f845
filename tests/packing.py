"""Zstandard, as `ullage.store.files.zstd` finds it."""

import sys

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

__all__ = ["zstd"]
