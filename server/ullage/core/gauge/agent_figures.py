"""Figures that only an agent knows, as it told them while it ran (`ullage statusline`)."""

import msgspec

from ullage.core.transcript.limits import Limit


class ToldWindow(msgspec.Struct, frozen=True, kw_only=True):
    model: str
    n_tokens: int


class AgentFigures(msgspec.Struct, frozen=True, kw_only=True):
    """Of one session, as they were told last."""

    told_window: ToldWindow | None = None
    micro_usd: int | None = None
    """What the session cost, in millionths of a dollar."""
    cache_percent: int | None = None
    """How much of what was sent came from the cache."""
    limits: tuple[Limit, ...] = ()


NO_FIGURES = AgentFigures()
