"""How many turns are left until the next trigger, with the error of the guess."""

import math
from collections.abc import Sequence
from itertools import pairwise

import msgspec

from ullage.core.gauge.gauge import Trigger
from ullage.core.transcript.context import Context, ContextItem

MIN_TURNS = 3
"""Fewer measured turns tell nothing about how much they differ (chosen)."""
_DEVIATIONS = 1.2816
"""Standard deviations on either side of the mean that hold 80 % of a normal distribution."""
MAX_TURNS = 999


class Forecast(msgspec.Struct, frozen=True, kw_only=True):
    trigger: str
    turns_low: int
    turns_high: int
    """With 80 % confidence, if turns keep growing as they did; at most 999."""
    tokens_a_turn: int
    n_observed: int
    """Turns that the guess rests on."""


def forecast(context: Context, used_tokens: int, trigger: Trigger) -> Forecast | None:
    """Guess from how much each turn since the last compaction added; None on too few turns."""
    growth = list_turn_growth(context.items, is_pruned=context.pruned is not None)
    if len(growth) < MIN_TURNS:
        return None
    mean = sum(growth) / len(growth)
    if mean <= 0:
        return None
    variance = sum((n_tokens - mean) ** 2 for n_tokens in growth) / (len(growth) - 1)
    remaining = trigger.at_tokens - used_tokens
    return Forecast(
        trigger=trigger.text,
        turns_low=_turns(remaining, mean, _DEVIATIONS * math.sqrt(variance)),
        turns_high=_turns(remaining, mean, -_DEVIATIONS * math.sqrt(variance)),
        tokens_a_turn=round(mean),
        n_observed=len(growth),
    )


def list_turn_growth(items: Sequence[ContextItem], *, is_pruned: bool = False) -> tuple[int, ...]:
    """List by how many tokens each whole turn made the context longer, by reported usage.

    Turns before a prune tell as much of that as those since; what the prune itself took away is
    left out.
    """
    ends: list[tuple[int, bool]] = []
    is_new_turn = True
    for item in items:
        if not (item.is_after_boundary or is_pruned):
            continue
        if item.category == "user":
            is_new_turn = True
        elif item.message.usage is not None:
            if not is_new_turn:
                ends.pop()
            ends.append((item.message.usage.n_total, item.is_after_boundary))
            is_new_turn = False
    return tuple(
        after - before
        for (before, was_fresh), (after, is_fresh) in pairwise(ends)
        if is_fresh == was_fresh and (is_fresh or after > before)
    )


def _turns(remaining: int, mean: float, spread: float) -> int:
    """Give the least n with n * mean + spread * sqrt(n) >= remaining."""
    if remaining <= 0:
        return 0
    root = (-spread + math.sqrt(spread**2 + 4 * mean * remaining)) / (2 * mean)
    return min(MAX_TURNS, max(1, math.ceil(root**2)))
