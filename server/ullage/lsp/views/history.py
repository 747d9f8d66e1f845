"""How full the window of a session was over time, for a plot and its table."""

import asyncio
from collections.abc import Mapping
from typing import Final

from ullage.app.gauge.history import Past, read_past, window_history
from ullage.app.gauge.status_text import session_title
from ullage.app.sessions.load import Loaded
from ullage.core.gauge.gauge import share_text
from ullage.core.gauge.history import Mark, Point
from ullage.core.gauge.policy import triggers
from ullage.core.gauge.status import rfc3339
from ullage.lsp.convert import session_ref
from ullage.lsp.documents.outline import entry_lines, line_of
from ullage.lsp.error_edge import request
from ullage.lsp.protocol import (
    HistoryMark,
    HistoryPoint,
    HistoryResult,
    HistoryThreshold,
    SessionArgument,
)
from ullage.lsp.session import load_session, session_path
from ullage.lsp.state import UllageServer

MARK_NAMES: Final = {"compaction": "Compaction", "prune": "Prune"}


@request(SessionArgument)
async def run_history(ls: UllageServer, argument: SessionArgument) -> HistoryResult:
    path = session_path(ls, argument.session)
    if path is None:
        return HistoryResult(
            session=None,
            title="No session in this workspace",
            windowTokens=0,
            points=[],
            marks=[],
            thresholds=[],
        )
    loaded = await load_session(ls, path)
    known = ls.sessions.histories.get(path)
    past = await asyncio.to_thread(read_past, loaded, known)
    ls.sessions.histories = {path: past}
    lines = await entry_lines(ls, loaded)
    return await asyncio.to_thread(history_result, loaded, past, lines)


def history_result(loaded: Loaded, past: Past, lines: Mapping[str, int]) -> HistoryResult:
    found = window_history(loaded, past)
    header, window = loaded.session.header, loaded.status.gauge.window.n_tokens
    return HistoryResult(
        session=session_ref(loaded),
        title=session_title(header.known_agent, header.session_id),
        windowTokens=window,
        points=[_point(one, window, lines) for one in found.points],
        marks=[_mark(number, one, window) for number, one in enumerate(found.marks, 1)],
        thresholds=[
            HistoryThreshold(name=one.name, atTokens=one.at_tokens)
            for one in triggers(window, loaded.policy)
        ],
    )


def _point(one: Point, window: int, lines: Mapping[str, int]) -> HistoryPoint:
    return HistoryPoint(
        at=rfc3339(one.at_ms),
        nTokens=one.n_tokens,
        share=share_text(one.n_tokens / window, is_estimated=one.is_estimated),
        isEstimated=one.is_estimated,
        line=None if one.entry_id is None else line_of(lines, one.entry_id),
    )


def _mark(number: int, one: Mark, window: int) -> HistoryMark:
    noted = ", ".join(part for part in (one.trigger, one.layer) if part)
    n_after = one.n_tokens_after
    share = None if n_after is None else share_text(n_after / window, is_estimated=True)
    return HistoryMark(
        nPoint=one.n_point,
        at=rfc3339(one.at_ms),
        title=f"{MARK_NAMES[one.kind]} {number}" + (f" ({noted})" if noted else ""),
        tokensBefore=one.n_tokens_before,
        tokensAfter=n_after,
        shareAfter=share,
    )
