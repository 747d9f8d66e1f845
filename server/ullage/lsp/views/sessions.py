"""All sessions of the workspace with their gauges: the live ones first."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

from ullage.app.documents.memory_files import MemoryFile, memory_files
from ullage.app.gauge.status_text import ago, session_title
from ullage.app.sessions.seen import Brief
from ullage.app.workspace import Family, brief, measure_all
from ullage.core.gauge.gauge import gauge_text, short_tokens
from ullage.lsp.convert import LEVELS
from ullage.lsp.follow import discover
from ullage.lsp.protocol import (
    MemoryResult,
    MemoryRow,
    SessionArgument,
    SessionRef,
    SessionRow,
    SessionsResult,
)
from ullage.lsp.state import UllageServer


async def run_sessions(ls: UllageServer, argument: SessionArgument) -> SessionsResult:
    del argument
    if ls.sessions.seen is None:
        await discover(ls)
    followed = {path: brief(session.loaded) for path, session in ls.sessions.followed.items()}
    known, config = {**ls.sessions.briefs, **followed}, ls.config
    families = await asyncio.to_thread(
        measure_all, ls.sessions.seen or (), known, config, ls.places, ls.worker.count_tokens
    )
    if config is ls.config:
        ls.sessions.briefs = {measured.path: measured for measured in _briefs(families)}
    shown, can_note = ls.gauge_path(), ls.may_write
    return SessionsResult(sessions=[_row(family, shown, can_note=can_note) for family in families])


def _briefs(families: tuple[Family, ...]) -> Iterator[Brief]:
    for family in families:
        yield family.brief
        yield from _briefs(family.subagents)


def _row(family: Family, shown: Path | None, *, can_note: bool) -> SessionRow:
    session, gauge = family.brief, family.brief.gauge
    title = session_title(session.agent, session.session_id)
    used = "?" if gauge.used_tokens is None else short_tokens(gauge.used_tokens)
    when = "live" if family.is_live else ago(session.written_ns // 1_000_000)
    parts = [f"{used}/{short_tokens(gauge.window.n_tokens)}", when]
    if session.n_compactions:
        parts.append(
            f"{session.n_compactions} compaction{'s' if session.n_compactions > 1 else ''}"
        )
    if session.model is not None:
        parts.append(session.model)
    text = gauge_text(gauge)
    return SessionRow(
        session=SessionRef(
            agent=session.agent, sessionId=session.session_id, path=str(session.path)
        ),
        title=title,
        gauge=text,
        detail=" · ".join(parts),
        level=LEVELS[session.band],
        isLive=family.is_live,
        isShown=session.path == shown,
        label=f"{title}, context {text} used, {session.band}, {when}",
        subagents=[_row(child, shown, can_note=can_note) for child in family.subagents],
        canWrite=session.can_change,
        canNote=can_note,
        isAutomatic=family.is_automatic,
    )


_KINDS = {"memory": "Memory", "log": "Daily log", "instructions": "Instructions"}


async def run_memory(ls: UllageServer, argument: SessionArgument) -> MemoryResult:
    is_single = len(ls.workspace_folders()) <= 1
    files = await asyncio.to_thread(memory_files, ls.surroundings())
    has_session = bool(argument.session or ls.gauge_path())
    return MemoryResult(
        rows=[_memory_row(file, is_single=is_single) for file in files],
        canFlush=has_session and ls.may_write,
    )


def _memory_row(file: MemoryFile, *, is_single: bool) -> MemoryRow:
    relative = file.path.relative_to(file.workspace)
    title = str(relative) if is_single else str(file.workspace.name / relative)
    size = f"{file.length}, {file.sent} tokens"
    return MemoryRow(
        path=str(file.path),
        kind=file.kind,
        title=title,
        detail=size,
        label=f"{_KINDS[file.kind]} {title}, {size}",
    )
