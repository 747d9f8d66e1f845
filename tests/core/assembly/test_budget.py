"""The token budget: figures of the reference, and parts that add up."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from ullage.core.assembly.budget import build_token_budget

PARTS = "system_prompt bootstrap skills tools memory history event".split()
NOTHING = dict.fromkeys(PARTS, 0)


def test_the_reference_keeps_8000_for_the_answer_and_2000_for_tools() -> None:
    budget = msgspec.to_builtins(build_token_budget(200_000, **NOTHING | {"history": 50_000}))
    assert budget == {
        "contextWindow": 200_000,
        "reserveResponse": 8_000,
        "reserveTools": 2_000,
        "available": 190_000,
        "systemPrompt": 0,
        "bootstrap": 0,
        "skills": 0,
        "tools": 0,
        "memory": 0,
        "history": 50_000,
        "event": 0,
        "used": 50_000,
        "over": 0,
    }


def test_what_does_not_fit_is_told() -> None:
    assert build_token_budget(200_000, **NOTHING | {"history": 190_001}).over == 1
    small = build_token_budget(8_000, **NOTHING | {"event": 5_501})
    assert (small.reserve_response, small.reserve_tools, small.over) == (2_000, 500, 1)


@given(st.integers(0, 300_000), st.tuples(*[st.integers(0, 100_000)] * len(PARTS)))
def test_the_parts_are_what_is_used(window: int, sizes: tuple[int, ...]) -> None:
    budget = build_token_budget(window, **dict(zip(PARTS, sizes, strict=True)))
    assert budget.used == sum(sizes)
    assert (budget.over > 0) == (budget.used > budget.available)
