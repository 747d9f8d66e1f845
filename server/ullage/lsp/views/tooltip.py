"""The hover of the gauge: who uses the window, by how much, for what, and what comes next."""

from datetime import datetime

from ullage.app.gauge.inspect import Filling
from ullage.app.gauge.status_text import (
    ago,
    total_text,
    trigger_text,
    used_text,
    window_text,
)
from ullage.app.sessions.load import Loaded
from ullage.core.gauge.breakdown import Share
from ullage.core.gauge.gauge import tells_usage
from ullage.core.gauge.status import last_compaction_ms
from ullage.formats.registry import agent_info
from ullage.lsp.markdown import escaped

MAX_SHARES = 6
"""Smaller ones are in the view of the window."""


def gauge_tooltip(
    loaded: Loaded,
    filling: Filling | None,
    *,
    is_automatic: bool,
    is_restricted: bool = False,
) -> str:
    """Write the hover; every text that comes from a session is escaped.

    `filling` is what was worked out last: of the same session, or None before the first time.
    """
    status, header = loaded.status, loaded.session.header
    model = loaded.context.model or "model not named yet"
    agent = agent_info(header.known_agent).name
    rows = [
        f"**{agent}** · {escaped(model)} · {escaped(header.session_id[:8])}",
        f"{total_text(status.gauge)} tokens  \n{escaped(used_text(status.gauge) + _as_of(loaded))}",
        f"Window: {escaped(window_text(status.gauge.window))}",
    ]
    if filling is not None and filling.shares:
        rows.append(_shares(filling.shares))
    rows.append(f"Next: {trigger_text(status)}{_forecast(filling)}")
    n_compactions = status.degradation.n_compactions
    if n_compactions:
        last = ago(last_compaction_ms(loaded.context))
        rows.append(f"Compactions: {n_compactions}, last {last} · risk {status.degradation.risk}")
    automatic = _automatic(loaded, is_on=is_automatic, is_restricted=is_restricted)
    rows.append(f"Automatic compaction: {automatic}")
    return "\n\n".join(rows)


def _as_of(loaded: Loaded) -> str:
    """Say when what the gauge shows was written, by the clock: a hover is not written anew."""
    items = loaded.context.items
    if loaded.status.gauge.used_source == "reported":
        items = tuple(item for item in items if tells_usage(item))
    at_ms = items[-1].at_ms if items else None
    if at_ms is None:
        return ""
    return f", as of {datetime.fromtimestamp(at_ms / 1000).astimezone():%Y-%m-%d %H:%M}"


def _shares(shares: tuple[Share, ...]) -> str:
    lines = [
        f"| {escaped(share.category.capitalize())} | {share.n_tokens:,} | {share.ratio:.1%} |"
        for share in shares[:MAX_SHARES]
    ]
    return "\n".join(("| In the window | Tokens | Share |", "|:--|--:|--:|", *lines))


def _forecast(filling: Filling | None) -> str:
    guess = None if filling is None else filling.forecast
    if guess is None:
        return ""
    if guess.turns_low == guess.turns_high:
        return f", about {guess.turns_low} turn{'s' if guess.turns_low > 1 else ''} away"
    return f", some {guess.turns_low} to {guess.turns_high} turns away"


def _automatic(loaded: Loaded, *, is_on: bool, is_restricted: bool) -> str:
    if not is_on:
        return "off"
    if is_restricted:
        return "off in Restricted Mode"
    return "on, asks first" if loaded.policy.notifies_before_auto else "on"
