"""How full the window of a session was over time, for a plot and its table."""

import asyncio
from collections.abc import Mapping
from typing import Final

from ullage.app.gauge.history import Past, read_past, window_history
from ullage.app.sessions.load import Loaded
from ullage.core.gauge.gauge import share_text
from ullage.core.gauge.history import Mark, Point
from ullage.core.gauge.policy import triggers
from ullage.core.gauge.status import rfc3339
from ullage.lsp import protocol
from ullage.lsp.convert import session_ref, title_of
from ullage.lsp.documents.outline import entry_lines, line_of
from ullage.lsp.follow import load_if_any
from ullage.lsp.state import UllageServer

MARK_NAMES: Final = {"compaction": "Compaction", "prune": "Prune"}


async def run_history(
    ls: UllageServer, argument: protocol.SessionArgument
) -> protocol.HistoryResult:
    loaded = await load_if_any(ls, argument.session)
    if loaded is None:
        return protocol.HistoryResult()
    past = await asyncio.to_thread(read_past, loaded, ls.sessions.histories.get(loaded.path))
    ls.sessions.histories = {loaded.path: past}
    lines = await entry_lines(ls, loaded)
    return await asyncio.to_thread(_history, loaded, past, lines)


def _history(loaded: Loaded, past: Past, lines: Mapping[str, int]) -> protocol.HistoryResult:
    history, window = window_history(loaded, past), loaded.status.gauge.window.n_tokens
    return protocol.HistoryResult(
        session=session_ref(loaded),
        title=title_of(loaded),
        windowTokens=window,
        points=[_point(point, window, lines) for point in history.points],
        marks=[_mark(number, mark, window) for number, mark in enumerate(history.marks, 1)],
        thresholds=[
            protocol.HistoryThreshold(name=trigger.name, atTokens=trigger.at_tokens)
            for trigger in triggers(window, loaded.policy)
        ],
    )


def _point(point: Point, window: int, lines: Mapping[str, int]) -> protocol.HistoryPoint:
    return protocol.HistoryPoint(
        at=rfc3339(point.at_ms),
        nTokens=point.n_tokens,
        share=share_text(point.n_tokens / window, is_estimated=point.is_estimated),
        isEstimated=point.is_estimated,
        line=None if point.entry_id is None else line_of(lines, point.entry_id),
    )


def _mark(number: int, mark: Mark, window: int) -> protocol.HistoryMark:
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
