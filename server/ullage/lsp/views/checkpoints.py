"""The checkpoints of a session, newest first; damaged ones are shown as such."""

import asyncio
from datetime import datetime

from ullage.app.checkpoint.find import Damaged, Found, list_checkpoints
from ullage.app.gauge.status_text import ago
from ullage.app.sessions.load import Loaded
from ullage.core.text.prose import gist
from ullage.lsp.convert import escape_markdown, session_ref
from ullage.lsp.follow import load_if_any
from ullage.lsp.protocol import CheckpointRow, CheckpointsResult, SessionArgument
from ullage.lsp.state import UllageServer
from ullage.store.files.places import Places

MAX_TOPIC_CHARS = 40
"""In a row, which also says when and how full (chosen); all of it is in the hover."""


async def run_checkpoints(ls: UllageServer, argument: SessionArgument) -> CheckpointsResult:
    loaded = await load_if_any(ls, argument.session)
    if loaded is None:
        return CheckpointsResult()
    return await asyncio.to_thread(_checkpoints, loaded, ls.places)


def _checkpoints(loaded: Loaded, places: Places) -> CheckpointsResult:
    listing = list_checkpoints(loaded.session, places)
    ids = [found.checkpoint_id for found in listing.found]
    rows = [_row(found, ids) for found in listing.found]
    rows += [_damaged(damaged) for damaged in listing.damaged]
    rows.sort(key=lambda row: int(row.checkpoint.removeprefix("cp_")), reverse=True)
    return CheckpointsResult(session=session_ref(loaded), rows=rows)


def _row(found: Found, ids: list[str]) -> CheckpointRow:
    """Make the row of one of the checkpoints that can be read; the latest is the first of `ids`."""
    meta, working = found.checkpoint.meta, found.checkpoint.working
    name, topic, is_latest = found.checkpoint_id, working.topic, found.checkpoint_id == ids[0]
    written, used = _written(meta.created_at), f"{meta.token_usage.utilization:.0%}"
    about = f" · {escape_markdown(topic)}" if topic else ""
    parts = [
        f"**{escape_markdown(name)}**{about}",
        f"Written {escape_markdown(written)} ({escape_markdown(meta.trigger)})"
        f" at {escape_markdown(used)} of the window",
    ]
    if working.next_action:
        parts.append(f"Next: {escape_markdown(working.next_action)}")
    if found.checkpoint.open_items:
        parts.append(f"Open items: {len(found.checkpoint.open_items)}")
    latest = ", the latest" if is_latest else ""
    return CheckpointRow(
        checkpoint=name,
        path=str(found.path),
        title=f"{name} · {gist(topic, MAX_TOPIC_CHARS)}" if topic else name,
        detail=f"{written} · {used}",
        tooltip="\n\n".join(parts),
        label=f"Checkpoint {name}{latest}: {topic or 'no topic'}, written {written}, at {used}",
        isLatest=is_latest,
        isReadable=True,
        previous=meta.previous_checkpoint if meta.previous_checkpoint in ids else None,
    )


def _damaged(damaged: Damaged) -> CheckpointRow:
    return CheckpointRow(
        checkpoint=damaged.checkpoint_id,
        path=str(damaged.path),
        title=damaged.checkpoint_id,
        detail="cannot be read",
        tooltip=escape_markdown(damaged.problem),
        label=f"Checkpoint {damaged.checkpoint_id} cannot be read: {damaged.problem}",
    )


def _written(created_at: str) -> str:
    """Tell how long ago a checkpoint was written; a user may have written another time."""
    try:
        return ago(round(datetime.fromisoformat(created_at).timestamp() * 1000))
    except (ValueError, OverflowError, OSError):
        return "at an unknown time"
