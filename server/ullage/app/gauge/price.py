"""What a session's parts cost: by how often it asks its model, and by the model's prices."""

from itertools import chain

from ullage.app.sessions.load import Loaded
from ullage.app.sessions.past import read_context_before
from ullage.core.gauge.price import Cost, Rate, measure_pace, read_prices
from ullage.core.text.prose import plural
from ullage.core.transcript.context import ContextItem
from ullage.store.gauge.models import find_priced_model


def find_rate(loaded: Loaded) -> Rate:
    """Find what a session's costs are worked out by."""
    context = loaded.context
    row = find_priced_model(context.header.agent, context.provider, context.model)
    pace = measure_pace(tuple(chain(_read_before(loaded), context.items)))
    return Rate(model=context.model, pace=pace, prices=read_prices(row))


def _read_before(loaded: Loaded) -> tuple[ContextItem, ...]:
    """Give the context that the last compaction ended: after it there may be few requests yet.

    Those before it are left out: what they take to read grows with the session.
    """
    context = loaded.context
    if context.boundary is None or not context.compactions:
        return ()
    ref = context.compactions[-1]
    index = loaded.reading.index
    return read_context_before(loaded.session, context.boundary, ref, index).items


def rate_text(rate: Rate) -> str:
    """Say by what costs were worked out."""
    told: list[str] = []
    if (pace := rate.pace) is not None:
        requests = plural(pace.n_requests, "request")
        days = "a day" if pace.n_days == 1 else f"on {pace.n_days} days"
        cached = pace.cached_ratio
        share = "" if cached is None else f", {cached:.0%} of what was sent read from the cache"
        told.append(f"At this session's pace: {requests} {days}{share}.")
    if (prices := rate.prices) is not None:
        told.append(
            f"{rate.model}: {_price_text(prices.fresh_usd)} for a million tokens,"
            f" {_price_text(prices.cached_usd)} from the cache ({prices.source})."
        )
    return " ".join(told)


def cost_text(cost: Cost) -> str:
    """Say what something costs a day; empty where that is not known."""
    if cost.tokens_a_day is None:
        return ""
    usd = "" if cost.usd_a_day is None else f", {usd_text(cost.usd_a_day)}"
    return f"{tokens_text(cost.tokens_a_day)} tokens{usd} a day"


def tokens_text(n_tokens: int) -> str:
    """Write a number of tokens in at most six characters."""
    if n_tokens < 10_000:
        return f"{n_tokens:,}"
    return f"{n_tokens / 1_000:.0f}k" if n_tokens < 999_500 else f"{n_tokens / 1_000_000:,.1f}M"


def usd_text(usd: float) -> str:
    return f"${usd:,.2f}" if usd >= 0.005 or not usd else "<$0.01"


def _price_text(usd: float) -> str:
    """Write a price with all its places: a cached token may cost a fifth of a cent."""
    return f"${usd:.2f}" if round(usd, 2) == usd else f"${usd:g}"
