"""JSON5, read into a tree with places.

Written here because none of the packages will do: `json5` (0.17.3) gives no places and took
8 s for 98 kB that this reads in 0.25 s, `json-five` has not been kept since 2024,
`json5-document` needs Python 3.12. The grammar is the one of json5.org, where both agreed on
12,000 random texts; a text is read once, from left to right.
"""

import math
import re
from collections.abc import Callable
from typing import TypeVar

from ullage.core.text import tree
from ullage.core.text.tree import ListNode, MappingNode, Member, Node, ParseError, ScalarNode

T = TypeVar("T")

BLANKS = re.compile(
    r"(?:[\t\n\v\f\r \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]+"
    r"|//[^\n\r\u2028\u2029]*|/\*[^*]*\*+(?:[^/*][^*]*\*+)*/)*+"
)
_STRING = re.compile(
    r'"(?:[^"\\\n\r]|\\(?:\r\n|[^\r]|\r))*+"' r"|'(?:[^'\\\n\r]|\\(?:\r\n|[^\r]|\r))*+'", re.DOTALL
)
_NUMBER = re.compile(
    r"[+-]?(?:(?P<word>Infinity|NaN)|0[xX](?P<hex>[0-9a-fA-F]+)"
    r"|(?:(?:0|[1-9][0-9]*)(?P<part>\.[0-9]*)?|(?P<bare>\.[0-9]+))(?P<power>[eE][+-]?[0-9]+)?)"
    r"(?![\w$.])"
)
_NAME = re.compile(r"(?:[^\W\d]|[$]|\\u[0-9a-fA-F]{4})(?:[\w$\u200c\u200d]|\\u[0-9a-fA-F]{4})*+")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(\r\n|.))", re.DOTALL)
_PLAIN_ESCAPES = {
    **dict(zip("bfnrtv0", "\b\f\n\r\t\v\0", strict=True)),
    **dict.fromkeys(("\n", "\r", "\r\n", "\u2028", "\u2029"), ""),
}
_WORDS: dict[str, bool | None] = {"true": True, "false": False, "null": None}


def parse_json5(text: str) -> Node:
    """Read one value.

    Raises:
        ParseError: the text is not JSON5, or nested too deeply.
    """
    parser = _Parser(text)
    node = parser.value(0)
    parser.finish()
    return node


class _Parser:
    """Reads at `_at`, which only moves forward; blanks after a token are passed over with it."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._end = 0
        """Of the last token, before the blanks."""
        self._pass(0)

    def value(self, depth: int) -> Node:
        start = self._at
        if self._text.startswith(("{", "["), start):
            if depth >= tree.MAX_DEPTH:
                problem = f"this is nested deeper than {tree.MAX_DEPTH} levels"
                raise ParseError(problem, start, "write it flatter")
            if self._has("{"):
                return MappingNode(self._parts("}", self._member, depth), start, self._end)
            return ListNode(self._parts("]", self.value, depth), start, self._end)
        if string := self._take(_STRING):
            return ScalarNode(_unescape_all(string[0][1:-1]), *string.span())
        if number := self._take(_NUMBER):
            return ScalarNode(_number(number), *number.span())
        name = _NAME.match(self._text, start)
        if name and name[0] in _WORDS:
            self._pass(name.end())
            return ScalarNode(_WORDS[name[0]], *name.span())
        raise self._problem("a value")

    def finish(self) -> None:
        if self._at < len(self._text):
            raise self._problem("the end of the file")

    def _member(self, depth: int) -> Member:
        name = self._take(_STRING) or self._take(_NAME)
        if name is None:
            raise self._problem("a key or }")
        key = name[0][1:-1] if name[0][0] in "'\"" else name[0]
        self._expect(":")
        return Member(_unescape_all(key), self.value(depth), *name.span())

    def _parts(self, closing: str, read: Callable[[int], T], depth: int) -> tuple[T, ...]:
        """Read what stands between two brackets; there may be a comma behind the last part."""
        self._pass(self._at + 1)
        parts: list[T] = []
        while not self._has(closing):
            parts.append(read(depth + 1))
            if not self._passes(","):
                break
        self._expect(closing)
        return tuple(parts)

    def _has(self, sign: str) -> bool:
        return self._text.startswith(sign, self._at)

    def _passes(self, sign: str) -> bool:
        """Pass over a sign if it is next."""
        has_sign = self._has(sign)
        if has_sign:
            self._pass(self._at + 1)
        return has_sign

    def _expect(self, sign: str) -> None:
        if not self._passes(sign):
            raise self._problem("a colon" if sign == ":" else f"a comma or {sign}")

    def _take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        token = pattern.match(self._text, self._at)
        if token:
            self._pass(token.end())
        return token

    def _pass(self, end: int) -> None:
        """Go on behind a token that ends here, and behind the blanks after it."""
        self._end = end
        blanks = BLANKS.match(self._text, end)
        self._at = blanks.end() if blanks else end

    def _problem(self, wanted: str) -> ParseError:
        return ParseError(f"this is not JSON5: expected {wanted}", self._at, "correct it")


def _number(number: re.Match[str]) -> int | float:
    text = number[0]
    sign = -1 if text[0] == "-" else 1
    if number["word"]:
        return math.nan if number["word"] == "NaN" else sign * math.inf
    if number["hex"]:
        digits = number["hex"]
        return sign * (int(digits, 16) if len(digits) <= tree.MAX_DIGITS - 3 else math.inf)
    if number["part"] or number["bare"] or number["power"]:
        return float(text)
    return int(text) if len(text) <= tree.MAX_DIGITS else sign * math.inf


def _unescape_all(text: str) -> str:
    if "\\" not in text:
        return text
    plain = _ESCAPE.sub(_unescape, text)
    # Escapes write characters beyond U+FFFF as two; a half without the other is none.
    return plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _unescape(escape: re.Match[str]) -> str:
    code = escape[1] or escape[2]
    return chr(int(code, 16)) if code else _PLAIN_ESCAPES.get(escape[3], escape[3])
