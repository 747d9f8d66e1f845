"""Secrets that are told by how they begin: one table, one regular expression, one reading.

The table is `data/secret_rules.json`.

By fixed beginnings only: guessing by entropy destroys hashes, signatures and base64
(docs/safety.md, "Secrets"). No text is read more than a few times over: a rule begins with a fixed
text, what follows is taken possessively, and a rule that can fail late begins at the beginning of
a word.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
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
_ALL = tuple(range(len(RULES)))
_FEW_RULES = 2
"""More of them meet in too many ways: to compile each takes longer than all at once (measured)."""
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
    places = _choose_rules(text)
    if not places:
        return
    anywhere = _join(places)
    match = anywhere.search(text)
    while match is not None:
        yield _read(match, places)
        here = _join(places, has_boundaries=False)
        match = here.match(text, match.end()) or anywhere.search(text, match.end())


def find_by_rules_at(text: str, starts: Iterable[int]) -> Iterator[Found]:
    """Give the secrets that stand one after the other from some places on, each read once."""
    heads = [start for start in sorted(starts) if text.startswith(_HEADS, start)]
    places = _choose_rules(text) if heads else ()
    if not places:
        return
    here = _join(places, has_boundaries=False)
    end = 0
    for start in heads:
        if start < end:
            continue
        end = start
        while (match := here.match(text, end)) is not None:
            yield _read(match, places)
            end = match.end()


def _choose_rules(text: str) -> tuple[int, ...]:
    """Choose the rules that a text may have a match of: mostly none, else one or two."""
    if len(text) > _SHORT_CHARS:
        return _ALL
    places: set[int] = set()
    for fixed, at in _COMMON_FIRST:
        if fixed in text:
            places.add(at)
            if len(places) > _FEW_RULES:
                return _ALL
    return tuple(sorted(places))


def _read(match: re.Match[str], places: tuple[int, ...]) -> Found:
    """Read a match of joined rules, whose groups have the names of their numbers."""
    group = match.lastgroup or ""
    rule, _ = _group_heads(places)[int(group[1:])]
    is_labelled = rule.label is not None
    start = match.start(group) if is_labelled else match.start()
    return Found(start, match.end(), rule.kind, is_labelled)


def may_match(text: str) -> bool:
    """Tell whether a text has the beginning of any secret, ten times as quickly as find one."""
    return _gate().search(text) is not None


@cache
def _gate() -> re.Pattern[str]:
    """Join what all rules begin with, each to be found by its rarest character.

    Most texts have none. An expression passes quickly over characters by which no match can
    begin, so a head's rarest one comes first, and what stands before it is looked back to.
    """
    by_rarest: dict[str, dict[str, list[str]]] = {}
    for text, after in dict.fromkeys(part for rule in RULES for part in _list_beginnings(rule)):
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
        # Most URLs have no password.
        after = rule.rest if text == "://" else f"[{re.escape(rule.ends)}]" if rule.ends else ""
        yield text, after


_FREQUENT = (
    "^~!|&XQVY#K?Jz`q%GB$U*<H>CLM+W{}ADZPj;RTS[]IkxEOvFN'/97)(=y,g385.46b_w-hf1m2:p0ud\"clisnaorte "
)
"""Characters of sessions, from rare to frequent (2 MB of made-up and generated ones)."""


@lru_cache(maxsize=64)
def _group_heads(places: tuple[int, ...]) -> tuple[tuple[Rule, list[str]], ...]:
    """Give each rule with those of its heads that have the same first character."""
    return tuple(
        (rule, [head for head in rule.heads if head[0] == first])
        for rule in (RULES[at] for at in places)
        for first in dict.fromkeys(head[0] for head in rule.heads)
    )


@lru_cache(maxsize=128)
def _join(places: tuple[int, ...], *, has_boundaries: bool = True) -> re.Pattern[str]:
    """Join rules, those with the same first character under it. All of them take 60 ms.

    So the expression knows by which characters a match can begin, and passes over all others.
    What follows a secret without a gap is read without boundaries.
    """
    by_first: dict[str, list[str]] = {}
    for n, (rule, heads) in enumerate(_group_heads(places)):
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
