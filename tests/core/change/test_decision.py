"""The decision: each threshold to the token, each switch, each trigger, each cascade."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ullage.core.change.breaker import Breaker, put_off, record_failure, record_run, record_warning
from ullage.core.change.decision import (
    Action,
    Ask,
    Cascade,
    Compact,
    Idle,
    Overflowed,
    Prune,
    Retry,
    Step,
    Warn,
    decide,
    find_due_layer,
)
from ullage.core.config.settings import Policy
from ullage.core.gauge.gauge import LAYERS, ratio_at, reserve_at

NOW = 1_770_000_000_000
QUIET = Policy(notifies_before_auto=False)
READ_ONLY = Policy(notifies_before_auto=False, is_read_only=True)
NO_RESERVE = Policy(notifies_before_auto=False, reserve_tokens=0, soft_tokens=0)
PRUNED = Step(what="prune", n_freed=20_000)


def at(used: int | None, tool: int = 0, **fields) -> Cascade:
    return msgspec.structs.replace(
        Cascade(
            occasion="threshold",
            used_tokens=used,
            window_tokens=200_000,
            tool_tokens=tool,
            n_compactions=0,
        ),
        **fields,
    )


def overflow(used: int | None = 210_000, tool: int = 0, **fields) -> Cascade:
    return at(used, tool, occasion="overflow", **fields)


def name(action: Action) -> str:
    """Name an action with its layer: `idle`, `compact full`."""
    tag = type(action).__name__.lower()
    return f"{tag} {action.layer}" if isinstance(action, Compact | Ask) else tag


def decided(cascade: Cascade, policy: Policy = QUIET, now_ms: int = NOW) -> str:
    action = decide(cascade, policy, now_ms)
    assert action.reason
    assert "\n" not in action.reason
    return name(action)


# Thresholds


@pytest.mark.parametrize(
    ("used", "tool", "expected"),
    [
        (159_980, 90_000, "idle"),  # 79.99 %
        (159_999, 50_001, "idle"),
        (160_000, 49_999, "idle"),
        (160_000, 50_000, "idle"),
        (160_000, 50_001, "prune"),
        (175_999, 50_000, "idle"),
        (175_999, 50_001, "prune"),
        (176_000, 50_000, "compact summarize"),
        (176_000, 50_001, "prune"),
        (189_999, 0, "compact summarize"),
        (190_000, 0, "compact full"),
        (190_000, 50_001, "prune"),
        (500_000, 0, "compact full"),
        (0, 0, "idle"),
        (None, 90_000, "idle"),
    ],
)
def test_each_layer_begins_at_its_threshold(used: int | None, tool: int, expected: str) -> None:
    assert decided(at(used, tool)) == expected


@pytest.mark.parametrize(
    ("used", "expected"),
    [(879_999, "idle"), (880_000, "compact summarize"), (949_999, "compact summarize"),
     (950_000, "compact full")],
)  # fmt: skip
def test_in_a_large_window_the_percentage_comes_before_the_reserve(
    used: int, expected: str
) -> None:
    assert decided(at(used, window_tokens=1_000_000)) == expected


@pytest.mark.parametrize(
    ("used", "expected"),
    [(75_999, "idle"), (76_000, "compact summarize"), (94_999, "compact summarize"),
     (95_000, "compact full")],
)  # fmt: skip
def test_in_a_small_window_the_reserve_comes_before_the_percentage(
    used: int, expected: str
) -> None:
    assert decided(at(used, window_tokens=100_000)) == expected


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, 176_000),
        ({"reserve_tokens": 15_000, "soft_tokens": 3_000}, 182_000),
        ({"soft_tokens": 0}, 180_000),
        ({"reserve_tokens": 200_000}, None),
    ],
    ids=["default", "smaller window", "no soft threshold", "all reserve"],
)  # fmt: skip
def test_the_reserve_is_touched_by_the_formula(
    fields: dict[str, int], expected: int | None
) -> None:
    assert reserve_at(200_000, Policy(**fields)) == expected


def test_the_example_of_a_window_of_100000_tokens() -> None:
    assert reserve_at(100_000, Policy(reserve_tokens=15_000, soft_tokens=3_000)) == 82_000


@pytest.mark.parametrize("used", [176_000, 190_000, 400_000])
@pytest.mark.parametrize("policy", [QUIET, Policy(notifies_before_auto=True), READ_ONLY])
def test_in_a_doubtful_window_nothing_happens_by_itself(used: int, policy: Policy) -> None:
    certain = at(used, 0, is_auto_on=True)
    doubtful = msgspec.structs.replace(certain, window_doubt="nobody knows the window")
    assert decided(certain, policy) != "idle"
    assert decided(doubtful, policy) == "idle"


def test_a_doubtful_window_stops_nobody_who_asks() -> None:
    asked = at(190_000, occasion="manual", asked_layer="full", window_doubt="nobody knows it")
    assert decided(asked) == "compact full"
    assert decided(overflow(window_doubt="nobody knows it")) == "compact full"


@pytest.mark.parametrize(
    ("window", "ratio", "expected"),
    [(100, 0.55, 55), (131_072, 0.88, 115_344), (200_000, 0.95, 190_000), (3, 0.5, 2)],
)
def test_a_share_is_reached_by_whole_tokens(window: int, ratio: float, expected: int) -> None:
    assert ratio_at(window, ratio) == expected


@pytest.mark.parametrize("tool", [90_000, 0])
def test_without_pruning_the_summary_comes_at_once(tool: int) -> None:
    policy = Policy(is_prune_enabled=False, notifies_before_auto=False)
    assert decided(at(160_000, tool), policy) == "idle"
    assert decided(at(176_000, tool), policy) == "compact summarize"


# Cascade


@pytest.mark.parametrize(
    ("started", "used", "tried", "expected"),
    [
        # Pruning alone was due: a summary waits for its own threshold.
        (170_000, 159_999, [PRUNED], "idle"),
        (170_000, 160_000, [PRUNED], "idle"),
        (170_000, 170_000, [Step(what="prune")], "idle"),
        # A compaction was due: on with it at 80 % or more.
        (176_000, 159_999, [PRUNED], "idle"),
        (176_000, 160_000, [PRUNED], "compact summarize"),
        (195_000, 160_000, [PRUNED], "compact summarize"),
        (195_000, 176_000, [PRUNED], "compact summarize"),
        (195_000, 190_000, [PRUNED], "compact full"),
        (176_000, 176_000, [Step(what="prune")], "compact summarize"),
        # The metric is taken again after each layer, and none comes twice.
        (185_000, 176_000, [Step(what="summarize", n_freed=9_000)], "idle"),
        (195_000, 190_000, [PRUNED, Step(what="summarize", n_freed=1)], "compact full"),
        (195_000, 195_000, [Step(what="summarize")], "compact full"),
        (195_000, 195_000, [Step(what="full")], "idle"),
        (195_000, 180_000, [Step(what="full", n_freed=15_000)], "idle"),
        (195_000, 40_000, [Step(what="full", n_freed=155_000)], "idle"),
    ],
)
def test_a_cascade_goes_on_until_nothing_is_due(
    started: int, used: int, tried: list[Step], expected: str
) -> None:
    cascade = at(used, 90_000, started_tokens=started, tried=tuple(tried))
    if all(step.what != "prune" for step in tried):
        cascade = msgspec.structs.replace(cascade, tool_tokens=0)
    assert decided(cascade) == expected


def test_in_a_small_window_pruning_below_80_percent_ends_it_above_the_reserve() -> None:
    cascade = at(78_000, 60_000, window_tokens=100_000, started_tokens=85_000)
    assert decided(msgspec.structs.replace(cascade, tried=(PRUNED,))) == "idle"
    futile = (Step(what="prune"),)
    assert decided(msgspec.structs.replace(cascade, tried=futile)) == "compact summarize"


# Switches and limits


@pytest.mark.parametrize(
    ("is_auto_enabled", "is_auto_on", "expected"),
    [
        (True, None, "compact summarize"),
        (False, None, "idle"),
        (True, False, "idle"),
        (False, True, "compact summarize"),
    ],
    ids=["on", "off", "off for the session", "on for the session"],
)
def test_the_session_s_own_switch_wins(
    *, is_auto_enabled: bool, is_auto_on: bool | None, expected: str
) -> None:
    policy = msgspec.structs.replace(QUIET, is_auto_enabled=is_auto_enabled)
    assert decided(at(176_000, is_auto_on=is_auto_on), policy) == expected


@pytest.mark.parametrize(
    ("n_compactions", "used", "tool", "expected"),
    [
        (4, 176_000, 0, "compact summarize"),
        (5, 176_000, 0, "warn"),
        (6, 195_000, 0, "warn"),
        (5, 176_000, 60_000, "prune"),
        (5, 170_000, 0, "idle"),
    ],
)
def test_automatic_compactions_end_at_their_maximum_but_pruning_goes_on(
    n_compactions: int, used: int, tool: int, expected: str
) -> None:
    assert decided(at(used, tool, n_compactions=n_compactions)) == expected


def test_from_the_maximum_on_the_user_of_a_runtime_is_asked() -> None:
    cascade = at(176_000, n_compactions=5, is_in_memory=True)
    assert decided(cascade) == "ask summarize"
    refused = overflow(n_compactions=5, is_in_memory=True)
    action = decide(refused, QUIET, NOW)
    assert isinstance(action, Overflowed)
    assert "stops at 5: start a new session" in action.reason


def test_the_maximum_is_told_once() -> None:
    breaker = record_warning(Breaker(), n_compactions=5)
    cascade = at(176_000, n_compactions=5, breaker=breaker)
    action = decide(cascade, QUIET, NOW)
    assert isinstance(action, Idle)
    assert "stops at 5" in action.reason
    assert decided(msgspec.structs.replace(cascade, n_compactions=6)) == "warn"


@pytest.mark.parametrize(
    ("used", "tool", "confirmed", "expected"),
    [
        (165_000, 60_000, None, "ask prune"),
        (165_000, 60_000, "prune", "prune"),
        (176_000, 0, None, "ask summarize"),
        (176_000, 0, "prune", "ask summarize"),
        (176_000, 0, "summarize", "compact summarize"),
        (190_000, 0, "summarize", "ask full"),
        (190_000, 0, "full", "compact full"),
        (176_000, 60_000, "full", "prune"),
    ],
)
def test_the_user_is_asked_before_each_stronger_layer(
    used: int, tool: int, confirmed, expected: str
) -> None:
    assert decided(at(used, tool, confirmed_layer=confirmed), Policy()) == expected


def test_a_prune_in_memory_is_neither_asked_for_nor_held_up() -> None:
    breaker = put_off(Breaker(), "full", used_tokens=165_000, window_tokens=None, n_compactions=0)
    cascade = at(165_000, 60_000, is_in_memory=True, breaker=breaker)
    assert decided(cascade, Policy()) == "prune"
    assert decided(msgspec.structs.replace(cascade, is_in_memory=False)) == "idle"
    assert decided(msgspec.structs.replace(cascade, is_auto_on=False)) == "idle"


def test_where_pruning_has_to_wait_a_due_compaction_does_not() -> None:
    breaker = record_run(
        Breaker(), "prune", n_before=170_000, n_after=165_000, n_compactions=0, now_ms=NOW
    )
    assert decided(at(170_000, 60_000, breaker=breaker)) == "idle"
    assert decided(at(176_000, 60_000, breaker=breaker)) == "compact summarize"


def test_where_even_a_full_compaction_has_to_wait_the_user_is_told_once() -> None:
    breaker = put_off(Breaker(), "full", used_tokens=185_000, window_tokens=None, n_compactions=0)
    assert decided(at(189_999, breaker=breaker)) == "idle"
    assert decided(at(190_000, breaker=breaker)) == "warn"
    warned = record_warning(breaker, n_compactions=0)
    assert decided(at(190_000, breaker=warned)) == "idle"


def test_three_failures_are_told() -> None:
    breaker = Breaker()
    for _ in range(3):
        breaker = record_failure(breaker, NOW)
    assert decided(at(176_000, breaker=breaker)) == "warn"
    assert decided(at(176_000, breaker=breaker), now_ms=NOW + 3_600_000) == "compact summarize"


@pytest.mark.parametrize(
    ("n_compactions", "expected"),
    [(0, None), (2, None), (3, "consider a new one"), (4, "death spiral")],
)
def test_advice_comes_with_the_third_compaction_and_then_names_the_death_spiral(
    n_compactions: int, expected: str | None
) -> None:
    cascade = at(176_000, n_compactions=n_compactions)
    for policy in (QUIET, Policy()):
        action = decide(cascade, policy, NOW)
        assert isinstance(action, Compact | Ask)
        assert (action.advice is None) is (expected is None)
        assert expected is None or expected in (action.advice or "")


# Read-only mode


@pytest.mark.parametrize(
    ("used", "tool", "tried", "expected"),
    [
        (10_000, 0, (), "idle"),
        (10_000, 1, (), "prune"),
        (180_000, 9_000, (), "prune"),
        (175_999, 9_000, (PRUNED,), "idle"),
        (176_000, 9_000, (PRUNED,), "warn"),
        (500_000, 0, (), "warn"),
    ],
)
def test_read_only_mode_prunes_in_memory_and_warns(
    used: int, tool: int, tried: tuple[Step, ...], expected: str
) -> None:
    assert decided(at(used, tool, tried=tried), READ_ONLY) == expected
    asking = msgspec.structs.replace(READ_ONLY, notifies_before_auto=True)
    assert decided(at(used, tool, tried=tried), asking) == expected


def test_read_only_mode_warns_once_and_earlier_where_told() -> None:
    early = msgspec.structs.replace(READ_ONLY, warn_at_tokens=150_000)
    assert decided(at(149_999), early) == "idle"
    assert decided(at(150_000), early) == "warn"
    assert decided(at(150_000), READ_ONLY) == "idle"
    warned = record_warning(Breaker(), n_compactions=0)
    assert decided(at(150_000, breaker=warned), early) == "idle"


def test_read_only_mode_leaves_pruning_alone_where_it_is_off() -> None:
    assert decided(at(10_000, 9_000, is_auto_on=False), READ_ONLY) == "idle"
    no_prune = msgspec.structs.replace(READ_ONLY, is_prune_enabled=False)
    assert decided(at(10_000, 9_000), no_prune) == "idle"


def test_nothing_ever_writes_in_read_only_mode() -> None:
    for occasion in ("manual", "threshold", "overflow"):
        for used in (None, 0, 165_000, 180_000, 300_000):
            for tool in (0, 60_000):
                cascade = at(used, tool, occasion=occasion)
                assert "compact" not in decided(cascade, READ_ONLY)


# Manual


@pytest.mark.parametrize("layer", ["prune", "summarize", "full"])
def test_what_the_user_asks_for_waits_for_nothing(layer) -> None:
    breaker = put_off(Breaker(), "full", used_tokens=10, window_tokens=None, n_compactions=0)
    cascade = at(10, occasion="manual", asked_layer=layer, n_compactions=9, breaker=breaker)
    policy = Policy(is_auto_enabled=False, is_prune_enabled=False)
    assert decided(cascade, policy) == ("prune" if layer == "prune" else f"compact {layer}")
    done = msgspec.structs.replace(cascade, tried=(Step(what=layer, n_freed=1),))
    assert decided(done, policy) == "idle"


def test_a_read_only_workspace_is_not_compacted_by_hand_either() -> None:
    assert decided(at(10, occasion="manual"), READ_ONLY) == "idle"
    in_memory = at(10, occasion="manual", asked_layer="prune", is_in_memory=True)
    assert decided(in_memory, READ_ONLY) == "prune"


# Overflow

FULL = Step(what="full", n_freed=100_000)
RETRIED = Step(what="retry")


@pytest.mark.parametrize(
    ("used", "tool", "tried", "expected"),
    [
        (210_000, 0, [], "compact full"),
        (60_000, 0, [FULL], "retry"),
        (60_000, 0, [FULL, RETRIED], "overflowed"),
        (210_000, 0, [Step(what="full")], "overflowed"),
        (210_000, 60_000, [], "prune"),
        (159_999, 60_000, [PRUNED], "retry"),
        (160_000, 60_000, [PRUNED], "compact full"),
        (159_999, 60_000, [PRUNED, RETRIED], "compact full"),
        (60_000, 0, [PRUNED, RETRIED, FULL], "retry"),
        (60_000, 0, [PRUNED, RETRIED, FULL, RETRIED], "overflowed"),
        (210_000, 60_000, [Step(what="prune")], "compact full"),
        (None, 0, [], "compact full"),
        (100_000, 0, [], "compact full"),
    ],
)
def test_an_overflow_is_compacted_and_retried_once(
    used: int | None, tool: int, tried: list[Step], expected: str
) -> None:
    cascade = overflow(used, tool, started_tokens=210_000 if tried else None, tried=tuple(tried))
    for policy in (QUIET, Policy()):  # nobody is asked
        assert decided(cascade, policy) == expected


def test_pruning_alone_is_not_trusted_where_the_gauge_had_not_seen_the_overflow() -> None:
    cascade = overflow(120_000, 60_000, started_tokens=150_000, tried=(PRUNED,))
    assert decided(cascade) == "compact full"


@pytest.mark.parametrize(
    ("cascade", "policy", "expected"),
    [
        (overflow(), msgspec.structs.replace(QUIET, is_auto_enabled=False), "automatic compaction"),
        (overflow(is_auto_on=False), QUIET, "automatic compaction is off"),
        (overflow(n_compactions=5), QUIET, "stops at 5"),
        (overflow(), READ_ONLY, "read-only"),
        (overflow(tried=(FULL, RETRIED)), QUIET, "start a new session"),
    ],
    ids=["off", "off for the session", "maximum", "read-only", "still too large"],
)
def test_an_overflow_that_must_not_be_compacted_says_why(
    cascade: Cascade, policy: Policy, expected: str
) -> None:
    action = decide(cascade, policy, NOW)
    assert isinstance(action, Overflowed)
    assert expected in action.reason


def test_in_read_only_mode_an_overflow_is_pruned_in_memory_and_retried_once() -> None:
    assert decided(overflow(tool=60_000), READ_ONLY) == "prune"
    tried = (PRUNED,)
    cascade = overflow(190_000, 60_000, started_tokens=210_000, tried=tried)
    assert isinstance(decide(cascade, READ_ONLY, NOW), Retry)
    again = msgspec.structs.replace(cascade, tried=(PRUNED, RETRIED))
    assert isinstance(decide(again, READ_ONLY, NOW), Overflowed)


def test_an_overflow_waits_neither_for_the_clock_nor_for_growth() -> None:
    breaker = record_run(
        Breaker(), "full", n_before=200_000, n_after=190_000, n_compactions=1, now_ms=NOW
    )
    assert decided(overflow(n_compactions=1, breaker=breaker)) == "compact full"
    for _ in range(2):
        breaker = record_failure(breaker, NOW)
    assert decided(overflow(n_compactions=1, breaker=breaker)) == "overflowed"


def test_a_window_without_reserve_is_ruled_by_percentages_alone() -> None:
    assert decided(at(7_039, window_tokens=8_000), NO_RESERVE) == "idle"
    assert decided(at(7_040, window_tokens=8_000), NO_RESERVE) == "compact summarize"
    assert isinstance(decide(at(7_600, window_tokens=8_000), NO_RESERVE, NOW), Compact)
    assert not isinstance(decide(at(7_600, window_tokens=8_000), READ_ONLY, NOW), Prune | Compact)
    assert isinstance(decide(at(7_600, window_tokens=8_000), READ_ONLY, NOW), Warn)


# What holds for every cascade

steps = st.builds(
    Step,
    what=st.sampled_from(["prune", "summarize", "full", "retry"]),
    n_freed=st.sampled_from([0, 1, 50_000]),
)
breakers = st.builds(
    Breaker,
    epoch=st.integers(0, 6),
    last_compaction_ms=st.sampled_from([None, NOW - 1, NOW - 600_000]),
    strikes_ms=st.sampled_from([(), (NOW,), (NOW, NOW, NOW)]),
    held_layer=st.sampled_from([None, *LAYERS]),
    held_until_tokens=st.integers(0, 250_000),
    is_warned=st.booleans(),
)
cascades = st.builds(
    Cascade,
    occasion=st.sampled_from(["manual", "threshold", "overflow"]),
    used_tokens=st.none() | st.integers(0, 300_000),
    window_tokens=st.sampled_from([1, 20_000, 100_000, 200_000, 1_000_000]),
    tool_tokens=st.integers(0, 100_000),
    n_compactions=st.integers(0, 6),
    breaker=breakers,
    started_tokens=st.none() | st.integers(0, 300_000),
    tried=st.lists(steps, max_size=4).map(tuple),
    is_auto_on=st.sampled_from([None, True, False]),
    confirmed_layer=st.sampled_from([None, *LAYERS]),
    is_in_memory=st.booleans(),
)
some_policies = st.builds(
    Policy,
    is_prune_enabled=st.booleans(),
    is_auto_enabled=st.booleans(),
    notifies_before_auto=st.booleans(),
    is_read_only=st.booleans(),
)


@given(cascades, some_policies)
def test_every_situation_has_a_decision_that_fits_its_occasion(
    cascade: Cascade, policy: Policy
) -> None:
    action = decide(cascade, policy, NOW)
    fitting = {
        "manual": Idle | Prune | Compact,
        "threshold": Idle | Prune | Compact | Ask | Warn,
        "overflow": Prune | Compact | Retry | Overflowed,
    }
    assert isinstance(action, fitting[cascade.occasion])
    assert not (policy.is_read_only and isinstance(action, Compact | Ask))
    is_on = policy.is_auto_enabled if cascade.is_auto_on is None else cascade.is_auto_on
    if cascade.occasion == "manual":
        return
    assert is_on or not isinstance(action, Prune | Compact | Ask)
    if isinstance(action, Compact | Ask) and action.layer != "prune":
        done = {step.what for step in cascade.tried}
        assert done.isdisjoint(LAYERS[LAYERS.index(action.layer) :])
        assert cascade.n_compactions < policy.max_auto_compactions
    if isinstance(action, Prune):
        assert all(step.what != "prune" for step in cascade.tried)


@given(st.integers(0, 300_000), st.integers(0, 50_000), st.integers(0, 100_000))
def test_a_fuller_window_is_never_due_for_less(used: int, n_more: int, tool: int) -> None:
    def compaction(used_tokens: int) -> int:
        layer = find_due_layer(at(used_tokens, tool, tried=(Step(what="prune"),)), QUIET)
        return -1 if layer is None else LAYERS.index(layer)

    assert compaction(used) <= compaction(used + n_more)
