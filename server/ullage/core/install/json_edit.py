"""Edits of a JSON or JSON5 text that leave all else as it is, to the character.

A text comes in and a text goes out. What is put in is only ever added, never in place of
something: blanks, comments, order, line ends and trailing commas stay. So taking it out again
gives the text from before, given what `note_containers` noted of it. None of the packages
that read JSON5 in Python can edit it (see `core/text/json5.py`); editors' ways do not take back.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import msgspec

from ullage.core.text.json5 import BLANKS, parse_json5
from ullage.core.text.tree import ListNode, MappingNode, Node, ScalarNode

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
Route: TypeAlias = tuple[int, ...]
"""Where a value is: at each level the index of the entry or item. A key may stand twice."""
DEFAULT_UNIT = "  "
"""What agents indent with when they write their settings."""
_LINE_BREAK = re.compile(r"\r\n|\n|\r")
_COMMENT = re.compile(r"//[^\n\r\u2028\u2029]*|/\*.*?\*/", re.DOTALL)
_SPACES = " \t\r\n"


class Container(msgspec.Struct, frozen=True, kw_only=True):
    """A table or a list that was there before an edit."""

    path: tuple[str, ...]
    inner: str
    """What stood between its brackets if it held no value, else nothing."""


class Before(msgspec.Struct, frozen=True, kw_only=True):
    """What must be known of a text to take an edit back exactly."""

    blank: str | None
    """The whole text, where it held no value at all."""
    containers: tuple[Container, ...] = ()


class NotEditable(Exception):
    """What an edit goes through is of another kind; the text is not JSON5's fault."""

    def __init__(self, path: tuple[str, ...], kind: str) -> None:
        what = f"`{'.'.join(path)}`" if path else "what it holds"
        super().__init__(f"{what} is no {kind}")


def is_blank(text: str) -> bool:
    return BLANKS.fullmatch(text) is not None


def find_node(root: Node, route: Route) -> Node:
    for index in route:
        root = _list_children(root)[index][1]
    return root


def find_route(root: Node, path: tuple[str, ...]) -> Route | None:
    """Find a value by its keys; of a key that stands twice the last counts, as for agents."""
    route: Route = ()
    for key in path:
        index = find_last_index(root, key)
        if index is None:
            return None
        route = (*route, index)
        root = _list_children(root)[index][1]
    return route


def find_last_index(node: Node, key: str) -> int | None:
    members = node.members if isinstance(node, MappingNode) else ()
    return max((at for at, member in enumerate(members) if member.key == key), default=None)


def find_child(node: Node, key: str) -> Node | None:
    index = find_last_index(node, key)
    return None if index is None else _list_children(node)[index][1]


def note_containers(text: str, paths: Sequence[tuple[str, ...]]) -> Before:
    """Note which of these tables and lists there are, before anything is put into them."""
    if is_blank(text):
        return Before(blank=text)
    root = parse_json5(text)
    containers: list[Container] = []
    for path in ((), *paths):
        route = find_route(root, path)
        node = None if route is None else find_node(root, route)
        if isinstance(node, MappingNode | ListNode):
            start, end = _find_inside(node)
            containers.append(
                Container(path=path, inner="" if _list_children(node) else text[start:end])
            )
    return Before(blank=None, containers=tuple(containers))


def append_item(text: str, path: tuple[str, ...], item: Json) -> str:
    """Put an item at the end of a list, which is made where it is not there.

    Raises:
        ParseError: the text is not JSON5.
        NotEditable: something on the path is of another kind.
    """
    if is_blank(text):
        return set_member(text, path, [item])
    root = parse_json5(text)
    route = find_route(root, path)
    if route is None:
        return set_member(text, path, [item])
    node = find_node(root, route)
    if not isinstance(node, ListNode):
        raise NotEditable(path, "list")
    return _put(text, root, node, "", item)


def set_member(text: str, path: tuple[str, ...], value: Json) -> str:
    """Put a value under a key that is not there, making the tables on the way to it.

    Raises:
        ParseError: the text is not JSON5.
        NotEditable: something on the path is of another kind.
    """
    if is_blank(text):
        line_break = _line_break(text)
        return text + _render(_wrap(path, value), DEFAULT_UNIT, "", line_break) + line_break
    node = root = parse_json5(text)
    depth = 0
    while depth < len(path) - 1 and (deeper := find_child(node, path[depth])) is not None:
        node, depth = deeper, depth + 1
    if not isinstance(node, MappingNode):
        raise NotEditable(path[:depth], "table")
    key = json.dumps(path[depth], ensure_ascii=False) + ": "
    return _put(text, root, node, key, _wrap(path[depth + 1 :], value))


def replace_scalar(text: str, route: Route, value: Json) -> str:
    node = find_node(parse_json5(text), route)
    return text[: node.start] + json.dumps(value, ensure_ascii=False) + text[node.end :]


def remove(text: str, route: Route, before: Before | None) -> str:
    """Take a value out, and what holds nothing else and was not there before.

    Where `before` is None, all that holds nothing else goes, up to the outermost value.
    """
    root = parse_json5(text)
    above, index = route[:-1], route[-1]
    holder = find_node(root, above)
    cut = _cut_value(text, holder, index)
    if len(_list_children(holder)) > 1:
        return cut
    start, end = _find_inside(holder)
    rest = cut[start : len(cut) - (len(text) - end)]
    original = _find_known(root, above, before)
    if not rest.strip(_SPACES) and original is None:
        if above:
            return remove(text, above, before)
        outside = text[: start - 1] + text[end + 1 :]
        blank = None if before is None else before.blank
        if blank is not None and outside.strip(_SPACES) == blank.strip(_SPACES):
            return blank
    inner = original or ""
    if rest.strip(_SPACES) != inner.strip(_SPACES):
        inner = rest
    return text[:start] + inner + text[end:]


def _find_known(root: Node, route: Route, before: Before | None) -> str | None:
    path: list[str] = []
    for index in route:
        if not isinstance(root, MappingNode):
            return None
        path.append(root.members[index].key)
        root = root.members[index].node
    containers = () if before is None else before.containers
    return next((c.inner for c in containers if c.path == tuple(path)), None)


def _put(text: str, root: Node, holder: MappingNode | ListNode, key: str, value: Json) -> str:
    """Write a value behind the last one, in the manner of the text.

    It gets a line of its own, unless it is a plain one and all of the holder stands on one line.
    """
    line_break, unit = _line_break(text), _read_unit(text, root)
    spans = [span for span, _ in _list_children(holder)]
    start, end = _find_inside(holder)
    outer = _read_indentation(text, start - 1)
    own_lines = [at for at, _ in spans if _starts_line(text, at)]
    indent = _read_indentation(text, own_lines[-1]) if own_lines else outer + unit
    new = line_break + indent + key + _render(value, unit, indent, line_break)
    if not spans:
        closing = "" if _LINE_BREAK.search(text[start:end]) else line_break + outer
        return text[:start] + new + closing + text[start:]
    if not _LINE_BREAK.search(text[start:end]) and not isinstance(value, Mapping | list):
        new = " " + key + _render(value, unit, indent, line_break)
    last = spans[-1][1]
    behind = last + len(text[last:end].rstrip(_SPACES))
    if _find_comma(text, last, end) is not None:
        return text[:behind] + new + "," + text[behind:]
    return text[:last] + "," + text[last:behind] + new + text[behind:]


def _cut_value(text: str, holder: Node, index: int) -> str:
    """Take one value out of a table or list, with the one comma that it has too many then."""
    spans = [span for span, _ in _list_children(holder)]
    (first, last), (start, end) = spans[index], _find_inside(holder)
    comma = _find_comma(text, last, end)
    if comma is not None and index + 1 < len(spans):
        following = text[comma + 1 : spans[index + 1][0]]
        if not _LINE_BREAK.search(following):
            # The next one stands on the same line: the blanks before ours become its own.
            return text[:first] + text[last:comma] + text[comma + 1 :].lstrip(" \t")
    rest = text[last:] if comma is None else text[last:comma] + text[comma + 1 :]
    earlier = spans[index - 1][1] if index else start
    head = len(text[:first].rstrip(_SPACES))
    if _ends_in_comment(text[earlier:head]) and not _LINE_BREAK.match(rest.lstrip(" \t")):
        # The line break before ours ends that comment.
        head = first
    if comma is not None or index == 0:
        return text[:head] + rest
    gone = _find_comma(text, earlier, first)
    if gone is None:
        raise AssertionError("values are parted by commas")
    return text[:gone] + text[gone + 1 : head] + rest


def _ends_in_comment(gap: str) -> bool:
    """Whether what stands between two values ends in a comment that lasts to its line's end."""
    comments = list(_COMMENT.finditer(gap))
    return bool(comments) and comments[-1].end() == len(gap) and comments[-1][0].startswith("//")


def _list_children(node: Node) -> Sequence[tuple[tuple[int, int], Node]]:
    """List what a mapping or list holds, each with its place in the text, keys included."""
    match node:
        case ScalarNode():
            return ()
        case ListNode():
            return [((item.start, item.end), item) for item in node.items]
        case MappingNode():
            return [((part.start, part.node.end), part.node) for part in node.members]


def _find_inside(node: Node) -> tuple[int, int]:
    return node.start + 1, node.end - 1


def _find_comma(text: str, start: int, end: int) -> int | None:
    """Find the comma behind a value, past blanks and comments."""
    blanks = BLANKS.match(text, start, end)
    at = start if blanks is None else blanks.end()
    return at if text[at:end].startswith(",") else None


def _line_break(text: str) -> str:
    match = _LINE_BREAK.search(text)
    return match[0] if match else "\n"


def _read_unit(text: str, root: Node) -> str:
    """Give the indentation of the outermost table's entries."""
    for (start, _), _ in _list_children(root):
        if _starts_line(text, start):
            return _read_indentation(text, start) or DEFAULT_UNIT
    return DEFAULT_UNIT


def _starts_line(text: str, offset: int) -> bool:
    line_start = _line_start(text, offset)
    return line_start > 0 and not text[line_start:offset].strip(" \t")


def _read_indentation(text: str, offset: int) -> str:
    line = text[_line_start(text, offset) : offset]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _line_start(text: str, offset: int) -> int:
    return max(text.rfind("\n", 0, offset), text.rfind("\r", 0, offset)) + 1


def _wrap(path: tuple[str, ...], value: Json) -> Json:
    for key in reversed(path):
        value = {key: value}
    return value


def _render(value: Json, unit: str, indent: str, line_break: str) -> str:
    return json.dumps(value, indent=unit, ensure_ascii=False).replace("\n", line_break + indent)
