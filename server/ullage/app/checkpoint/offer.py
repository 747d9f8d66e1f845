"""Offer a fresh session the work of the last one in the same repository, on the same branch."""

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
from ullage.store.checkpoint.left_work import MAX_AGE_S, list_work, mark_offered
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
    is_read_only: bool = False,
) -> Offer | None:
    """Write what a fresh session is told, once; None for nothing.

    A session that goes on under the key of an earlier one is given that one's state itself. In
    read-only mode nobody notes that it was offered.

    Raises:
        StateUnwritable: it cannot be noted; it would be offered again and again then.
    """
    mode = config.resume.offer
    if mode == "never":
        return None
    own = read_latest(session_folder("checkpoints", session_key, places)).checkpoint
    checkpoint = own or find_work(session_key, places, now_s)
    if checkpoint is None or not _is_recent(checkpoint, now_s):
        return None
    if not is_read_only and not mark_offered(session_key, session_id, places):
        return None
    # A hook that has nothing to offer must not pay for it: a third of its time.
    from ullage.app.checkpoint.resume import restore_text

    secrets = secrets_in((places.cwd,), places)
    is_given = own is not None or mode == "always"
    text = restore_text(checkpoint, config.checkpoint, secrets, max_chars=max_chars)
    agent = name_agent(checkpoint)
    return write_offer(clean(checkpoint, secrets), agent, now_s, text if is_given else "")


def find_work(session_key: str, places: Places, now_s: float) -> Checkpoint | None:
    """Find the checkpoint of the last other session of this folder, if it left something open.

    The last one decides: where it has nothing open, what an older one left is no news. One that
    went on elsewhere, on another branch, is of there.
    """
    tree = find_work_tree(places.cwd, places) if can_be_offered(session_key) else None
    for work in () if tree is None else list_work(tree, places):
        if work.session_key == session_key or not can_be_offered(work.session_key):
            continue
        folder = session_folder("checkpoints", work.session_key, places)
        checkpoint = read_latest(folder).checkpoint
        if checkpoint is not None and checkpoint.meta.checkpoint_id == work.checkpoint_id:
            is_open = has_open_work(checkpoint) and _is_recent(checkpoint, now_s)
            return checkpoint if is_open else None
    return None


def name_agent(checkpoint: Checkpoint) -> str:
    """Give the agent of a checkpoint's session as users know it."""
    # Nor for all agents.
    from ullage.formats.registry import AGENTS

    named = checkpoint.meta.session_key.partition(":")[0]
    return next((info.name for info in AGENTS if info.agent == named), named)


def _is_recent(checkpoint: Checkpoint, now_s: float) -> bool:
    age_s = age_of(checkpoint, now_s)
    return age_s is not None and age_s <= MAX_AGE_S
