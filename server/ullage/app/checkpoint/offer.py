"""Offer a fresh session the work of the last one in the same repository, on the same branch."""

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from msgspec.structs import replace

from ullage.app.sessions.secrets import secrets_in
from ullage.core.checkpoint.checkpoint import Checkpoint, clean
from ullage.core.checkpoint.offer import (
    Offer,
    age_of,
    can_be_offered,
    has_open_work,
    write_offer,
)
from ullage.core.config.settings import Config
from ullage.errors import InputError, UllageError
from ullage.store.checkpoint.files import read_latest
from ullage.store.checkpoint.left_work import MAX_AGE_S, LeftWork, list_work, mark_offered
from ullage.store.files.places import Places, session_folder
from ullage.store.files.work_tree import find_work_tree

STALE_S = 60.0
"""The turn that a checkpoint was written in may end so much later (chosen)."""
MAX_READ_BYTES = 16 * 1024 * 1024
"""Of a transcript that is read for an offer: 1 s of CPU at most, of the 5 s of a hook (chosen)."""


def offer_work(
    session_key: str,
    config: Config,
    places: Places,
    now_s: float,
    *,
    session_id: str,
    max_chars: int | None = None,
    is_private: bool = False,
    is_read_only: bool = False,
) -> Offer | None:
    """Write what a fresh session is told, once; None for nothing.

    A session that goes on under the key of an earlier one is given that one's state itself; one
    that is private is told of no other. In read-only mode nobody notes that it was offered.

    Raises:
        StateUnwritable: it cannot be noted; it would be offered again and again then.
    """
    mode = config.resume.offer
    if mode == "never":
        return None
    own = _find_own(session_key, config, places, now_s)
    checkpoint = own
    if own is None and not is_private:
        checkpoint = find_work(session_key, config, places, now_s)
    if checkpoint is None:
        return None
    secrets, text = secrets_in((places.cwd,), places), ""
    if own is not None or mode == "always":
        # A hook that has nothing to offer must not pay for it: a third of its time.
        from ullage.app.checkpoint.resume import restore_text

        text = restore_text(checkpoint, config.checkpoint, secrets, max_chars=max_chars)
    offer = write_offer(
        clean(checkpoint, secrets),
        name_agent(checkpoint),
        now_s,
        program=_program(places),
        restored=text,
    )
    if not is_read_only and not mark_offered(session_key, session_id, places):
        return None
    return offer


def find_work(session_key: str, config: Config, places: Places, now_s: float) -> Checkpoint | None:
    """Find the checkpoint of the last other session of this folder, if it left something open.

    The last one decides: where it has nothing open, what an older one left is no news, and where
    it runs, nobody left it. One that went on elsewhere, on another branch, is of there. Its time
    is that of the session's last record.
    """
    if not can_be_offered(session_key):
        return None
    for work in _list_work(places):
        if work.session_key == session_key or work.is_private:
            continue
        checkpoint = _read_left(work, places) if can_be_offered(work.session_key) else None
        if checkpoint is not None:
            if not _is_recent(checkpoint, now_s) or _is_running(checkpoint, places):
                return None
            latest = _catch_up(checkpoint, config, places)
            return latest if latest is not None and has_open_work(latest) else None
    return None


def name_agent(checkpoint: Checkpoint) -> str:
    """Give the agent of a checkpoint's session as users know it."""
    # Nor for all agents, whose rows cost as much.
    from ullage.formats.registry import AGENTS

    named = checkpoint.meta.session_key.partition(":")[0]
    return next((info.name for info in AGENTS if info.agent == named), named)


def _find_own(session_key: str, config: Config, places: Places, now_s: float) -> Checkpoint | None:
    """Find what a session itself left, if that was in this work tree."""
    own = (work for work in _list_work(places) if work.session_key == session_key)
    checkpoint = next((_read_left(work, places) for work in own), None)
    if checkpoint is None or not _is_recent(checkpoint, now_s):
        return None
    return _catch_up(checkpoint, config, places)


def _list_work(places: Places) -> Iterator[LeftWork]:
    tree = find_work_tree(places.cwd, places)
    return iter(()) if tree is None else list_work(tree, places)


def _read_left(work: LeftWork, places: Places) -> Checkpoint | None:
    """Read the checkpoint of a note; None where its session went on elsewhere."""
    latest = read_latest(session_folder("checkpoints", work.session_key, places)).checkpoint
    is_of_here = latest is not None and latest.meta.checkpoint_id == work.checkpoint_id
    return latest if is_of_here else None


def _program(places: Places) -> str:
    """Write how an agent's shell runs us: as the hooks do, where no folder of its PATH has us."""
    from ullage.core.install.hook_settings import write_program
    from ullage.store.files.programs import find_program, interpreter

    if find_program("ullage", places, folder=places.cwd) is not None:
        return "ullage"
    return write_program(interpreter(), is_windows=os.name == "nt", takes_bash=True)


def _catch_up(checkpoint: Checkpoint, config: Config, places: Places) -> Checkpoint | None:
    """Give the state as of the session's last record, by a new checkpoint where it went on since.

    None where it did, and no checkpoint can be written in the time that a hook has. Where there is
    no transcript to read any more, the checkpoint is all that is known.
    """
    # Nor for transcripts.
    from ullage.app.sessions.open import open_session

    meta = checkpoint.meta
    try:
        if not meta.session_file:
            return checkpoint
        session = open_session(Path(meta.session_file), meta.session_key.partition(":")[2])
    except InputError:
        return checkpoint
    written_s = session.lines.written_ns / 1e9
    if (age_of(checkpoint, written_s) or 0.0) > STALE_S:
        is_read_only = config.policy.is_read_only or not places.keeps_caches
        if is_read_only or session.lines.size_bytes > MAX_READ_BYTES:
            return None
        from ullage.app.checkpoint.write import Origin, write_checkpoint
        from ullage.app.sessions.quick_load import load_quickly

        session = replace(session, key=meta.session_key)
        try:
            checkpoint = write_checkpoint(
                load_quickly(session, config, places),
                config.checkpoint,
                places,
                trigger="session-end",
                origin=Origin(channel=meta.channel, agent_id=meta.agent_id),
            ).checkpoint
        except UllageError:
            return None
    at = datetime.fromtimestamp(written_s, UTC).isoformat(timespec="seconds")
    return replace(checkpoint, meta=replace(checkpoint.meta, created_at=at))


def _is_running(checkpoint: Checkpoint, places: Places) -> bool:
    """Whether an agent has the session open now.

    Not the one that runs this hook: for it, the session that was just cleared may be open still.
    """
    # Nor for this one.
    from ullage.app.sessions.find import find_running_ids

    session_id = checkpoint.meta.session_key.partition(":")[2]
    return session_id in find_running_ids(places, but_of=os.getppid())


def _is_recent(checkpoint: Checkpoint, now_s: float) -> bool:
    age_s = age_of(checkpoint, now_s)
    return age_s is not None and age_s <= MAX_AGE_S
