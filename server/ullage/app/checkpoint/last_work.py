"""Find what the last session of a work tree left: by what is noted there, and by its transcript."""

import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from heapq import merge
from itertools import takewhile
from pathlib import Path

import msgspec

from ullage.app.sessions.find import find_running_ids, list_sessions
from ullage.app.sessions.open import open_session
from ullage.app.sessions.session import Session
from ullage.core.checkpoint.checkpoint import Checkpoint
from ullage.core.checkpoint.offer import can_be_offered, has_open_work
from ullage.core.config.settings import Config
from ullage.errors import InputError, UllageError
from ullage.store.checkpoint.left_work import MAX_AGE_S, LeftWork, list_work
from ullage.store.files.places import Places, session_folder
from ullage.store.files.work_tree import WorkTree, find_work_tree

AT_WORK_S = 60.0
"""Between two records of a turn; a model or a test may take longer (chosen)."""
MAX_READ_BYTES = 16 * 1024 * 1024
"""Of a transcript that is read for an offer: 1 s of CPU at most, of the 5 s of a hook (chosen)."""


class _Left(msgspec.Struct, frozen=True, kw_only=True):
    """A session that worked here: what is noted of it, its transcript, or both."""

    key: str
    session_id: str
    left_s: float
    note: LeftWork | None
    session: Session | None = None
    """None where its transcript lies in no folder that is looked through."""


def find_work(
    session_key: str, config: Config, places: Places, now_s: float, session_id: str = ""
) -> Checkpoint | None:
    """Find the state that the last other session of this work tree left, if something is open.

    The last one decides: where it has nothing open, what an older one left is no news, and where
    it runs, nobody left it. The time of what is given is that of the session's last record.
    """
    places = places.for_reading(is_read_only=config.policy.is_read_only)
    tree = find_work_tree(places.cwd, places)
    if tree is None or not can_be_offered(session_key):
        return None
    notes = list_work(tree, places)
    passed = {session_id, *(note.session_id for note in notes if note.session_key == session_key)}
    for left in _list_left(tree, notes, places, now_s):
        if left.session_id in passed or left.key == session_key:
            continue
        passed.add(left.session_id)
        if not _is_told_here(left, tree):
            continue
        checkpoint = _read_left(left, places)
        if checkpoint is None and left.session is None:
            continue
        # Not the one that runs this hook: for it, the session just cleared may be open still.
        if left.session_id in find_running_ids(places, but_of=os.getppid()):
            return None
        is_left = partial(_is_left, left, places, now_s)
        latest = _catch_up(left, checkpoint, config, places, is_left)
        return latest if latest is not None and is_left(latest) else None
    return None


def find_own(session_key: str, config: Config, places: Places, now_s: float) -> Checkpoint | None:
    """Find what the last session of a key left, if that was in this work tree."""
    places = places.for_reading(is_read_only=config.policy.is_read_only)
    tree = find_work_tree(places.cwd, places)
    if tree is None:
        return None
    for note in list_work(tree, places):
        is_own = note.session_key == session_key and note.checkpoint_id is not None
        if not is_own or not note.is_of(tree) or note.branch != tree.branch:
            continue
        left = _to_left(note)
        checkpoint = _read_left(left, places) if now_s - note.left_s <= MAX_AGE_S else None
        return None if checkpoint is None else _catch_up(left, checkpoint, config, places, bool)
    return None


def _list_left(
    tree: WorkTree, notes: list[LeftWork], places: Places, now_s: float
) -> Iterator[_Left]:
    """Go through the sessions that worked here, the last one first; most come twice."""
    since_s = max(now_s - MAX_AGE_S, tree.made_s)
    noted = (_to_left(note) for note in notes if note.checkpoint_id is not None)
    folders = {places.cwd.resolve(): places.cwd, tree.root: tree.root}
    named = {note.session_id: note for note in notes}
    read = (_read_sessions(folder, named, places) for folder in folders.values())
    newest_first = merge(noted, *read, key=lambda left: -left.left_s)
    return takewhile(lambda left: left.left_s >= since_s, newest_first)


def _read_sessions(folder: Path, notes: dict[str, LeftWork], places: Places) -> Iterator[_Left]:
    for session in list_sessions(folder, places):
        session_id = session.header.session_id
        note = notes.get(session_id)
        yield _Left(
            key=session.state_key if note is None else note.session_key,
            session_id=session_id,
            left_s=session.lines.written_ns / 1e9,
            note=note,
            session=session,
        )


def _to_left(note: LeftWork) -> _Left:
    return _Left(key=note.session_key, session_id=note.session_id, left_s=note.left_s, note=note)


def _is_told_here(left: _Left, tree: WorkTree) -> bool:
    """Whether others are told of a session, and it was of this repository and branch."""
    note, session = left.note, left.session
    if not can_be_offered(left.key) or (note is not None and note.is_private):
        return False
    if session is not None and session.may_be_chat:
        return False
    if note is not None and not note.is_of(tree):
        return False
    return not tree.branch or _find_branch(left) == tree.branch


def _find_branch(left: _Left) -> str:
    """Tell where a session ended: by its last record, else by what was noted, else its begin."""
    session = left.session
    at_end = None if session is None else session.agent.read_branch(session.lines)
    noted = left.note.branch if left.note else ""
    return at_end or noted or (session.header.branch if session else "")


def _read_left(left: _Left, places: Places) -> Checkpoint | None:
    """Read the latest checkpoint of a session; None where that was written elsewhere."""
    # Where no session worked here, nobody pays for YAML.
    from ullage.store.checkpoint.files import read_latest

    latest = read_latest(session_folder("checkpoints", left.key, places)).checkpoint
    noted = None if left.note is None else left.note.checkpoint_id
    is_of_here = latest is not None and noted in (None, latest.meta.checkpoint_id)
    return latest if is_of_here else None


def _catch_up(
    left: _Left,
    checkpoint: Checkpoint | None,
    config: Config,
    places: Places,
    is_kept: Callable[[Checkpoint], bool],
) -> Checkpoint | None:
    """Give the state as of the session's last record; a new one that `is_kept` wants is written.

    None where that cannot be made in the time that a hook has. Where there is no transcript to
    read any more, the checkpoint is all that is known.
    """
    session = left.session or (None if checkpoint is None else _open(checkpoint))
    if session is None:
        return checkpoint
    written_s = session.lines.written_ns / 1e9
    # By its note: a prompt's checkpoint may be of the same second as the answer.
    if checkpoint is None or left.note is None or left.note.left_s != written_s:
        if session.lines.size_bytes > MAX_READ_BYTES:
            return None
        session = msgspec.structs.replace(session, key=left.key)
        try:
            checkpoint = _make_state(session, checkpoint, config, places, is_kept)
        except UllageError:
            return None
    at = datetime.fromtimestamp(written_s, UTC).isoformat(timespec="seconds")
    meta = msgspec.structs.replace(checkpoint.meta, created_at=at)
    return msgspec.structs.replace(checkpoint, meta=meta)


def _open(checkpoint: Checkpoint) -> Session | None:
    meta = checkpoint.meta
    try:
        session_id = meta.session_key.partition(":")[2]
        return open_session(Path(meta.session_file), session_id) if meta.session_file else None
    except InputError:
        return None


def _make_state(
    session: Session,
    before: Checkpoint | None,
    config: Config,
    places: Places,
    is_kept: Callable[[Checkpoint], bool],
) -> Checkpoint:
    """Build a checkpoint, and write it where it is wanted; in read-only mode it stays in memory.

    Raises:
        UllageError: the session cannot be read, or the state folder does not take it.
    """
    # Where nothing is to be read, nobody pays for what reads it.
    from ullage.app.checkpoint.write import Origin, build_checkpoint, write_checkpoint
    from ullage.app.sessions.quick_load import load_quickly

    loaded = load_quickly(session, config, places)
    state = build_checkpoint(loaded, places, trigger="session-end")
    if not places.keeps_caches or not is_kept(state):
        return state
    meta = None if before is None else before.meta
    origin = Origin() if meta is None else Origin(channel=meta.channel, agent_id=meta.agent_id)
    return write_checkpoint(
        loaded, config.checkpoint, places, trigger="session-end", origin=origin
    ).checkpoint


def _is_left(left: _Left, places: Places, now_s: float, state: Checkpoint) -> bool:
    """Whether something is open, and no agent that does not say what it has open may be at it."""
    session = left.session
    says_so = session is None or session.agent.live_folders(places.env, places.home)
    is_at_work = state.working.status == "in_progress" and now_s - left.left_s < AT_WORK_S
    return has_open_work(state) and (bool(says_so) or not is_at_work)
