"""JSON5, read into a tree with places.

Written here because none of the packages will do: `json5` (0.17.3) gives no places and took
8 s for 98 kB that this reads in 0.25 s, `json-five` has not been kept since 2024,
`json5-document` needs Python 3.12. The grammar is the one of json5.org, where both agreed on
12,000 random texts; a text is read once, from left to right.
"""

import math
import re

from ullage.core.config.tree import (
    MAX_DEPTH,
    MAX_DIGITS,
    Entry,
    Items,
    Leaf,
    Node,
    NotRead,
    Span,
    Table,
    TextLines,
)

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
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
    "0": "\0",
    **dict.fromkeys(("\n", "\r", "\r\n", "\u2028", "\u2029"), ""),
}
_WORDS: dict[str, bool | None] = {"true": True, "false": False, "null": None}


def parse_json5(text: str) -> Node:
    """Read one value.

    Raises:
        NotRead: the text is not JSON5, or nested too deeply.
    """
    parser = _Parser(text)
    node = parser.value(0)
    parser.end()
    return node


class _Parser:
    """Reads at `_at`, which only moves forward; blanks after a token are passed over with it."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._lines = TextLines(text)
        self._at = 0
        self._skip()

    def value(self, depth: int) -> Node:
        start = self._at
        char = self._text[start : start + 1]
        if char in ("{", "["):
            if depth >= MAX_DEPTH:
                raise NotRead(
                    f"this is nested deeper than {MAX_DEPTH} levels", start, "write it flatter"
                )
            return self._table(depth) if char == "{" else self._items(depth)
        if string := _STRING.match(self._text, start):
            return Leaf(value=_unescaped(string[0][1:-1]), span=self._take(string))
        if number := _NUMBER.match(self._text, start):
            return Leaf(value=_number(number), span=self._take(number))
        name = _NAME.match(self._text, start)
        if name and name[0] in _WORDS:
            return Leaf(value=_WORDS[name[0]], span=self._take(name))
        raise self._problem("a value")

    def end(self) -> None:
        if self._at < len(self._text):
            raise self._problem("the end of the file")

    def _table(self, depth: int) -> Table:
        start = self._at
        self._expect("{")
        entries: list[Entry] = []
        while not self._next_is("}"):
            found = _STRING.match(self._text, self._at) or _NAME.match(self._text, self._at)
            if found is None:
                raise self._problem("a key or }")
            key = found[0][1:-1] if found[0][0] in "'\"" else found[0]
            key_span = self._take(found)
            self._expect(":")
            node = self.value(depth + 1)
            entries.append(Entry(key=_unescaped(key), key_span=key_span, node=node))
            if not self._next_is(","):
                break
            self._expect(",")
        end = self._expect("}")
        return Table(entries=tuple(entries), span=self._lines.span(start, end))

    def _items(self, depth: int) -> Items:
        start = self._at
        self._expect("[")
        nodes: list[Node] = []
        while not self._next_is("]"):
            nodes.append(self.value(depth + 1))
            if not self._next_is(","):
                break
            self._expect(",")
        end = self._expect("]")
        return Items(nodes=tuple(nodes), span=self._lines.span(start, end))

    def _next_is(self, char: str) -> bool:
        return self._text.startswith(char, self._at)

    def _expect(self, char: str) -> int:
        """Pass over a sign and the blanks after it; give the offset between the two."""
        if not self._next_is(char):
            raise self._problem(f"a comma or {char}" if char in "}]" else char)
        self._at += 1
        end = self._at
        self._skip()
        return end

    def _take(self, found: re.Match[str]) -> Span:
        self._at = found.end()
        self._skip()
        return self._lines.span(found.start(), found.end())

    def _skip(self) -> None:
        blank = BLANKS.match(self._text, self._at)
        if blank:
            self._at = blank.end()

    def _problem(self, wanted: str) -> NotRead:
        return NotRead(f"this is not JSON5: expected {wanted}", self._at, "correct it")


def _number(found: re.Match[str]) -> int | float:
    text = found[0]
    sign = -1 if text[0] == "-" else 1
    if found["word"]:
        return math.nan if found["word"] == "NaN" else sign * math.inf
    if found["hex"]:
        digits = found["hex"]
        return sign * (int(digits, 16) if len(digits) <= MAX_DIGITS - 3 else math.inf)
    if found["part"] or found["bare"] or found["power"]:
        return float(text)
    return int(text) if len(text) <= MAX_DIGITS else sign * math.inf


def _unescaped(text: str) -> str:
    if "\\" not in text:
        return text
    plain = _ESCAPE.sub(_unescape, text)
    # Escapes write characters beyond U+FFFF as two; a half without the other is none.
    return plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _unescape(found: re.Match[str]) -> str:
    code = found[1] or found[2]
    return chr(int(code, 16)) if code else _PLAIN_ESCAPES.get(found[3], found[3])
