"""The tokenizers of tiktoken, from rank files that are part of the package.

tiktoken downloads its rank files at first use. Ours are handed to it while it builds an
encoding. It is built only where more is to be counted than a few texts.
"""

from _thread import allocate_lock
from collections.abc import Callable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Protocol, cast

import msgspec

from ullage.core.text.lazy_pattern import lazy_pattern
from ullage.data.packaged import read_packaged
from ullage.store.gauge.light_counter import is_plain, light_counter
from ullage.store.gauge.ranks import SHA256, read_ranks

if TYPE_CHECKING:
    from tiktoken import Encoding

DEFAULT_ENCODING = "o200k_base"

PIECE_CHARS = 65_536
"""Longest text for one native call, which cannot be interrupted."""
MAX_RUN_CHARS = 500_000

_CUT = lazy_pattern(r"(?<=\n)(?=[A-Za-z0-9])")
_LONG_RUN = lazy_pattern(r"\s{500000}")
_patch_lock = allocate_lock()


class _Tokenizer(Protocol):
    """What toktok is used for; it lets other threads run meanwhile."""

    def count(self, text: str) -> int: ...


class EncodingRow(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The encoding of the models whose names begin with a prefix."""

    prefix: str
    encoding: str
    source: str
    date: str
    """Day on which the source was read, as YYYY-MM-DD."""


def encoding_of(model: str | None) -> str:
    """Name the encoding of a model, whoever provides it: that of the longest prefix."""
    name = (model or "").rpartition("/")[2].lower()
    fitting = [row for row in encoding_rows() if name.startswith(row.prefix)]
    return max(fitting, key=lambda row: len(row.prefix)).encoding if fitting else DEFAULT_ENCODING


@cache
def encoding_rows() -> tuple[EncodingRow, ...]:
    """List the models that the default encoding is not for, and their kin that it is for."""
    data = read_packaged("tokenizers/encodings.json")
    return msgspec.json.decode(data, type=tuple[EncodingRow, ...])


@cache
def load_encoding(name: str) -> "Encoding":
    """Load an encoding by name; takes about half a second of CPU time and 80 MB."""
    import tiktoken
    from tiktoken_ext import openai_public

    def ranks_from_package(url: str, expected_hash: str | None = None) -> dict[bytes, int]:
        is_ours = expected_hash == SHA256.get(name)
        ranks = read_ranks(name) if is_ours else None
        return download(url, expected_hash) if ranks is None else ranks

    with _patch_lock:
        download = openai_public.load_tiktoken_bpe
        openai_public.load_tiktoken_bpe = ranks_from_package
        try:
            return tiktoken.get_encoding(name)
        finally:
            openai_public.load_tiktoken_bpe = download


def count_tokens(text: str, encoding: str = DEFAULT_ENCODING) -> int:
    """Count the tokens of a text exactly as tiktoken does.

    Only a run of half a million spaces is not exact: tiktoken 0.14 panics at twice as many, so
    such a run is cut.
    """
    if not text:
        return 0
    n_tokens = light_counter(encoding).count(text)
    return count_with_tokenizer(text, encoding) if n_tokens is None else n_tokens


def count_with_tokenizer(text: str, encoding: str) -> int:
    """Count with what is quick once it is built, which takes half a second at first."""
    count_fast = accelerator(encoding)
    if count_fast is not None and is_plain(text):
        return count_fast(text)
    encode = load_encoding(encoding).encode_ordinary
    return sum(len(encode(piece)) for piece in _pieces(text))


@cache
def accelerator(encoding: str) -> Callable[[str], int] | None:
    """Give the counter of toktok, if the extra `fast` is installed.

    Its function for many texts takes 20 µs more for each (docs/design/gauge.md, "Counting").
    """
    try:
        from toktok._toktok import Tokenizer  # pyright: ignore[reportUnknownVariableType]: untyped
    except ImportError:
        return None
    return cast(_Tokenizer, Tokenizer(encoding, "")).count


def _pieces(text: str) -> Iterator[str]:
    """Cut a long text where no token can span the cut, so that each call is short.

    Between a line end and a letter or digit the count never changes (docs/design/gauge.md,
    "Counting").
    """
    start = 0
    while len(text) - start > PIECE_CHARS:
        cut = _CUT.search(text, start + PIECE_CHARS)
        end = cut.start() if cut else len(text)
        yield from _without_long_runs(text[start:end])
        start = end
    yield from _without_long_runs(text[start:])


def _without_long_runs(text: str) -> Iterator[str]:
    while len(text) > MAX_RUN_CHARS and (run := _LONG_RUN.search(text)) is not None:
        yield text[: run.end()]
        text = text[run.end() :]
    if text:
        yield text
