"""Tools with policies: which of them a session may call.

docs/design/assembly.md, "Tools".
"""

from collections.abc import Iterable, Iterator
from typing import Annotated, TypeAlias

import msgspec

from ullage.core.assembly.prompt_parameters import Tool

MAX_RULES = 1_000
"""Of one list (chosen): far above what there is, and each is compared with each tool."""
_Rules: TypeAlias = Annotated[tuple[str, ...], msgspec.Meta(max_length=MAX_RULES)]


class ToolPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """Names of tools, where `*` stands for any characters; case does not count."""

    allow: _Rules = ()
    """Empty: all that are not denied."""
    deny: _Rules = ()
    """Stronger than `allow`."""


class _Matcher:
    """Compares many names with many rules: exact ones cost one look each."""

    def __init__(self, rules: Iterable[str]) -> None:
        folded = {_fold(rule) for rule in rules}
        self._names = {rule for rule in folded if "*" not in rule}
        self._patterns = [rule.split("*") for rule in folded - self._names]

    def matches(self, name: str) -> bool:
        return name in self._names or any(_is_match(name, parts) for parts in self._patterns)


def apply_tool_policy(tools: Iterable[Tool], policy: ToolPolicy) -> tuple[Tool, ...]:
    allow, deny = _Matcher(policy.allow), _Matcher(policy.deny)
    named = ((tool, _fold(tool.name)) for tool in tools)
    return tuple(
        tool
        for tool, name in named
        if not deny.matches(name) and (not policy.allow or allow.matches(name))
    )


def find_idle_rules(tools: Iterable[Tool], policy: ToolPolicy) -> Iterator[str]:
    """Find the names of a policy that are no tool's: a mistyped one denies nothing."""
    names = {_fold(tool.name) for tool in tools}
    for rule in (*policy.allow, *policy.deny):
        exact, *others = parts = _fold(rule).split("*")
        is_used = any(_is_match(name, parts) for name in names) if others else exact in names
        if not is_used:
            yield rule


def _fold(name: str) -> str:
    return name.strip().casefold()


def _is_match(name: str, parts: list[str]) -> bool:
    """Match what stands between stars, without a regular expression, which many make slow."""
    first, *inner, last = parts
    if not name.startswith(first) or not name.endswith(last):
        return False
    at = len(first)
    for part in inner:
        found = name.find(part, at)
        if found < 0:
            return False
        at = found + len(part)
    return at <= len(name) - len(last)
