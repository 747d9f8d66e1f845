"""Secrets that are told by how they begin: one table, one regular expression, one reading.

The table is `data/secret_rules.json`.

By fixed beginnings only: guessing by entropy destroys hashes, signatures and base64
(docs/safety.md, "Secrets"). No text is read more than a few times over: a rule begins with a fixed
text, what follows is taken possessively, and a rule that can fail late begins at the beginning of
a word.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from typing import Literal, TypeAlias

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
    sign: str | None = None
    """A fixed text within it, where the heads stand in every other text."""
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
_SIGNS = tuple(
    (sign, at)
    for at, rule in enumerate(RULES)
    for sign in ((rule.sign,) if rule.sign else rule.heads)
)
"""Texts such that every secret of a rule, label included, holds one, and the rule's place."""
SIGNS = tuple(dict.fromkeys(sign for sign, _ in _SIGNS))
_SHORT_CHARS = 20_000
"""Up to this, to look for each sign takes less time than to compile an expression of all rules."""


def find_by_rules(text: str) -> Iterator[tuple[int, int, str]]:
    """Give start, end and kind of each secret, in order."""
    rules = _compiled_for(text)
    if rules is None:
        return
    match = rules.anywhere.search(text)
    while match is not None:
        yield rules.read(match)
        match = rules.here.match(text, match.end()) or rules.anywhere.search(text, match.end())


def find_by_rules_at(text: str, start: int) -> Iterator[tuple[int, int, str]]:
    """Give the secrets that stand one after the other from a place on."""
    rules = _compiled_for(text) if text.startswith(_HEADS, start) else None
    if rules is None:
        return
    while (match := rules.here.match(text, start)) is not None:
        yield rules.read(match)
        start = match.end()


def _compiled_for(text: str) -> "_CompiledRules | None":
    """Compile the rules that a text may have a match of: mostly none, else one or two."""
    if len(text) > _SHORT_CHARS:
        return _compiled(RULES)
    places = {at for sign, at in _SIGNS if sign in text}
    return _compiled(tuple(RULES[at] for at in sorted(places))) if places else None


def may_match(text: str) -> bool:
    """Tell whether a text has the beginning of any secret, ten times as quickly as find one."""
    return _gate().search(text) is not None


@cache
def _gate() -> re.Pattern[str]:
    """Join the heads of all rules, each to be found by its rarest character.

    Most texts have none. An expression passes quickly over characters by which no match can
    begin, so a head's rarest one comes first, and what stands before it is looked back to.
    """
    by_rarest: dict[str, list[str]] = {}
    for head in dict.fromkeys(head for rule in RULES for head in rule.heads):
        if head.isdigit() or head == "://":
            continue
        at = min(range(len(head)), key=lambda n: (_FREQUENT.rfind(head[n]), n))
        before = f"(?<={re.escape(head[:at])}.)" if at else ""
        by_rarest.setdefault(head[at], []).append(before + re.escape(head[at + 1 :]))
    # A telegram token begins with any digit, and most URLs have no password.
    by_rarest[":"] = ["AA", r"//[^\s/:@]{0,100}+:[^\s/:@]{3,1000}+@"]
    firsts = (f"{re.escape(rarest)}{_any_of(tails)}" for rarest, tails in by_rarest.items())
    return re.compile("|".join(firsts), re.DOTALL)


_FREQUENT = (
    "^~!|&XQVY#K?Jz`q%GB$U*<H>CLM+W{}ADZPj;RTS[]IkxEOvFN'/97)(=y,g385.46b_w-hf1m2:p0udclisnaorte"
)
"""Characters of sessions, from rare to frequent (2 MB of made-up and generated ones)."""


class _CompiledRules(msgspec.Struct, frozen=True, kw_only=True):
    anywhere: re.Pattern[str]
    here: re.Pattern[str]
    """The rules without their boundaries, for what follows a secret without a gap."""
    kinds: dict[str, tuple[str, bool]]
    """Of each group in them: the kind of its rule, and whether that has a label."""

    def read(self, match: re.Match[str]) -> tuple[int, int, str]:
        group = match.lastgroup or ""
        kind, is_labelled = self.kinds[group]
        return match.start(group) if is_labelled else match.start(), match.end(), kind


@lru_cache(maxsize=64)
def _compiled(rules: tuple[Rule, ...]) -> _CompiledRules:
    """Compile rules when they are needed first: all of them take 20 ms."""
    kinds: dict[str, tuple[str, bool]] = {}
    heads = [(rule, head) for rule in rules for head in rule.heads]
    for n, (rule, _) in enumerate(heads):
        kinds[f"g{n}"] = rule.kind, rule.label is not None
    return _CompiledRules(
        anywhere=_join(heads), here=_join(heads, has_boundaries=False), kinds=kinds
    )


def _join(heads: Sequence[tuple[Rule, str]], *, has_boundaries: bool = True) -> re.Pattern[str]:
    """Join the rules, those with the same first character under it.

    So the expression knows by which characters a match can begin, and passes over all others.
    """
    by_first: dict[str, list[str]] = {}
    for n, (rule, head) in enumerate(heads):
        before = _before(rule.boundary, len(head)) if has_boundaries else ""
        by_first.setdefault(head[0], []).append(
            f"{re.escape(head[1:])}{before}{rule.label or ''}(?P<g{n}>{rule.rest})"
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
