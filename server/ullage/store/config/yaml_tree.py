"""YAML of a configuration: a tree of plain values with places, and nothing clever.

Aliases, anchors, tags, merge keys and dates are YAML's traps, not settings
(research/reliability.md C13): the first three are refused, the others are plain texts.
"""

import math
import re
from collections.abc import Iterator

import msgspec
import yaml

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

_INTEGER = re.compile(r"[-+]?[0-9][0-9_]*")
_FLOAT = re.compile(r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]{1,3})?")
_WORDS: dict[str, bool | float | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys((".inf", ".Inf", "+.inf"), math.inf),
    "-.inf": -math.inf,
}
_NOT_ALLOWED = r"[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
_loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_PLAIN = "write plain keys and values"


def parse_yaml(text: str) -> Node:
    """Read one document.

    Raises:
        NotRead: it is not YAML, or uses what a configuration has no use for.
    """
    try:
        return _Builder(text).build(yaml.parse(text, Loader=_loader))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        offset = 0 if mark is None else min(mark.index, len(text))
        problem = error.problem or error.context or "it cannot be read"
        raise NotRead(f"this is not YAML: {problem}", offset, "correct it") from None
    except yaml.YAMLError:
        # PyYAML names the place in bytes or in characters, as it was built.
        found = re.search(_NOT_ALLOWED, text)
        offset = found.start() if found else 0
        raise NotRead("a character is not allowed in YAML", offset, "remove it") from None
    except (ValueError, ArithmeticError, RecursionError):
        # PyYAML without libyaml lets these out, for an escape beyond Unicode for example.
        raise NotRead("this is not YAML", 0, "correct it") from None


class _Open(msgspec.Struct):
    """A mapping or list whose end has not come yet."""

    start: int
    entries: list[Entry] | None
    """None for a list."""
    nodes: list[Node]
    key: Leaf | None = None


class _Builder:
    def __init__(self, text: str) -> None:
        self._lines = TextLines(text)
        self._stack: list[_Open] = []
        self._root: Node | None = None

    def build(self, events: Iterator[yaml.Event]) -> Node:
        n_documents = 0
        for event in events:
            self._check(event)
            if isinstance(event, yaml.ScalarEvent):
                self._add(Leaf(value=_value(event), span=self._span(event)))
            elif isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
                is_mapping = isinstance(event, yaml.MappingStartEvent)
                self._stack.append(
                    _Open(start=_start(event), entries=[] if is_mapping else None, nodes=[])
                )
            elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
                self._close(event)
            elif isinstance(event, yaml.DocumentStartEvent):
                n_documents += 1
                if n_documents > 1:
                    raise NotRead("a second document begins here", _start(event), "remove the ---")
        return self._root or Leaf(value=None)

    def _close(self, event: yaml.Event) -> None:
        done = self._stack.pop()
        parts = done.nodes if done.entries is None else [entry.node for entry in done.entries]
        # A block ends for PyYAML where the next thing begins, after all blank lines.
        last = parts[-1].span if parts else None
        is_flow = _end(event) > _start(event)
        end = _end(event) if is_flow or last is None else last.end
        span = self._lines.span(done.start, end)
        if done.entries is None:
            self._add(Items(nodes=tuple(done.nodes), span=span))
        else:
            self._add(Table(entries=tuple(done.entries), span=span))

    def _add(self, node: Node) -> None:
        if not self._stack:
            self._root = node
            return
        parent = self._stack[-1]
        if parent.entries is None:
            parent.nodes.append(node)
        elif parent.key is not None:
            key = parent.key
            parent.entries.append(Entry(key=_text(key), key_span=key.span, node=node))
            parent.key = None
        elif isinstance(node, Leaf):
            parent.key = node
        else:
            offset = 0 if node.span is None else node.span.start
            raise NotRead("a mapping or a list cannot be a key", offset, _PLAIN)

    def _check(self, event: yaml.Event) -> None:
        start = _start(event)
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise NotRead("anchors and aliases are not read", start, _PLAIN)
        if getattr(event, "tag", None) is not None:
            raise NotRead("tags are not read", start, _PLAIN)
        if len(self._stack) > MAX_DEPTH:
            raise NotRead(f"this is nested deeper than {MAX_DEPTH} levels", start, _PLAIN)

    def _span(self, event: yaml.ScalarEvent) -> Span:
        return self._lines.span(_start(event), _end(event))


def _start(event: yaml.Event) -> int:
    return event.start_mark.index if event.start_mark else 0


def _end(event: yaml.Event) -> int:
    return event.end_mark.index if event.end_mark else 0


def _value(event: yaml.ScalarEvent) -> bool | int | float | str | None:
    """Read a scalar; only unquoted ones may be anything but text."""
    text = event.value
    if not event.implicit[0]:
        return text
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        return int(text) if len(text) <= MAX_DIGITS else math.inf
    return float(text) if _FLOAT.fullmatch(text) else text


def _text(key: Leaf) -> str:
    """Give a key as a text: `on:` and `1:` are keys as well."""
    value = key.value
    return value if isinstance(value, str) else "" if value is None else str(value)
