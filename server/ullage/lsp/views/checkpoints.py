"""The checkpoints of a session, newest first; damaged ones are shown as such."""

import asyncio
from datetime import datetime

from ullage.app.checkpoint.find import Damaged, Found, list_checkpoints
from ullage.app.gauge.status_text import ago
from ullage.app.sessions.load import Loaded
from ullage.core.text.prose import gist
from ullage.lsp.convert import session_ref
from ullage.lsp.error_edge import request
from ullage.lsp.markdown import escaped
from ullage.lsp.protocol import CheckpointRow, CheckpointsResult, SessionArgument
from ullage.lsp.session import load_session, session_path
from ullage.lsp.state import UllageServer
from ullage.store.files.places import Places

MAX_TOPIC_CHARS = 40
"""In a row, which also says when and how full (chosen); all of it is in the hover."""


@request(SessionArgument)
async def run_checkpoints(ls: UllageServer, argument: SessionArgument) -> CheckpointsResult:
    path = session_path(ls, argument.session)
    if path is None:
        return CheckpointsResult(session=None, rows=[])
    loaded = await load_session(ls, path)
    return await asyncio.to_thread(checkpoints_result, loaded, ls.places)


def checkpoints_result(loaded: Loaded, places: Places) -> CheckpointsResult:
    listing = list_checkpoints(loaded.session, places)
    readable = {one.checkpoint_id for one in listing.found}
    latest = listing.found[0].checkpoint_id if listing.found else None
    rows = [_row(one, readable, is_latest=one.checkpoint_id == latest) for one in listing.found] + [
        _damaged(one) for one in listing.damaged
    ]
    rows.sort(key=lambda row: int(row.checkpoint.removeprefix("cp_")), reverse=True)
    return CheckpointsResult(session=session_ref(loaded), rows=rows)


def _row(one: Found, readable: set[str], *, is_latest: bool) -> CheckpointRow:
    meta, working = one.checkpoint.meta, one.checkpoint.working
    name, topic = one.checkpoint_id, working.topic
    title = f"{name} · {gist(topic, MAX_TOPIC_CHARS)}" if topic else name
    written = _written(meta.created_at)
    used = f"{meta.token_usage.utilization:.0%}"
    parts = [
        " · ".join((f"**{escaped(name)}**", *([escaped(topic)] if topic else []))),
        f"Written {escaped(written)} ({escaped(meta.trigger)}) at {escaped(used)} of the window",
    ]
    if working.next_action:
        parts.append(f"Next: {escaped(working.next_action)}")
    if one.checkpoint.open_items:
        parts.append(f"Open items: {len(one.checkpoint.open_items)}")
    latest = ", the latest" if is_latest else ""
    previous = meta.previous_checkpoint
    return CheckpointRow(
        checkpoint=name,
        path=str(one.path),
        title=title,
        detail=f"{written} · {used}",
        tooltip="\n\n".join(parts),
        label=f"Checkpoint {name}{latest}: {topic or 'no topic'}, written {written}, at {used}",
        isLatest=is_latest,
        isReadable=True,
        previous=previous if previous in readable else None,
    )


def _damaged(one: Damaged) -> CheckpointRow:
    return CheckpointRow(
        checkpoint=one.checkpoint_id,
        path=str(one.path),
        title=one.checkpoint_id,
        detail="cannot be read",
        tooltip=escaped(one.problem),
        label=f"Checkpoint {one.checkpoint_id} cannot be read: {one.problem}",
        isLatest=False,
        isReadable=False,
        previous=None,
    )


def _written(created_at: str) -> str:
    """Tell how long ago a checkpoint was written; a user may have written another time."""
    try:
        return ago(round(datetime.fromisoformat(created_at).timestamp() * 1000))
    except (ValueError, OverflowError, OSError):
        return "at an unknown time"
