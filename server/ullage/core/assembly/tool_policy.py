"""Tools with policies: which of them a session may call.

docs/design/assembly.md, "Tools".
"""

from collections.abc import Iterable, Sequence

import msgspec

from ullage.core.assembly.prompt_parameters import Tool


class ToolPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """Names of tools, where `*` stands for any characters; case does not count."""

    allow: tuple[str, ...] = ()
    """Empty: all that are not denied."""
    deny: tuple[str, ...] = ()
    """Stronger than `allow`."""


def apply_tool_policy(tools: Iterable[Tool], policy: ToolPolicy) -> tuple[Tool, ...]:
    return tuple(
        tool
        for tool in tools
        if not _matches(tool, policy.deny) and (not policy.allow or _matches(tool, policy.allow))
    )


def list_idle_rules(tools: Sequence[Tool], policy: ToolPolicy) -> tuple[str, ...]:
    """List the names of a policy that are no tool's: a mistyped one denies nothing."""
    return tuple(
        name
        for name in (*policy.allow, *policy.deny)
        if not any(_matches(tool, (name,)) for tool in tools)
    )


def _matches(tool: Tool, patterns: Iterable[str]) -> bool:
    name = tool.name.strip().casefold()
    return any(_is_match(name, pattern.strip().casefold()) for pattern in patterns)


def _is_match(name: str, pattern: str) -> bool:
    """Match without a regular expression, which many stars would make slow."""
    first, *others = pattern.split("*")
    if not others:
        return name == first
    *inner, last = others
    at = len(first)
    for part in inner:
        found = name.find(part, at)
        if found < 0:
            return False
        at = found + len(part)
    return name.startswith(first) and name.endswith(last) and at <= len(name) - len(last)
