"""What Claude Code tells its status line, as it is kept."""

import json
import math

import msgspec
import pytest

from ullage.core.gauge.agent_figures import AgentFigures, ToldWindow
from ullage.core.transcript.agent_lines import MAX_WINDOW_TOKENS
from ullage.core.transcript.limits import Limit
from ullage.formats.agents.claude_code.status_input import read_names, read_status_input

INPUT: dict[str, object] = {
    "session_name": "Release",
    "model": {"id": "claude-sonnet-4-5", "display_name": "Sonnet 4.5"},
    "cost": {"total_cost_usd": 0.39024},
    "context_window": {"context_window_size": 1_000_000, "current_usage": None},
    "prompt_cache": {"caching_observed": True, "hit_ratio": 0.856},
    "rate_limits": {
        "five_hour": {"used_percentage": 23.5, "resets_at": 1_795_228_626},
        "seven_day": {"used_percentage": 41},
        "spend_limit": {"used_percentage": 3},
    },
}


def test_all_figures_are_read() -> None:
    figures = msgspec.convert(read_status_input(INPUT), AgentFigures)
    assert figures == AgentFigures(
        told_window=ToldWindow(model="claude-sonnet-4-5", n_tokens=1_000_000),
        micro_usd=390_240,
        cache_percent=86,
        limits=(
            Limit(n_minutes=300, used_percent=24, resets_at_s=1_795_228_626),
            Limit(n_minutes=10_080, used_percent=41, resets_at_s=0),
        ),
    )
    assert read_names(INPUT) == {"title": "Release", "model": "Sonnet 4.5"}


def test_of_a_session_that_has_not_begun_the_window_is_told_alone() -> None:
    told = INPUT | {"cost": {"total_cost_usd": 0}, "prompt_cache": None, "rate_limits": {}}
    assert read_status_input(told) == {
        "told_window": {"model": "claude-sonnet-4-5", "n_tokens": 1_000_000},
        "limits": [],
    }


@pytest.mark.parametrize("n_tokens", [0, MAX_WINDOW_TOKENS + 1, 10**30])
def test_a_window_that_no_model_has_is_none(n_tokens: int) -> None:
    told = INPUT | {"context_window": {"context_window_size": n_tokens}}
    assert "told_window" not in read_status_input(told)


@pytest.mark.parametrize("value", [None, [], "9", -1, math.nan, math.inf, 10**400, {"a": 1}])
def test_no_value_is_an_exception(value: object) -> None:
    told: dict[str, object] = json.loads(json.dumps(INPUT))
    for key, of_key in told.items():
        for name in of_key if isinstance(of_key, dict) else ():
            of_key[name] = {"used_percentage": value} if key == "rate_limits" else value
    read_names(told)
    assert msgspec.convert(read_status_input(told), AgentFigures).limits == ()
    for key in INPUT:
        read_status_input(INPUT | {key: value})
