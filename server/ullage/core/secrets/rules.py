"""Secrets that are told by how they begin: one table, one regular expression, one reading.

The table is `data/secret_rules.json`.

By fixed beginnings only: guessing by entropy destroys hashes, signatures and base64
(docs/safety.md, "Secrets"). No text is read more than a few times over: a rule begins with a fixed
text, what follows is taken possessively, and a rule that can fail late begins at the beginning of
a word.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache, cached_property, lru_cache
from itertools import count
from typing import Literal, NamedTuple, TypeAlias

import msgspec

from ullage.data.packaged import read_packaged

Boundary: TypeAlias = Literal["any", "letter", "word"]
"""What may stand before: anything; no letter or digit; no `-` and `_` either."""


class Rule(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    kind: str
    heads: tuple[str, ...]
    """Fixed texts, one of which it begins with."""
    rest: str
    """Pattern of what follows the head."""
    label: str | None = None
    """Pattern between head and rest; where there is one, it and the head are no secret."""
    boundary: Boundary = "letter"
    ends: str = ""
    """Characters, one of which follows a head that is a word of any text."""
    signs: tuple[str, ...] = ()
    """Fixed texts, one of which is within it, where heads are many or in every text.

    Where there are `ends`, each head ends in one of them."""
    note: str = ""
    source: str
    """Who says that such secrets begin and look so."""
    date: str
    """Day on which the source was read, as YYYY-MM-DD."""


class RuleFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    shared: dict[str, str]
    """Patterns that rules call by their names, as `(?&NAME)`."""
    rules: tuple[Rule, ...]


def read_rules(data: bytes) -> tuple[Rule, ...]:
    """Read a file of rules, each with the patterns that it calls put in."""
    file = msgspec.json.decode(data, type=RuleFile)

    def expand(pattern: str) -> str:
        for name, shared in file.shared.items():
            pattern = pattern.replace(f"(?&{name})", shared)
        return pattern

    return tuple(
        msgspec.structs.replace(
            rule, rest=expand(rule.rest), label=None if rule.label is None else expand(rule.label)
        )
        for rule in file.rules
    )


RULES = read_rules(read_packaged("secret_rules.json"))
_HEADS = tuple(dict.fromkeys(head for rule in RULES for head in rule.heads))
_FIXED_TEXTS = tuple(
    (text, at) for at, rule in enumerate(RULES) for text in rule.signs or rule.heads
)
"""Texts such that every secret of a rule, label included, holds one, and the rule's place."""
SIGNS = tuple(
    dict.fromkeys(text + end for text, at in _FIXED_TEXTS for end in RULES[at].ends or ("",))
)
"""The same for all rules, as exact as they are."""
_COMMON_FIRST = sorted(_FIXED_TEXTS, key=lambda fixed: RULES[fixed[1]].label is None)
"""What a secret is called stands in many texts, and decides soon that they need all rules."""
FEW_RULES = 2
"""More of them meet in too many ways: to compile each takes longer than all at once (measured)."""
_FEW_CHOICES = 16
"""A process that reads texts with more choices of rules and heads needs all (chosen)."""
_FEW_TEXTS = 8
"""A process that reads no more, as for a title, needs no expression of all signs (chosen)."""
_SHORT_CHARS = 20_000
"""Up to this, to look for each sign takes less time than to compile an expression of all rules."""


class Found(NamedTuple):
    """A place in a text where a rule matches."""

    start: int
    end: int
    kind: str
    is_labelled: bool
    """Whether it is told by what stands before it alone."""


def find_by_rules(text: str) -> Iterator[Found]:
    """Give the secrets that a rule tells, in order."""
    rules = _choose_rules(text, ALL_RULES)
    return iter(()) if rules is None else rules.find(text)


def find_named(text: str) -> Iterator[Found]:
    """Give the secrets that a text has a name for, and maybe others; most texts name none."""
    rules = _choose_rules(text, LABELLED_RULES) if _names_secret(text) else None
    return iter(()) if rules is None else rules.find(text)


def find_by_rules_at(text: str, starts: Iterable[int]) -> Iterator[Found]:
    """Give the secrets that stand one after the other from some places on, each read once."""
    heads = [start for start in sorted(starts) if text.startswith(_HEADS, start)]
    rules = _choose_rules(text, ALL_RULES) if heads else None
    return iter(()) if rules is None else rules.find_at(text, heads)


Choice: TypeAlias = tuple[tuple[int, tuple[str, ...]], ...]
"""Places of rules, each with some of its heads."""


class JoinedRules:
    """Rules as one expression, which is compiled once it is needed. All of them take 60 ms."""

    def __init__(self, choice: Choice) -> None:
        self._choice = choice

    def find(self, text: str) -> Iterator[Found]:
        match = self._anywhere.search(text)
        while match is not None:
            yield self._read(match)
            end = match.end()
            match = self._here.match(text, end) or self._anywhere.search(text, end)

    def find_at(self, text: str, starts: Iterable[int]) -> Iterator[Found]:
        end = 0
        for start in starts:
            if start < end:
                continue
            end = start
            while (match := self._here.match(text, end)) is not None:
                yield self._read(match)
                end = match.end()

    @cached_property
    def _groups(self) -> tuple[tuple[Rule, list[str]], ...]:
        """Give each rule with those of its heads that have the same first character."""
        return tuple(
            (RULES[at], [head for head in heads if head[0] == first])
            for at, heads in self._choice
            for first in dict.fromkeys(head[0] for head in heads)
        )

    @cached_property
    def _anywhere(self) -> re.Pattern[str]:
        return self._join(has_boundaries=True)

    @cached_property
    def _here(self) -> re.Pattern[str]:
        """What follows a secret without a gap is read without boundaries."""
        return self._join(has_boundaries=False)

    def _read(self, match: re.Match[str]) -> Found:
        """Read a match, whose groups have the names of their numbers."""
        group = match.lastgroup or ""
        rule, _ = self._groups[int(group[1:])]
        is_labelled = rule.label is not None
        start = match.start(group) if is_labelled else match.start()
        return Found(start, match.end(), rule.kind, is_labelled)

    def _join(self, *, has_boundaries: bool) -> re.Pattern[str]:
        """Join rules, those with the same first character under it.

        So the expression knows by which characters a match can begin, and passes over all others.
        """
        by_first: dict[str, list[str]] = {}
        for n, (rule, heads) in enumerate(self._groups):
            head = _any_of(
                _any_of(re.escape(head[1:]) for head in heads if len(head) == n_chars)
                + (_before(rule.boundary, n_chars) if has_boundaries else "")
                for n_chars in dict.fromkeys(map(len, heads))
            )
            by_first.setdefault(heads[0][0], []).append(
                f"{head}{rule.label or ''}(?P<g{n}>{rule.rest})"
            )
        firsts = (f"{re.escape(first)}{_any_of(tails)}" for first, tails in by_first.items())
        return re.compile("|".join(firsts), re.DOTALL)


ALL_RULES = JoinedRules(tuple((at, rule.heads) for at, rule in enumerate(RULES)))
LABELLED_RULES = JoinedRules(
    tuple((at, rule.heads) for at, rule in enumerate(RULES) if rule.label is not None)
)
_join_choice = lru_cache(maxsize=_FEW_CHOICES)(JoinedRules)


def _choose_rules(text: str, every: JoinedRules) -> JoinedRules | None:
    """Choose the rules that a text may have a match of: mostly none, one or two, else every one."""
    if len(text) > _SHORT_CHARS or _join_choice.cache_info().misses > _FEW_CHOICES:
        return every
    choice = choose_heads(text)
    if len(choice) > FEW_RULES:
        return every
    return _join_choice(choice) if choice else None


def choose_heads(text: str) -> Choice:
    """Choose the rules that a text may have a match of, with those heads that it has.

    It ends where there are more than a few.
    """
    places: set[int] = set()
    for fixed, at in _COMMON_FIRST:
        ends = RULES[at].ends
        if fixed in text and (not ends or any(fixed + end in text for end in ends)):
            places.add(at)
            if len(places) > FEW_RULES:
                break
    choice = ((at, tuple(h for h in RULES[at].heads if h in text)) for at in sorted(places))
    # What is a sign of it need not be a part of a head.
    return tuple((at, heads) for at, heads in choice if heads)


_n_looked_at = count()


def may_match(text: str) -> bool:
    """Tell whether a text has the beginning of any secret, ten times as quickly as find one."""
    if len(text) <= _SHORT_CHARS and next(_n_looked_at) < _FEW_TEXTS:
        return any(sign in text for sign in SIGNS)
    return _names_secret(text) or _gate(is_labelled=False).search(text) is not None


def _names_secret(text: str) -> bool:
    return _gate(is_labelled=True).search(text) is not None


@cache
def _gate(*, is_labelled: bool) -> re.Pattern[str]:
    """Join what the rules with or without a label begin with, each by its rarest character.

    Most texts have none. An expression passes quickly over characters by which no match can
    begin, so a head's rarest one comes first, and what stands before it is looked back to.
    """
    rules = [rule for rule in RULES if (rule.label is not None) == is_labelled]
    by_rarest: dict[str, dict[str, list[str]]] = {}
    for text, after in dict.fromkeys(part for rule in rules for part in _list_beginnings(rule)):
        at = min(range(len(text)), key=lambda n: (_FREQUENT.rfind(text[n]), n))
        before = f"(?<={re.escape(text[:at])}.)" if at else ""
        tails = by_rarest.setdefault(text[at], {}).setdefault(after, [])
        tails.append(before + re.escape(text[at + 1 :]))
    firsts = (
        re.escape(rarest) + _any_of(_any_of(tails) + after for after, tails in parts.items())
        for rarest, parts in by_rarest.items()
    )
    return re.compile("|".join(firsts), re.DOTALL)


def _list_beginnings(rule: Rule) -> Iterator[tuple[str, str]]:
    """Give fixed texts of which each secret of a rule holds one, with a pattern of what follows."""
    for text in rule.signs or rule.heads:
        # Most URLs have no password, and words of a language stand for themselves.
        after = rule.rest if text == "://" else rule.label if rule.ends else None
        yield text, after or ""


_FREQUENT = (
    "^~!|&XQVY#K?Jz`q%GB$U*<H>CLM+W{}ADZPj;RTS[]IkxEOvFN'/97)(=y,g385.46b_w-hf1m2:p0ud\"clisnaorte "
)
"""Characters of sessions, from rare to frequent (2 MB of made-up and generated ones)."""


def _before(boundary: Boundary, n_chars: int) -> str:
    """Look back over a head to what stands before it.

    The letter before a token may end an escape: `\\n` in JSON, `%3D` in a URL, a color of a
    terminal; and the `-` of a diff stands at the beginning of a line.
    """
    if boundary == "any":
        return ""
    head = f".{{{n_chars}}}"
    if boundary == "letter":
        return _any_of((f"(?<![A-Za-z0-9]{head})", *(f"(?<={lead}{head})" for lead in _ESCAPES)))
    starts = (*_ESCAPES, r"\n-", r"\n--")
    return _any_of((f"(?<![A-Za-z0-9_-]{head})", *(f"(?<={lead}{head})" for lead in starts)))


_ESCAPES = (r"\\[nrtbf]", "%[0-9A-Fa-f]{2}", r"\[\dm", r"\[\d\dm", r"\[\d;\d\dm")


def _any_of(patterns: Iterable[str]) -> str:
    return f"(?:{'|'.join(patterns)})"
