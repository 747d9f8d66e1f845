"""The gauge, published at once and again with what fills the window; its history as a plot."""

import asyncio
import time
from contextlib import suppress
from math import inf
from typing import Final

from attrs import evolve

from ullage.app.change.auto import is_automatic
from ullage.app.change.make import can_change
from ullage.app.gauge.history import PastContexts, read_past, window_history
from ullage.app.gauge.inspect import WindowShares, fill
from ullage.app.gauge.status_text import (
    due_text,
    figures_text,
    limits_of,
    limits_text,
    local_time,
    name_text,
    own_text,
    short_limits_text,
    status_text,
    title_text,
    total_text,
    trigger_text,
    used_text,
    window_text,
)
from ullage.app.sessions.load import Loaded
from ullage.app.sessions.title import short_id
from ullage.core.gauge.breakdown import Share
from ullage.core.gauge.gauge import gauge_text, tells_usage, triggers
from ullage.core.gauge.history import HistoryMark, UsagePoint
from ullage.core.gauge.status import Status, last_compaction_ms, rfc3339
from ullage.core.text.prose import gist, plural
from ullage.core.transcript.agent_lines import share_text
from ullage.lsp import protocol
from ullage.lsp.convert import LEVELS, escape_markdown, session_ref
from ullage.lsp.error_edge import log_faults
from ullage.lsp.follow import load_if_any, load_session
from ullage.lsp.protocol import GAUGE_NOTIFICATION, GaugeParams, SessionArgument, StatusResult
from ullage.lsp.state import UllageServer
from ullage.store.files.local_time import moment_of
from ullage.store.files.places import Places

PAUSE_S = 5.0
"""What is due takes 20 ms to work out in a full window; the figure above it does not wait (chosen).
"""
CLOCK_S = 60.0
"""While the machine sleeps the clock of the loop may stand still: so late at most is seen that a
limit ended (chosen)."""
MAX_SHARES = 6
"""In the hover; smaller ones are in the view of the window."""
NO_GAUGE = GaugeParams(session=None, text="?", tooltip="", level="normal", label="No session")
ITEM_TITLE_CHARS = 24
"""A status bar is shared with others (chosen)."""
MARK_NAMES: Final = {"compaction": "Compaction", "prune": "Prune"}


async def run_status(ls: UllageServer, argument: SessionArgument) -> StatusResult:
    return StatusResult(text=status_text(await load_session(ls, argument.session)))


async def publish_gauges(ls: UllageServer) -> None:
    """Publish the gauge whenever it is old or a limit in it ends, until the server ends."""
    ends_at_s = inf
    while True:
        await _wait_until_old(ls, ends_at_s)
        ls.sessions.is_gauge_old.clear()
        # Before it is published: what ends meanwhile is then seen to have ended.
        ends_at_s = _find_end_s(ls)
        await log_faults(_publish)(ls)


async def _wait_until_old(ls: UllageServer, ends_at_s: float) -> None:
    is_old = ls.sessions.is_gauge_old
    while not is_old.is_set() and (rest_s := ends_at_s - time.time()) > 0:
        with suppress(TimeoutError):
            async with asyncio.timeout(None if rest_s == inf else min(CLOCK_S, rest_s)):
                await is_old.wait()


def _find_end_s(ls: UllageServer) -> float:
    """Give when the first of the limits that hold is reset, in seconds since 1970."""
    loaded = _find_shown(ls)
    limits = () if loaded is None else limits_of(loaded)
    return min((limit.resets_at_s for limit in limits if limit.resets_at_s), default=inf)


async def _publish(ls: UllageServer) -> None:
    """Publish the gauge with the shares that are known; new ones follow within `PAUSE_S`.

    What was appended to a session whose messages are counted is shared out at once, after a pause.
    """
    loaded = _find_shown(ls)
    if loaded is None:
        # The gauge of one that is about to be read follows.
        if ls.gauge_path() is None:
            ls.protocol.notify(GAUGE_NOTIFICATION, NO_GAUGE)
        return
    filled, filling = ls.sessions.filled, ls.sessions.filling
    is_due = _is_new(ls, loaded) and (filling is None or filling.done())
    is_counted = filled is not None and filled[0].count is loaded.count

    def work_out() -> tuple[tuple[Loaded, WindowShares] | None, GaugeParams]:
        shown = (loaded, fill(loaded)) if is_due and is_counted else filled
        return shown, _params(loaded, shown, ls.places, is_restricted=ls.editor.is_restricted)

    shown, params = await asyncio.to_thread(work_out)
    if is_due and is_counted:
        ls.sessions.filled = shown
        ls.sessions.filling = ls.begin(_pause, ls)
    elif is_due:
        ls.sessions.filling = ls.begin(_fill, ls, loaded)
    limits = short_limits_text(loaded) if loaded.policy.shows_limits else ""
    is_chosen = loaded.path == ls.sessions.chosen
    name = _item_name(loaded) if _is_one_of_several(ls, loaded) else ""
    params = evolve(
        params,
        # The end is cut where the status bar has little room.
        itemText=" · ".join(filter(None, (params.text, limits, name))),
        label="; ".join(filter(None, (params.label, limits, "chosen" if is_chosen else ""))),
        isChosen=is_chosen,
    )
    if _find_shown(ls) is not loaded:
        # What is sent last is the newest: this one is published after whoever changed it.
        return
    ls.protocol.notify(GAUGE_NOTIFICATION, params)


def _is_one_of_several(ls: UllageServer, loaded: Loaded) -> bool:
    """Whether another session than the shown one is live, for which that could be taken."""
    return any(
        seen.is_live and seen.path != loaded.path and seen.session.header.parent_session_id is None
        for seen in ls.sessions.seen or ()
    )


def _item_name(loaded: Loaded) -> str:
    return f"{loaded.session.agent.name} · {gist(title_text(loaded), ITEM_TITLE_CHARS)}"


async def _fill(ls: UllageServer, loaded: Loaded) -> None:
    """Count all messages of a session; nothing waits for that, as it may take seconds."""
    ls.sessions.filled = (loaded, await asyncio.to_thread(fill, loaded))
    ls.show_gauge()


async def _pause(ls: UllageServer) -> None:
    """Have what is written meanwhile shared out afterwards."""
    await asyncio.sleep(PAUSE_S)
    loaded = _find_shown(ls)
    if loaded is not None and _is_new(ls, loaded):
        ls.show_gauge()


def _find_shown(ls: UllageServer) -> Loaded | None:
    path = ls.sessions.shown
    followed = None if path is None else ls.sessions.followed.get(path)
    return None if followed is None else followed.loaded


def _is_new(ls: UllageServer, loaded: Loaded) -> bool:
    return ls.sessions.filled is None or ls.sessions.filled[0] is not loaded


def _params(
    loaded: Loaded,
    filled: tuple[Loaded, WindowShares] | None,
    places: Places,
    *,
    is_restricted: bool,
) -> GaugeParams:
    is_on = can_change(loaded) and is_automatic(
        loaded.session, is_configured=loaded.policy.is_auto_enabled, places=places
    )
    return gauge_params(
        loaded,
        None if filled is None or filled[0].path != loaded.path else filled[1],
        is_automatic=is_on,
        is_restricted=is_restricted,
    )


def gauge_params(
    loaded: Loaded,
    filling: WindowShares | None = None,
    *,
    is_automatic: bool = False,
    is_restricted: bool = False,
) -> GaugeParams:
    status, name = loaded.status, name_text(loaded)
    return GaugeParams(
        session=session_ref(loaded.session),
        text=gauge_text(status.gauge),
        tooltip=gauge_tooltip(
            loaded, filling, is_automatic=is_automatic, is_restricted=is_restricted
        ),
        level=LEVELS[status.band],
        label=f"{_label(status)}; {name}",
        title=name,
        canWrite=can_change(loaded),
        canNote=not (is_restricted or loaded.policy.is_read_only),
        isAutomatic=is_automatic,
    )


def _label(status: Status) -> str:
    gauge = status.gauge
    if gauge.used_tokens is None:
        return "Context use unknown"
    doubt = f"; {gauge.window.doubt}" if gauge.window.doubt else ""
    return (
        f"Context {gauge_text(gauge)} used,"
        f" {gauge.used_tokens:,} of {gauge.window.n_tokens:,} tokens, {status.band}{doubt}"
    )


def gauge_tooltip(
    loaded: Loaded,
    filling: WindowShares | None,
    *,
    is_automatic: bool,
    is_restricted: bool = False,
) -> str:
    """Write the hover: who uses the window, by how much, for what, and what comes next.

    Every text that comes from a session is escaped. `filling` is what was worked out last: of
    the same session, or None before the first time.
    """
    status, session = loaded.status, loaded.session
    model = loaded.context.model or "model not named yet"
    about = f"{session.agent.name} · {model} · {short_id(session.header.session_id)}"
    used = escape_markdown(used_text(status.gauge) + _as_of(loaded))
    rows = [
        f"**{escape_markdown(title_text(loaded))}**  \n{escape_markdown(about)}",
        f"{total_text(status.gauge)} tokens  \n{used}",
        f"Window: {escape_markdown(window_text(status.gauge.window))}",
    ]
    if filling is not None and filling.shares:
        rows.append(_shares(filling.shares))
    if status.gauge.agent_compacts_at is not None:
        rows.append(f"{session.agent.name} compacts {escape_markdown(own_text(status.gauge))}")
    due = "" if filling is None else due_text(filling.due)
    if due:
        rows.append(f"Due now: {escape_markdown(due)}")
    rows.append(f"Next: {trigger_text(status)}{_forecast(status, filling)}")
    if limits := limits_text(loaded):
        rows.append(f"Limits: {escape_markdown(limits)}")
    if figures := figures_text(loaded):
        rows.append(f"Cost: {escape_markdown(figures)}")
    n_compactions = status.degradation.n_compactions
    if n_compactions:
        last = local_time(last_compaction_ms(loaded.context))
        rows.append(f"Compactions: {n_compactions}, last: {last} · risk {status.degradation.risk}")
    automatic = _automatic(loaded, is_on=is_automatic, is_restricted=is_restricted)
    rows.append(f"Automatic compaction: {automatic}")
    return "\n\n".join(rows)


def _as_of(loaded: Loaded) -> str:
    """Say when what the gauge shows was written, by the clock: a hover is not updated."""
    items = loaded.context.items
    if loaded.status.gauge.used_source == "reported":
        items = tuple(item for item in items if tells_usage(item))
    at = moment_of(items[-1].at_ms if items else None)
    return "" if at is None else f", as of {at:%Y-%m-%d %H:%M}"


def _shares(shares: tuple[Share, ...]) -> str:
    lines = [
        f"| {escape_markdown(share.category.capitalize())} | {share.n_tokens:,}"
        f" | {share.ratio:.1%} |"
        for share in shares[:MAX_SHARES]
    ]
    return "\n".join(("| In the window | Tokens | Share |", "|:--|--:|--:|", *lines))


def _forecast(status: Status, filling: WindowShares | None) -> str:
    """Say how far the next trigger is; what was worked out before the last one is of another."""
    forecast, trigger = filling and filling.forecast, status.next_trigger
    if forecast is None or trigger is None or forecast.trigger != trigger.text:
        return ""
    low, high = forecast.turns_low, forecast.turns_high
    return f", about {plural(high, 'turn') if low == high else f'{low} to {high} turns'} away"


def _automatic(loaded: Loaded, *, is_on: bool, is_restricted: bool) -> str:
    if not is_on:
        return "off"
    if is_restricted:
        return "off in Restricted Mode"
    return "on, asks first" if loaded.policy.notifies_before_auto else "on"


async def run_history(
    ls: UllageServer, argument: protocol.SessionArgument
) -> protocol.HistoryResult:
    loaded = await load_if_any(ls, argument.session)
    if loaded is None:
        return protocol.HistoryResult()
    past = await asyncio.to_thread(read_past, loaded, ls.sessions.histories.get(loaded.path))
    ls.sessions.histories = {loaded.path: past}
    return await asyncio.to_thread(_history, loaded, past)


def _history(loaded: Loaded, past: PastContexts) -> protocol.HistoryResult:
    history, window = window_history(loaded, past), loaded.status.gauge.window.n_tokens
    return protocol.HistoryResult(
        session=session_ref(loaded.session),
        title=name_text(loaded),
        windowTokens=window,
        points=[_point(point, window) for point in history.points],
        marks=[_mark(number, mark, window) for number, mark in enumerate(history.marks, 1)],
        thresholds=[
            protocol.HistoryThreshold(name=trigger.name, atTokens=trigger.at_tokens)
            for trigger in triggers(loaded.status.gauge, loaded.policy)
        ],
    )


def _point(point: UsagePoint, window: int) -> protocol.HistoryPoint:
    return protocol.HistoryPoint(
        at=rfc3339(point.at_ms),
        nTokens=point.n_tokens,
        share=share_text(point.n_tokens / window, is_estimated=point.is_estimated),
        isEstimated=point.is_estimated,
        entry=point.entry_id,
    )


def _mark(number: int, mark: HistoryMark, window: int) -> protocol.HistoryMark:
    noted = ", ".join(part for part in (mark.trigger, mark.layer) if part)
    n_after = mark.n_tokens_after
    share = None if n_after is None else share_text(n_after / window, is_estimated=True)
    return protocol.HistoryMark(
        nPoint=mark.n_point,
        at=rfc3339(mark.at_ms),
        title=f"{MARK_NAMES[mark.kind]} {number}" + (f" ({noted})" if noted else ""),
        tokensBefore=mark.n_tokens_before,
        tokensAfter=n_after,
        shareAfter=share,
    )
