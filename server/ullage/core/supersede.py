"""Superseded values: which value a later sentence replaced, and what becomes of the earlier one."""

import re
from collections.abc import Iterator, Sequence

import msgspec

from ullage.core.wording import CHANGES, CHOICES, Worded, has_marker, rule_strength, worded

OLD_VALUE = "[old value]"
_TOKEN = re.compile(r"[0-9A-Za-z_$@][\w$@%/-]*(?:[.:][\w$@%/-]+)*|[^\W\d_]+")
_DIGIT = re.compile(r"\d")
_MAX_TOKENS = 160
_FILLERS = frozenset(
    "a an the is are was be to at of on in for from with use using used uses set sets now new old "
    "should must will shall it this that as and or by run runs running listen listens default "
    "please let's make not instead actually change changed switch switched its our your my we i "
    "value number ist sind auf zu von der die das den dem ein eine einen soll muss jetzt bitte "
    "nutze verwende für mit und oder statt le la les un une de du des à est au sur pour avec el "
    "los las una es en para con o e il lo di da è per non на в с из и для это быть теперь нужно "
    "используй должен поменяй измени сделай nimm nehmt setze mach "
    "take put go went going have has keep only all any more than about up down".split()
)
_NO_KEYS = frozenset(
    "line lines test tests step steps option options item items issue bug commit attempt phase "
    "part parts files file chapter round passed failed page error errors times case cases day "
    "days hour hours minute minutes second seconds took after before last first pr ms s kb mb "
    "января utc id".split()
)
_CJK_VERBS = re.compile(
    r"改成|改为|改用|换成|使用|现在|必须|应该|请|用|是|为|到|设|的|把|将|を|は|に|が|へ"
)
_HAN = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_STEM_CHARS = 4
"""What is compared of a word that may be inflected; chosen."""
_PAIRS = (
    (
        frozenset("from von vom de da с із з".split()),
        re.compile(
            r"\b(?:from|von|vom|de|da|с|із|з) (.{1,60}?) "
            r"(?:to|auf|zu|nach|a|à|para|na|на|до) (.{1,60})",
            re.IGNORECASE,
        ),
    ),
    (
        frozenset("replace replaced replacing swap swapped rename renamed ersetze ersetzt".split()),
        re.compile(
            r"\b(?:replaced?|replacing|swap(?:ped)?|renamed?|ersetze|ersetzt) (.{1,60}?) "
            r"(?:with|by|to|for|durch|as) (.{1,60})",
            re.IGNORECASE,
        ),
    ),
    (frozenset[str](), re.compile(r"(?<!\S)(\S{1,60}) ?(?:->|→|=>) ?(\S{1,60})")),
    (frozenset[str](), re.compile(r"从(.{1,30}?)(?:改成|改为|换成|到|改到)(.{1,30})")),
)
"""Words that such a sentence has, and how it names the old value and the new one."""
_OLD_HEADS = frozenset(
    "instead rather longer not anstelle anstatt statt nicht lieu vez lugar invece вместо замість "
    "was previously".split()
)
_OLD_ONLY = re.compile(
    r"(?:\binstead of|\brather than|\bno longer|, not|\banstelle von|\banstatt|\bstatt|"
    r"\bnicht mehr|\bau lieu de|\ben vez de|\ben lugar de|\binvece di|\bem vez de|\bвместо|"
    r"\bзамість|\bwas|\bpreviously) (.{1,60})",
    re.IGNORECASE,
)


class Claim(msgspec.Struct, frozen=True, gc=False):
    """A value that a sentence gives to a key: `port 8080`."""

    key: str
    qualifier: str
    value: str


class Retired(msgspec.Struct, frozen=True, kw_only=True):
    """A value that does not hold any longer, from a sentence on."""

    value: str
    key: str
    n_sentence: int
    is_by_user: bool
    has_digit: bool


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """A sentence as the comparison needs it."""

    text: str
    is_user: bool
    is_rule: bool
    is_choice: bool
    ready: Worded


def claims(text: str) -> Iterator[Claim]:
    """Find the values with a digit in them, each with the noun that it belongs to."""
    if not _DIGIT.search(text):
        return
    tokens: list[str] = _TOKEN.findall(text.lower())[:_MAX_TOKENS]
    for at, token in enumerate(tokens):
        if not _DIGIT.search(token):
            continue
        nouns = list(_nouns(reversed(tokens[max(0, at - 5) : at])))
        if not nouns:
            nouns = list(_nouns(tokens[at + 1 : at + 4]))[:1]
        if nouns and nouns[0] not in _NO_KEYS:
            yield Claim(nouns[0], nouns[1] if len(nouns) > 1 else "", token)


def _nouns(tokens: Iterator[str] | Sequence[str]) -> Iterator[str]:
    for token in tokens:
        if _DIGIT.search(token):
            return
        if token.isascii():
            if token not in _FILLERS:
                yield token
        elif _HAN.match(token):
            # Chinese puts what it speaks of last: 服务端口 is the service's port.
            bare = _CJK_VERBS.sub("", token)
            if bare:
                yield bare[-2:]
                yield bare[:-2]
        elif token not in _FILLERS:
            yield token[:_STEM_CHARS]


def retired_values(said: Sequence[Said]) -> list[Retired]:
    """Find the values that a later sentence replaced."""
    found: list[Retired] = []
    current: dict[str, dict[Claim, Said]] = {}
    for at, sentence in enumerate(said):
        if not (sentence.is_user or sentence.is_choice or _DIGIT.search(sentence.text)):
            continue
        ready = sentence.ready
        own = list(claims(sentence.text))
        changes = has_marker(ready, CHANGES) or has_marker(ready, CHOICES)
        has_arrow = "→" in ready.lower or "->" in ready.lower
        old = list(_named_old(sentence.text, ready)) if changes or has_arrow else []
        for value in old:
            keys = [claim.key for claim in own if claim.value == value.lower()]
            found.append(_retired(value, keys[0] if keys else "", at, sentence))
        lowered = {value.lower() for value in old}
        for claim in own:
            if claim.value in lowered:
                continue
            for name in (claim.key, claim.qualifier) if changes else ():
                for earlier, source in list(current.get(name, {}).items()):
                    is_allowed = sentence.is_user or not source.is_user
                    if is_allowed and _is_replaced(earlier, source, claim, sentence):
                        found.append(_retired(earlier.value, claim.key, at, sentence))
                        current[name].pop(earlier)
            for name in filter(None, (claim.key, claim.qualifier)):
                current.setdefault(name, {})[claim] = sentence
    return [item for item in found if not _is_revived(item, said)]


def _retired(value: str, key: str, at: int, by: Said) -> Retired:
    return Retired(
        value=value,
        key=key,
        n_sentence=at,
        is_by_user=by.is_user,
        has_digit=any(char.isdigit() for char in value),
    )


def _is_replaced(earlier: Claim, source: Said, later: Claim, sentence: Said) -> bool:
    if earlier.value == later.value or not _is_same_kind(earlier.value, later.value):
        return False
    # Word order differs between languages: "server port", "порт сервера".
    if later.key != earlier.key:
        return later.key == earlier.qualifier or later.qualifier == earlier.key
    # Two ports may live side by side: of the proxy and of the database.
    return (
        not earlier.qualifier
        or not later.qualifier
        or earlier.qualifier in sentence.ready.words
        or later.qualifier in source.ready.words
    )


def _is_same_kind(one: str, other: str) -> bool:
    """Tell whether two values have the same unit and, being whole numbers, like lengths."""
    if one.isdigit() and other.isdigit() and abs(len(one) - len(other)) > 1:
        return False
    return one.lstrip("0123456789._,") == other.lstrip("0123456789._,")


def _named_old(text: str, ready: Worded) -> Iterator[str]:
    """Find the values that a sentence itself calls old."""
    for heads, pattern in _PAIRS:
        # The words spare most searches; an arrow and Chinese have none.
        if heads and ready.words.isdisjoint(heads):
            continue
        for match in pattern.finditer(text[:1000]):
            old, new = _value_in(match[1], is_last=True), _value_in(match[2], is_last=False)
            if old and new and old != new and _is_alike(old, new):
                yield old
    if ready.words.isdisjoint(_OLD_HEADS):
        return
    for match in _OLD_ONLY.finditer(text[:1000]):
        old = _value_in(match[1], is_last=False)
        if old and _is_name(old):
            yield old


def _value_in(phrase: str, *, is_last: bool) -> str:
    found: list[str] = _TOKEN.findall(phrase)
    tokens = [token for token in found if token.lower() not in _FILLERS]
    tokens = tokens[-3:] if is_last else tokens[:3]
    for token in tokens:
        if any(char.isdigit() for char in token):
            return token
    if not tokens:
        return ""
    return tokens[-1] if is_last else tokens[0]


def _is_alike(old: str, new: str) -> bool:
    return any(c.isdigit() for c in old) == any(c.isdigit() for c in new) or _is_name(old)


def _is_name(token: str) -> bool:
    return any(c.isdigit() or c.isupper() or c in "_./-" for c in token) and len(token) > 1


def _is_revived(item: Retired, said: Sequence[Said]) -> bool:
    """Tell whether the user came back to a value after it had been replaced."""
    if not item.has_digit:
        return False
    pattern = whole_value(item.value)
    for sentence in said[item.n_sentence + 1 :]:
        if sentence.is_user and pattern.search(sentence.text):
            named = {value.lower() for value in _named_old(sentence.text, sentence.ready)}
            if item.value.lower() not in named:
                return True
    return False


def whole_value(value: str) -> re.Pattern[str]:
    """Match a value as a whole, not as a part of a longer number or name."""
    # Chinese puts no space before a value, so its letters are no part of a Latin one.
    letter = "[A-Za-z0-9_]" if value.isascii() else r"\w"
    return re.compile(rf"(?<!{letter})(?<!\d\.){re.escape(value)}(?!{letter}|\.\d)", re.IGNORECASE)


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
        holding = [at for at, lower in enumerate(lowers) if item.value.lower() in lower]
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
    return [whole_value(item.value) for item in retired if len(item.value) > 2 and item.has_digit]


def masked(text: str, retired: Sequence[Retired]) -> str:
    """Mask replaced values in a text that is shown as a whole."""
    for item in retired:
        if item.has_digit and len(item.value) > 2 and item.value in text:
            text = whole_value(item.value).sub(OLD_VALUE, text)
    return text


def _may_change(sentence: Said, item: Retired, at: int) -> bool:
    if sentence.is_user and sentence.is_rule:
        if not item.is_by_user or at > item.n_sentence:
            return False
        is_clear = rule_strength(worded(sentence.text)) > 1
        return not (is_clear and at == item.n_sentence)
    return item.has_digit or (at <= item.n_sentence and sentence.is_choice)


def _without(text: str, pattern: re.Pattern[str], item: Retired, at: int) -> str:
    if item.has_digit and len(item.value) < 3:
        # A small number stands for many things: only the claim on the same key goes.
        keys = {claim.key for claim in claims(text) if claim.value == item.value.lower()}
        if at != item.n_sentence and item.key not in keys:
            return text
    if at < item.n_sentence and len(text) < 160 and "," not in text:
        return ""
    return pattern.sub(OLD_VALUE, text)
