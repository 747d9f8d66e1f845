"""Thousands of turns of an agent under the decision: no loop, no overflow, bounded runs.

A session grows at random, the layers really plan and cut it, summaries are sometimes poor, the
model sometimes fails. What is checked is what a user would be hurt by: a cascade that does not
end, compactions that follow each other without need, a context larger than its window.
"""

import random
from itertools import pairwise

import msgspec
import pytest

from factories import assistant, context_of, summary, tool_result, user
from profiles import examples
from sized import count
from ullage.core.change.breaker import (
    MAX_STRIKES,
    MIN_GAIN_RATIO,
    RUN_INTERVAL_MS,
    Breaker,
    record_failure,
    record_run,
    record_warning,
)
from ullage.core.change.compaction import Selection, select
from ullage.core.change.decision import (
    Cascade,
    Compact,
    Idle,
    Occasion,
    Overflowed,
    Prune,
    Retry,
    Step,
    Warn,
    decide,
)
from ullage.core.change.prune import apply_prunes, plan_prune
from ullage.core.change.tool_outputs import count_tool_output_tokens
from ullage.core.config.settings import Policy
from ullage.core.gauge.gauge import LAYERS, Gauge, Layer
from ullage.core.gauge.window import Window
from ullage.core.transcript.context import ContextItem
from ullage.core.transcript.tokens import count_items, count_message

MAX_DECISIONS = 8
"""In one cascade: three layers, two retries, the end, and some to spare."""
POLICY = Policy(notifies_before_auto=False, max_auto_compactions=10**9)


class Ran(msgspec.Struct, frozen=True):
    occasion: Occasion
    layer: Layer
    at_ms: int
    n_before: int
    n_after: int


class Session:
    """An agent's session with the layers that would act on it."""

    def __init__(self, *, window: int, hidden: int, policy: Policy, seed: int) -> None:
        self.random = random.Random(seed)
        self.window, self.hidden, self.policy = window, hidden, policy
        self.items: list[ContextItem] = []
        self.used = hidden
        self.now_ms = 1_770_000_000_000
        self.breaker = Breaker()
        self.ran: list[Ran] = []
        self.n_compactions = self.n_overflowed = self.n_failed = self.n_warned = 0
        self.n_grown = self.n_ids = 0
        self.failure_rate = self.poor_rate = 0.0

    def add(self, item: ContextItem) -> None:
        self.n_ids += 1
        self.items.append(msgspec.structs.replace(item, entry_id=f"e{self.n_ids}"))
        n_tokens = count_message(item.message, count)
        self.used += n_tokens
        self.n_grown += n_tokens

    def turn(self, sizes: tuple[int, int], n_steps: int) -> None:
        """Let the user ask and the agent work until the provider refuses for good."""
        self.now_ms += self.random.randrange(20_000, 300_000)
        self.add(user(str(self.random.randrange(20, 800))))
        for _ in range(n_steps):
            if not self.request():
                return
            call_id = f"c{self.n_ids}"
            tool = self.random.choice(("bash", "read", "grep", "skill"))
            self.add(assistant("", [(call_id, tool, {})]))
            self.add(tool_result(str(self.random.randrange(*sizes)), call_id, tool))
        if not self.request():
            return
        self.add(assistant(str(self.random.randrange(20, 600))))
        self.cascade("threshold")

    def request(self) -> bool:
        """Send the context; what is too large is refused, and given up if nothing helps."""
        if self.used > self.window:
            n_given_up = self.n_overflowed + self.n_failed
            self.cascade("overflow")
            assert self.used <= self.window or self.n_overflowed + self.n_failed > n_given_up
        return self.used <= self.window

    def cascade(self, occasion: Occasion) -> None:
        """Follow the decisions to their end, as the use case does."""
        started, tried = self.used, []
        for _ in range(MAX_DECISIONS):
            cascade = Cascade(
                occasion=occasion,
                used_tokens=self.used,
                window_tokens=self.window,
                tool_tokens=count_tool_output_tokens(self.items, count),
                n_compactions=self.n_compactions,
                breaker=self.breaker,
                started_tokens=started if tried else None,
                tried=tuple(tried),
            )
            match decide(cascade, self.policy, self.now_ms):
                case Idle():
                    break
                case Warn():
                    self.n_warned += 1
                    self.breaker = record_warning(self.breaker, n_compactions=self.n_compactions)
                    break
                case Overflowed():
                    self.n_overflowed += 1
                    break
                case Prune():
                    tried.append(Step(what="prune", n_freed=self.prune()))
                case Compact(layer=layer):
                    if self.random.random() < self.failure_rate:
                        self.breaker = record_failure(self.breaker, self.now_ms)
                        self.n_failed += 1
                        return
                    tried.append(Step(what=layer, n_freed=self.compact(layer)))
                case Retry():
                    if self.used <= self.window:
                        break
                    tried.append(Step(what="retry"))
                case _:
                    raise AssertionError("nothing is asked here")
        else:
            raise AssertionError("the cascade does not end")
        self.record(occasion, started, tried)

    def record(self, occasion: Occasion, started: int, tried: list[Step]) -> None:
        layers = [layer for layer in LAYERS if any(step.what == layer for step in tried)]
        if not layers:
            return
        self.breaker = record_run(
            self.breaker,
            layers[-1],
            n_before=started,
            n_after=self.used,
            n_compactions=self.n_compactions,
            now_ms=self.now_ms,
        )
        self.ran.append(Ran(occasion, layers[-1], self.now_ms, started, self.used))

    def prune(self) -> int:
        plan = plan_prune(self.items, self.policy, count)
        return self.replace_items(apply_prunes(self.items, plan.replacements))

    def compact(self, layer: Layer) -> int:
        gauge = Gauge(
            used_tokens=self.used,
            used_source="reported",
            n_reported=self.used,
            n_noted=0,
            n_counted=0,
            window=Window(n_tokens=self.window, source="default", detail=""),
            utilization=self.used / self.window,
        )
        selection = select(context_of(self.items), gauge, layer, self.policy, count)
        if not isinstance(selection, Selection):
            return 0
        is_poor = self.random.random() < self.poor_rate
        n_summary = selection.cut.n_tokens_replaced // 2 if is_poor else (
            selection.summary_budget_tokens
        )  # fmt: skip
        self.n_compactions += 1
        made = msgspec.structs.replace(summary(str(n_summary)), entry_id=f"s{self.n_compactions}")
        return self.replace_items((made, *self.items[selection.cut.first_kept :]))

    def replace_items(self, items: tuple[ContextItem, ...]) -> int:
        n_before = self.used
        self.items = list(items)
        self.used = self.hidden + count_items(items, count)
        return n_before - self.used


def assert_no_loop(session: Session) -> None:
    """Check the rests between the runs that thresholds started, and what each run was for."""
    for is_prune in (True, False):
        runs = [
            run
            for run in session.ran
            if run.occasion == "threshold" and (run.layer == "prune") is is_prune
        ]
        for one, other in pairwise(runs):
            assert other.at_ms - one.at_ms >= RUN_INTERVAL_MS
            if one.n_before - one.n_after < MIN_GAIN_RATIO * one.n_before:
                is_stronger = LAYERS.index(other.layer) > LAYERS.index(one.layer)
                between = [r for r in session.ran if one.at_ms < r.at_ms < other.at_ms]
                assert is_stronger or between or other.n_before >= 1.2 * one.n_after


@pytest.mark.simulation
@pytest.mark.parametrize(
    ("window", "n_turns", "sizes"),
    [
        (200_000, examples(10_000), (50, 12_000)),
        (1_000_000, 2_000, (50, 40_000)),
        (128_000, 2_000, (9, 90)),
    ],
    ids=["200k", "1M", "128k, mostly talk"],
)
def test_a_long_session_never_overflows_and_its_compactions_are_bounded(
    window: int, n_turns: int, sizes: tuple[int, int]
) -> None:
    session = Session(window=window, hidden=window // 10, policy=POLICY, seed=window)
    for _ in range(n_turns):
        session.turn(sizes, session.random.randrange(1, 5))
    assert session.n_overflowed == session.n_warned == 0
    assert_no_loop(session)
    assert session.n_compactions > 0
    # Each frees a fifth or holds the next one up, so growth bounds their number.
    assert session.n_compactions <= session.n_grown / (0.2 * 0.6 * window)
    if sizes[1] > 1000:
        assert any(run.layer == "prune" for run in session.ran)


@pytest.mark.parametrize("seed", range(4))
def test_poor_summaries_and_failing_models_cause_no_loop(seed: int) -> None:
    session = Session(window=200_000, hidden=60_000, policy=POLICY, seed=seed)
    session.failure_rate = session.poor_rate = 0.4
    for _ in range(800):
        session.turn((50, 15_000), session.random.randrange(1, 5))
    assert session.n_failed > 10
    assert_no_loop(session)


@pytest.mark.simulation
@pytest.mark.parametrize("hidden", [150_000, 180_000, 185_000, 199_000])
def test_a_window_that_is_full_of_the_system_prompt_is_compacted_a_few_times_an_hour(
    hidden: int,
) -> None:
    session = Session(window=200_000, hidden=hidden, policy=POLICY, seed=hidden)
    started_ms = session.now_ms
    for _ in range(examples(2_000)):
        session.turn((9, 90), 1)
    n_hours = (session.now_ms - started_ms) / 3_600_000
    runs = [run for run in session.ran if run.layer != "prune"]
    assert len(runs) <= MAX_STRIKES * n_hours + MAX_STRIKES
    assert session.n_warned <= 1
    assert_no_loop(session)


def test_the_limit_of_the_user_ends_automatic_compactions() -> None:
    policy = Policy(notifies_before_auto=False)
    session = Session(window=200_000, hidden=20_000, policy=policy, seed=1)
    for _ in range(300):
        session.turn((50, 8_000), 3)
    assert session.n_compactions == policy.max_auto_compactions
    assert session.n_warned == 1
    assert session.n_overflowed > 0
