"""Superseded values: which value a later sentence replaced, and what becomes of the earlier one."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate

import msgspec

from ullage.core.text import claims
from ullage.core.text.claims import Claim, SentenceClaims, is_same_kind, value_pattern
from ullage.core.text.word_lists import alternatives
from ullage.core.text.wording import CHANGES, has_marker, read_wording, reads_as_rule

OLD_VALUE = "[old value]"
_MAX_CLAIM_CHARS = 160
"""A longer sentence tells more than the value that was replaced; chosen."""
_SETTERS = rf"(?:{alternatives('setters')}) (?:(?:{alternatives('articles')}) )?"
"""What stands before a plain word that was chosen; any other word of its like stays."""
_FORBIDS = re.compile(
    rf"\b(?:{alternatives('prohibitions')})\b|{alternatives('prohibitions', has_spaces=False)}"
)


class ReplacedValue(msgspec.Struct, frozen=True, kw_only=True):
    """A value that does not hold any longer, from a sentence on."""

    value: str
    key: str
    unit: str
    n_sentence: int
    is_by_user: bool

    @property
    def has_digit(self) -> bool:
        return claims.has_digit(self.value)

    @property
    def is_distinct(self) -> bool:
        """Whether the value is long enough to mean the same wherever it stands."""
        return self.has_digit and (len(self.value) > 3 or not self.value.isdecimal())

    @property
    def is_named(self) -> bool:
        """Whether the user called this very number old, whatever it belongs to."""
        return self.has_digit and self.is_by_user and not self.key and len(self.value) > 2

    @property
    def pattern(self) -> re.Pattern[str] | None:
        """Match the value in any text; None where it means something else in most."""
        if self.is_distinct:
            return value_pattern(self.value)
        if self.has_digit and self.unit:
            return _with_unit(self.value, self.unit)
        return None


@lru_cache(maxsize=256)
def _with_unit(value: str, unit: str) -> re.Pattern[str]:
    before = rf"(?<![\w.,].{{{len(value)}}})"
    return re.compile(rf"{re.escape(value)}{before}[ -]?{re.escape(unit)}", re.IGNORECASE)


def resolve_replaced(
    sentences: Sequence[SentenceClaims],
) -> tuple[dict[int, str], list[ReplacedValue]]:
    """Say what becomes of sentences with replaced values: new text, or "" for none.

    With it come the replacements that took effect.

    A rule of the user is only changed by the user; a clear rule stays verbatim where it names
    what it forbids.
    """
    places = _ValuePlaces(sentences)
    changed: dict[int, str] = {}
    effective: list[ReplacedValue] = []
    for item in _find_replaced(sentences, places):
        holding = places.of(item.value.lower())
        pattern = value_pattern(item.value)
        if not any(at < item.n_sentence and pattern.search(sentences[at].text) for at in holding):
            # Nobody had set this value before: the sentence tells a story, not a change.
            continue
        effective.append(item)
        for at in holding:
            text = changed.get(at, sentences[at].text)
            if text and pattern.search(text) and _may_change(sentences[at], item, at):
                changed[at] = _remove_value(text, pattern, item, at)
    return changed, effective


def holds_old_value(text: str, replaced: Iterable[ReplacedValue]) -> bool:
    """Tell whether data names a replaced value that is distinct enough to be looked for in it."""
    return any(item.pattern and item.pattern.search(text) for item in replaced)


def mask_old_values(text: str, replaced: Iterable[ReplacedValue]) -> str:
    """Mask replaced values in a text that is shown as a whole."""
    for item in replaced:
        # A plain search spares most patterns.
        if item.value in text:
            pattern = value_pattern(item.value) if item.is_named else item.pattern
            text = _mask_value(text, pattern) if pattern else text
    return text


@lru_cache(maxsize=1024)
def _mask_value(text: str, pattern: re.Pattern[str]) -> str:
    return pattern.sub(OLD_VALUE, text)


class _ValuePlaces:
    """Where each value stands in what was said, found in one reading of all sentences."""

    def __init__(self, sentences: Sequence[SentenceClaims]) -> None:
        texts = [sentence.text.lower() for sentence in sentences]
        # No value holds a line break: none is found across two sentences.
        self._all = "\n".join(texts)
        self._starts = list(accumulate((len(text) + 1 for text in texts), initial=0))

    def of(self, value: str) -> list[int]:
        """List the sentences that hold a value, in order; in part of a word counts too."""
        places: list[int] = []
        at = self._all.find(value)
        while at >= 0:
            places.append(bisect_right(self._starts, at) - 1)
            at = self._all.find(value, self._starts[places[-1] + 1])
        return places


def _find_replaced(
    sentences: Sequence[SentenceClaims], places: _ValuePlaces
) -> list[ReplacedValue]:
    """Find the values that a later sentence replaced: the same subject got another one."""
    replaced: list[ReplacedValue] = []
    current: dict[str, dict[Claim, SentenceClaims]] = {}
    stated: dict[tuple[str, ...], tuple[str, str]] = {}
    for at, sentence in enumerate(sentences):
        if not sentence.claims and not sentence.old_values:
            continue
        for value in sentence.old_values:
            claim = _find_claim(sentence.claims, value.lower())
            replaced.append(_make_replaced(value, claim, at, sentence))
        lowered = {value.lower() for value in sentence.old_values}
        for claim in sentence.claims:
            if claim.value in lowered:
                continue
            names = [name for name in (claim.key, claim.qualifier) if name]
            for name in names:
                for earlier in _list_replaced(claim, sentence, current.get(name, {})):
                    replaced.append(_make_replaced(earlier.value, earlier, at, sentence))
                    current[name].pop(earlier)
            for name in names:
                current.setdefault(name, {})[claim] = sentence
        replaced += _find_restated(sentence, at, stated)
    return [item for item in replaced if not _is_revived(item, sentences, places)]


def _find_claim(sentence_claims: Iterable[Claim], value: str) -> Claim | None:
    return next((claim for claim in sentence_claims if claim.value == value), None)


def _list_replaced(
    claim: Claim, sentence: SentenceClaims, current: Mapping[Claim, SentenceClaims]
) -> list[Claim]:
    """List the values of one name that a claim takes the place of."""
    is_measure = sentence.is_user and claim.unit in claims.UNITS
    if not sentence.is_change and not is_measure:
        return []
    return [
        earlier
        for earlier, source in current.items()
        if _is_replaced(earlier, source, claim, sentence)
        and (
            (sentence.is_change and (sentence.is_user or not source.is_user))
            or (is_measure and _is_remeasured(earlier, claim))
        )
        and not _are_both_forbidden(source, sentence)
    ]


def _are_both_forbidden(earlier: SentenceClaims, later: SentenceClaims) -> bool:
    """Tell whether two sentences each forbid something: the second forbids one thing more.

    Unless it begins with a change: "Change that: do not go above 600 MB."
    """
    if not (earlier.is_user and later.is_user):
        return False
    forbids = _FORBIDS.search(later.wording.lower)
    if forbids is None or _FORBIDS.search(earlier.wording.lower) is None:
        return False
    return not has_marker(read_wording(later.wording.lower[: forbids.start()]), CHANGES)


def _is_remeasured(earlier: Claim, later: Claim) -> bool:
    """Tell whether a measure of the same thing is given again: a term of 30 days, then of 75."""
    is_same = (earlier.key, earlier.qualifier) == (later.key, later.qualifier)
    return is_same and earlier.unit == later.unit and later.unit in claims.UNITS


def _find_restated(
    sentence: SentenceClaims, at: int, stated: dict[tuple[str, ...], tuple[str, str]]
) -> Iterator[ReplacedValue]:
    """Find the value of an earlier sentence that says the same but for its value."""
    for frame, value in sentence.frames:
        before, text = stated.get(frame, ("", ""))
        if before and before != value and is_same_kind(before, value):
            claim = _find_claim(claims.find_claims(text), before)
            yield _make_replaced(before, claim, at, sentence)
        stated[frame] = (value, sentence.text)


def _make_replaced(value: str, claim: Claim | None, at: int, by: SentenceClaims) -> ReplacedValue:
    return ReplacedValue(
        value=value,
        key=claim.key if claim else "",
        unit=claim.unit if claim else "",
        n_sentence=at,
        is_by_user=by.is_user,
    )


def _is_replaced(
    earlier: Claim, source: SentenceClaims, later: Claim, sentence: SentenceClaims
) -> bool:
    if earlier.value == later.value or not is_same_kind(earlier.value, later.value):
        return False
    if not later.value[:1].isdigit() and not claims.is_exchange(sentence.wording):
        # To turn to another ticket now is not to give up the first.
        return False
    # Word order differs between languages: "server port", "порт сервера".
    if later.key != earlier.key:
        return later.key == earlier.qualifier or later.qualifier == earlier.key
    # Two ports may live side by side: of the proxy and of the database.
    return (
        not earlier.qualifier
        or not later.qualifier
        or earlier.qualifier == later.qualifier
        or earlier.qualifier in sentence.wording.words
        or later.qualifier in source.wording.words
    )


def _is_revived(
    item: ReplacedValue, sentences: Sequence[SentenceClaims], places: _ValuePlaces
) -> bool:
    """Tell whether the user came back to a value after it had been replaced."""
    if not item.has_digit:
        return False
    pattern = value_pattern(item.value)
    value = item.value.lower()
    for at in places.of(value):
        sentence = sentences[at]
        if at > item.n_sentence and sentence.is_user and pattern.search(sentence.text):
            named = {old.lower() for old in claims.find_old_values(sentence.text, sentence.wording)}
            if value not in named:
                return True
    return False


def _may_change(sentence: SentenceClaims, item: ReplacedValue, at: int) -> bool:
    if not item.has_digit and at < item.n_sentence and not claims.is_name(item.value):
        chosen = re.compile(rf"\b{_SETTERS}{re.escape(item.value)}\b", re.IGNORECASE)
        if not chosen.search(sentence.text):
            return False
    if sentence.is_user and sentence.is_rule:
        if not item.is_by_user or at > item.n_sentence:
            return False
        is_clear = reads_as_rule(sentence.text)
        return not (is_clear and at == item.n_sentence)
    return item.has_digit or (at <= item.n_sentence and sentence.is_choice)


def _is_claim(text: str, value: str) -> bool:
    """Tell whether a sentence ends in giving the value, rather than tells something of it."""
    before, _, after = text.lower().partition(value.lower())
    n_before, n_after = (
        sum(match[0] not in claims.FILLERS for match in claims.TOKEN.finditer(part))
        for part in (before, after)
    )
    return n_before > n_after


def _remove_value(text: str, pattern: re.Pattern[str], item: ReplacedValue, at: int) -> str:
    if item.has_digit and not item.is_distinct and at != item.n_sentence:
        # A small number stands for many things: only the claim on the same key goes.
        claimed = [c for c in claims.find_claims(text) if c.value == item.value.lower()]
        is_same = any(c.key == item.key for c in claimed)
        has_unit = bool(item.unit) and any(c.unit == item.unit for c in claimed)
        if not is_same and not has_unit and not item.is_named:
            return text
    is_short = len(text) < _MAX_CLAIM_CHARS and "," not in text
    if at < item.n_sentence and is_short and _is_claim(text, item.value):
        return ""
    return pattern.sub(OLD_VALUE, text)
