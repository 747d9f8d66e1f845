"""Claims: the values that a sentence gives to what it speaks of, and those that it calls old."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

import msgspec

from ullage.core.text.word_lists import Table, alternatives, word_list
from ullage.core.text.wording import CHANGES, CHOICES, COMPLAINTS, Wording, has_marker

TOKEN = re.compile(r"[0-9A-Za-z_$@][\w$@%/-]*(?:[.:][\w$@%/-]+)*|[^\W\d_]+")
_CLAIM_TOKEN = re.compile(TOKEN.pattern + r"|[,;!?()。，；！？]|[.](?=\s|\Z)")
"""The same with the marks that end a clause: what a value belongs to does not stand beyond them."""
DIGIT = re.compile(r"\d")
_MAX_TOKENS = 160
FILLERS = word_list("fillers").words
_NOT_SUBJECTS = word_list("not_subjects").words
_GLUED_WORDS = re.compile(alternatives("glued_words", has_spaces=False))
_HAN = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_COUNTED = re.compile(rf"\d[\d.,]*{_HAN.pattern}")
"""A number with its counter, which grammar may follow without a space: 5000件です."""
_STEM_CHARS = 4
"""Characters compared of a word that can be inflected; chosen."""
UNITS = word_list("units").words
"""Beginnings of the words for time, size and money."""
_MIN_FRAME = 3
"""Words that two sentences must share to say the same of another value; chosen."""
_OLD_VALUE_HINTS = word_list("old_value_hints").words
_OLD_VALUE = re.compile(
    rf"(?:\b(?:{alternatives('old_value_follows')})|(?<=\d) not"
    rf"|, (?:{alternatives('old_value_follows_comma')})) (.{{1,60}})",
    re.IGNORECASE,
)
_CHANGE_SIGNS = word_list("change_stems").fragments
_CHANGE_VERBS = re.compile(
    rf"\b(?:{alternatives('change_stems')})\w{{0,5}}\b|{'|'.join(_CHANGE_SIGNS)}", re.IGNORECASE
)
"""The verbs by which somebody changes a value, rather than tells of two."""
_CHANGE_HEADS = frozenset(stem[:3] for stem in word_list("change_stems").words)
_EXCHANGES = word_list("exchanges").words
_EQUALS = re.compile(
    rf"\b(?:{alternatives('equals')})\b|[=:：]|{alternatives('equals', has_spaces=False)}"
)


def _old_and_new(before: Table, between: Table) -> re.Pattern[str]:
    words = rf"\b(?:{alternatives(before)}) (.{{1,60}}?) (?:{alternatives(between)}) (.{{1,60}})"
    return re.compile(words, re.IGNORECASE)


_REPLACEMENTS: tuple[tuple[frozenset[str], tuple[str, ...], re.Pattern[str]], ...] = (
    (word_list("from").words, (), _old_and_new("from", "to")),
    (word_list("replace").words, (), _old_and_new("replace", "by")),
    (frozenset(), ("->", "→", "=>"), re.compile(r"(?<!\S)(\S{1,60}) ?(?:->|→|=>) ?(\S{1,60})")),
    (
        frozenset(),
        word_list("from").fragments,
        re.compile(
            rf"(?:{alternatives('from', has_spaces=False)})(.{{1,30}}?)"
            rf"(?:{alternatives('to', has_spaces=False)})(.{{1,30}})"
        ),
    ),
)
"""Words or signs that such a sentence has, and how it names the old value and the new one."""
_NAMING_WORDS = _OLD_VALUE_HINTS.union(*(words for words, _, _ in _REPLACEMENTS))
_NAMING_SIGNS = tuple(sign for _, signs, _ in _REPLACEMENTS for sign in signs)
"""What a sentence has that names an old value: one of these words or signs."""


class Claim(msgspec.Struct, frozen=True, gc=False):
    """A value that a sentence gives to a key: `port 8080`."""

    key: str
    qualifier: str
    value: str
    unit: str
    """The word behind the value: `days` in `30 days`; empty where none follows."""


@lru_cache(maxsize=4096)
def find_claims(text: str) -> tuple[Claim, ...]:
    """Find the values with a digit in them, each with the noun that it belongs to."""
    return tuple(_read_claims(text)) if DIGIT.search(text) else ()


def _read_claims(text: str) -> Iterator[Claim]:
    tokens: list[str] = _CLAIM_TOKEN.findall(text.lower())[:_MAX_TOKENS]
    for at, token in enumerate(tokens):
        if not DIGIT.search(token):
            continue
        counted = _COUNTED.match(token)
        value = counted[0] if counted else token
        nouns = list(_find_nouns(reversed(tokens[max(0, at - 5) : at])))
        if not nouns:
            nouns = list(_find_nouns(tokens[at + 1 : at + 4]))[:1]
        if nouns and nouns[0] not in _NOT_SUBJECTS:
            unit = "".join(tokens[at + 1 : at + 2])
            unit = unit[:_STEM_CHARS] if unit.isalpha() and unit not in FILLERS else ""
            yield Claim(nouns[0], nouns[1] if len(nouns) > 1 else "", value, unit)


def _find_nouns(tokens: Iterable[str]) -> Iterator[str]:
    """Give the noun that stands nearest, and the one that stands directly before it."""
    is_found = False
    for token in tokens:
        if DIGIT.search(token) or not token[0].isalpha():
            return
        if token in FILLERS:
            if is_found:
                return
        elif token.isascii():
            yield token.removesuffix("s") if len(token) > _STEM_CHARS else token
            is_found = True
        elif _HAN.match(token):
            # Chinese puts what it speaks of last: 服务端口 is the service's port.
            bare = _GLUED_WORDS.sub("", token)
            if bare:
                yield bare[-2:]
                yield bare[:-2]
                return
        else:
            yield token[:_STEM_CHARS]
            is_found = True


def is_same_kind(first: str, second: str) -> bool:
    """Tell whether two values are of one form: numbers of like length and unit, or names."""
    if first.isdigit() and second.isdigit() and abs(len(first) - len(second)) > 1:
        return False
    if not first[:1].isdigit() and not second[:1].isdigit():
        return first[:1].isalpha() == second[:1].isalpha()
    return first.strip("0123456789._,-") == second.strip("0123456789._,-")


@lru_cache(maxsize=256)
def value_pattern(value: str) -> re.Pattern[str]:
    """Match a value as a whole, not as a part of a longer number or name."""
    # Chinese puts no space before a value, so its letters are no part of a Latin one.
    before, after = ("[A-Za-z0-9_]" if end.isascii() else r"\w" for end in (value[:1], value[-1:]))
    behind = "" if _HAN.match(value[-1:]) else rf"(?!{after}|\.\d)"
    # The value first, and then a look back over it: an expression passes quickly to a digit.
    over = f".{{{len(value)}}}"
    return re.compile(rf"(?i:{re.escape(value)}){behind}(?<!{before}{over})(?<!\d\.{over})")


class SentenceClaims(msgspec.Struct, frozen=True, kw_only=True):
    """A sentence as the comparison needs it; `read_sentence_claims` makes it."""

    text: str
    is_user: bool
    is_rule: bool
    is_choice: bool
    wording: Wording
    claims: tuple[Claim, ...]
    """The values that it gives; empty where it cannot replace one."""
    old_values: tuple[str, ...]
    """The values that it calls old itself."""
    is_change: bool
    frames: tuple[tuple[tuple[str, ...], str], ...]
    """Its words without one of its values, and that value: see `_read_frames`."""


def read_sentence_claims(
    text: str, wording: Wording, *, is_user: bool, is_rule: bool, is_choice: bool
) -> SentenceClaims:
    """Read what a sentence alone says of values."""
    claims: tuple[Claim, ...] = ()
    old_values: tuple[str, ...] = ()
    is_change = False
    if is_user or is_choice or DIGIT.search(text):
        claims = find_claims(text)
        if claims or _may_name_old_value(wording):
            is_change = _is_change(wording, is_user=is_user)
            old_values = tuple(dict.fromkeys(find_old_values(text, wording))) if is_change else ()
    return SentenceClaims(
        text=text,
        is_user=is_user,
        is_rule=is_rule,
        is_choice=is_choice,
        wording=wording,
        claims=claims,
        old_values=old_values,
        is_change=is_change,
        frames=tuple(_read_frames(wording.lower, claims)) if is_user and claims else (),
    )


def _is_change(wording: Wording, *, is_user: bool) -> bool:
    """Tell whether a sentence may change a value, rather than report or ask."""
    if wording.lower.rstrip(" \"')").endswith(("?", "？")) or has_marker(wording, COMPLAINTS):
        return False
    if has_marker(wording, CHANGES) or has_marker(wording, CHOICES):
        # "Now" and "new" alone are no change when the agent tells what it did.
        return is_user or _has_change_verb(wording)
    return is_user and not wording.words.isdisjoint(_OLD_VALUE_HINTS)


def is_exchange(wording: Wording) -> bool:
    return not wording.words.isdisjoint(_EXCHANGES) or _has_change_verb(wording)


def _has_change_verb(wording: Wording) -> bool:
    if wording.is_unspaced and any(sign in wording.lower for sign in _CHANGE_SIGNS):
        return True
    # The beginnings of the words spare most searches.
    is_likely = not _CHANGE_HEADS.isdisjoint(word[:3] for word in wording.words)
    return is_likely and _CHANGE_VERBS.search(wording.lower) is not None


def _read_frames(lower: str, claims: Sequence[Claim]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Give a sentence's words without each of its values that stands behind a verb of being.

    "Step 3 is done" replaces no other step.
    """
    equals = _EQUALS.search(lower)
    if equals is None or lower.endswith(("?", "？")):
        return
    tokens: list[str] = TOKEN.findall(lower)[:_MAX_TOKENS]
    for value in dict.fromkeys(claim.value for claim in claims):
        if tokens.count(value) > 1 or lower.find(value) < equals.end():
            continue
        frame = tuple("" if token == value else token for token in tokens)
        if len(frame) >= _MIN_FRAME:
            yield frame, value


def _may_name_old_value(wording: Wording) -> bool:
    return not wording.words.isdisjoint(_NAMING_WORDS) or any(
        sign in wording.lower for sign in _NAMING_SIGNS
    )


def find_old_values(text: str, wording: Wording) -> Iterator[str]:
    """Find the values that a sentence itself calls old."""
    head = text[:1000]
    for words, signs, pattern in _REPLACEMENTS:
        # Words and signs spare most searches.
        if wording.words.isdisjoint(words) and not any(sign in head for sign in signs):
            continue
        for match in pattern.finditer(head):
            old, new = _pick_value(match[1], is_last=True), _pick_value(match[2], is_last=False)
            if old and new and old != new and _is_alike(old, new) and _CHANGE_VERBS.search(head):
                yield old
    if wording.words.isdisjoint(_OLD_VALUE_HINTS):
        return
    tokens: list[str] = TOKEN.findall(head)
    for match in _OLD_VALUE.finditer(head):
        old = _pick_value(match[1], is_last=False)
        has_partner = any(token != old and _is_alike(old, token) for token in tokens)
        if old and is_name(old) and has_partner:
            yield old


def _pick_value(phrase: str, *, is_last: bool) -> str:
    """Pick the value that a phrase names: a token with a digit, else the outermost one."""
    words: list[str] = TOKEN.findall(phrase)
    tokens = [word for word in words if word.lower() not in FILLERS | _NOT_SUBJECTS]
    tokens = tokens[-3:] if is_last else tokens[:3]
    outermost = tokens[-1 if is_last else 0] if tokens else ""
    return next(filter(has_digit, tokens), outermost)


def _is_alike(old: str, new: str) -> bool:
    """Tell whether one value can take the place of the other."""
    if has_digit(old) != has_digit(new):
        return False
    return is_same_kind(old, new) if has_digit(old) else new.lower() not in FILLERS


def has_digit(text: str) -> bool:
    return any(map(str.isdigit, text))


def is_name(token: str) -> bool:
    return any(c.isdigit() or c.isupper() or c in "_./-" for c in token) and len(token) > 1
