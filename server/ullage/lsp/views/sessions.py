"""The lists of the workspace: sessions with their gauges, and checkpoints."""

import asyncio
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from ullage.app.checkpoint.find import Damaged, SavedCheckpoint, list_checkpoints
from ullage.app.gauge.status_text import ago
from ullage.app.sessions.find import SessionBrief
from ullage.app.sessions.load import Loaded
from ullage.app.sessions.title import short_id
from ullage.app.workspace import SessionFamily, make_brief, measure_all
from ullage.core.gauge.gauge import gauge_text
from ullage.core.text.prose import gist, plural
from ullage.core.transcript.agent_lines import short_tokens
from ullage.formats.registry import agent_info
from ullage.lsp import protocol
from ullage.lsp.convert import LEVELS, escape_markdown, session_ref
from ullage.lsp.follow import discover, load_if_any
from ullage.lsp.protocol import CheckpointRow, CheckpointsResult, SessionArgument
from ullage.lsp.state import UllageServer
from ullage.store.files.places import Places

MAX_TOPIC_CHARS = 40
"""In a row, which also says when and how full (chosen); all of it is in the hover."""


async def run_sessions(
    ls: UllageServer, argument: protocol.SessionArgument
) -> protocol.SessionsResult:
    del argument
    if ls.sessions.seen is None:
        await discover(ls)
    followed = {path: make_brief(session.loaded) for path, session in ls.sessions.followed.items()}
    briefs, config = {**ls.sessions.briefs, **followed}, ls.config
    families = await asyncio.to_thread(
        measure_all, ls.sessions.seen or (), briefs, config, ls.places, ls.worker.count_tokens
    )
    if config is ls.config:
        ls.sessions.briefs = {measured.path: measured for measured in _list_briefs(families)}
    shown, can_note = ls.gauge_path(), ls.may_write
    return protocol.SessionsResult(
        sessions=[_row(family, shown, can_note=can_note) for family in families]
    )


def _list_briefs(families: tuple[SessionFamily, ...]) -> Iterator[SessionBrief]:
    for family in families:
        yield family.brief
        yield from _list_briefs(family.subagents)


def _row(family: SessionFamily, shown: Path | None, *, can_note: bool) -> protocol.SessionRow:
    session, gauge = family.brief, family.brief.gauge
    agent = agent_info(session.agent).name
    used = "?" if gauge.used_tokens is None else short_tokens(gauge.used_tokens)
    when = "live" if family.is_live else ago(session.written_ns // 1_000_000)
    parts = [
        agent,
        short_id(session.session_id),
        f"{used}/{short_tokens(gauge.window.n_tokens)}",
        when,
    ]
    if session.path == shown:
        parts.append("shown")
    if session.n_compactions:
        parts.append(plural(session.n_compactions, "compaction"))
    if session.model is not None:
        parts.append(session.model)
    text = gauge_text(gauge)
    return protocol.SessionRow(
        session=protocol.SessionRef(
            agent=session.agent, sessionId=session.session_id, path=str(session.path)
        ),
        title=session.title,
        gauge=text,
        detail=" · ".join(parts),
        level=LEVELS[session.band],
        isLive=family.is_live,
        isShown=session.path == shown,
        label=", ".join((session.title, f"context {text} used", session.band, *parts)),
        subagents=[_row(child, shown, can_note=can_note) for child in family.subagents],
        canWrite=session.can_change,
        canNote=can_note,
        isAutomatic=family.is_automatic,
    )


async def run_checkpoints(ls: UllageServer, argument: SessionArgument) -> CheckpointsResult:
    loaded = await load_if_any(ls, argument.session)
    if loaded is None:
        return CheckpointsResult()
    return await asyncio.to_thread(_checkpoints, loaded, ls.places)


def _checkpoints(loaded: Loaded, places: Places) -> CheckpointsResult:
    listing = list_checkpoints(loaded.session, places)
    ids = [entry.checkpoint_id for entry in listing.saved]
    rows = [_checkpoint_row(entry, ids) for entry in listing.saved]
    rows += [_damaged_row(damaged) for damaged in listing.damaged]
    rows.sort(key=lambda row: int(row.checkpoint.removeprefix("cp_")), reverse=True)
    return CheckpointsResult(session=session_ref(loaded.session), rows=rows)


def _checkpoint_row(entry: SavedCheckpoint, ids: list[str]) -> CheckpointRow:
    """Make the row of one of the checkpoints that can be read; the latest is the first of `ids`."""
    meta, working = entry.checkpoint.meta, entry.checkpoint.working
    name, topic, is_latest = entry.checkpoint_id, working.topic, entry.checkpoint_id == ids[0]
    written, used = _age_text(meta.created_at), f"{meta.token_usage.utilization:.0%}"
    about = f" · {escape_markdown(topic)}" if topic else ""
    parts = [
        f"**{escape_markdown(name)}**{about}",
        f"Written {escape_markdown(written)} ({escape_markdown(meta.trigger)})"
        f" at {escape_markdown(used)} of the window",
    ]
    if working.next_action:
        parts.append(f"Next: {escape_markdown(working.next_action)}")
    if entry.checkpoint.open_items:
        parts.append(f"Open items: {len(entry.checkpoint.open_items)}")
    latest = ", the latest" if is_latest else ""
    return CheckpointRow(
        checkpoint=name,
        path=str(entry.path),
        title=f"{name} · {gist(topic, MAX_TOPIC_CHARS)}" if topic else name,
        detail=" · ".join((*(("latest",) if is_latest else ()), written, used)),
        tooltip="\n\n".join(parts),
        label=f"Checkpoint {name}{latest}: {topic or 'no topic'}, written {written}, at {used}",
        isLatest=is_latest,
        isReadable=True,
        previous=meta.previous_checkpoint if meta.previous_checkpoint in ids else None,
    )


def _damaged_row(damaged: Damaged) -> CheckpointRow:
    return CheckpointRow(
        checkpoint=damaged.checkpoint_id,
        path=str(damaged.path),
        title=damaged.checkpoint_id,
        detail="cannot be read",
        tooltip=escape_markdown(damaged.problem),
        label=f"Checkpoint {damaged.checkpoint_id} cannot be read: {damaged.problem}",
    )


def _age_text(created_at: str) -> str:
    """Tell how long ago a checkpoint was written; a user may have written another time."""
    try:
        return ago(round(datetime.fromisoformat(created_at).timestamp() * 1000))
    except (ValueError, OverflowError, OSError):
        return "at an unknown time"
