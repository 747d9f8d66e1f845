"""A sentence by itself: the values that it gives, and whether it says that others are old."""

import re
from collections.abc import Iterator, Sequence

import msgspec

from ullage.core.text.claims import (
    DIGIT,
    FILLERS,
    MAX_CLAIM_TOKENS,
    NOT_SUBJECTS,
    TOKEN,
    Claim,
    find_claims,
    is_same_kind,
)
from ullage.core.text.word_lists import alternatives, list_entries, word_list
from ullage.core.text.wording import CHANGES, CHOICES, COMPLAINTS, Wording, has_marker

_MIN_FRAME = 3
"""Words that two sentences must share to say the same of another value; chosen."""
_PAIRS = (
    (
        word_list("from").words,
        (),
        re.compile(
            rf"\b(?:{alternatives('from')}) (.{{1,60}}?) (?:{alternatives('to')}) (.{{1,60}})",
            re.IGNORECASE,
        ),
    ),
    (
        word_list("replace").words,
        (),
        re.compile(
            rf"\b(?:{alternatives('replace')}) (.{{1,60}}?) (?:{alternatives('by')}) (.{{1,60}})",
            re.IGNORECASE,
        ),
    ),
    (
        frozenset[str](),
        ("->", "→", "=>"),
        re.compile(r"(?<!\S)(\S{1,60}) ?(?:->|→|=>) ?(\S{1,60})"),
    ),
    (
        frozenset[str](),
        list_entries("from", has_spaces=False),
        re.compile(
            rf"(?:{alternatives('from', has_spaces=False)})(.{{1,30}}?)"
            rf"(?:{alternatives('to', has_spaces=False)})(.{{1,30}})"
        ),
    ),
)
"""Words or signs that such a sentence has, and how it names the old value and the new one."""
_OLD_VALUE_HINTS = word_list("old_value_hints").words
_NAMING = frozenset[str]().union(_OLD_VALUE_HINTS, *(heads for heads, _, _ in _PAIRS))
_ARROWS = tuple(sign for _, signs, _ in _PAIRS for sign in signs)
"""What a sentence has that names an old value: one of these words or signs."""
_OLD_VALUE = re.compile(
    rf"(?:\b(?:{alternatives('old_value_follows')})|(?<=\d) not"
    rf"|, (?:{alternatives('old_value_follows_comma')})) (.{{1,60}})",
    re.IGNORECASE,
)
_CHANGE_STEMS = alternatives("change_stems")
_CHANGE_SIGNS = alternatives("change_stems", has_spaces=False)
_CHANGE_VERBS = re.compile(rf"\b(?:{_CHANGE_STEMS})\w{{0,5}}\b|{_CHANGE_SIGNS}", re.IGNORECASE)
"""The verbs by which somebody changes a value, rather than tells of two."""
_CHANGE_HEADS = frozenset(stem[:3] for stem in list_entries("change_stems"))
_CHANGE_FRAGMENTS = re.compile(_CHANGE_SIGNS)
_EXCHANGES = word_list("exchanges").words
_COPULA = re.compile(
    rf"\b(?:{alternatives('equals')})\b|[=:：]|{alternatives('equals', has_spaces=False)}"
)


class SentenceClaims(msgspec.Struct, frozen=True, kw_only=True):
    """A sentence as the comparison needs it; `read_sentence_claims` makes it."""

    text: str
    lower: str
    is_user: bool
    is_rule: bool
    is_choice: bool
    wording: Wording
    own: tuple[Claim, ...]
    """The values that it gives; empty where it cannot replace one."""
    old: tuple[str, ...]
    """The values that it calls old itself."""
    is_change: bool
    frames: tuple[tuple[tuple[str, ...], str], ...]
    """Its words without one of its values, and that value: see `_frames`."""


def read_sentence_claims(
    text: str, wording: Wording, *, is_user: bool, is_rule: bool, is_choice: bool
) -> SentenceClaims:
    """Read of a sentence alone what it says of values."""
    own: tuple[Claim, ...] = ()
    old: tuple[str, ...] = ()
    is_change = False
    if is_user or is_choice or DIGIT.search(text):
        own = find_claims(text)
        if own or _may_name_old_value(wording):
            is_change = _is_change(wording, is_user=is_user)
            old = tuple(dict.fromkeys(find_old_values(text, wording))) if is_change else ()
    return SentenceClaims(
        text=text,
        lower=text.lower(),
        is_user=is_user,
        is_rule=is_rule,
        is_choice=is_choice,
        wording=wording,
        own=own,
        old=old,
        is_change=is_change,
        frames=tuple(_frames(wording.lower, own)) if is_user and own else (),
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
    # The beginnings of the words spare most searches.
    is_likely = not _CHANGE_HEADS.isdisjoint(word[:3] for word in wording.words)
    is_likely = is_likely or (
        wording.is_unspaced and _CHANGE_FRAGMENTS.search(wording.lower) is not None
    )
    return is_likely and _CHANGE_VERBS.search(wording.lower) is not None


def _frames(lower: str, own: Sequence[Claim]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Give a sentence's words without each of its values that stands behind a verb of being.

    "Step 3 is done" replaces no other step.
    """
    copula = _COPULA.search(lower)
    if copula is None or lower.endswith(("?", "？")):
        return
    tokens: list[str] = TOKEN.findall(lower)[:MAX_CLAIM_TOKENS]
    for value in dict.fromkeys(claim.value for claim in own):
        if tokens.count(value) > 1 or lower.find(value) < copula.end():
            continue
        frame = tuple("" if token == value else token for token in tokens)
        if len(frame) >= _MIN_FRAME:
            yield frame, value


def _may_name_old_value(wording: Wording) -> bool:
    return not wording.words.isdisjoint(_NAMING) or any(sign in wording.lower for sign in _ARROWS)


def find_old_values(text: str, wording: Wording) -> Iterator[str]:
    """Find the values that a sentence itself calls old."""
    head = text[:1000]
    for heads, signs, pattern in _PAIRS:
        # Words and signs spare most searches.
        if wording.words.isdisjoint(heads) and not any(sign in head for sign in signs):
            continue
        for match in pattern.finditer(head):
            old, new = _value_in(match[1], is_last=True), _value_in(match[2], is_last=False)
            if old and new and old != new and _is_alike(old, new) and _CHANGE_VERBS.search(head):
                yield old
    if wording.words.isdisjoint(_OLD_VALUE_HINTS):
        return
    tokens: list[str] = TOKEN.findall(head)
    for match in _OLD_VALUE.finditer(head):
        old = _value_in(match[1], is_last=False)
        has_partner = any(token != old and _is_alike(old, token) for token in tokens)
        if old and is_name(old) and has_partner:
            yield old


def _value_in(phrase: str, *, is_last: bool) -> str:
    found: list[str] = TOKEN.findall(phrase)
    tokens = [token for token in found if token.lower() not in FILLERS | NOT_SUBJECTS]
    tokens = tokens[-3:] if is_last else tokens[:3]
    for token in tokens:
        if any(char.isdigit() for char in token):
            return token
    if not tokens:
        return ""
    return tokens[-1] if is_last else tokens[0]


def _is_alike(old: str, new: str) -> bool:
    """Tell whether one value can take the place of the other."""
    has_digit = any(char.isdigit() for char in old)
    if has_digit != any(char.isdigit() for char in new):
        return False
    return is_same_kind(old, new) if has_digit else new.lower() not in FILLERS


def is_name(token: str) -> bool:
    return any(c.isdigit() or c.isupper() or c in "_./-" for c in token) and len(token) > 1
