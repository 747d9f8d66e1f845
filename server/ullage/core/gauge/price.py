"""What tokens cost that are sent with every request: by the session's pace, cached and not."""

from collections.abc import Sequence

import msgspec

from ullage.core.gauge.window import ModelRow
from ullage.core.transcript.context import ContextItem
from ullage.core.transcript.entries import Usage

DAY_MS = 86_400_000
_MILLION = 1_000_000


class Pace(msgspec.Struct, frozen=True, kw_only=True):
    """How often a session asks its model, and how much of that is read from the cache."""

    n_requests: int
    n_days: int
    """On which there was a request: of 24 hours each, from the first one on."""
    n_fresh: int
    """Tokens that were neither read from the cache nor written to it."""
    n_cache_read: int
    n_cache_write: int
    n_hour_write: int = 0
    """Of what was written to the cache, what is kept for an hour."""

    @property
    def requests_a_day(self) -> float:
        return self.n_requests / self.n_days

    @property
    def cached_ratio(self) -> float | None:
        """The share of what was sent that was read from the cache; None where nobody told."""
        n_sent = self.n_fresh + self.n_cache_read + self.n_cache_write
        return self.n_cache_read / n_sent if n_sent else None


class InputPrices(msgspec.Struct, frozen=True, kw_only=True):
    """USD for a million tokens that are sent."""

    fresh_usd: float
    cached_usd: float
    """Where they are read from the cache."""
    written_usd: float
    """Where they are written to it, to be kept for five minutes."""
    hour_usd: float
    """Where they are written to it, to be kept for an hour."""
    source: str
    """Who publishes them, and when."""


class Cost(msgspec.Struct, frozen=True, kw_only=True):
    """What a text costs; null is what is not known."""

    tokens_a_day: int | None = None
    cached_tokens_a_day: int | None = None
    """Of these, what is read from the cache."""
    usd_a_request_fresh: float | None = None
    usd_a_request_cached: float | None = None
    usd_a_day: float | None = None
    """With as much of it cached as of all that the session sent."""


class Rate(msgspec.Struct, frozen=True, kw_only=True):
    """What a session's costs are worked out by."""

    model: str | None
    pace: Pace | None
    prices: InputPrices | None


def measure_pace(items: Sequence[ContextItem]) -> Pace | None:
    """Add up the answers that reported their usage; None where none of them has a time."""
    answers: dict[str, tuple[int, Usage]] = {}
    for item in items:
        if item.message.usage is not None and item.at_ms is not None:
            # One answer may stand on several entries, and one entry in two contexts.
            answers[item.message.answer_id or item.entry_id] = (item.at_ms, item.message.usage)
    if not answers:
        return None
    first_ms = min(at_ms for at_ms, _ in answers.values())
    usages = [usage for _, usage in answers.values()]
    return Pace(
        n_requests=len(answers),
        n_days=len({(at_ms - first_ms) // DAY_MS for at_ms, _ in answers.values()}),
        n_fresh=sum(usage.n_input for usage in usages),
        n_cache_read=sum(usage.n_cache_read for usage in usages),
        n_cache_write=sum(usage.n_cache_write for usage in usages),
        n_hour_write=sum(usage.n_hour_write for usage in usages),
    )


def read_prices(row: ModelRow | None) -> InputPrices | None:
    """Give the prices of a row; what has no price of its own costs as much as fresh input."""
    if row is None or not row.prices:
        return None
    fresh, _, cached, written, hour = row.prices
    if fresh is None:
        return None
    return InputPrices(
        fresh_usd=fresh,
        cached_usd=fresh if cached is None else cached,
        written_usd=written or fresh,
        hour_usd=hour or written or fresh,
        source=row.source,
    )


def add_usd(
    prices: InputPrices, n_fresh: int, n_cache_read: int, n_cache_write: int, n_hour_write: int
) -> float:
    """Add up what tokens cost that were sent, in millionths of a USD."""
    usd = n_fresh * prices.fresh_usd + n_cache_read * prices.cached_usd
    usd += (n_cache_write - n_hour_write) * prices.written_usd
    return usd + n_hour_write * prices.hour_usd


def find_cost(n_tokens: int, rate: Rate) -> Cost:
    """Tell what tokens cost that each request of a session holds."""
    pace, prices = rate.pace, rate.prices
    cached = None if pace is None else pace.cached_ratio
    n_a_day = None if pace is None else n_tokens * pace.requests_a_day
    usd = None if pace is None or prices is None else _average_usd(pace, prices)
    return Cost(
        tokens_a_day=None if n_a_day is None else round(n_a_day),
        cached_tokens_a_day=None if n_a_day is None or cached is None else round(n_a_day * cached),
        usd_a_request_fresh=prices and n_tokens * prices.fresh_usd / _MILLION,
        usd_a_request_cached=prices and n_tokens * prices.cached_usd / _MILLION,
        usd_a_day=None if n_a_day is None or usd is None else n_a_day * usd / _MILLION,
    )


def _average_usd(pace: Pace, prices: InputPrices) -> float | None:
    """Give what a million tokens cost on average, as they were fresh, read and written."""
    n_sent = pace.n_fresh + pace.n_cache_read + pace.n_cache_write
    usd = add_usd(prices, pace.n_fresh, pace.n_cache_read, pace.n_cache_write, pace.n_hour_write)
    return usd / n_sent if n_sent else None
