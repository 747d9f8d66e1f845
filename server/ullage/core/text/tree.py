"""The values of a text, each with its place: what YAML and JSON5 are read into.

Places are offsets in characters; `Positions` makes lines and columns of them.
"""

from typing import TypeAlias

import msgspec

MAX_DEPTH = 50
"""Deeper nesting is not read (chosen: no configuration or checkpoint comes near it)."""
MAX_DIGITS = 18
"""What a whole number may have; a longer one is infinite (chosen: all fit into 64 bits)."""

ScalarValue: TypeAlias = bool | int | float | str | None


class ScalarNode(msgspec.Struct, frozen=True):
    value: ScalarValue
    start: int = 0
    end: int = 0


class ListNode(msgspec.Struct, frozen=True):
    items: tuple["Node", ...]
    start: int = 0
    end: int = 0


class Member(msgspec.Struct, frozen=True):
    """A key of a mapping, which `start` and `end` are the place of, and its value."""

    key: str
    node: "Node"
    start: int = 0
    end: int = 0


class MappingNode(msgspec.Struct, frozen=True):
    members: tuple[Member, ...]
    """In the order of the text; a key may stand twice."""
    start: int = 0
    end: int = 0


Node: TypeAlias = ScalarNode | ListNode | MappingNode


class ParseError(Exception):
    """A text is no tree of values."""

    def __init__(self, problem: str, offset: int, fix: str) -> None:
        super().__init__(problem)
        self.problem = problem
        self.offset = offset
        self.fix = fix


def plain_value(node: Node) -> object:
    """Give a tree without its places; of a key that stands twice, the last counts."""
    match node:
        case ScalarNode():
            return node.value
        case ListNode():
            return [plain_value(item) for item in node.items]
        case MappingNode():
            return {member.key: plain_value(member.node) for member in node.members}
