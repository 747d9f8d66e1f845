"""All sessions of the workspace with their gauges: the live ones first."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

from ullage.app.gauge.status_text import ago, session_title
from ullage.app.workspace import Brief, Family, brief, measure_all
from ullage.core.gauge.gauge import gauge_text, short_tokens
from ullage.lsp.convert import LEVELS
from ullage.lsp.error_edge import request
from ullage.lsp.follow import discover
from ullage.lsp.permission import may_write
from ullage.lsp.protocol import SessionArgument, SessionRef, SessionRow, SessionsResult
from ullage.lsp.state import UllageServer


@request(SessionArgument)
async def run_sessions(ls: UllageServer, argument: SessionArgument) -> SessionsResult:
    del argument
    if ls.sessions.seen is None:
        await discover(ls)
    known = {
        **ls.sessions.briefs,
        **{path: brief(one.loaded) for path, one in ls.sessions.followed.items()},
    }
    config = ls.config
    families = await asyncio.to_thread(
        measure_all, ls.sessions.seen or (), known, config, ls.places, ls.worker.count_tokens
    )
    if config is ls.config:
        ls.sessions.briefs = {one.path: one for one in _briefs(families)}
    shown, can_note = ls.gauge_path(), may_write(ls)
    return SessionsResult(sessions=[_row(family, shown, can_note=can_note) for family in families])


def _briefs(families: tuple[Family, ...]) -> Iterator[Brief]:
    for family in families:
        yield family.brief
        yield from _briefs(family.subagents)


def _row(family: Family, shown: Path | None, *, can_note: bool) -> SessionRow:
    one = family.brief
    gauge = one.gauge
    title = session_title(one.agent, one.session_id)
    used = "?" if gauge.used_tokens is None else short_tokens(gauge.used_tokens)
    when = "live" if family.is_live else ago(one.written_ns // 1_000_000)
    parts = [f"{used}/{short_tokens(gauge.window.n_tokens)}", when]
    if one.n_compactions:
        parts.append(f"{one.n_compactions} compaction{'s' if one.n_compactions > 1 else ''}")
    if one.model is not None:
        parts.append(one.model)
    text = gauge_text(gauge)
    return SessionRow(
        session=SessionRef(agent=one.agent, sessionId=one.session_id, path=str(one.path)),
        title=title,
        gauge=text,
        detail=" · ".join(parts),
        level=LEVELS[one.band],
        isLive=family.is_live,
        isShown=one.path == shown,
        label=f"{title}, context {text} used, {one.band}, {when}",
        subagents=[_row(child, shown, can_note=can_note) for child in family.subagents],
        canWrite=one.can_change,
        canNote=can_note,
        isAutomatic=family.is_automatic,
    )
