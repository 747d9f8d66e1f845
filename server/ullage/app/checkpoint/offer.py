"""Offer a fresh session the work of the last one in the same repository, on the same branch."""

import os
from collections.abc import Iterator

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
from ullage.store.checkpoint.files import read_latest
from ullage.store.checkpoint.left_work import MAX_AGE_S, LeftWork, list_work, mark_offered
from ullage.store.files.places import Places, session_folder
from ullage.store.files.work_tree import find_work_tree


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
    own = _find_own(session_key, places, now_s)
    checkpoint = own
    if own is None and not is_private:
        checkpoint = find_work(session_key, places, now_s)
    if checkpoint is None:
        return None
    secrets, text = secrets_in((places.cwd,), places), ""
    if own is not None or mode == "always":
        # A hook that has nothing to offer must not pay for it: a third of its time.
        from ullage.app.checkpoint.resume import restore_text

        text = restore_text(checkpoint, config.checkpoint, secrets, max_chars=max_chars)
    offer = write_offer(clean(checkpoint, secrets), name_agent(checkpoint), now_s, text)
    if not is_read_only and not mark_offered(session_key, session_id, places):
        return None
    return offer


def find_work(session_key: str, places: Places, now_s: float) -> Checkpoint | None:
    """Find the checkpoint of the last other session of this folder, if it left something open.

    The last one decides: where it has nothing open, what an older one left is no news, and where
    it runs, nobody left it. One that went on elsewhere, on another branch, is of there.
    """
    if not can_be_offered(session_key):
        return None
    for work in _list_work(places):
        if work.session_key == session_key or work.is_private:
            continue
        checkpoint = _read_left(work, places) if can_be_offered(work.session_key) else None
        if checkpoint is not None:
            is_left = has_open_work(checkpoint) and _is_recent(checkpoint, now_s)
            return checkpoint if is_left and not _is_running(checkpoint, places) else None
    return None


def name_agent(checkpoint: Checkpoint) -> str:
    """Give the agent of a checkpoint's session as users know it."""
    # Nor for all agents, whose rows cost as much.
    from ullage.formats.registry import AGENTS

    named = checkpoint.meta.session_key.partition(":")[0]
    return next((info.name for info in AGENTS if info.agent == named), named)


def _find_own(session_key: str, places: Places, now_s: float) -> Checkpoint | None:
    """Find what a session itself left, if that was in this work tree."""
    own = (work for work in _list_work(places) if work.session_key == session_key)
    checkpoint = next((_read_left(work, places) for work in own), None)
    return checkpoint if checkpoint is not None and _is_recent(checkpoint, now_s) else None


def _list_work(places: Places) -> Iterator[LeftWork]:
    tree = find_work_tree(places.cwd, places)
    return iter(()) if tree is None else list_work(tree, places)


def _read_left(work: LeftWork, places: Places) -> Checkpoint | None:
    """Read the checkpoint of a note; None where its session went on elsewhere."""
    latest = read_latest(session_folder("checkpoints", work.session_key, places)).checkpoint
    is_of_here = latest is not None and latest.meta.checkpoint_id == work.checkpoint_id
    return latest if is_of_here else None


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
