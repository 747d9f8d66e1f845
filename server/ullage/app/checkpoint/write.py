"""Write a checkpoint of a session: its working state, before anything is forgotten."""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import lru_cache, partial
from pathlib import Path
from threading import Lock
from typing import Literal, TypeAlias

import msgspec

from ullage.app.gauge.startup_files import find_unread_startup_files
from ullage.app.sessions.load import Loaded
from ullage.app.sessions.session import Session
from ullage.core.change.compaction import list_open_calls
from ullage.core.checkpoint.build import PriorState, build
from ullage.core.checkpoint.checkpoint import Checkpoint, Meta, clean, measure_use
from ullage.core.checkpoint.diff import has_same_figures, has_same_state, is_near
from ullage.core.checkpoint.working_state import WorkingState
from ullage.core.config.settings import CheckpointSettings
from ullage.core.facts.collect import FactAccumulator
from ullage.core.facts.facts import Facts
from ullage.core.facts.pins import pick_pins
from ullage.core.gauge.gauge import ratio_at
from ullage.core.secrets.scan import mask_cached
from ullage.core.transcript.agent_lines import is_as_full
from ullage.core.transcript.context import ContextItem
from ullage.errors import StateUnwritable, StorageError
from ullage.store.checkpoint import files
from ullage.store.checkpoint.left_work import LeftWork, note_work
from ullage.store.checkpoint.working_state import hold_working_state, read_working_state
from ullage.store.files.places import Places, session_folder
from ullage.store.files.work_tree import find_work_tree
from ullage.store.state.pins import pins_path, read_pins
from ullage.store.state.startup_files import note_unread_files

MAX_TRIES = 100
"""Clashes with other writers, each of whom got one further (chosen)."""
Trigger: TypeAlias = Literal["auto-80pct", "compaction", "session-end", "manual"]
MAX_KEPT = 4
"""Sessions that one process follows at a time (chosen); each keeps its messages in memory."""


class Origin(msgspec.Struct, frozen=True, kw_only=True):
    """By which edge a checkpoint was asked for, or where its user talks to the agent."""

    channel: str = "cli"
    agent_id: str | None = None
    """None where it is the only one of its program."""


CLI, HOOK, EDITOR, MCP = (Origin(channel=each) for each in ("cli", "hook", "lsp", "mcp"))
RUNTIME_CHANNEL = "agent"
"""Of a runtime that names none: its user sits at this machine."""
_AT_MACHINE = frozenset({RUNTIME_CHANNEL, *(each.channel for each in (CLI, HOOK, EDITOR, MCP))})


class WrittenCheckpoint(msgspec.Struct, frozen=True, kw_only=True):
    checkpoint: Checkpoint
    path: Path
    is_new: bool
    """False where the latest one says the same; then it is that one."""
    problem: str | None
    """Which files were passed over or could not be reset, in one line for the user."""


class _Unchanged(Exception):
    """Leaves what was captured as it is."""


class KeptFacts:
    """What was gathered from one session so far; callable from any thread."""

    def __init__(self) -> None:
        self._items: tuple[ContextItem, ...] = ()
        self._secrets: tuple[str, ...] = ()
        self._seen: FactAccumulator | None = None
        self._lock = Lock()

    def collect(self, items: Sequence[ContextItem], known_secrets: tuple[str, ...]) -> Facts:
        """Collect the facts of messages, as `collect_facts` does, with their secrets masked.

        Where they begin with the messages of the last call, it goes on from there.
        """
        with self._lock:
            # Put back when all went well: half of a message is nothing to go on from.
            seen, self._seen = self._seen, None
            if seen is None or self._secrets != known_secrets or not self._are_followed(items):
                seen = FactAccumulator(clean=partial(mask_cached, known_values=known_secrets))
            seen.update(items[len(seen.times) :])
            facts = seen.finish()
            self._items, self._secrets, self._seen = tuple(items), known_secrets, seen
            return facts

    def _are_followed(self, items: Sequence[ContextItem]) -> bool:
        # The same messages may be read anew, with each request of a runtime that holds them.
        return len(items) >= len(self._items) and all(
            old is new
            or (
                old.at_ms == new.at_ms
                and old.category == new.category
                and old.message == new.message
            )
            for old, new in zip(self._items, items, strict=False)
        )


def write_checkpoint(
    loaded: Loaded,
    settings: CheckpointSettings,
    places: Places,
    *,
    trigger: Trigger,
    origin: Origin = CLI,
    is_split_turn: bool = False,
) -> WrittenCheckpoint:
    """Build a checkpoint without a model and write it, unless the latest one says the same.

    What was captured since the last one goes into it, and is reset once the file is on the disk:
    a process that is killed in between leaves state that the next one bundles again, and an item
    stands once however often it is bundled. Where nothing is written, nothing is reset.

    `is_split_turn` says that the agent is in the middle of a turn, whatever the messages show.

    Raises:
        StateBusy: another process writes the session's state, for a second already.
        StateUnwritable: the state folder does not take it.
    """
    build_next = partial(
        _build, loaded, places, trigger=trigger, origin=origin, is_split_turn=is_split_turn
    )
    key = loaded.session.state_key
    # What is told of the last compaction would be gone with the next.
    with suppress(StorageError):
        _note_unread_files(loaded, places)
    written: WrittenCheckpoint | None = None
    try:
        # Nothing is captured meanwhile: what is older than the pointer counts as held.
        with suppress(_Unchanged), hold_working_state(key, places) as state:
            written = _write_next(
                build_next, state, session_folder("checkpoints", key, places), settings, trigger
            )
            if not written.is_new:
                raise _Unchanged
            # Without it the checkpoint is whole: a fresh session is not offered it, that is all.
            with suppress(StorageError):
                _note_work(loaded, written.checkpoint.meta, origin, places)
    except StorageError as error:
        if written is None:
            raise
        problem = f"what was captured is in this checkpoint, and could not be reset ({error})"
        problems = (*((written.problem,) if written.problem else ()), problem)
        return msgspec.structs.replace(written, problem="; ".join(problems))
    if written is None:
        raise AssertionError("a lock swallows no error")
    return written


def is_due(loaded: Loaded, last_tokens: int | None, settings: CheckpointSettings) -> bool:
    """Tell whether a checkpoint is to be written by itself: the context is full, and has changed.

    `last_tokens` is the size that the latest one tells. By the same rule `write_checkpoint` leaves
    out what says the same; this saves building it at all.
    """
    gauge = loaded.status.gauge
    used, window = gauge.used_tokens, gauge.window.n_tokens
    if used is None or used < ratio_at(window, loaded.policy.checkpoint_ratio):
        return False
    return last_tokens is None or not is_as_full(last_tokens, used, settings.minimum_change_percent)


def _write_next(
    build_next: Callable[[str, files.Latest, WorkingState], Checkpoint],
    state: WorkingState,
    folder: Path,
    settings: CheckpointSettings,
    trigger: Trigger,
) -> WrittenCheckpoint:
    for _ in range(MAX_TRIES):
        # Before the latest is read: who writes one in between takes the number as well.
        checkpoint_id = files.next_id(folder)
        latest = files.read_latest(folder)
        checkpoint = build_next(checkpoint_id, latest, state)
        previous = latest.checkpoint
        if previous is not None and _says_the_same(previous, checkpoint, settings, trigger):
            path = folder / f"{previous.meta.checkpoint_id}.yaml"
            return WrittenCheckpoint(
                checkpoint=previous, path=path, is_new=False, problem=latest.problem
            )
        try:
            path = files.save(checkpoint, folder, n_kept=settings.n_kept)
        except FileExistsError:
            # Another writer was faster: its checkpoint is the latest now, and may do for us.
            continue
        return WrittenCheckpoint(
            checkpoint=checkpoint, path=path, is_new=True, problem=latest.problem
        )
    raise StateUnwritable(f"cannot write {folder}: every name is taken. Move its files away")


def build_checkpoint(
    loaded: Loaded, places: Places, *, trigger: Trigger | Literal["export"]
) -> Checkpoint:
    """Build the checkpoint that would be written now, without its secrets.

    Where the state folder cannot be read, it is built from the context alone.
    """
    key = loaded.session.state_key
    folder = session_folder("checkpoints", key, places)
    checkpoint_id, state = files.FIRST_ID, WorkingState()
    with suppress(StorageError):
        checkpoint_id = files.next_id(folder)
    with suppress(StorageError):
        state = read_working_state(key, places)
    return _build(loaded, places, checkpoint_id, files.read_latest(folder), state, trigger=trigger)


def is_private(session: Session, origin: Origin) -> bool:
    """Whether a session may be with another person: others are not told of it, nor it of them."""
    is_others = session.may_be_chat or not session.has_plain_key
    return is_others or origin.channel not in _AT_MACHINE


def _note_work(loaded: Loaded, meta: Meta, origin: Origin, places: Places) -> None:
    """Note where the work was done; a subagent's is its session's."""
    session, header = loaded.session, loaded.session.header
    tree = find_work_tree(Path(header.cwd or places.cwd), places)
    is_own = header.parent_session_id is None and session.is_believed(places)
    if tree is not None and is_own:
        work = LeftWork(
            session_key=meta.session_key,
            session_id=header.session_id,
            branch=tree.branch,
            origin=tree.origin,
            is_private=is_private(session, origin),
            # A runtime may keep no file.
            left_s=session.lines.written_ns / 1e9 or time.time(),
            checkpoint_id=meta.checkpoint_id,
        )
        note_work(work, tree, places)


def _note_unread_files(loaded: Loaded, places: Places) -> None:
    context = loaded.context
    unread = find_unread_startup_files(context)
    if unread is not None:
        note_unread_files(loaded.session.state_key, len(context.compactions), unread, places)


def _says_the_same(
    latest: Checkpoint, new: Checkpoint, settings: CheckpointSettings, trigger: Trigger
) -> bool:
    """Judge whether another checkpoint is worth a file.

    What comes by itself counts tokens, a user every word (docs/design/checkpoints.md, "When one is
    written").
    """
    if trigger == "manual":
        is_close = has_same_figures(latest, new)
    else:
        is_close = is_near(latest, new, settings.minimum_change_percent)
    return is_close and (trigger == "auto-80pct" or has_same_state(latest, new))


def _build(
    loaded: Loaded,
    places: Places,
    checkpoint_id: str,
    latest: files.Latest,
    state: WorkingState,
    *,
    trigger: str,
    origin: Origin = CLI,
    is_split_turn: bool = False,
) -> Checkpoint:
    key, context, gauge = loaded.session.state_key, loaded.context, loaded.status.gauge
    previous = latest.checkpoint
    meta = Meta(
        checkpoint_id=checkpoint_id,
        session_key=key,
        # A runtime may keep no file.
        session_file="" if loaded.path == Path() else str(loaded.path),
        created_at=datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        trigger=trigger,
        compaction_count=len(context.compactions),
        token_usage=measure_use(gauge.used_tokens or 0, gauge.window.n_tokens),
        previous_checkpoint=previous.meta.checkpoint_id if previous else None,
        channel=origin.channel,
        agent_id=origin.agent_id or loaded.session.header.agent or loaded.session.runtime,
    )
    checkpoint = build(
        context,
        meta,
        past=PriorState(previous=previous, state=state),
        pins=pick_pins(read_pins(pins_path(key, places)).pins, loaded.pins, ()),
        is_split_turn=is_split_turn or bool(list_open_calls(context.items)),
        collect_facts=partial(facts_of_session(key).collect, known_secrets=loaded.known_secrets),
    )
    return clean(checkpoint, loaded.known_secrets)


@lru_cache(maxsize=MAX_KEPT)
def facts_of_session(session_key: str) -> KeptFacts:
    """Give what was gathered in this process from the session that the key names."""
    return KeptFacts()
