"""Statements whose value was said again later, in the same words or in others.

Two statements tell of one thing where their words are alike and each names another value of the
same kind. How alike is measured by the groups of characters that they share, so no language's
words are needed: docs/design/summaries.md, "Values said again".
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import Literal, TypeAlias

import msgspec

from ullage.core.facts.settled import AGAINST, APPROVED, IN_REPLY
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
_MAX_COMPARED = 40
"""Of one kind of value, the newest: bounds the time."""
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
_ANSWERED = re.compile("|".join(map(re.escape, (IN_REPLY, AGAINST))))
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


class _Weights(msgspec.Struct):
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


class _Pair(msgspec.Struct, frozen=True, gc=False):
    """The places of two statements, and how alike they are."""

    earlier: int
    later: int
    alike: float
    certainty: Certainty

    @property
    def rank(self) -> tuple[bool, float]:
        return self.certainty == "corrected", self.alike


class Statements(msgspec.Struct):
    """The statements of persons and the agent's choices so far, each compared with those before it.

    What was compared once is not compared again, whatever follows; time grows linearly with the
    statements.
    """

    statements: list[_Statement] = []
    pairs: list[_Pair] = []
    refused: list[tuple[str, str]] = []
    """What the agent told, and the user's reply to that which names its value and another."""
    places: dict[str, list[int]] = {}
    """By the kind of a value, or "rule": where the statements are that have one."""
    n_around: Counter[str] = msgspec.field(default_factory=Counter[str])
    whole: _Weights = msgspec.field(default_factory=_Weights)
    around: _Weights = msgspec.field(default_factory=_Weights)
    answer: list[str] = []
    """What the agent said since a person spoke."""

    def carry(self, texts: Iterable[str]) -> None:
        """Take the rules and decisions of an earlier summary."""
        for text in filter(_reads_as_statement, texts):
            self._add(_make_statement(text, -1, is_rule=True, is_users=True, is_recent=False))

    def add(
        self, sentences: Sequence[Sentence], chosen: Iterable[tuple[str, bool]], n_item: int
    ) -> None:
        """Take what one message says, and the choices in it, each with whether a person made it."""
        n_said = sum(sentence.is_user for sentence in sentences)
        stated = sentences if n_said <= _MAX_EARLIER_SENTENCES else ()
        # What they answer stands behind them.
        by_user = {
            _ANSWERED.split(text, 1)[0]: is_user for text, is_user in chosen if APPROVED not in text
        }
        typed = {
            sentence.text: sentence.kind == "rule"
            for sentence in stated
            if sentence.is_user and sentence.kind != "question" and not sentence.is_bulk
        }
        n_before = len(self.statements)
        for text, is_rule in {**dict.fromkeys(by_user, False), **typed}.items():
            if _reads_as_statement(text):
                is_users = by_user.get(text, True)
                is_recent = is_users and n_said <= _MAX_LATER_SENTENCES
                self._add(
                    _make_statement(
                        text, n_item, is_rule=is_rule, is_users=is_users, is_recent=is_recent
                    )
                )
        if n_said:
            self._list_refused(self.statements[n_before:])
            self.answer = []
        self.answer += [sentence.text for sentence in sentences if not sentence.is_user]

    def _add(self, statement: _Statement) -> None:
        at = len(self.statements)
        self.statements.append(statement)
        self.whole.texts.append(statement.text)
        self.around.texts.append(statement.around)
        self.n_around[statement.around] += 1
        if "path" in statement.values:
            return
        kinds = [*statement.values, *(["rule"] if statement.is_rule else [])]
        if statement.is_recent:
            before = {n for kind in kinds for n in self.places.get(kind, ())[-_MAX_COMPARED:]}
            for n_before in sorted(before):
                self._compare(n_before, at)
        for kind in kinds:
            self.places.setdefault(kind, []).append(at)

    def _compare(self, n_earlier: int, n_later: int) -> None:
        """Keep two statements as a pair where the later one may replace the earlier."""
        earlier, later = self.statements[n_earlier], self.statements[n_later]
        if earlier.n_item == later.n_item or earlier.stems.isdisjoint(later.stems):
            return
        other = _other_kinds(earlier, later)
        is_named = _names_old_value(earlier, later)
        is_rules = earlier.is_rule and later.is_rule
        has_same_link = bool(
            earlier.values.get("url", frozenset()) & later.values.get("url", frozenset())
        )
        if earlier.text == later.text or has_same_link or not (other or is_named or is_rules):
            return
        alike = self.whole.compare(n_earlier, n_later)
        certainty: Certainty | None = None
        if is_named and alike > _MIN_ALIKE["corrected"]:
            certainty = "corrected"
        elif other:
            least = _MIN_ALIKE["value" if other - _LOOSE_KINDS else "loose"]
            is_same = (
                earlier.is_users
                and alike > least
                and self.around.compare(n_earlier, n_later) > _MIN_ALIKE_AROUND
                and not _count_on(earlier, later)
                and not _tell_of_others(earlier.text, later.text)
                and _name_same_thing(earlier, later, other)
            )
            certainty = "other value" if is_same else None
        elif is_rules and alike > _MIN_ALIKE["rule"]:
            certainty = "like rule"
        if certainty is not None:
            self.pairs.append(_Pair(n_earlier, n_later, alike, certainty))

    def _list_refused(self, said: Iterable[_Statement]) -> None:
        """Note what the agent told, and the reply to that which names its value and another."""
        for reply in said:
            for twos in _list_twos(reply) if reply.is_recent else ():
                for told in self.answer:
                    named = _split_values(told)[0] if len(told) <= _MAX_ECHO_CHARS else {}
                    if any(len(values) == 1 and values < twos for values in named.values()):
                        self.refused.append((told, reply.text))

    def find_replacements(self, sentences: Sequence[Sentence]) -> tuple[Replacement, ...]:
        """Find the statements that a later one may replace; `sentences` are all that was said.

        Of two that are alike neither is forgotten: what is done about it is the caller's.
        """
        best = self._pick_best()
        last = {statement.text: at for at, statement in enumerate(self.statements)} if best else {}
        replaced: dict[str, Replacement] = {}
        for n_earlier, pair in sorted(best.items()):
            n_last = pair.later
            while n_last in best:
                n_last = best[n_last].later
            earlier, later = self.statements[n_earlier], self.statements[n_last]
            if last[earlier.text] > n_last:
                # It was said again since.
                continue
            replaced[earlier.text] = Replacement(
                earlier=earlier.text,
                later=later.text,
                certainty=pair.certainty,
                is_rule=earlier.is_rule,
            )
            for echo in _list_echoes(earlier, sentences):
                echoed = Replacement(
                    earlier=echo, later=later.text, certainty=pair.certainty, is_rule=False
                )
                replaced.setdefault(echo, echoed)
        for told, later in self.refused:
            refused = Replacement(earlier=told, later=later, certainty="other value", is_rule=False)
            replaced.setdefault(told, refused)
        return tuple(replaced.values())

    def _pick_best(self) -> dict[int, _Pair]:
        """Give for each statement that is replaced the pair that is most alike."""
        # Many rules that are alike are a list of rules; what is asked of one thing after the
        # other is a series.
        n_like = Counter(
            at
            for pair in self.pairs
            if pair.certainty == "like rule"
            for at in (pair.earlier, pair.later)
        )
        best: dict[int, _Pair] = {}
        for pair in self.pairs:
            both = (pair.earlier, pair.later)
            is_list = pair.certainty == "like rule" and max(n_like[at] for at in both) > 1
            n_around = self.n_around[self.statements[pair.later].around]
            is_series = pair.certainty == "other value" and n_around >= _MIN_SERIES
            if is_list or is_series:
                continue
            before = best.get(pair.earlier)
            if before is None or pair.rank > before.rank:
                best[pair.earlier] = pair
        return best


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


def _count_on(earlier: _Statement, later: _Statement) -> bool:
    """Tell whether two statements are the same but for a number that is the next one."""
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


def _name_same_thing(earlier: _Statement, later: _Statement, kinds: AbstractSet[str]) -> bool:
    """Tell whether the clauses that name values of these kinds have a word in common."""
    kinds = {"number" if kind == "digit" else kind for kind in kinds}
    named = [
        frozenset[str]().union(
            *(
                _list_stems(clause)
                for clause in _CLAUSE_END.split(statement.text)
                if not kinds.isdisjoint(_split_values(clause)[0])
            )
        )
        for statement in (earlier, later)
    ]
    return not named[0].isdisjoint(later.stems) and not named[1].isdisjoint(earlier.stems)


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


def _list_twos(statement: _Statement) -> list[frozenset[str]]:
    """List the pairs of values of one kind that a statement names, such as an old and a new one."""
    return [
        named
        for kind, named in statement.values.items()
        if len(named) == 2 and kind not in ("path", "name") and min(map(len, named)) > 1
    ]
