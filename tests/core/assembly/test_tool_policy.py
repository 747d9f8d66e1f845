"""Tools with policies: a denied tool is never offered, an empty list allows all."""

from fnmatch import fnmatchcase

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ullage.core.assembly.prompt_parameters import Tool
from ullage.core.assembly.tool_policy import (
    MAX_RULES,
    ToolPolicy,
    apply_tool_policy,
    find_idle_rules,
)

TOOLS = tuple(Tool(name=name) for name in ("read", "exec", "memory_get", "memory_search"))


def names_of(policy: ToolPolicy) -> list[str]:
    return [tool.name for tool in apply_tool_policy(TOOLS, policy)]


def test_without_lists_all_are_allowed() -> None:
    assert names_of(ToolPolicy()) == ["read", "exec", "memory_get", "memory_search"]


def test_only_what_is_allowed_is_offered() -> None:
    assert names_of(ToolPolicy(allow=("READ", "memory_*"))) == [
        "read",
        "memory_get",
        "memory_search",
    ]


def test_what_is_denied_is_not_offered_even_if_it_is_allowed() -> None:
    assert names_of(ToolPolicy(allow=("*",), deny=("exec",))) == [
        "read",
        "memory_get",
        "memory_search",
    ]
    assert names_of(ToolPolicy(deny=("*",))) == []


def test_other_characters_of_patterns_stand_for_themselves() -> None:
    assert names_of(ToolPolicy(deny=("rea.", "[a-z]*", "e?ec"))) == names_of(ToolPolicy())


def test_a_pattern_of_many_stars_takes_no_time() -> None:
    tool = Tool(name="a" * 5_000)
    policy = ToolPolicy(deny=("*a" * 2_000 + "*b",))
    assert apply_tool_policy((tool,), policy) == (tool,)


@given(st.text(alphabet="ab", max_size=6), st.text(alphabet=st.sampled_from("ab*"), max_size=6))
def test_a_star_stands_for_any_characters(name: str, pattern: str) -> None:
    is_denied = apply_tool_policy((Tool(name=name),), ToolPolicy(deny=(pattern,))) == ()
    assert is_denied == fnmatchcase(name, pattern)


def test_a_name_that_is_no_tools_is_told() -> None:
    policy = ToolPolicy(allow=("read", "memory_*"), deny=("exce", "exec"))
    assert list(find_idle_rules(TOOLS, policy)) == ["exce"]
    policy = ToolPolicy(allow=(" READ ", "Memory_*"), deny=("m*x",))
    assert list(find_idle_rules(TOOLS, policy)) == ["m*x"]


def test_many_rules_for_many_tools_take_no_time() -> None:
    tools = [Tool(name=f"t{number}") for number in range(20_000)]
    policy = ToolPolicy(allow=tuple(f"T{number} " for number in range(20_000)))
    assert apply_tool_policy(tools, policy) == tuple(tools)
    assert list(find_idle_rules(tools, policy)) == []


def test_a_list_of_too_many_rules_is_refused() -> None:
    policy = {"deny": ["x"] * MAX_RULES}
    assert len(msgspec.convert(policy, ToolPolicy).deny) == MAX_RULES
    with pytest.raises(msgspec.ValidationError, match=r"length <= 1000 - at `\$.deny`"):
        msgspec.convert({"deny": ["x"] * (MAX_RULES + 1)}, ToolPolicy)
