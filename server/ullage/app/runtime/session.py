"""A session whose messages its runtime holds: opened once, measured anew with each call."""

from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from ullage.app.change.auto import change_breaker
from ullage.app.checkpoint.write import session_key
from ullage.app.config.load import load_config
from ullage.app.sessions.load import Loaded, measure_reading, read
from ullage.app.sessions.open import open_session
from ullage.app.sessions.secrets import SessionSecrets
from ullage.app.sessions.session import Session
from ullage.core.change.breaker import Breaker, begin_epoch
from ullage.core.change.decision import Step
from ullage.core.change.prune import PruneItem, pruned
from ullage.core.change.request_plan import find_prunes_to_repeat, subtract_unreported
from ullage.core.config.settings import Config
from ullage.core.transcript.context import Context, ContextItem
from ullage.core.transcript.entries import Header
from ullage.core.transcript.index import EMPTY_INDEX
from ullage.core.transcript.message import JsonObject, MessageFormat
from ullage.core.transcript.standing import Conversation, conversation_of
from ullage.errors import InputError, UllageError
from ullage.formats.format import Reading
from ullage.formats.in_memory import InMemory, Known, context_of_messages
from ullage.formats.registry import IN_MEMORY
from ullage.store.files.places import Places
from ullage.store.gauge.models import model_row
from ullage.store.gauge.token_counts import CountText, TokenCounts
from ullage.store.gauge.tokenizer import DEFAULT_ENCODING, count_tokens
from ullage.store.state.auto_state import read_auto_state
from ullage.store.state.runtime_state import HeldState, read_held_state, write_held_state
from ullage.store.transcript.reader import NoLines

HeldAgent: TypeAlias = Literal["openclaw", "claude-code", "codex"]


class Runtime(msgspec.Struct, frozen=True, kw_only=True):
    """What a runtime says of a session when it opens it."""

    agent: str
    """Its own name, of ours or not."""
    known_as: HeldAgent | None = None
    """Which of the agents that we know it is."""
    shape: MessageFormat
    cwd: Path
    session_id: str
    session_key: str | None = None
    session_file: Path | None = None
    model: str | None = None
    window_tokens: int | None = None
    n_compactions: int | None = None
    is_read_only: bool = False
    can_take_turn: bool = False


class Attached(msgspec.Struct, frozen=True, kw_only=True):
    """An opened session."""

    runtime: Runtime
    session: Session
    shape: InMemory
    config: Config
    places: Places
    count: TokenCounts

    @property
    def key(self) -> str:
        return session_key(self.session)


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """What the calls so far left behind; each call makes a new one."""

    n_compactions: int
    is_known: bool = False
    """Whether messages of the session were seen before, in this process or an earlier one."""
    last: Context | None = None
    """All messages of the last request; None before the first."""
    used_tokens: int | None = None
    """Size of that request."""
    summary_id: str | None = None
    """The message that holds the last summary."""
    kept_ids: frozenset[str] = frozenset()
    """Messages from before the last compaction."""
    written: str | None = None
    """The summary written last, until a compaction is seen."""
    replaced_id: str | None = None
    """The first message that it stands for."""
    n_tokens_after: int | None = None
    """What that compaction leaves, by our figures."""
    is_recorded: bool = False
    """Whether that compaction was automatic, so that the breaker knows what it brings."""
    pruned: tuple[PruneItem, ...] = ()
    """What placeholders stood for in the last request."""
    unseen: tuple[PruneItem, ...] = ()
    """What of it was pruned since the model's last answer: no report knows of it."""
    answer_id: str | None = None
    """That answer."""
    checkpoint_tokens: int | None = None
    """Size of the context when a checkpoint was written last in this epoch."""
    is_advised: bool = False
    is_warned: bool = False
    """Whether a read-only session was warned, which is written nowhere."""
    is_flush_tried: bool = False
    """Whether memory was flushed in this epoch, or could not be."""
    is_restore_due: bool = False
    """Whether the agent is to get its working state back."""
    is_restored: bool = False
    """Whether the runtime fetched the working state since the last request or compaction."""
    tried: tuple[Step, ...] = ()
    """What was done about an overflow that is not over yet."""
    answered_ids: frozenset[str] = frozenset()
    """Answers of the model before that overflow."""

    @property
    def last_ids(self) -> frozenset[str]:
        return frozenset() if self.last is None else ids_of(self.last)


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """The messages of one call, and what the runtime knows of them."""

    messages: list[JsonObject]
    entry_ids: list[str] | None = None
    used_tokens: int | None = None
    n_reported: int | None = None
    """How many messages `used_tokens` are of; None: up to the model's last answer."""
    window_tokens: int | None = None
    n_compactions: int | None = None


class Held(msgspec.Struct, frozen=True, kw_only=True):
    """The messages of a call, measured."""

    loaded: Loaded
    sent: Context
    """With placeholders for what was pruned before."""
    progress: Progress
    notes: tuple[str, ...] = ()
    """What the disk did not take."""

    @property
    def conversation(self) -> Conversation:
        return conversation_of(self.loaded.context.items)


def attach(
    runtime: Runtime, places: Places, count_text: CountText = count_tokens
) -> tuple[Attached, Progress]:
    """Open a session of a runtime; whatever state it has on disk is taken up."""
    places = msgspec.structs.replace(places, cwd=runtime.cwd)
    session = Session(
        header=Header(
            agent=runtime.known_as, session_id=runtime.session_id, version=0, cwd=str(runtime.cwd)
        ),
        transcript_format=None,
        lines=NoLines(runtime.session_file or Path(runtime.session_id)),
        # The same key as of its transcript: the command line finds what the runtime saved.
        key=runtime.session_key or f"{runtime.known_as or runtime.agent}:{runtime.session_id}",
        runtime=runtime.agent,
    )
    row = model_row(runtime.model)
    attached = Attached(
        runtime=runtime,
        session=session,
        shape=IN_MEMORY[runtime.shape],
        config=load_config(places, workspace=runtime.cwd),
        places=places,
        count=TokenCounts(
            row.encoding if row else DEFAULT_ENCODING,
            places.state_folder,
            count_text,
            is_kept=not runtime.is_read_only,
        ),
    )
    return attached, _taken_up(attached)


def load_call(attached: Attached, progress: Progress, call: Call) -> Held:
    """Read and measure the messages of a call."""
    context = _context(attached, progress, call)
    n_compactions = _n_compactions(progress, call, context)
    notes: tuple[str, ...] = ()
    if n_compactions > progress.n_compactions:
        is_recorded = progress.is_recorded and _is_applied(progress, context)
        notes = _note_epoch(attached, n_compactions, is_recorded=is_recorded)
        progress = _at_epoch(progress, n_compactions, context)
        context = _context(attached, progress, call)
    answer_id = _last_answer_id(context)
    pruned_before = find_prunes_to_repeat(context.items, progress.pruned)
    unseen = progress.unseen if answer_id == progress.answer_id else ()
    unseen = find_prunes_to_repeat(context.items, unseen)
    items = pruned(context.items, [item.replacement for item in pruned_before])
    sent = msgspec.structs.replace(context, items=subtract_unreported(items, unseen))
    progress = msgspec.structs.replace(
        progress,
        is_known=True,
        summary_id=None if context.boundary is None else context.boundary.entry_id,
        pruned=pruned_before,
        unseen=unseen,
        answer_id=answer_id,
        tried=() if answered_ids(context) - progress.answered_ids else progress.tried,
    )
    loaded = _measured(attached, context, sent)
    return Held(loaded=loaded, sent=sent, progress=progress, notes=notes)


def with_pruned(progress: Progress, taken: tuple[PruneItem, ...]) -> Progress:
    """Note all that is pruned now, what was pruned before first."""
    unseen = (*progress.unseen, *taken[len(progress.pruned) :])
    return msgspec.structs.replace(progress, pruned=taken, unseen=unseen)


def keep(attached: Attached, before: Progress, after: Progress) -> tuple[str, ...]:
    """Write what must outlive this process where it changed; tell what the disk did not take."""
    state = _state_of(after)
    if attached.runtime.is_read_only or state is None or state == _state_of(before):
        return ()
    try:
        write_held_state(attached.key, state, attached.places)
    except UllageError as error:
        return (str(error),)
    return ()


def items_of(attached: Attached, messages: list[JsonObject]) -> tuple[ContextItem, ...]:
    """Read single messages, apart from their context."""
    known = Known(header=attached.session.header, n_compactions=0)
    return context_of_messages(attached.shape, messages, known).items


def set_restored(progress: Progress) -> Progress:
    """Note that the runtime was given the working state by itself."""
    return msgspec.structs.replace(progress, is_restore_due=False, is_restored=True)


def ids_of(context: Context) -> frozenset[str]:
    return frozenset(item.entry_id for item in context.items)


def answered_ids(context: Context) -> frozenset[str]:
    """List the answers of the model in a context; failed ones have no content."""
    return frozenset(
        item.entry_id
        for item in context.items
        if item.category == "assistant" and item.message.blocks
    )


def _context(attached: Attached, progress: Progress, call: Call) -> Context:
    runtime = attached.runtime
    known = Known(
        header=attached.session.header,
        n_compactions=progress.n_compactions,
        model=runtime.model,
        window_tokens=call.window_tokens or runtime.window_tokens,
        used_tokens=call.used_tokens,
        n_reported=call.n_reported,
        kept_ids=progress.kept_ids,
        n_tokens_after=progress.n_tokens_after,
    )
    return context_of_messages(attached.shape, call.messages, known, call.entry_ids)


def _measured(attached: Attached, context: Context, sent: Context) -> Loaded:
    loaded = measure_reading(
        attached.session,
        Reading(context=context, index=EMPTY_INDEX),
        attached.config,
        attached.count,
        SessionSecrets(attached.session.header, attached.places),
        sent,
    )
    if not attached.runtime.is_read_only:
        return loaded
    policy = msgspec.structs.replace(loaded.policy, is_read_only=True)
    return msgspec.structs.replace(loaded, policy=policy)


def _n_compactions(progress: Progress, call: Call, context: Context) -> int:
    """Count the session's compactions: by the runtime's word, else by what the messages show."""
    if call.n_compactions is not None:
        return call.n_compactions
    summary_id = None if context.boundary is None else context.boundary.entry_id
    if not progress.is_known:
        return max(progress.n_compactions, 1 if summary_id else 0)
    is_new_summary = summary_id not in (None, progress.summary_id)
    return progress.n_compactions + (is_new_summary or _is_applied(progress, context))


def _is_applied(progress: Progress, context: Context) -> bool:
    """Whether the runtime applied the summary written last, in our words or in its own."""
    if progress.replaced_id is None:
        return False
    boundary, written = context.boundary, progress.written
    if boundary is not None and written and boundary.summary.strip() == written.strip():
        return True
    return bool(context.items) and progress.replaced_id not in ids_of(context)


def _at_epoch(progress: Progress, n_compactions: int, context: Context) -> Progress:
    """Begin a new epoch: what was pruned, written and said in the last one is over."""
    return Progress(
        n_compactions=n_compactions,
        last=progress.last,
        kept_ids=progress.last_ids & ids_of(context),
        n_tokens_after=progress.n_tokens_after if _is_applied(progress, context) else None,
        is_restore_due=progress.is_known and not progress.is_restored,
        tried=progress.tried,
        answered_ids=progress.answered_ids,
    )


def _note_epoch(attached: Attached, n_compactions: int, *, is_recorded: bool) -> tuple[str, ...]:
    """Begin the breaker's epoch; what it recorded of an automatic run outlives that run."""
    if attached.runtime.is_read_only:
        return ()

    def begun(breaker: Breaker) -> Breaker:
        if is_recorded:
            return msgspec.structs.replace(breaker, epoch=n_compactions)
        return begin_epoch(breaker, n_compactions)

    try:
        change_breaker(attached.session, begun, attached.places)
    except UllageError as error:
        return (str(error),)
    return ()


def _last_answer_id(context: Context) -> str | None:
    ids = (item.entry_id for item in reversed(context.items) if item.category == "assistant")
    return next(ids, None)


def _state_of(progress: Progress) -> HeldState | None:
    if not progress.is_known:
        return None
    return HeldState(
        n_compactions=progress.n_compactions,
        summary_id=progress.summary_id,
        replaced_id=progress.replaced_id,
        n_tokens_after=progress.n_tokens_after,
        is_restore_due=progress.is_restore_due,
        pruned=progress.pruned,
        unseen=progress.unseen,
        answer_id=progress.answer_id if progress.unseen else None,
    )


def _taken_up(attached: Attached) -> Progress:
    """Take up what an earlier process left of the session."""
    told = _compactions_told(attached)
    state = read_held_state(attached.key, attached.places)
    if state is None:
        noted = read_auto_state(attached.key, attached.places).breaker.epoch
        return Progress(n_compactions=noted if told is None else told)
    if told is not None and told != state.n_compactions:
        # It was compacted since, or goes on from another place: of the messages nothing is known.
        is_applied = told > state.n_compactions and state.replaced_id is not None
        return Progress(n_compactions=told, is_restore_due=is_applied or state.is_restore_due)
    return Progress(
        n_compactions=state.n_compactions,
        is_known=True,
        summary_id=state.summary_id,
        replaced_id=state.replaced_id,
        n_tokens_after=state.n_tokens_after,
        is_restore_due=state.is_restore_due,
        pruned=state.pruned,
        unseen=state.unseen,
        answer_id=state.answer_id,
    )


def _compactions_told(attached: Attached) -> int | None:
    """Count by the runtime's word, else by the transcript; None where neither tells."""
    runtime = attached.runtime
    if runtime.n_compactions is not None:
        return runtime.n_compactions
    if runtime.session_file is not None:
        try:
            session = open_session(runtime.session_file)
            return len(read(session, attached.places).context.compactions)
        except InputError:
            pass  # it is not written yet, or not of an agent that we know
    return None
