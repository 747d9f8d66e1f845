"""What fills a session's window, in numbers alone: for the hover of the gauge."""

import msgspec

from ullage.app.sessions.load import Loaded
from ullage.core.gauge.breakdown import Share, share_out
from ullage.core.gauge.forecast import Forecast, forecast
from ullage.core.transcript.tokens import count_message


class Filling(msgspec.Struct, frozen=True, kw_only=True):
    """Of a session as it was loaded."""

    shares: tuple[Share, ...]
    """Largest first; with what is unseen they add up to the gauge."""
    forecast: Forecast | None


def fill(loaded: Loaded) -> Filling:
    """Count every message of the context; what was counted before costs a look-up."""
    gauge, trigger = loaded.status.gauge, loaded.status.next_trigger
    items, used = loaded.context.items, gauge.used_tokens
    parts = [(item.category, count_message(item.message, loaded.count)) for item in items]
    loaded.count.save()
    return Filling(
        shares=share_out(parts, gauge),
        forecast=None
        if used is None or trigger is None
        else forecast(loaded.context, used, trigger),
    )
