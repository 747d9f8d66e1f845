"""Changes of a session: worked out to the last byte, shown, then made in one order.

The order is lock, compare, checkpoint, receipt, change, read back, compare (docs/safety.md, "How
changes are kept safe"); a flush of memory comes before the checkpoint. What is read back is read
by the agent's own rule, and must be the context that was previewed.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Literal, TypeAlias, TypeVar

import msgspec

from ullage.app.checkpoint.find import known_ids
from ullage.app.checkpoint.write import write_checkpoint
from ullage.app.config.load import refuse_read_only
from ullage.app.memory.flush import FlushPlan, FlushResult, try_flush
from ullage.app.sessions.copy import refuse_second_copy
from ullage.app.sessions.load import Loaded
from ullage.app.sessions.open import refuse_running
from ullage.app.sessions.session import ChangeTarget, Session
from ullage.app.sessions.title import find_title
from ullage.core.change.compaction import count_hidden_tokens
from ullage.core.change.edit import Append, FileChange, NewSession, apply_to_lines
from ullage.core.change.receipt import ChangeReason, ReceiptKind
from ullage.core.config.settings import Config
from ullage.core.gauge.gauge import Layer, gauge_text
from ullage.core.transcript.context import Compaction, Context, ContextItem, PruneRecord
from ullage.core.transcript.entries import Header, Lines
from ullage.core.transcript.lineage import EMPTY_INDEX
from ullage.core.transcript.tokens import count_items
from ullage.errors import NotAsPlanned, WriteNotSupported
from ullage.formats.json_line import compact_json
from ullage.formats.reading import Reading
from ullage.store.change.make import apply_change
from ullage.store.change.receipts import has_receipts
from ullage.store.change.recovery import recover
from ullage.store.change.session_lock import session_lock, wait_until_quiet
from ullage.store.checkpoint.files import carry_latest
from ullage.store.files.places import Places, is_there, session_folder
from ullage.store.state.runtime_state import carry_state
from ullage.store.transcript.reader import FileLines

ChangeT = TypeVar("ChangeT", bound=FileChange | None)
Ability: TypeAlias = Literal["change", "note", "undo", "restore"]
"""Change the transcript; note something in our state; take a change back; show a checkpoint."""


class ChangePlan(msgspec.Struct, frozen=True, kw_only=True):
    """A change that is worked out to the last byte, and not made yet."""

    loaded: Loaded
    file_change: FileChange
    n_tokens_before: int
    n_tokens_after: int
    context_after: Context
    """The context as the agent's own rule will build it from the changed files."""

    @property
    def path_after(self) -> Path:
        """Where the session goes on."""
        path = self.loaded.path
        change = self.file_change
        return path.with_name(change.name) if isinstance(change, NewSession) else path


class MadeChange(msgspec.Struct, frozen=True, kw_only=True):
    """What there must still be for a change to be taken back that was told of, maybe hours ago."""

    path: Path
    receipt_id: str
    last: Compaction | PruneRecord | None
    """What changed the context last."""


class ChangeResult(msgspec.Struct, frozen=True, kw_only=True):
    """A change that was made, read back, and found to be the one that was planned."""

    plan: ChangePlan
    session: Session
    """As it goes on."""
    reading: Reading
    """Of the session as it goes on."""
    receipt_id: str
    checkpoint_id: str | None
    resume_command: str | None
    """None where no command goes on with such a session."""
    notes: tuple[str, ...]
    """What the user should know besides."""
    flushed: FlushResult | None = None
    """What was written into the daily log before."""

    @property
    def context(self) -> Context:
        return self.reading.context

    @property
    def is_elsewhere(self) -> bool:
        """Whether the session goes on in another file: some agents' files are never changed."""
        return self.plan.path_after != self.plan.loaded.path


def change_target(session: Session, way_out: str | None = None) -> ChangeTarget:
    """Give what is needed to change a session; else the way out is a compaction by its agent.

    Raises:
        WriteNotSupported: this kind of session is not ours to write to.
    """
    target = session.find_change_target(way_out)
    if isinstance(target, str):
        raise WriteNotSupported(target)
    return target


def can_change(loaded: Loaded) -> bool:
    """Tell whether anything may be written to a session."""
    is_ours = isinstance(loaded.session.find_change_target(), ChangeTarget)
    return is_ours and not loaded.policy.is_read_only


def plan_change(
    loaded: Loaded,
    kind: ReceiptKind,
    render: Callable[[str, int, int | None], FileChange],
) -> ChangePlan:
    """Work out a change of files and the context that it leads to.

    What will be in the context is known only by the agent's rule, and its size is noted in the
    file: so `render` is called with an id for its entry, the tokens before and None for a draft,
    then with the size that the draft showed. A session that goes on in a new file keeps its title.

    Raises:
        AlreadyChanged: it goes on in a new file already.
    """
    refuse_second_copy(loaded.session, loaded.secrets.places, loaded.known_secrets)
    n_counted = count_items(loaded.context.items, loaded.count)
    n_hidden = count_hidden_tokens(loaded.status.gauge, n_counted)
    n_before = n_hidden + n_counted
    title = find_title(loaded.session, loaded.known_secrets, loaded.reading.index)
    editor = change_target(loaded.session).editor

    def render_named(named: str, n_tokens_after: int | None) -> FileChange:
        change = render(named, n_before, n_tokens_after)
        if title is None or not isinstance(change, NewSession):
            return change
        return editor.entitle(change, title)

    entry_id, change = choose_entry_id(loaded, kind, lambda named: render_named(named, None))
    draft = context_after(loaded, change)
    n_after = n_hidden + count_items(draft.items, loaded.count)
    loaded.count.save()
    file_change = render_named(entry_id, n_after)
    return ChangePlan(
        loaded=loaded,
        file_change=file_change,
        n_tokens_before=n_before,
        n_tokens_after=n_after,
        context_after=context_after(loaded, file_change),
    )


def written_before_line(made: ChangeResult) -> str:
    """Name the checkpoint of a change, and the command that takes the change back."""
    undo = made.plan.loaded.session.command("undo")
    return f"  Checkpoint {made.checkpoint_id} written before; `{undo}` takes it back."


def way_on_lines(resume_command: str | None) -> tuple[str, ...]:
    """Tell how the session goes on, where a command does that."""
    return () if resume_command is None else (f"  Go on with: {resume_command}",)


def new_file_lines(change: ChangePlan) -> list[str]:
    """Say where the session goes on; nothing where it does so in its own file."""
    if change.path_after == change.loaded.path:
        return []
    return [f"Goes on in a new session: {change.path_after.name}. {copy_text(change.loaded)}"]


def made_change(made: ChangeResult) -> MadeChange:
    return MadeChange(
        path=made.session.path, receipt_id=made.receipt_id, last=last_change(made.context)
    )


def last_change(context: Context) -> Compaction | PruneRecord | None:
    """Give what changed the context last; a prune that is told of is later than the boundary."""
    return context.pruned or context.boundary


def copy_sentence(plan: ChangePlan) -> str:
    """Say, behind a question, that a change makes a copy; empty where it does not."""
    return f" {copy_text(plan.loaded)}." if plan.path_after != plan.loaded.path else ""


def copy_text(loaded: Loaded) -> str:
    """Say that an agent that runs a session is not helped by a copy of it."""
    agent, used = loaded.session.agent.name, gauge_text(loaded.status.gauge)
    return f"{agent} gets a copy: this one stays as it is, at {used}, until you resume the copy"


def context_after(loaded: Loaded, file_change: FileChange) -> Context:
    """Read the context from a file as it will be once it is changed."""
    lines = apply_to_lines(loaded.session.lines, file_change)
    return _read_changed(loaded, lines, file_change)[1].context


def _read_changed(loaded: Loaded, lines: Lines, file_change: FileChange) -> tuple[Header, Reading]:
    """Read the lines of a changed session, in memory or on the disk, by its agent's own rule."""
    session = loaded.session
    if isinstance(file_change, Append):
        index, header = loaded.reading.index, session.header
    else:
        index, header = EMPTY_INDEX, session.agent.read_header(lines) or session.header
    return header, session.agent.read_context(lines, header, index)


def make_change(
    plan: ChangePlan,
    config: Config,
    places: Places,
    *,
    kind: ReceiptKind,
    layer: Layer | None = None,
    replaced: Sequence[ContextItem] = (),
    undoes: str | None = None,
    flush: FlushPlan | None = None,
) -> ChangeResult:
    """Make a planned change: lock, compare, flush, checkpoint, receipt, write, read back, compare.

    A flush that fails is told of in the notes, and stops nothing.

    Raises:
        WriteNotSupported: the workspace is read-only.
        SessionLive: an agent or another Ullage is using the session.
        ChangedMeanwhile: the transcript is not what the plan was made from.
        StorageError: the disk or the state folder does not take it.
        NotAsPlanned: it was made, and leads to another context than planned.
    """
    session = plan.loaded.session
    refuse_read_only(plan.loaded.policy, config.policy)
    occasion = _describe_occasion(plan, kind, layer, replaced, undoes)
    target = change_target(session)
    refuse_running(session, places, "" if layer is None else session.agent.way_out)
    # Of any session: an agent may go on in one where a killed process left half a line of ours.
    recovered = recover(places)
    with session_lock(session.path, places):
        wait_until_quiet(session.path, target.lines.fingerprint)
        if isinstance(plan.file_change, NewSession):
            refuse_second_copy(session, places, plan.loaded.known_secrets)
        flushed = None if flush is None else try_flush(flush, places)
        checkpoint_id = None
        if kind not in ("undo", "restore"):
            # What follows makes the session forget.
            written = write_checkpoint(plan.loaded, config.checkpoint, places, trigger="compaction")
            checkpoint_id = written.checkpoint.meta.checkpoint_id
        done = apply_change(
            session.path, target.lines.fingerprint, plan.file_change, occasion, places
        )
        if done.path != session.path:
            carry_state(session.state_key, occasion.session_key, places)
            keys = (session.state_key, occasion.session_key)
            carry_latest(*(session_folder("checkpoints", key, places) for key in keys))
        lines = FileLines(done.path)
        header, reading = _read_changed(plan.loaded, lines, plan.file_change)
    if reading.context.items != plan.context_after.items:
        raise NotAsPlanned(
            f"it was written, but the context is not the one that was previewed:"
            f" look at it with `{session.command('context show')}`, or take it back with"
            f" `{session.command('undo')}`"
        )
    return ChangeResult(
        plan=plan,
        session=Session(
            header=header.named(done.path.stem), agent_info=session.agent_info, lines=lines
        ),
        reading=reading,
        receipt_id=done.receipt_id,
        checkpoint_id=checkpoint_id,
        resume_command=session.agent.resume_command(header, done.path),
        notes=(*recovered, *done.notes, *_new_notes(flush, flushed)),
        flushed=flushed,
    )


def _new_notes(flush: FlushPlan | None, flushed: FlushResult | None) -> tuple[str, ...]:
    """Give what was not told before the flush was made."""
    if flush is None or flushed is None:
        return ()
    return tuple(note for note in flushed.notes if note not in flush.notes)


def choose_entry_id(
    loaded: Loaded, kind: ReceiptKind, render: Callable[[str], ChangeT]
) -> tuple[str, ChangeT]:
    """Choose the id of a change's entry, eight hexadecimal digits as pi makes them, and render it.

    It is the same as long as the session is as it was, and names its new file where it has one:
    so a preview names the file that is made. A name that is taken already is passed over.
    """
    context, path = loaded.context, loaded.path
    state = (context.header.session_id, context.leaf_id, str(context.size_bytes), kind)
    for number in count():
        data = "\n".join((*map(str, state), str(number)))
        entry_id = hashlib.sha256(data.encode()).hexdigest()[:8]
        change = render(entry_id)
        if not isinstance(change, NewSession) or not is_there(path.with_name(change.name)):
            return entry_id, change
    raise AssertionError("some name is free")


def now_text() -> str:
    now = datetime.now(UTC)
    return now.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def join_records(items: Sequence[ContextItem]) -> bytes:
    """Give the agent's own records of messages, by which it is known whether they are the same."""
    return "\n".join(compact_json(item.native) for item in items).encode()


def _describe_occasion(
    plan: ChangePlan,
    kind: ReceiptKind,
    layer: Layer | None,
    replaced: Sequence[ContextItem],
    undoes: str | None,
) -> ChangeReason:
    """Say why the transcript is changed; the receipt is kept with the session that goes on."""
    session, change = plan.loaded.session, plan.file_change
    key = session.state_key
    if isinstance(change, NewSession):
        key = f"{session.header.agent}:{change.session_id}"
    data = join_records(replaced)
    return ChangeReason(
        kind=kind,
        layer=layer,
        at=now_text(),
        session_key=key,
        n_tokens_before=plan.n_tokens_before,
        n_tokens_after=plan.n_tokens_after,
        replaced_ids=tuple(item.entry_id for item in replaced),
        replaced_bytes=len(data),
        replaced_sha256=hashlib.sha256(data).hexdigest() if replaced else "",
        undoes=undoes,
    )


def abilities(loaded: Loaded, places: Places, *, may_write: bool) -> frozenset[Ability]:
    """Tell what can be done with a session, `may_write` being whether anything may be written.

    That its agent has it open is no matter here: it may have left when the user asks for it.
    """
    return frozenset(_abilities(loaded, places, may_write=may_write))


def _abilities(loaded: Loaded, places: Places, *, may_write: bool) -> Iterator[Ability]:
    context = loaded.context
    if may_write:
        yield "note"
        if can_change(loaded):
            yield "change"
            is_changed = context.compactions or context.pruned is not None
            if is_changed or has_receipts(loaded.session.state_key, places):
                yield "undo"
    if known_ids(loaded.session, places):
        yield "restore"
