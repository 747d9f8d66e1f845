"""One statement, the values that it names, and how alike two statements are.

No language's words are needed: a statement is compared by the groups of characters in it
(docs/design/summaries.md, "Values said again").
"""

import math
import re
from collections import Counter
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from functools import lru_cache

import msgspec

from ullage.core.text.wording import read_wording

_MAX_CHARS = 240
"""A longer sentence tells more than a value; chosen."""
_MAX_VALUES = 2
"""Of one kind in a statement: one with more lists or reckons. Chosen."""
_STEM_CHARS = 4
_GRAM_SIZES = (3, 4, 5)
_SMALL_GRAM_SIZES = (1, 2, 3)
"""For scripts whose characters are syllables or words."""
_BETWEEN = re.compile(r"[\W_]+")
_CLAUSE_END = re.compile(r"[,;，；、。！？]\s*(?!\d)|[.!?]\s|\s[–—-]\s")
_CODE = re.compile(r"[\\\[{|<]|=>")
_VALUE = re.compile(
    # Paths are no values: each request has others.
    r"(?P<path>(?<![\w:/.-])(?:~|\.{1,2})?/[\w@.+~/-]+"
    r"|(?<![\w:/.-])[\w@.+-]+(?:/[\w@.+-]+)+\.[A-Za-z]\w{0,5}\b"
    r"|(?<![\w:/.-])[\w@+-]+(?:/[\w@.+-]+){2,})"
    r"|(?P<url>\b[a-z][a-z0-9+]{1,12}://[^\s<>\"'`)\]]{3,200})"
    r"|(?P<date>\b\d{4}-\d{2}-\d{2}\b)"
    r"|(?P<hash>\b(?=[a-f]{0,39}\d)[0-9a-f]{7,40}\b)"
    r"|(?P<network>(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?:[:/]\d{1,5})?)"
    r"|(?P<money>[€$£¥]\s?\d[\d,.]{0,15}\b)"
    r"|(?P<branch>(?<![\w:/.-])[a-z]{2,12}/\w+(?:-\w+)+)"
    # What ends in a short suffix is the name of a file.
    r"|(?P<code>\b(?=[\w.-]{0,60}\d)[A-Za-z][A-Za-z0-9]{0,20}"
    r"(?:[-_][A-Za-z0-9]{1,20}|\.(?:[A-Za-z]{5,20}|[A-Za-z]{0,5}\d\w{0,10})){1,6}\b)"
    r"|(?P<host>\b[a-z][\w-]*(?:\.[a-z][\w-]*)+/[\w/:.-]*\w)"
    r"|(?P<number>(?<![A-Za-z0-9_.:#/-])\d[\d,.]{0,15}(?<![.,])(?![\d/:-]))"
    r"|(?P<name>(?:(?<=[\w,] )|(?<=[a-z]: ))[A-Z][a-z]+(?: [A-Z][a-z]+){0,2}\b(?!\()"
    r"|(?<=\w/)[A-Z][a-z]+\b)"
)


class Statement(msgspec.Struct, frozen=True, gc=False):
    """A sentence with the values that it names; `values` by their kinds, in small letters."""

    text: str
    n_item: int
    is_rule: bool
    is_users: bool
    is_recent: bool
    """Whether it may replace another: from a short message, and not from an earlier summary."""
    values: dict[str, frozenset[str]]
    around: str
    stems: frozenset[str]
    """Beginnings of its longer words; what has none in common is not compared."""


class Weights(msgspec.Struct):
    """Texts as groups of characters, those that are rare in the texts so far counting more."""

    texts: list[str] = []
    n_counted: int = 0
    n_texts: Counter[str] = msgspec.field(default_factory=Counter[str])

    def compare(self, first: int, second: int) -> float:
        """Give the cosine of two texts, 0 to 1."""
        # Most sessions have no two statements that are compared.
        for text in self.texts[self.n_counted :]:
            self.n_texts.update(_list_grams(text))
        self.n_counted = len(self.texts)
        one, other = (_list_grams(self.texts[at]) for at in (first, second))
        both = one & other
        if not both:
            return 0.0
        shared, size, other_size = map(self._sum, (both, one, other))
        return shared / math.sqrt(size * other_size)

    def _sum(self, grams: Iterable[str]) -> float:
        # Many groups are equally rare.
        n_equal = Counter(map(self.n_texts.__getitem__, grams))
        n_all = 1 + self.n_counted
        return sum(n * (math.log(n_all / (1 + k)) + 1) ** 2 for k, n in n_equal.items())


def reads_as_statement(text: str) -> bool:
    """Tell whether a sentence may state a value: it is short, and no line of code."""
    return len(text) <= _MAX_CHARS and text[:1].isalnum() and _CODE.search(text) is None


def make_statement(
    text: str, n_item: int, *, is_rule: bool, is_users: bool, is_recent: bool
) -> Statement:
    """Read what one sentence says, in the item of that number."""
    values, around = split_values(text)
    stems = _list_stems(text)
    return Statement(text, n_item, is_rule, is_users, is_recent, values, around, stems)


@lru_cache(maxsize=4096)
def split_values(text: str) -> tuple[dict[str, frozenset[str]], str]:
    """Give the values of a statement by their kinds, and what stands around them."""
    values: dict[str, set[str]] = {}
    for match in _VALUE.finditer(text):
        values.setdefault(match.lastgroup or "", set()).add(match[0].lower())
    # In some languages every noun looks like a name.
    around = _VALUE.sub(lambda match: match[0] if match.lastgroup == "name" else " ", text)
    return {kind: frozenset(named) for kind, named in values.items()}, around


def count_on(earlier: Statement, later: Statement) -> bool:
    """Tell whether two statements are the same but for a number that is the next one."""
    old, new = earlier.values.get("number", ()), later.values.get("number", ())
    numbers = [int(number) for number in (*old, *new) if number.isdecimal()]
    is_next = len(numbers) == len(old) + len(new) == 2 and numbers[1] == numbers[0] + 1
    return is_next and earlier.around == later.around


def list_other_kinds(earlier: Statement, later: Statement) -> set[str]:
    """Give the kinds of which each of two statements has a value that the other has not."""
    return {
        # One digit mostly counts things: steps, phases, options.
        "digit" if kind == "number" and max(map(len, old | new)) == 1 else kind
        for kind, old in earlier.values.items()
        if (new := later.values.get(kind))
        and old - new
        and new - old
        and max(len(old), len(new)) <= _MAX_VALUES
    }


def name_same_thing(earlier: Statement, later: Statement, kinds: AbstractSet[str]) -> bool:
    """Tell whether the clauses that name values of these kinds have a word in common."""
    kinds = {"number" if kind == "digit" else kind for kind in kinds}
    named = [
        frozenset[str]().union(
            *(
                _list_stems(clause)
                for clause in _CLAUSE_END.split(statement.text)
                if not kinds.isdisjoint(split_values(clause)[0])
            )
        )
        for statement in (earlier, later)
    ]
    return not named[0].isdisjoint(later.stems) and not named[1].isdisjoint(earlier.stems)


def tell_of_others(earlier: str, later: str) -> bool:
    """Tell whether the same words name another thing: the launch date, the release date."""
    words, others = _split_words(earlier), _split_words(later)
    if len(words) != len(others) or read_wording(later).is_unspaced:
        return False
    n_other = sum(word != other for word, other in zip(words, others, strict=True))
    return 0 < n_other <= len(words) // 2


@lru_cache(maxsize=256)
def _split_words(text: str) -> tuple[str, ...]:
    """Give the words of a statement without its values."""
    return (*_BETWEEN.sub(" ", _VALUE.sub(" ", text).lower()).split(),)


def names_old_value(earlier: Statement, later: Statement) -> bool:
    """Tell whether a statement names the one value of an earlier one, and another beside it."""
    return any(
        kind != "name"
        and len(old) == 1
        and len(new := later.values.get(kind, old)) > 1
        and old < new
        for kind, old in earlier.values.items()
    )


def list_twos(statement: Statement) -> list[frozenset[str]]:
    """List the pairs of values of one kind that a statement names, such as an old and a new one."""
    return [
        named
        for kind, named in statement.values.items()
        if len(named) == 2 and kind not in ("path", "name") and min(map(len, named)) > 1
    ]


@lru_cache(maxsize=4096)
def _list_stems(text: str) -> frozenset[str]:
    wording = read_wording(text)
    if wording.is_unspaced:
        return _list_grams(text)
    return frozenset(
        word[:_STEM_CHARS] for word in wording.words if len(word) >= _STEM_CHARS or word.isdecimal()
    )


@lru_cache(maxsize=256)
def _list_grams(text: str) -> frozenset[str]:
    plain = f" {_BETWEEN.sub(' ', text.lower()).strip()} "
    sizes = _SMALL_GRAM_SIZES if read_wording(text).is_unspaced else _GRAM_SIZES
    return frozenset(plain[at : at + size] for size in sizes for at in range(len(plain) - size + 1))
