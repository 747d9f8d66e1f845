"""Statements whose value was said again later, in the same words or in others.

Two statements tell of one thing where their words are alike and each names another value of the
same kind. How alike is measured by the groups of characters that they share, so no language's
words are needed: docs/design/summaries.md, "Values said again".
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, TypeAlias

import msgspec

from ullage.core.facts.settled import AGAINST, APPROVED, IN_REPLY
from ullage.core.facts.statements import (
    Statement,
    Weights,
    count_on,
    list_other_kinds,
    list_twos,
    make_statement,
    name_same_thing,
    names_old_value,
    reads_as_statement,
    split_values,
    tell_of_others,
)
from ullage.core.text.prose import gist
from ullage.core.text.sentences import Sentence

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
_MAX_LATER_SENTENCES = 10
_MAX_EARLIER_SENTENCES = 25
"""Sentences of a message: one with more is a paste or a brief, not a word on a value. Chosen."""
_MAX_COMPARED = 40
"""Of one kind of value, the newest: bounds the time."""
_MAX_ECHO_CHARS = 120
_MAX_SHOWN_CHARS = 160
_MIN_REST_CHARS = 12
"""What a line has beside a corrected statement: if less, it leaves with it. Chosen."""
_MIN_SERIES = 3
"""Statements that are the same but for their values; chosen."""
_ANSWERED = re.compile("|".join(map(re.escape, (IN_REPLY, AGAINST))))


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

    statements: list[Statement] = []
    pairs: list[_Pair] = []
    refused: list[tuple[str, str]] = []
    """What the agent told, and the user's reply to that which names its value and another."""
    places: dict[str, list[int]] = {}
    """By the kind of a value, or "rule": where the statements are that have one."""
    n_around: Counter[str] = msgspec.field(default_factory=Counter[str])
    whole: Weights = msgspec.field(default_factory=Weights)
    around: Weights = msgspec.field(default_factory=Weights)
    answer: list[str] = []
    """What the agent said since a person spoke."""

    def carry(self, texts: Iterable[str]) -> None:
        """Take the rules and decisions of an earlier summary."""
        for text in filter(reads_as_statement, texts):
            self._add(make_statement(text, -1, is_rule=True, is_users=True, is_recent=False))

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
            if reads_as_statement(text):
                is_users = by_user.get(text, True)
                is_recent = is_users and n_said <= _MAX_LATER_SENTENCES
                self._add(
                    make_statement(
                        text, n_item, is_rule=is_rule, is_users=is_users, is_recent=is_recent
                    )
                )
        if n_said:
            self._list_refused(self.statements[n_before:])
            self.answer = []
        self.answer += [sentence.text for sentence in sentences if not sentence.is_user]

    def _add(self, statement: Statement) -> None:
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
        other = list_other_kinds(earlier, later)
        is_named = names_old_value(earlier, later)
        is_rules = earlier.is_rule and later.is_rule
        has_same_link = bool(
            earlier.values.get("url", frozenset()) & later.values.get("url", frozenset())
        )
        if earlier.text == later.text or has_same_link:
            return
        is_same = bool(other) and self._tell_of_one_thing(earlier, later, other)
        if not (is_named or is_same or (is_rules and not other)):
            return
        alike = self.whole.compare(n_earlier, n_later)
        certainty: Certainty | None = None
        if is_named and alike > _MIN_ALIKE["corrected"]:
            certainty = "corrected"
        elif is_same:
            least = _MIN_ALIKE["value" if other - _LOOSE_KINDS else "loose"]
            around = self.around.compare(n_earlier, n_later) if alike > least else 0.0
            certainty = "other value" if around > _MIN_ALIKE_AROUND else None
        elif is_rules and not other and alike > _MIN_ALIKE["rule"]:
            certainty = "like rule"
        if certainty is not None:
            self.pairs.append(_Pair(n_earlier, n_later, alike, certainty))

    def _tell_of_one_thing(self, earlier: Statement, later: Statement, kinds: set[str]) -> bool:
        """Tell by their words whether two statements may give one thing two values."""
        return (
            earlier.is_users
            and not self._is_series(later)
            and not count_on(earlier, later)
            and not tell_of_others(earlier.text, later.text)
            and name_same_thing(earlier, later, kinds)
        )

    def _is_series(self, statement: Statement) -> bool:
        """Tell whether a statement is one of several that are the same but for their values."""
        return self.n_around[statement.around] >= _MIN_SERIES

    def _list_refused(self, said: Iterable[Statement]) -> None:
        """Note what the agent told, and the reply to that which names its value and another."""
        for reply in said:
            for twos in list_twos(reply) if reply.is_recent else ():
                for told in self.answer:
                    named = split_values(told)[0] if len(told) <= _MAX_ECHO_CHARS else {}
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
            is_series = self._is_series(self.statements[pair.later])
            if is_list or (is_series and pair.certainty == "other value"):
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
            and sum(map(str.isalnum, rest)) < _MIN_REST_CHARS
        ):
            return ""
        text = f"{text} {pair.mark}"
    return text


def _list_echoes(statement: Statement, sentences: Sequence[Sentence]) -> Iterator[str]:
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
        own, _ = split_values(sentence.text)
        if len(sentence.text) <= _MAX_ECHO_CHARS and any(values & named for named in own.values()):
            yield sentence.text
