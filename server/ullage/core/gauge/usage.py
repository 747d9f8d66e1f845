"""What was sent to models and what they answered, to be added up, with what it costs."""

from collections.abc import Iterable

import msgspec

from ullage.core.gauge.price import add_usd, read_prices
from ullage.core.gauge.window import ModelRow
from ullage.core.transcript.entries import Usage

DEFAULT_DAYS = 14
"""Up to today, that are added up (chosen)."""

_MILLION = 1_000_000


class Spent(msgspec.Struct, frozen=True, kw_only=True):
    n_requests: int = 0
    n_sent: int = 0
    n_cached: int = 0
    """Of what was sent, what was read from the cache."""
    n_answered: int = 0
    usd: float = 0.0
    n_unpriced: int = 0
    """Requests to models whose price is not known: they are not in the costs."""


def find_spent(usage: Usage, row: ModelRow | None) -> Spent:
    """Tell what one answer took, at the prices of its model."""
    usd = _find_usd(usage, row)
    return Spent(
        n_requests=1,
        n_sent=usage.n_sent,
        n_cached=usage.n_cache_read,
        n_answered=usage.n_output,
        usd=usd or 0.0,
        n_unpriced=int(usd is None),
    )


def add_up(parts: Iterable[Spent]) -> Spent:
    parts = tuple(parts)
    return Spent(
        n_requests=sum(part.n_requests for part in parts),
        n_sent=sum(part.n_sent for part in parts),
        n_cached=sum(part.n_cached for part in parts),
        n_answered=sum(part.n_answered for part in parts),
        usd=sum(part.usd for part in parts),
        n_unpriced=sum(part.n_unpriced for part in parts),
    )


def _find_usd(usage: Usage, row: ModelRow | None) -> float | None:
    prices = read_prices(row)
    if row is None or prices is None or row.prices[1] is None:
        return None
    usd = add_usd(
        prices, usage.n_input, usage.n_cache_read, usage.n_cache_write, usage.n_hour_write
    )
    return (usd + usage.n_output * row.prices[1]) / _MILLION
