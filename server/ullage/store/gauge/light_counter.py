"""Counting without a tokenizer: the few texts that a short run counts.

Building a tokenizer takes half a second, which most runs would spend on the last tool output alone.
Here the ranks are looked up in a dictionary, in a quarter of that, and pairs are merged in Python.
That is slower for each text, so a counter serves until it took about as long as building would.
"""

import re
import unicodedata
from collections.abc import Callable, Mapping
from functools import cache
from itertools import pairwise

from ullage.store.gauge.ranks import read_ranks

MAX_COST = 1_000_000
"""Characters in all, and `MERGE_COST` for each byte of a word that is no token: about 0.3 s."""
MERGE_COST = 8
MAX_WORD_BYTES = 400
"""Merging is quadratic in a word: a longer one that is no token is left to a tokenizer (chosen)."""
PATTERNS: Mapping[str, str] = {
    "o200k_base": (
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
        r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
        r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    ),
    "cl100k_base": (
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+"
        r"| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
    ),
}
"""How tiktoken 0.14 parts a text into words. It would take longer to import than to count."""
_NO_RANK = 1 << 32
_PLAIN = (
    "[\\x00-\u017e\u0180-\u088e\u0890-\u0c5b\u0c5d-\u0cdb\u0cdd-\u1ace\u1aec-\ua7cd\ua7f2-\ud7ff"
    "\ue000-\U0001093f\U0001e700-\U0002b739]*+"
)


def is_plain(text: str) -> bool:
    """Whether any tokenizer parts a text as tiktoken does.

    They differ in U+017F, which is an `s` to some, in what is new in Unicode 17, and in half a
    character, which is no UTF-8. The class is coarser than that, to be quick: it leaves out whole
    blocks of old scripts and symbols (docs/design/gauge.md, "Counting").
    """
    return text.isascii() or _plain().fullmatch(text) is not None


@cache
def _plain() -> re.Pattern[str]:
    # Not when this is imported: it takes 2 ms, and most texts are ASCII or their counts are kept.
    return re.compile(_PLAIN)


def _has_unassigned(text: str) -> bool:
    """Whether a character is in none of the versions of Unicode that Python 3.11 to 3.14 know.

    `regex` goes with the newest version, and may take it for a letter.
    """
    return not text.isascii() and any(unicodedata.category(each) == "Cn" for each in set(text))


@cache
def light_counter(encoding: str) -> "LightCounter":
    """Give the one counter of this process for an encoding."""
    return LightCounter(encoding)


class LightCounter:
    """Counts with one encoding as tiktoken does, until that would cost more than a tokenizer."""

    def __init__(self, encoding: str, max_cost: int = MAX_COST) -> None:
        self._encoding = encoding
        self._cost_left = max_cost if encoding in PATTERNS else 0
        self._words: _Words | None = None

    def count(self, text: str) -> int | None:
        """Count the tokens of a text; None where a tokenizer has to."""
        if len(text) > self._cost_left or not is_plain(text) or _has_unassigned(text):
            return None
        words = self._words = self._read_words() if self._words is None else self._words
        if words is None:
            return None
        try:
            n_tokens = sum(map(words.__getitem__, words.split(text)))
        except _TooLongError:
            return None
        self._cost_left -= len(text) + words.take_cost()
        if self._cost_left <= 0:
            self._words = None
        return n_tokens

    def _read_words(self) -> "_Words | None":
        ranks = read_ranks(self._encoding)
        if ranks is None:
            self._cost_left = 0
        return None if ranks is None else _Words(ranks, PATTERNS[self._encoding])


class _TooLongError(Exception):
    """Merging a word would take longer than a tokenizer does."""


class _Words(dict[str, int]):
    """The tokens of each word that was met."""

    def __init__(self, ranks: Mapping[bytes, int], pattern: str) -> None:
        # It takes 20 ms to import, for nothing where all counts are kept.
        import regex

        super().__init__()
        self.split: Callable[[str], list[str]] = regex.compile(pattern).findall
        self._ranks = ranks
        self._cost = 0

    def __missing__(self, word: str) -> int:
        data = word.encode()
        if data in self._ranks:
            n_tokens = 1
        elif len(data) > MAX_WORD_BYTES:
            raise _TooLongError
        else:
            n_tokens = self._merge(data)
        self[word] = n_tokens
        return n_tokens

    def take_cost(self) -> int:
        cost, self._cost = self._cost, 0
        return cost

    def _merge(self, word: bytes) -> int:
        """Merge the pair of the lowest rank until none is left, and count what remains."""
        self._cost += MERGE_COST * len(word)
        rank_of = self._ranks.get
        parts = [word[at : at + 1] for at in range(len(word))]
        ranks = [rank_of(left + right, _NO_RANK) for left, right in pairwise(parts)]
        while (lowest := min(ranks, default=_NO_RANK)) < _NO_RANK:
            at = ranks.index(lowest)
            parts[at : at + 2] = [parts[at] + parts[at + 1]]
            del ranks[at]
            if at < len(ranks):
                ranks[at] = rank_of(parts[at] + parts[at + 1], _NO_RANK)
            if at > 0:
                ranks[at - 1] = rank_of(parts[at - 1] + parts[at], _NO_RANK)
        return len(parts)
