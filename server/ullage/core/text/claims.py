"""Claims: the values that sentences give to what they speak of."""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

import msgspec

from ullage.core.text.word_lists import alternatives, word_list

TOKEN = re.compile(r"[0-9A-Za-z_$@][\w$@%/-]*(?:[.:][\w$@%/-]+)*|[^\W\d_]+")
_CLAIM_TOKEN = re.compile(TOKEN.pattern + r"|[,;!?()。，；！？]|[.](?=\s|\Z)")
"""The same with the marks that end a clause: what a value belongs to does not stand beyond them."""
DIGIT = re.compile(r"\d")
MAX_CLAIM_TOKENS = 160
FILLERS = word_list("fillers").words
NOT_SUBJECTS = word_list("not_subjects").words
_GLUED_WORDS = re.compile(alternatives("glued_words", has_spaces=False))
_HAN = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_COUNTED = re.compile(r"\d[\d.,]*[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
"""A number with its counter, which grammar may follow without a space: 5000件です."""
_STEM_CHARS = 4
"""What is compared of a word that may be inflected; chosen."""
UNITS = word_list("units").words
"""Beginnings of the words for time, size and money."""


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
    return tuple(_claims(text)) if DIGIT.search(text) else ()


def _claims(text: str) -> Iterator[Claim]:
    tokens: list[str] = _CLAIM_TOKEN.findall(text.lower())[:MAX_CLAIM_TOKENS]
    for at, token in enumerate(tokens):
        if not DIGIT.search(token):
            continue
        counted = _COUNTED.match(token)
        value = counted[0] if counted else token
        nouns = list(_nouns(reversed(tokens[max(0, at - 5) : at])))
        if not nouns:
            nouns = list(_nouns(tokens[at + 1 : at + 4]))[:1]
        if nouns and nouns[0] not in NOT_SUBJECTS:
            unit = "".join(tokens[at + 1 : at + 2])
            unit = unit[:_STEM_CHARS] if unit.isalpha() and unit not in FILLERS else ""
            yield Claim(nouns[0], nouns[1] if len(nouns) > 1 else "", value, unit)


def _nouns(tokens: Iterable[str]) -> Iterator[str]:
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


def is_same_kind(one: str, other: str) -> bool:
    """Tell whether two values are of one form: numbers of like length and unit, or names."""
    if one.isdigit() and other.isdigit() and abs(len(one) - len(other)) > 1:
        return False
    if not one[:1].isdigit() and not other[:1].isdigit():
        return one[:1].isalpha() == other[:1].isalpha()
    return one.strip("0123456789._,-") == other.strip("0123456789._,-")


@lru_cache(maxsize=256)
def value_pattern(value: str) -> re.Pattern[str]:
    """Match a value as a whole, not as a part of a longer number or name."""
    # Chinese puts no space before a value, so its letters are no part of a Latin one.
    before, after = ("[A-Za-z0-9_]" if end.isascii() else r"\w" for end in (value[:1], value[-1:]))
    behind = "" if _HAN.match(value[-1:]) else rf"(?!{after}|\.\d)"
    # The value first, and then a look back over it: an expression passes quickly to a digit.
    over = f".{{{len(value)}}}"
    return re.compile(rf"(?i:{re.escape(value)}){behind}(?<!{before}{over})(?<!\d\.{over})")
