"""Whether two statements are about the same thing, so that the later one stands for the earlier.

Told by the words that both have and few others have: their rarity is taken from all statements at
hand. Where both name a value of one sort, such as two weekdays or two numbers of columns, less is
enough: values are what changes.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import chain

import msgspec

from ullage.core.memory.likeness import WEEKDAY
from ullage.core.memory.words import read_query

MIN_SHARED = 2
"""Words that two statements have in common at least (chosen)."""
MIN_VALUED = 1
"""Where both name a value of one sort (chosen)."""
VALUED_RATIO = 0.17
"""What a value of one sort adds to the ratio. As the next, by the pairs of the made-up logs."""
MIN_RATIO = 0.3
"""Of the rarity of the shorter statement's words, that which is shared. Chosen on the pairs of the
made-up logs of `tests/samples`."""
_COUNTED = re.compile(
    r"\b(?P<value>\d[\d.,]{0,20}|two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty|thirty"
    r"|forty|fifty|sixty|seventy|eighty|ninety|(?:a|one|two|three|four|five) (?:hundred|thousand))"
    r"[ -](?P<unit>[a-z]{2,20})s?\b",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"https?://\S*")
MAX_WORDS = 60
"""Of a statement: behind them it speaks of something else (chosen)."""


class _Subject(msgspec.Struct, frozen=True):
    words: frozenset[str]
    values: dict[str, frozenset[str]]
    weekdays: frozenset[str]
    """As words of the text."""


class Subjects:
    """The statements at hand, by which a word's rarity is known."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._subjects = {text: _read(text) for text in texts}
        n_texts = max(2, len(self._subjects))
        counts = Counter(chain.from_iterable(each.words for each in self._subjects.values()))
        self._rarities = {word: math.log(1 + n_texts / n) for word, n in counts.items()}
        self._rarest = math.log(1 + n_texts)

    def are_same(self, first: str, second: str) -> bool:
        """Tell whether two statements are about the same thing."""
        return self.compare(first, second) >= MIN_RATIO

    def compare(self, first: str, second: str) -> float:
        """Give the share of the shorter statement's rarity that the other has, 0 to 1 and more."""
        ours, theirs = (self._subjects.get(text) or _read(text) for text in (first, second))
        # A weekday is no subject: two things may well be on Fridays.
        shared = (ours.words & theirs.words) - ours.weekdays
        is_valued = not ours.values.keys().isdisjoint(theirs.values)
        if len(shared) < (MIN_VALUED if is_valued else MIN_SHARED):
            return 0.0
        ratio = self.weigh(shared) / min(self.weigh(ours.words), self.weigh(theirs.words))
        return ratio + VALUED_RATIO * is_valued

    def weigh(self, words: Iterable[str]) -> float:
        """Give the rarity of words, the greater the rarer."""
        return sum(self._rarities.get(word, self._rarest) for word in words)


def _read(text: str) -> _Subject:
    values = read_values(text)
    weekdays = read_subject(" ".join(values.get("weekday", ())))
    return _Subject(read_subject(text), values, weekdays)


def read_subject(text: str) -> frozenset[str]:
    return frozenset(read_query(text)[:MAX_WORDS])


def read_values(text: str) -> dict[str, frozenset[str]]:
    """Read the values that a statement names, by their sort."""
    values: defaultdict[str, set[str]] = defaultdict(set)
    for match in _COUNTED.finditer(text):
        values[match["unit"].lower()].add(match["value"].lower())
    values["weekday"].update(match[0].lower().rstrip("s") for match in WEEKDAY.finditer(text))
    values["address"].update(match[0].rstrip(".,;:)>") for match in _ADDRESS.finditer(text))
    return {sort: frozenset(named) for sort, named in values.items() if named}
