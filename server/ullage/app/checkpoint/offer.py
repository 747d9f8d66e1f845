"""Offer a fresh session the work of the last one in the same repository, on the same branch."""

import os
from contextlib import suppress

from ullage.core.checkpoint.checkpoint import Checkpoint, clean
from ullage.core.checkpoint.offer import Offer, write_offer
from ullage.core.config.settings import Config
from ullage.errors import StorageError
from ullage.store.checkpoint.left_work import LeftWork, mark_offered, note_work
from ullage.store.files.places import Places
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
    that is private is told of no other. In read-only mode nobody notes that it was offered, and the
    state comes with the question, as it may be on no disk.

    Raises:
        StateUnwritable: it cannot be noted; it would be offered again and again then.
    """
    mode = config.resume.offer
    if mode == "never":
        return None
    # Who is to offer nothing must not pay for all agents' formats.
    from ullage.app.checkpoint.last_work import find_own, find_work

    places = places.for_reading(is_read_only=is_read_only)
    if not is_read_only:
        _note_begin(session_key, session_id, places, now_s, is_private=is_private)
    own = find_own(session_key, config, places, now_s)
    checkpoint = own
    if own is None and not is_private:
        checkpoint = find_work(session_key, config, places, now_s, session_id)
    if checkpoint is None:
        return None
    from ullage.app.sessions.secrets import secrets_in

    secrets, state = secrets_in((places.cwd,), places), ""
    is_given = own is not None or mode == "always"
    if is_given or is_read_only:
        # Nor for the text of a checkpoint: a third of an offer's time.
        from ullage.app.checkpoint.resume import restore_text

        state = restore_text(checkpoint, config.checkpoint, secrets, max_chars=max_chars)
    offer = write_offer(
        clean(checkpoint, secrets),
        name_agent(checkpoint),
        now_s,
        program=_program(places),
        state=state,
        is_given=is_given,
    )
    if not is_read_only and not mark_offered(session_key, session_id, places):
        return None
    return offer


def name_agent(checkpoint: Checkpoint) -> str:
    """Give the agent of a checkpoint's session as users know it."""
    # Nor for all agents, whose rows cost as much.
    from ullage.formats.registry import AGENTS

    named = checkpoint.meta.session_key.partition(":")[0]
    return next((info.name for info in AGENTS if info.agent == named), named)


def _note_begin(
    session_key: str, session_id: str, places: Places, now_s: float, *, is_private: bool
) -> None:
    """Note where a session begins: its transcript may not tell, nor whose it is."""
    tree = find_work_tree(places.cwd, places)
    if tree is None:
        return
    work = LeftWork(
        session_key=session_key,
        session_id=session_id,
        branch=tree.branch,
        origin=tree.origin,
        is_private=is_private,
        left_s=now_s,
    )
    # Without it, the transcript alone tells.
    with suppress(StorageError):
        note_work(work, tree, places)


def _program(places: Places) -> str:
    """Write how an agent's shell runs us: as the hooks do, where no folder of its PATH has us."""
    from ullage.core.install.hook_settings import write_program
    from ullage.store.files.programs import find_program, interpreter

    if find_program("ullage", places, folder=places.cwd) is not None:
        return "ullage"
    return write_program(interpreter(), is_windows=os.name == "nt", takes_bash=True)
