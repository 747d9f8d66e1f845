"""Write a checkpoint of a session: its working state, before anything is forgotten."""

from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import msgspec

from ullage.app.load import Loaded
from ullage.app.sessions import Session
from ullage.core.checkpoint import Checkpoint, build
from ullage.core.cut import open_calls
from ullage.core.masking import mask_context
from ullage.core.secrets import mask_value
from ullage.store.checkpoints import checkpoint_folder, next_id, read_latest, save
from ullage.store.pins import pins_path, read_pins
from ullage.store.places import Places


def session_key(session: Session) -> str:
    header = session.header
    return f"{header.agent}:{header.session_id}"


class Written(msgspec.Struct, frozen=True, kw_only=True):
    checkpoint: Checkpoint
    path: Path


def write_checkpoint(loaded: Loaded, places: Places, *, trigger: str) -> Written:
    """Build a checkpoint without a model and write it.

    Raises:
        StateUnwritable: the state folder does not take it.
    """
    folder = checkpoint_folder(session_key(loaded.session), places)
    checkpoint = build_checkpoint(loaded, places, trigger=trigger)
    return Written(checkpoint=checkpoint, path=save(checkpoint, folder))


def build_checkpoint(loaded: Loaded, places: Places, *, trigger: str) -> Checkpoint:
    """Build the checkpoint that would be written now, without its secrets."""
    key = session_key(loaded.session)
    folder = checkpoint_folder(key, places)
    previous = read_latest(folder)
    gauge = loaded.status.gauge
    checkpoint = build(
        mask_context(loaded.context, loaded.known_secrets),
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
        pins=tuple(pin.text for pin in read_pins(pins_path(key, places)).pins),
    )
    return _masked(checkpoint, loaded.known_secrets)


def _masked(checkpoint: Checkpoint, known: tuple[str, ...]) -> Checkpoint:
    """Mask secrets in every text of a checkpoint but its metadata, which is ours."""
    fields = cast(dict[str, object], msgspec.to_builtins(checkpoint))
    masked = {
        name: value if name == "meta" else mask_value(value, known)
        for name, value in fields.items()
    }
    return msgspec.convert(masked, Checkpoint)
