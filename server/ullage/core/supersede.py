"""Superseded values: which value a later sentence replaced, and what becomes of the earlier one."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

import msgspec

from ullage.core.claims import (
    DIGIT,
    FILLERS,
    MAX_TOKENS,
    NO_KEYS,
    TOKEN,
    UNITS,
    Claim,
    claims,
    is_same_kind,
    whole_value,
)
from ullage.core.wording import CHANGES, CHOICES, NO_RULE, Worded, has_marker, rule_strength, worded

OLD_VALUE = "[old value]"
_MAX_CLAIM_CHARS = 160
"""A longer sentence tells more than the value that was replaced; chosen."""
_MIN_FRAME = 3
"""Words that two sentences must share to say the same of another value; chosen."""
_PAIRS = (
    (
        frozenset("from von vom de da с із з".split()),
        (),
        re.compile(
            r"\b(?:from|von|vom|de|da|с|із|з) (.{1,60}?) "
            r"(?:to|auf|zu|nach|a|à|para|na|на|до) (.{1,60})",
            re.IGNORECASE,
        ),
    ),
    (
        frozenset("replace replaced replacing swap swapped rename renamed ersetze ersetzt".split()),
        (),
        re.compile(
            r"\b(?:replaced?|replacing|swap(?:ped)?|renamed?|ersetze|ersetzt) (.{1,60}?) "
            r"(?:with|by|to|for|durch|as) (.{1,60})",
            re.IGNORECASE,
        ),
    ),
    (
        frozenset[str](),
        ("->", "→", "=>"),
        re.compile(r"(?<!\S)(\S{1,60}) ?(?:->|→|=>) ?(\S{1,60})"),
    ),
    (frozenset[str](), ("从",), re.compile(r"从(.{1,30}?)(?:改成|改为|换成|到|改到)(.{1,30})")),
)
"""Words or signs that such a sentence has, and how it names the old value and the new one."""
_OLD_HEADS = frozenset(
    "instead rather longer not anstelle anstatt statt nicht lieu vez lugar invece вместо замість "
    "previously formerly no non".split()
)
_NAMING = frozenset[str]().union(_OLD_HEADS, *(heads for heads, _, _ in _PAIRS))
_ARROWS = tuple(sign for _, signs, _ in _PAIRS for sign in signs)
"""What a sentence has that names an old value: one of these words or signs."""
_OLD_ONLY = re.compile(
    r"(?:\binstead of|\brather than|\bno longer|(?:,|(?<=\d)) not|, nicht|, no|\banstelle von|"
    r"\banstatt|\bstatt|\bnicht mehr|\bau lieu de|\ben vez de|\ben lugar de|\binvece di|"
    r"\bem vez de|\bвместо|\bзамість|\bpreviously|\bformerly) (.{1,60})",
    re.IGNORECASE,
)


_CHANGE_STEMS = (
    "chang switch bump rais lower updat upgrad downgrad renam increas reduc replac swap correct "
    "adjust shift rotat set mov änder erhöh senk umstell wechs cambi sube subi baj pasa pass "
    "remplac mud alter aument измен помен замен увелич уменьш зміни замін"
).split()
"""Beginnings of the verbs by which somebody changes a value, rather than tells of two."""
_CHANGE_VERBS = re.compile(rf"\b(?:{'|'.join(_CHANGE_STEMS)})\w{{0,5}}\b|[改换調]", re.IGNORECASE)
_CHANGE_HEADS = frozenset(stem[:3] for stem in _CHANGE_STEMS)
_CHANGE_SIGNS = re.compile("[改换調]")
_EXCHANGES = frozenset("use make take instead actually rather nimm nutze lieber usa mejor".split())
_SETTERS = (
    r"(?:us(?:e|es|ed|ing)|with|via|on|to|is|are|be|cho(?:o?se|sen)|pick(?:ed)?|nutz\w*|verwend\w*|"
    r"auf|mit|utilis\w*|usa\w*|uso|con|avec|использу\w*|на|через) (?:the |a |an |die |das |den )?"
)
"""What stands before a plain word that was chosen; any other word of its like stays."""
_FORBIDS = re.compile(
    r"\b(?:never|not|don['’]?t|mustn['’]?t|shouldn['’]?t|nicht|nie|niemals|kein\w*|jamais|ne|nunca|"
    r"não|non|mai|niet|nooit|aldrig|inte|ikke|никогда|не|ніколи|nigdy)\b|[不勿别別]|禁止|ない"
)
_COPULA = re.compile(
    r"\b(?:is|are|be|equals|ist|sind|es|son|est|sont|é|são|è|sono)\b|[=:：为是]|設定|设",
)


class Retired(msgspec.Struct, frozen=True, kw_only=True):
    """A value that does not hold any longer, from a sentence on."""

    value: str
    key: str
    unit: str
    n_sentence: int
    is_by_user: bool
    has_digit: bool

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
            return whole_value(self.value)
        if self.has_digit and self.unit:
            return _with_unit(self.value, self.unit)
        return None


@lru_cache(maxsize=256)
def _with_unit(value: str, unit: str) -> re.Pattern[str]:
    before = rf"(?<![\w.,].{{{len(value)}}})"
    return re.compile(rf"{re.escape(value)}{before}[ -]?{re.escape(unit)}", re.IGNORECASE)


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """A sentence as the comparison needs it."""

    text: str
    is_user: bool
    is_rule: bool
    is_choice: bool
    ready: Worded


def retired_values(said: Sequence[Said]) -> list[Retired]:
    """Find the values that a later sentence replaced: the same subject got another one."""
    found: list[Retired] = []
    current: dict[str, dict[Claim, Said]] = {}
    stated: dict[tuple[str, ...], tuple[str, str]] = {}
    for at, sentence in enumerate(said):
        if not (sentence.is_user or sentence.is_choice or DIGIT.search(sentence.text)):
            continue
        own = claims(sentence.text)
        if not own and not _may_name_old(sentence.ready):
            continue
        is_change = _tells_change(sentence)
        old = list(dict.fromkeys(_named_old(sentence.text, sentence.ready))) if is_change else []
        for value in old:
            known = [claim for claim in own if claim.value == value.lower()]
            found.append(_retired(value, known[0] if known else None, at, sentence))
        lowered = {value.lower() for value in old}
        for claim in own:
            if claim.value in lowered:
                continue
            for name in filter(None, (claim.key, claim.qualifier)):
                for earlier, source in list(current.get(name, {}).items()):
                    is_allowed = is_change and (sentence.is_user or not source.is_user)
                    is_allowed = is_allowed or (sentence.is_user and _is_remeasured(earlier, claim))
                    is_allowed = is_allowed and not _are_both_forbidden(source, sentence)
                    if is_allowed and _is_replaced(earlier, source, claim, sentence):
                        found.append(_retired(earlier.value, earlier, at, sentence))
                        current[name].pop(earlier)
            for name in filter(None, (claim.key, claim.qualifier)):
                current.setdefault(name, {})[claim] = sentence
        if sentence.is_user:
            found += _restated(sentence, at, own, stated)
    return [item for item in found if not _is_revived(item, said)]


def _tells_change(sentence: Said) -> bool:
    """Tell whether a sentence may change a value, rather than report or ask."""
    ready = sentence.ready
    if ready.lower.rstrip(" \"')").endswith(("?", "？")) or has_marker(ready, NO_RULE):
        return False
    if has_marker(ready, CHANGES) or has_marker(ready, CHOICES):
        # "Now" and "new" alone are no change when the agent tells what it did.
        return sentence.is_user or _has_change_verb(ready)
    return sentence.is_user and not ready.words.isdisjoint(_OLD_HEADS)


def _exchanges(ready: Worded) -> bool:
    return not ready.words.isdisjoint(_EXCHANGES) or _has_change_verb(ready)


def _has_change_verb(ready: Worded) -> bool:
    # The beginnings of the words spare most searches.
    is_likely = not _CHANGE_HEADS.isdisjoint(word[:3] for word in ready.words)
    is_likely = is_likely or (ready.is_unspaced and _CHANGE_SIGNS.search(ready.lower) is not None)
    return is_likely and _CHANGE_VERBS.search(ready.lower) is not None


def _are_both_forbidden(earlier: Said, later: Said) -> bool:
    """Tell whether two sentences each forbid something: the second forbids one thing more.

    Unless it begins with a change: "Change that: do not go above 600 MB."
    """
    if not (earlier.is_user and later.is_user):
        return False
    found = [_FORBIDS.search(sentence.ready.lower) for sentence in (earlier, later)]
    if found[0] is None or found[1] is None:
        return False
    return not has_marker(worded(later.ready.lower[: found[1].start()]), CHANGES)


def _is_remeasured(earlier: Claim, later: Claim) -> bool:
    """Tell whether a measure of the same thing is given again: a term of 30 days, then of 75."""
    is_same = (earlier.key, earlier.qualifier) == (later.key, later.qualifier)
    return is_same and earlier.unit == later.unit and later.unit in UNITS


def _restated(
    sentence: Said, at: int, own: Sequence[Claim], stated: dict[tuple[str, ...], tuple[str, str]]
) -> Iterator[Retired]:
    """Find the value of an earlier sentence that says the same but for its value.

    What differs has to stand behind a verb of being: "step 3 is done" replaces no other step.
    """
    values = [claim.value for claim in own]
    copula = _COPULA.search(sentence.ready.lower)
    if not values or copula is None or sentence.ready.lower.endswith(("?", "？")):
        return
    tokens: list[str] = TOKEN.findall(sentence.ready.lower)[:MAX_TOKENS]
    for value in dict.fromkeys(values):
        if tokens.count(value) > 1 or sentence.ready.lower.find(value) < copula.end():
            continue
        frame = tuple("" if token == value else token for token in tokens)
        if len(frame) < _MIN_FRAME:
            continue
        before, text = stated.get(frame, ("", ""))
        if before and before != value and is_same_kind(before, value):
            known = next((claim for claim in claims(text) if claim.value == before), None)
            yield _retired(before, known, at, sentence)
        stated[frame] = (value, sentence.text)


def _retired(value: str, known: Claim | None, at: int, by: Said) -> Retired:
    return Retired(
        value=value,
        key=known.key if known else "",
        unit=known.unit if known else "",
        n_sentence=at,
        is_by_user=by.is_user,
        has_digit=any(char.isdigit() for char in value),
    )


def _is_replaced(earlier: Claim, source: Said, later: Claim, sentence: Said) -> bool:
    if earlier.value == later.value or not is_same_kind(earlier.value, later.value):
        return False
    if not later.value[:1].isdigit() and not _exchanges(sentence.ready):
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
        or earlier.qualifier in sentence.ready.words
        or later.qualifier in source.ready.words
    )


def _may_name_old(ready: Worded) -> bool:
    return not ready.words.isdisjoint(_NAMING) or any(sign in ready.lower for sign in _ARROWS)


def _named_old(text: str, ready: Worded) -> Iterator[str]:
    """Find the values that a sentence itself calls old."""
    head = text[:1000]
    for heads, signs, pattern in _PAIRS:
        # Words and signs spare most searches.
        if ready.words.isdisjoint(heads) and not any(sign in head for sign in signs):
            continue
        for match in pattern.finditer(head):
            old, new = _value_in(match[1], is_last=True), _value_in(match[2], is_last=False)
            if old and new and old != new and _is_alike(old, new) and _CHANGE_VERBS.search(head):
                yield old
    if ready.words.isdisjoint(_OLD_HEADS):
        return
    tokens: list[str] = TOKEN.findall(head)
    for match in _OLD_ONLY.finditer(head):
        old = _value_in(match[1], is_last=False)
        has_partner = any(token != old and _is_alike(old, token) for token in tokens)
        if old and _is_name(old) and has_partner:
            yield old


def _value_in(phrase: str, *, is_last: bool) -> str:
    found: list[str] = TOKEN.findall(phrase)
    tokens = [token for token in found if token.lower() not in FILLERS | NO_KEYS]
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


def _is_name(token: str) -> bool:
    return any(c.isdigit() or c.isupper() or c in "_./-" for c in token) and len(token) > 1


def _is_revived(item: Retired, said: Sequence[Said]) -> bool:
    """Tell whether the user came back to a value after it had been replaced."""
    if not item.has_digit:
        return False
    pattern = whole_value(item.value)
    value = item.value.lower()
    for sentence in said[item.n_sentence + 1 :]:
        if sentence.is_user and value in sentence.ready.lower and pattern.search(sentence.text):
            named = {value.lower() for value in _named_old(sentence.text, sentence.ready)}
            if item.value.lower() not in named:
                return True
    return False


def resolve(
    said: Sequence[Said], retired: Sequence[Retired]
) -> tuple[dict[int, str], list[Retired]]:
    """Say what becomes of sentences with replaced values: new text, or "" for none.

    With it come the replacements that took effect.

    A rule of the user is only changed by the user; a clear rule stays verbatim where it names
    what it forbids.
    """
    changed: dict[int, str] = {}
    effective: list[Retired] = []
    lowers = [sentence.text.lower() for sentence in said]
    for item in retired:
        value = item.value.lower()
        holding = [at for at, lower in enumerate(lowers) if value in lower]
        pattern = whole_value(item.value)
        if not any(at < item.n_sentence and pattern.search(said[at].text) for at in holding):
            # Nobody had set this value before: the sentence tells a story, not a change.
            continue
        effective.append(item)
        for at in holding:
            text = changed.get(at, said[at].text)
            if text and pattern.search(text) and _may_change(said[at], item, at):
                changed[at] = _without(text, pattern, item, at)
    return changed, effective


def retired_patterns(retired: Sequence[Retired]) -> list[re.Pattern[str]]:
    """Give patterns of the replaced values that are distinct enough to be looked for in data."""
    return [pattern for item in retired if (pattern := item.pattern) is not None]


def masked(text: str, retired: Sequence[Retired]) -> str:
    """Mask replaced values in a text that is shown as a whole."""
    for item in retired:
        # A plain search spares most patterns.
        if item.value in text:
            pattern = whole_value(item.value) if item.is_named else item.pattern
            text = text if pattern is None else _masked_value(text, pattern)
    return text


@lru_cache(maxsize=1024)
def _masked_value(text: str, pattern: re.Pattern[str]) -> str:
    return pattern.sub(OLD_VALUE, text)


def _may_change(sentence: Said, item: Retired, at: int) -> bool:
    if not item.has_digit and at < item.n_sentence and not _is_name(item.value):
        chosen = re.compile(rf"\b{_SETTERS}{re.escape(item.value)}\b", re.IGNORECASE)
        if not chosen.search(sentence.text):
            return False
    if sentence.is_user and sentence.is_rule:
        if not item.is_by_user or at > item.n_sentence:
            return False
        is_clear = rule_strength(worded(sentence.text)) > 1
        return not (is_clear and at == item.n_sentence)
    return item.has_digit or (at <= item.n_sentence and sentence.is_choice)


def _is_claim(text: str, value: str) -> bool:
    """Tell whether a sentence ends in giving the value, rather than tells something of it."""
    before, _, after = text.lower().partition(value.lower())
    n_before, n_after = (
        sum(match[0] not in FILLERS for match in TOKEN.finditer(part)) for part in (before, after)
    )
    return n_before > n_after


def _without(text: str, pattern: re.Pattern[str], item: Retired, at: int) -> str:
    if item.has_digit and not item.is_distinct and at != item.n_sentence:
        # A small number stands for many things: only the claim on the same key goes.
        known = [claim for claim in claims(text) if claim.value == item.value.lower()]
        is_same = any(claim.key == item.key for claim in known)
        has_unit = bool(item.unit) and any(claim.unit == item.unit for claim in known)
        if not is_same and not has_unit and not item.is_named:
            return text
    is_short = len(text) < _MAX_CLAIM_CHARS and "," not in text
    if at < item.n_sentence and is_short and _is_claim(text, item.value):
        return ""
    return pattern.sub(OLD_VALUE, text)
