"""Words by which memory is found: stems, identifiers whole, and grams where no spaces are written.

Texts and questions go through the same reading, so that what is asked meets what was written.
"""

import re
import unicodedata
from collections.abc import Iterable
from functools import cache, lru_cache
from itertools import chain, pairwise
from typing import Protocol, cast

import msgspec
from Stemmer import Stemmer  # pyright: ignore[reportUnknownVariableType] (no types)

from ullage.data.packaged import read_packaged

MAX_WORD_CHARS = 64
"""Longer runs are data, such as keys and base64; nobody asks for them. Chosen."""
MAX_IDENTIFIER_CHARS = 200
_GRAM_SIZES = (2, 3)
_NO_SPACES = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f\u1780-\u17ff"  # Burmese, Khmer
    "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # kana and Han
    "\uac00-\ud7af"  # Hangul: spaces part phrases, endings hang on words
    "\U00020000-\U0003134f"
)
_INDIC = "\u0900-\u0963\u0966-\u0dff"
"""Vowel signs are parts of words there, and no letters."""
_RUN = re.compile(rf"[{_NO_SPACES}]+")
_PIECE = re.compile(rf"(?:(?![{_NO_SPACES}])[\w{_INDIC}$@#+./:'’-])+|[{_NO_SPACES}]+")
_ASCII_PIECE = re.compile(r"[\w$@#+./:'-]+", re.ASCII)
_EDGE = "$@#+./:'’-"
_SENTENCE_ENDS = ".?!:"
_SIGNS = frozenset("_$@#+./:-")
_WORD = re.compile(rf"(?:[^\W_]|[{_INDIC}])+")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_CAMEL = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_IS_CAMEL = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]")
_ALTERNATIVES = re.compile(r"[^\W\d_]+(?:/[^\W\d_]+)?")
"""A word, or two with a slash between them, such as `and/or`."""
_MARKS = re.compile("[\u0300-\u036f\u05b0-\u05bd\u05bf\u05c1-\u05c7\u064b-\u065f]+")
"""Accents, and the points of Hebrew and Arabic, which most people leave out."""


def read_words(text: str) -> list[str]:
    """Give the words of a text in their order, for an index; none has a space in it."""
    read = _words_of if text.isascii() else _grams_or_words
    return [*chain.from_iterable(map(read, _pieces(text)))]


def read_query(text: str) -> list[str]:
    """Give the words of a question, each once and without stop words, in their order.

    A question of stop words alone keeps them.
    """
    pieces = _pieces(text)
    plain = [piece.lower().strip(_EDGE).replace("’", "'") for piece in pieces]
    # By the language that has most of them: `die` and `war` are no stop words of English.
    stops = max(stop_words(), key=lambda words: sum(word in words for word in plain))
    wanted = [piece for piece, word in zip(pieces, plain, strict=True) if word not in stops]
    return _list_once(wanted) or _list_once(pieces)


def read_names(text: str) -> frozenset[str]:
    """Give the words of a question that are written as names: with a capital, within a sentence."""
    names = (
        word
        for before, word in pairwise(text.split())
        if word != word.lower() and before[-1] not in _SENTENCE_ENDS
    )
    return frozenset(_list_once(_pieces(" ".join(names))))


def is_identifier(word: str) -> bool:
    """Tell whether a word of an index names something exactly: it has a sign, or code."""
    return not word.isdigit() and any(char.isdigit() or char in _SIGNS for char in word)


@cache
def stop_words() -> tuple[frozenset[str], ...]:
    """Give the words of each language that say nothing by themselves, English first."""
    lists = msgspec.json.decode(read_packaged("stop_words.json"), type=dict[str, str])
    ordered = (lists.pop("en"), *lists.values())
    return tuple(frozenset(_plain(words).split()) for words in ordered)


def _pieces(text: str) -> list[str]:
    if "," in text:
        text = _THOUSANDS.sub("", text)
    # Most texts are; the expression for all scripts takes four times as long.
    pieces = _ASCII_PIECE.findall(text) if text.isascii() else _PIECE.findall(_plain(text))
    return cast(list[str], pieces)


def _list_once(pieces: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(chain.from_iterable(map(_grams_or_words, pieces))))


def _plain(text: str) -> str:
    """Fold width and accents: `café` is found by `cafe`."""
    decomposed = unicodedata.normalize("NFKD", text)
    return unicodedata.normalize("NFC", _MARKS.sub("", decomposed))


def _grams_or_words(piece: str) -> tuple[str, ...]:
    """Read a piece of a text that is not ASCII; runs without spaces hardly ever come again."""
    if not _RUN.match(piece):
        return _words_of(piece)
    grams = (piece[at : at + n] for n in _GRAM_SIZES for at in range(len(piece) - n + 1))
    return tuple(grams) or (piece,)


@lru_cache(maxsize=200_000)
def _words_of(piece: str) -> tuple[str, ...]:
    words = [match[0] for match in _WORD.finditer(piece) if len(match[0]) <= MAX_WORD_CHARS]
    stems = [_stem(word.lower()) for word in words if word not in ("s", "t")]
    identifier = _identifier_of(piece)
    if identifier is None:
        return tuple(stems)
    for word in words:
        if _IS_CAMEL.search(word):
            stems += (_stem(part[0].lower()) for part in _CAMEL.finditer(word))
    names = [name for name in identifier.split("/") if name and name not in stems]
    return tuple(dict.fromkeys((*stems, *names, identifier)))


def _identifier_of(piece: str) -> str | None:
    """Give a piece as an identifier: it has a sign within, digits beside letters, or camel case."""
    name = piece.strip(_EDGE).removesuffix("'s").removesuffix("’s")
    if not 2 < len(name) <= MAX_IDENTIFIER_CHARS:
        return None
    has_sign = not name.isalnum() and not _ALTERNATIVES.fullmatch(name)
    has_code = any(c.isdigit() for c in name) and not name.isdigit()
    if not (has_sign or has_code or _IS_CAMEL.search(name)) or "'" in name or "’" in name:
        return None
    return name.lower()


def _stem(word: str) -> str:
    if not word.isascii():
        return word
    # One stemmer is for one thread; to make it is as cheap as to call it.
    english = cast(_Stemmer, Stemmer("english", 0))
    return english.stemWord(word)


class _Stemmer(Protocol):
    def stemWord(self, word: str) -> str: ...  # noqa: N802 (as the package names it)
