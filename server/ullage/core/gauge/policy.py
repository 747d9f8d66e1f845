"""When something is done about a filling context: thresholds, layers, limits."""

import math
from typing import Final, Literal, TypeAlias

import msgspec

from ullage.core.config.settings import DEFAULT_WINDOW_TOKENS, Policy

Layer: TypeAlias = Literal["prune", "summarize", "full"]
LAYERS: tuple[Layer, ...] = ("prune", "summarize", "full")
"""Weakest first."""
DEFAULT_LAYER: Final[Literal["summarize"]] = "summarize"
"""What a user gets who names none, on the command line and in the editor."""
Band: TypeAlias = Literal["normal", "notice", "warning", "critical"]
"""How near the next trigger is: below the gauge line, above it, at a layer, at the last one."""


PROTECTED_TOOLS = ("skill", "memory_search", "gandiva_recall")
"""Their output is never pruned; a user may add tools, not take these away."""

PRUNE_ROUNDS = 10
READ_ONLY_PRUNE_ROUNDS = 3


class Trigger(msgspec.Struct, frozen=True, kw_only=True):
    """The next point at which something is due."""

    name: str
    at_tokens: int


def band_of(utilization: float | None, policy: Policy) -> Band:
    if utilization is None or utilization < policy.gauge_ratio:
        return "normal"
    if utilization < policy.checkpoint_ratio:
        return "notice"
    return "warning" if utilization < policy.full_ratio else "critical"


def ratio_at(window_tokens: int, ratio: float) -> int:
    """Give the least number of tokens that is at least a share of the window."""
    # Floats miss whole products by a hair, as 100 * 0.55 does: 55.00000000000001.
    return math.ceil(round(window_tokens * ratio, 6))


def reserve_at(window_tokens: int, policy: Policy) -> int | None:
    """Give the size at which the reserve is touched; None where the window is all reserve.

    `tokens >= window - reserveTokensFloor - softThresholdTokens`, 176,000 of 200,000
    (docs/design/gauge.md, "Reserve").
    """
    at_tokens = window_tokens - policy.reserve_tokens - policy.soft_tokens
    return at_tokens if at_tokens > 0 else None


def triggers(window_tokens: int, policy: Policy) -> tuple[Trigger, ...]:
    """List what is due at which size of the context, nearest first."""
    found = [
        Trigger(name="checkpoint", at_tokens=ratio_at(window_tokens, policy.checkpoint_ratio)),
        Trigger(name="summarize", at_tokens=ratio_at(window_tokens, policy.summarize_ratio)),
        Trigger(name="full compaction", at_tokens=ratio_at(window_tokens, policy.full_ratio)),
    ]
    at_reserve = reserve_at(window_tokens, policy)
    if at_reserve is not None:
        found.append(Trigger(name="reserve", at_tokens=at_reserve))
    return tuple(sorted(found, key=lambda trigger: trigger.at_tokens))


def due_triggers(used_tokens: int, window_tokens: int, policy: Policy) -> tuple[Trigger, ...]:
    """List what is due at a size of the context, the first to come due first."""
    return tuple(t for t in triggers(window_tokens, policy) if t.at_tokens <= used_tokens)


def next_trigger(used_tokens: int, window_tokens: int, policy: Policy) -> Trigger | None:
    ahead = (t for t in triggers(window_tokens, policy) if t.at_tokens > used_tokens)
    return next(ahead, None)


def prune_rounds(policy: Policy) -> int:
    """Give after how many user turns results go: the user's figure, else the default.

    docs/design/prune.md, "Rounds".
    """
    if policy.prune_after_rounds is not None:
        return policy.prune_after_rounds
    return READ_ONLY_PRUNE_ROUNDS if policy.is_read_only else PRUNE_ROUNDS


def protected_tokens(layer: Layer, window_tokens: int, policy: Policy) -> int:
    """Give how much of the recent context a layer leaves alone, at most half the window."""
    protect = {
        "prune": policy.summarize_protect_tokens,
        "summarize": policy.summarize_protect_tokens,
        "full": policy.full_protect_tokens,
    }[layer]
    return min(protect, window_tokens // 2)


WindowSource: TypeAlias = Literal["setting", "agent", "model table", "default"]


class ModelRow(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is known of the models whose names start with a prefix."""

    prefix: str
    window_tokens: int
    encoding: str
    source: str
    date: str
    """Day on which the source was read, as YYYY-MM-DD."""


class Window(msgspec.Struct, frozen=True, kw_only=True):
    n_tokens: int
    source: WindowSource
    detail: str
    """The setting, the record or the row that the figure comes from."""


def resolve_window(
    model: str | None,
    row: ModelRow | None,
    *,
    setting_tokens: int | None,
    setting_name: str = "",
    agent_tokens: int | None,
) -> Window:
    """Resolve the window: the user's setting, the agent's record, the model table, the default."""
    if setting_tokens is not None:
        detail = f"your setting {setting_name}".rstrip()
        return Window(n_tokens=setting_tokens, source="setting", detail=detail)
    if agent_tokens is not None:
        return Window(n_tokens=agent_tokens, source="agent", detail="the agent's own record")
    if model is not None and model.lower().endswith("[1m]"):
        return Window(n_tokens=1_000_000, source="model table", detail="the model's [1m] suffix")
    if row is not None:
        return Window(
            n_tokens=row.window_tokens, source="model table", detail=f"{row.source}, {row.date}"
        )
    return Window(
        n_tokens=DEFAULT_WINDOW_TOKENS,
        source="default",
        detail="no source names this model; set ULLAGE_CONTEXT_WINDOW or --window",
    )
