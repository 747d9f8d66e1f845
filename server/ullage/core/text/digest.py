"""Digests of what is short: of names, of texts, of the ends of a file.

They are the functions that `hashlib` itself falls back on. To load OpenSSL instead takes a third of
what a bare Python takes to start, and is worth that only for what is long.
"""

from typing import TYPE_CHECKING

__all__ = ("blake2b", "sha256")

if TYPE_CHECKING:
    from hashlib import blake2b, sha256
else:
    try:
        from _blake2 import blake2b

        try:
            from _sha2 import sha256
        except ImportError:
            # Before Python 3.12.
            from _sha256 import sha256
    except ImportError:
        # Python may be built without them.
        from hashlib import blake2b, sha256
