"""Which texts of memory say the same, word for word or nearly so."""

import re
from collections import defaultdict
from collections.abc import Iterable
from functools import cached_property, lru_cache

from ullage.core.memory.origin import normalize_line
from ullage.core.memory.words import read_names, stop_words
from ullage.core.text.markdown import split_plain_words
from ullage.core.text.word_lists import word_list

N_GRAM_CHARS = 5
ALIKE = 0.8
"""Share of character runs in common from which two texts are near-duplicates
(docs/design/memory.md, "Dreaming")."""
REPEATED = 0.6
"""Share of a text's character runs that another has which it repeats at least (chosen); what it
says beyond that are stop words, as any other word may be a condition."""
_REVERSALS = word_list("reversals").words
WEEKDAY = re.compile(r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b", re.IGNORECASE)
_STOPS = " .,;:!"
_FILLERS = frozenset(("said", "please", "note", "remember"))


class Likeness:
    """A text that others are compared with, one after the other."""

    def __init__(self, text: str) -> None:
        self._as_written = text
        self._text = normalize_line(text)
        self._bare = self._text.rstrip(_STOPS)
        words = sorted(split_plain_words(self._text))
        self._negations = [word for word in words if word in _REVERSALS]
        self._values = [word for word in words if _is_value(word)]

    @cached_property
    def grams(self) -> frozenset[str]:
        """Runs of characters."""
        n_grams = max(1, len(self._bare) - N_GRAM_CHARS + 1)
        return frozenset(self._bare[at : at + N_GRAM_CHARS] for at in range(n_grams))

    @cached_property
    def _names(self) -> frozenset[str]:
        return read_names(self._as_written)

    def is_said_by(self, other: str) -> bool:
        """Tell whether another text holds this one, or is nearly the same.

        A text with another value or one word negated says something else.
        """
        return self._is_said_by(_read(other))

    def is_same(self, other: str) -> bool:
        """Tell whether another text is this one, however it is marked, spaced or capitalized."""
        return normalize_line(other) == self._text

    def repeats(self, other: "Likeness") -> bool:
        """Tell whether another text says this one, or is most of it."""
        return self._is_said_by(other) or (
            other._bare in self._text
            and (other._negations, other._values) == (self._negations, self._values)
            and len(other.grams) >= REPEATED * len(self.grams)
            and _says_nothing(self._text.replace(other._bare, " ", 1))
        )

    def _is_said_by(self, other: "Likeness") -> bool:
        if other._negations != self._negations:
            return False
        if self._bare in other._text:
            return set(self._values) <= set(other._values)
        is_alike = other._values == self._values and self._is_near(other)
        return is_alike and other._names == self._names

    def has_words_of(self, other: str) -> bool:
        """Tell whether another text has most of these words, whatever it makes of them."""
        grams = _read(other).grams
        return len(self.grams & grams) >= REPEATED * len(self.grams)

    def _is_near(self, other: "Likeness") -> bool:
        n_less, n_more = sorted((len(self._bare), len(other._bare)))
        if n_less < ALIKE * n_more:
            return False
        n_common = len(self.grams & other.grams)
        return n_common >= ALIKE * (len(self.grams) + len(other.grams) - n_common)


class KnownTexts:
    """Texts that others are looked up among; each is read once."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._by_gram: defaultdict[str, list[Likeness]] = defaultdict(list)
        for known in map(Likeness, dict.fromkeys(texts)):
            for gram in known.grams:
                self._by_gram[gram].append(known)

    def say(self, text: str) -> bool:
        """Tell whether a text, of `N_GRAM_CHARS` at least, repeats one of them."""
        wanted = Likeness(text)
        grams = sorted(wanted.grams, key=lambda gram: len(self._by_gram.get(gram, ())))
        # Whatever it repeats has so many of its grams that it must have one of these.
        rarest = grams[: int((1 - REPEATED) * len(grams)) + 1]
        likely = {known for gram in rarest for known in self._by_gram.get(gram, ())}
        return any(map(wanted.repeats, likely))


# Whoever compares has one text beside many, and the other way round.
@lru_cache(maxsize=2048)
def _read(text: str) -> Likeness:
    return Likeness(text)


def _says_nothing(text: str) -> bool:
    words = frozenset(split_plain_words(text))
    return any(words <= stops | _FILLERS for stops in stop_words())


def _is_value(word: str) -> bool:
    """Tell whether a word is a number or a weekday, with another of which a text says another."""
    return any(map(str.isdigit, word)) or WEEKDAY.fullmatch(word) is not None
