"""Which texts of memory say the same, word for word or nearly so."""

import re
from functools import lru_cache

from ullage.core.memory.origin import normalize_line
from ullage.core.text.markdown import split_plain_words
from ullage.core.text.word_lists import word_list

N_GRAM_CHARS = 5
ALIKE = 0.8
"""Share of character runs in common from which two texts are near-duplicates
(docs/design/memory.md, "Dreaming")."""
_REVERSALS = word_list("reversals").words
_WEEKDAY = re.compile(r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?")


class Likeness:
    """A text that others are compared with, one after the other."""

    def __init__(self, text: str) -> None:
        self._text = normalize_line(text)
        self._grams = _cut_grams(self._text)
        self._negations, self._values = _list_values(self._text)

    def is_said_by(self, other: str) -> bool:
        """Tell whether another text holds this one, or is nearly the same.

        A text with another value or one word negated says something else.
        """
        other = normalize_line(other)
        is_part = self._text in other
        if not is_part and not self._is_near(other):
            return False
        negations, values = _list_values(other)
        return negations == self._negations and (is_part or values == self._values)

    def is_same(self, other: str) -> bool:
        """Tell whether another text is this one, however it is marked, spaced or capitalized."""
        return normalize_line(other) == self._text

    def _is_near(self, other: str) -> bool:
        n_less, n_more = sorted((len(self._text), len(other)))
        if n_less < ALIKE * n_more:
            return False
        grams = _cut_grams(other)
        n_common = len(self._grams & grams)
        return n_common >= ALIKE * (len(self._grams) + len(grams) - n_common)


# A line of memory is compared with each of many others.
@lru_cache(maxsize=2048)
def _cut_grams(text: str) -> frozenset[str]:
    n_grams = max(1, len(text) - N_GRAM_CHARS + 1)
    return frozenset(text[at : at + N_GRAM_CHARS] for at in range(n_grams))


def _list_values(text: str) -> tuple[list[str], list[str]]:
    """List the words that turn a text into another: negations, and values: numbers and weekdays."""
    words = sorted(split_plain_words(text))
    negations = [word for word in words if word in _REVERSALS]
    values = [word for word in words if any(map(str.isdigit, word)) or _WEEKDAY.fullmatch(word)]
    return negations, values
