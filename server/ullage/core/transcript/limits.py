"""How much of what an agent's plan allows is used: for five hours, for a week."""

import msgspec

from ullage.core.transcript.agent_lines import holds_still


class Limit(msgspec.Struct, frozen=True, kw_only=True):
    n_minutes: int
    """How long it is for: 300, 10,080."""
    used_percent: int
    resets_at_s: int
    """In seconds since 1970: what was told of it holds until then. 0 where that is not known."""


def list_current(limits: tuple[Limit, ...], now_s: float) -> tuple[Limit, ...]:
    """List those that hold still, the shortest first."""
    current = (limit for limit in limits if holds_still(limit.resets_at_s, now_s))
    return tuple(sorted(current, key=lambda limit: limit.n_minutes))
