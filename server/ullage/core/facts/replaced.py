"""Statements whose value was said again later, in the same words or in others.

Two statements tell of one thing where their words are alike and each names another value of the
same kind. How alike is measured by the groups of characters that they share, so no language's
words are needed: docs/design/summaries.md, "Values said again".
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import chain
from operator import itemgetter
from typing import Literal, TypeAlias

import msgspec

from ullage.core.facts.choices import Choice
from ullage.core.text.prose import gist
from ullage.core.text.sentences import Sentence
from ullage.core.text.wording import read_wording

Certainty: TypeAlias = Literal["corrected", "other value", "like rule"]
"""Whether the later statement names the value that it replaces, another value of the same kind, or
whether two rules are alike but for words that may be values."""
_MARKS: dict[Certainty, str] = {
    "corrected": "(replaced later: ",
    "other value": "(perhaps replaced later: ",
    "like rule": "(said again later: ",
}
_MIN_ALIKE = {"value": 0.15, "loose": 0.3, "rule": 0.4, "corrected": 0.1}
"""Cosine of two statements; docs/design/summaries.md has what it was tried on."""
_LOOSE_KINDS = {"name", "url", "host", "digit"}
"""Of which a talk has many that do not replace each other."""
_MIN_ALIKE_AROUND = 0.15
"""The same of what stands around the values: links and codes are alike among themselves."""
_MAX_CHARS = 240
"""A longer sentence tells more than a value; chosen."""
_MAX_LATER_SENTENCES = 10
_MAX_EARLIER_SENTENCES = 25
"""Sentences of a message: one with more is a paste or a brief, not a word on a value. Chosen."""
_MAX_STATEMENTS = 600
_MAX_COMPARED = 40
"""Both bound the time: the newest statements, and for each the newest before it of its kind."""
_MAX_ECHO_CHARS = 120
_MAX_SHOWN_CHARS = 160
_MIN_REST_CHARS = 12
"""What a line has beside a corrected statement: if less, it leaves with it. Chosen."""
_MAX_VALUES = 2
"""Of one kind in a statement: one with more lists or reckons. Chosen."""
_MIN_SERIES = 3
"""Statements that are the same but for their values; chosen."""
_STEM_CHARS = 4
_GRAM_SIZES = (3, 4, 5)
_SMALL_GRAM_SIZES = (1, 2, 3)
"""For scripts whose characters are syllables or words."""
_ANSWERED = re.compile(r" \((?:in reply to|against): ")
_APPROVED = " (approved: "
_BETWEEN = re.compile(r"[\W_]+")
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


class Replacement(msgspec.Struct, frozen=True, kw_only=True):
    """A statement, and the later one that may stand for it now."""

    earlier: str
    later: str
    certainty: Certainty
    is_rule: bool
    """Whether the earlier one is a rule: it stands in any case."""

    @property
    def mark(self) -> str:
        return f"{_MARKS[self.certainty]}{gist(self.later, _MAX_SHOWN_CHARS)})"


class _Statement(msgspec.Struct, frozen=True, gc=False):
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


def find_replacements(
    carried: Iterable[str], sentences: Sequence[Sentence], choices: Iterable[Choice] = ()
) -> tuple[Replacement, ...]:
    """Find the statements of persons, and the agent's choices, that a later one may replace.

    `carried` are statements of earlier summaries. Of two that are alike neither is forgotten:
    what is done about it is the caller's. Time grows linearly with the sentences.
    """
    statements = list(_list_statements(carried, sentences, choices))
    likeness = _Likeness(statements)
    judged = [(*pair, *likeness.judge(*pair)) for pair in _list_pairs(statements)]
    # Many rules that are alike are a list of rules.
    n_like = Counter(
        place for *pair, _, certainty in judged if certainty == "like rule" for place in pair
    )
    best: dict[int, tuple[float, int, Certainty]] = {}
    for earlier, later, alike, certainty in judged:
        is_listed = certainty == "like rule" and max(n_like[earlier], n_like[later]) > 1
        if certainty is not None and not is_listed and alike > best.get(earlier, (0.0,))[0]:
            best[earlier] = (alike, later, certainty)
    replaced: dict[str, Replacement] = {}
    for n_earlier, (_, n_later, certainty) in sorted(best.items()):
        n_last = n_later
        while n_last in best:
            n_last = best[n_last][1]
        earlier, later = statements[n_earlier], statements[n_last]
        replaced[earlier.text] = Replacement(
            earlier=earlier.text, later=later.text, certainty=certainty, is_rule=earlier.is_rule
        )
        for echo in _list_echoes(earlier, sentences):
            replaced.setdefault(
                echo,
                Replacement(earlier=echo, later=later.text, certainty=certainty, is_rule=False),
            )
    for told, later in _list_refused(statements, sentences):
        replaced.setdefault(
            told,
            Replacement(earlier=told, later=later, certainty="other value", is_rule=False),
        )
    return tuple(replaced.values())


def apply_replaced(text: str, replaced: Iterable[Replacement]) -> str:
    """Give a line with the mark of what replaces a statement in it; empty where it leaves.

    A line leaves where the later statement names the value that it corrects, and there is nothing
    else on the line. Rules stay.
    """
    for pair in replaced:
        if pair.earlier not in text or pair.later in text or pair.mark in text:
            continue
        rest = text.replace(pair.earlier, "")
        if (
            pair.certainty == "corrected"
            and not pair.is_rule
            and len(_BETWEEN.sub("", rest)) < _MIN_REST_CHARS
        ):
            return ""
        text = f"{text} {pair.mark}"
    return text


def _list_statements(
    carried: Iterable[str], sentences: Sequence[Sentence], choices: Iterable[Choice]
) -> Iterator[_Statement]:
    for text in carried:
        if _reads_as_statement(text):
            yield _make_statement(text, -1, is_rule=True, is_users=True, is_recent=False)
    n_said = Counter(sentence.n_item for sentence in sentences if sentence.is_user)
    typed = {
        (sentence.text, sentence.n_item): sentence.kind == "rule"
        for sentence in sentences
        if sentence.is_user
        and sentence.kind != "question"
        and not sentence.is_bulk
        and n_said[sentence.n_item] <= _MAX_EARLIER_SENTENCES
    }
    # What they answer stands behind them.
    chosen = {
        (_ANSWERED.split(choice.text, 1)[0], choice.n_item): choice.is_user
        for choice in choices
        if _APPROVED not in choice.text
    }
    said = {**dict.fromkeys(chosen, False), **typed}
    newest = [key for key in sorted(said, key=itemgetter(1)) if _reads_as_statement(key[0])]
    for text, n_item in newest[-_MAX_STATEMENTS:]:
        is_users = chosen.get((text, n_item), True)
        yield _make_statement(
            text,
            n_item,
            is_rule=said[text, n_item],
            is_users=is_users,
            is_recent=is_users and n_said[n_item] <= _MAX_LATER_SENTENCES,
        )


def _reads_as_statement(text: str) -> bool:
    return len(text) <= _MAX_CHARS and text[:1].isalnum() and _CODE.search(text) is None


def _make_statement(
    text: str, n_item: int, *, is_rule: bool, is_users: bool, is_recent: bool
) -> _Statement:
    values, around = _split_values(text)
    stems = _list_stems(text)
    return _Statement(text, n_item, is_rule, is_users, is_recent, values, around, stems)


@lru_cache(maxsize=4096)
def _split_values(text: str) -> tuple[dict[str, frozenset[str]], str]:
    """Give the values of a statement by their kinds, and what stands around them."""
    values: dict[str, set[str]] = {}

    for match in _VALUE.finditer(text):
        values.setdefault(match.lastgroup or "", set()).add(match[0].lower())
    # In some languages every noun looks like a name.
    around = _VALUE.sub(lambda match: match[0] if match.lastgroup == "name" else " ", text)
    return {kind: frozenset(named) for kind, named in values.items()}, around


def _list_pairs(statements: Sequence[_Statement]) -> Iterator[tuple[int, int]]:
    """Give the places of statements, earlier and later, that have a value of one kind, or rules."""
    places: dict[str, list[int]] = {}
    for later, statement in enumerate(statements):
        kinds = [kind for kind in statement.values if kind != "path"]
        if "path" in statement.values:
            continue
        if statement.is_rule:
            kinds.append("rule")
        if statement.is_recent:
            compared = {n for kind in kinds for n in places.get(kind, ())[-_MAX_COMPARED:]}
            for earlier in sorted(compared):
                before = statements[earlier]
                is_other = before.n_item != statement.n_item
                if is_other and not before.stems.isdisjoint(statement.stems):
                    yield earlier, later
        for kind in kinds:
            places.setdefault(kind, []).append(later)


class _Likeness:
    """How alike statements are, with rare groups of characters counting more."""

    def __init__(self, statements: Sequence[_Statement]) -> None:
        self._statements = statements
        self._n_around = Counter(statement.around for statement in statements)

    # Most sessions have no two statements that are compared.
    @cached_property
    def _whole(self) -> "_Weights":
        return _Weights([statement.text for statement in self._statements])

    @cached_property
    def _around(self) -> "_Weights":
        return _Weights([statement.around for statement in self._statements])

    def judge(self, n_earlier: int, n_later: int) -> tuple[float, Certainty | None]:
        """Say how alike two statements are, and whether the later may replace the earlier."""
        earlier, later = self._statements[n_earlier], self._statements[n_later]
        other = _other_kinds(earlier, later)
        is_named = _names_old_value(earlier, later)
        is_rules = earlier.is_rule and later.is_rule
        has_same_link = bool(
            earlier.values.get("url", frozenset()) & later.values.get("url", frozenset())
        )
        if earlier.text == later.text or has_same_link or not (other or is_named or is_rules):
            return 0.0, None
        alike = self._whole.compare(n_earlier, n_later)
        if is_named and alike > _MIN_ALIKE["corrected"]:
            return alike + 1, "corrected"
        if other:
            least = _MIN_ALIKE["value" if other - _LOOSE_KINDS else "loose"]
            is_same = (
                earlier.is_users
                and alike > least
                and self._around.compare(n_earlier, n_later) > _MIN_ALIKE_AROUND
                and not _tell_of_others(earlier.text, later.text)
                and not self._is_series(earlier, later)
            )
            return alike, "other value" if is_same else None
        return alike, "like rule" if is_rules and alike > _MIN_ALIKE["rule"] else None

    def _is_series(self, earlier: _Statement, later: _Statement) -> bool:
        """Tell whether statements count on, or ask for the same of one thing after the other."""
        if self._n_around[later.around] >= _MIN_SERIES:
            return True
        old, new = earlier.values.get("number", ()), later.values.get("number", ())
        numbers = [int(number) for number in (*old, *new) if number.isdecimal()]
        is_next = len(numbers) == len(old) + len(new) == 2 and numbers[1] == numbers[0] + 1
        return is_next and earlier.around == later.around


def _other_kinds(earlier: _Statement, later: _Statement) -> set[str]:
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


def _tell_of_others(earlier: str, later: str) -> bool:
    """Tell whether the same words name another thing: the launch date, the release date."""
    texts = (_VALUE.sub(" ", text) for text in (earlier, later))
    words, others = (_BETWEEN.sub(" ", text.lower()).split() for text in texts)
    if len(words) != len(others) or read_wording(later).is_unspaced:
        return False
    n_other = sum(word != other for word, other in zip(words, others, strict=True))
    return 0 < n_other <= len(words) // 2


def _names_old_value(earlier: _Statement, later: _Statement) -> bool:
    """Tell whether a statement names the one value of an earlier one, and another beside it."""
    return any(
        kind != "name"
        and len(old) == 1
        and len(new := later.values.get(kind, old)) > 1
        and old < new
        for kind, old in earlier.values.items()
    )


class _Weights:
    """Texts as weighted groups of characters."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._grams = [_list_grams(text) for text in texts]
        self._n_texts = Counter(chain.from_iterable(self._grams))
        self._weights: dict[str, float] = {}
        self._sizes: dict[int, float] = {}

    def compare(self, first: int, second: int) -> float:
        """Give the cosine of two texts, 0 to 1."""
        shared = self._sum(self._grams[first] & self._grams[second])
        return shared / math.sqrt(self._size(first) * self._size(second)) if shared else 0.0

    def _size(self, at: int) -> float:
        if at not in self._sizes:
            self._sizes[at] = self._sum(self._grams[at])
        return self._sizes[at]

    def _sum(self, grams: Iterable[str]) -> float:
        return sum(map(self._weigh, grams))

    def _weigh(self, gram: str) -> float:
        if gram not in self._weights:
            rarity = (1 + len(self._grams)) / (1 + self._n_texts[gram])
            self._weights[gram] = (math.log(rarity) + 1) ** 2
        return self._weights[gram]


@lru_cache(maxsize=4096)
def _list_stems(text: str) -> frozenset[str]:
    wording = read_wording(text)
    if wording.is_unspaced:
        return _list_grams(text)
    return frozenset(
        word[:_STEM_CHARS] for word in wording.words if len(word) >= _STEM_CHARS or word.isdecimal()
    )


@lru_cache(maxsize=4096)
def _list_grams(text: str) -> frozenset[str]:
    plain = f" {_BETWEEN.sub(' ', text.lower()).strip()} "
    sizes = _SMALL_GRAM_SIZES if read_wording(text).is_unspaced else _GRAM_SIZES
    return frozenset(plain[at : at + size] for size in sizes for at in range(len(plain) - size + 1))


def _list_echoes(statement: _Statement, sentences: Sequence[Sentence]) -> Iterator[str]:
    """Give the agent's short sentences in answer to a statement that repeat its value."""
    values = {
        value
        for kind, named in statement.values.items()
        if kind not in ("path", "name")
        for value in named
    }
    for sentence in sentences:
        if sentence.n_item <= statement.n_item or statement.n_item < 0:
            continue
        if sentence.is_user:
            return
        own, _ = _split_values(sentence.text)
        if len(sentence.text) <= _MAX_ECHO_CHARS and any(values & named for named in own.values()):
            yield sentence.text


def _list_refused(
    statements: Iterable[_Statement], sentences: Sequence[Sentence]
) -> Iterator[tuple[str, str]]:
    """Give what the agent told, and the user's reply to that which names its value and another."""
    pairs = {
        statement.n_item: statement
        for statement in statements
        if statement.is_recent and statement.is_users and _list_twos(statement)
    }
    answer: list[str] = []
    for sentence in sentences:
        if not sentence.is_user:
            answer.append(sentence.text)
            continue
        reply = pairs.pop(sentence.n_item, None)
        for twos in _list_twos(reply) if reply is not None else ():
            for told in answer:
                named = _split_values(told)[0].values()
                if len(told) <= _MAX_ECHO_CHARS and any(len(v) == 1 and v < twos for v in named):
                    yield told, reply.text if reply else ""
        answer = []


def _list_twos(statement: _Statement) -> list[frozenset[str]]:
    """List the pairs of values of one kind that a statement names, such as an old and a new one."""
    return [
        named
        for kind, named in statement.values.items()
        if len(named) == 2 and kind not in ("path", "name") and min(map(len, named)) > 1
    ]
