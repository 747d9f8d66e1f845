"""Write a checkpoint of a session: its working state, before anything is forgotten."""

from datetime import UTC, datetime
from pathlib import Path

import msgspec

from ullage.app.load import Loaded
from ullage.core.checkpoint import Checkpoint, build
from ullage.core.cut import open_calls
from ullage.store.checkpoints import checkpoint_folder, next_id, read_latest, save
from ullage.store.places import Places


def session_key(loaded: Loaded) -> str:
    header = loaded.session.header
    return f"{header.agent}:{header.session_id}"


class Written(msgspec.Struct, frozen=True, kw_only=True):
    checkpoint: Checkpoint
    path: Path


def write_checkpoint(loaded: Loaded, places: Places, *, trigger: str) -> Written:
    """Build a checkpoint without a model and write it.

    Raises:
        StateUnwritable: the state folder does not take it.
    """
    key = session_key(loaded)
    folder = checkpoint_folder(key, places)
    previous = read_latest(folder)
    gauge = loaded.status.gauge
    checkpoint = build(
        loaded.context,
        checkpoint_id=next_id(folder),
        session_key=key,
        session_file=str(loaded.path),
        created_at=datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        trigger=trigger,
        n_input_tokens=gauge.used_tokens or 0,
        n_window_tokens=gauge.window.n_tokens,
        previous_checkpoint=previous.meta.checkpoint_id if previous else None,
        channel="cli",
        agent_id=loaded.session.header.agent,
        is_split_turn=bool(open_calls(loaded.context.items)),
    )
    return Written(checkpoint=checkpoint, path=save(checkpoint, folder))
