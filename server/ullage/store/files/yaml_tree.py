"""YAML as plain values with their places, and nothing clever.

Aliases, anchors, tags, merge keys and dates are YAML's traps, not data: the first three are
refused, the others are plain texts. Numbers are those of YAML 1.2.
"""

import math
import re
from collections.abc import Iterator

import msgspec
import yaml

from ullage.core.text import tree
from ullage.core.text.tree import ListNode, MappingNode, Member, Node, ParseError, ScalarNode

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
_TOO_DEEP = f"this is nested deeper than {tree.MAX_DEPTH} levels"
_PLAIN = "write plain keys and values"


def parse_yaml(text: str) -> Node:
    """Read one document.

    Raises:
        ParseError: it is not YAML, or more than plain keys and values.
    """
    try:
        return _build(yaml.parse(text, Loader=_loader))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        offset = 0 if mark is None else min(mark.index, len(text))
        problem = error.problem or error.context or "it cannot be read"
        if "nesting depth" in problem:
            # libyaml of PyYAML 6.0.4 has a limit of its own, and sees it before we do.
            raise ParseError(_TOO_DEEP, offset, _PLAIN) from None
        raise ParseError(f"this is not YAML: {problem}", offset, "correct it") from None
    except yaml.YAMLError:
        # PyYAML names the place in bytes or in characters, as it was built.
        control = re.search(_NOT_ALLOWED, text)
        offset = control.start() if control else 0
        raise ParseError("a character is not allowed in YAML", offset, "remove it") from None
    except (ValueError, ArithmeticError, RecursionError):
        # PyYAML without libyaml lets these out, for an escape beyond Unicode for example.
        raise ParseError("this is not YAML", 0, "correct it") from None


class _OpenNode(msgspec.Struct):
    """A mapping or list whose end has not come yet."""

    start: int
    nodes: list[Node]
    """Of a mapping keys and values in turn."""
    is_mapping: bool = False

    @property
    def awaits_key(self) -> bool:
        return self.is_mapping and len(self.nodes) % 2 == 0


def _build(events: Iterator[yaml.Event]) -> Node:
    document = _OpenNode(0, [])
    stack = [document]
    n_documents = 0
    for event in events:
        start = event.start_mark.index if event.start_mark else 0
        end = event.end_mark.index if event.end_mark else 0
        _refuse(event, start, depth=len(stack) - 1)
        match event:
            case yaml.MappingStartEvent() | yaml.SequenceStartEvent():
                stack.append(_OpenNode(start, [], isinstance(event, yaml.MappingStartEvent)))
            case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                node = _close(stack.pop(), start, end)
                if stack[-1].awaits_key:
                    raise ParseError("a mapping or a list cannot be a key", node.start, _PLAIN)
                stack[-1].nodes.append(node)
            case yaml.ScalarEvent():
                stack[-1].nodes.append(ScalarNode(_value(event), start, end))
            case yaml.DocumentStartEvent():
                n_documents += 1
                if n_documents > 1:
                    raise ParseError("a second document begins here", start, "remove the ---")
            case _:
                pass
    return document.nodes[0] if document.nodes else ScalarNode(None)


def _close(done: _OpenNode, end_start: int, end: int) -> MappingNode | ListNode:
    if end == end_start and done.nodes:
        # A block ends for PyYAML where the next thing begins, after all blank lines.
        end = done.nodes[-1].end
    if not done.is_mapping:
        return ListNode(tuple(done.nodes), done.start, end)
    pairs = zip(done.nodes[::2], done.nodes[1::2], strict=True)
    members = (Member(_key(key), node, key.start, key.end) for key, node in pairs)
    return MappingNode(tuple(members), done.start, end)


def _refuse(event: yaml.Event, start: int, *, depth: int) -> None:
    if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
        raise ParseError("anchors and aliases are not read", start, _PLAIN)
    if getattr(event, "tag", None) is not None:
        raise ParseError("tags are not read", start, _PLAIN)
    if depth > tree.MAX_DEPTH:
        raise ParseError(_TOO_DEEP, start, _PLAIN)


def _value(event: yaml.ScalarEvent) -> tree.ScalarValue:
    """Read a scalar; only an unquoted one can be anything but text."""
    text = event.value
    if not event.implicit[0]:
        return text
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        return int(text) if len(text) <= tree.MAX_DIGITS else math.inf
    return float(text) if _FLOAT.fullmatch(text) else text


def _key(node: Node) -> str:
    """Give a key as a text: `on:` and `1:` are keys as well."""
    value = node.value if isinstance(node, ScalarNode) else None
    return value if isinstance(value, str) else "" if value is None else str(value)
