"""A session whose messages its runtime holds: opened once, measured anew with each call."""

from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from ullage.app.checkpoint import session_key
from ullage.app.config import load_config
from ullage.app.load import Loaded, measured, read
from ullage.app.secrets import secrets_for
from ullage.app.session import Session
from ullage.app.sessions import open_session
from ullage.core.config.settings import Config
from ullage.core.context import Context, ContextItem
from ullage.core.decision import Step
from ullage.core.index import EMPTY_INDEX
from ullage.core.message import JsonObject, MessageFormat
from ullage.core.prune import PruneItem, pruned
from ullage.core.standing import Conversation, conversation_of
from ullage.core.transcript import Header
from ullage.core.turn import still_pruned
from ullage.core.window import find_row
from ullage.errors import InputError
from ullage.formats.format import Reading
from ullage.formats.in_memory import InMemory, Known, context_of_messages
from ullage.formats.registry import IN_MEMORY
from ullage.store.auto_state import read_auto_state
from ullage.store.models import model_table
from ullage.store.places import Places
from ullage.store.source import NoLines
from ullage.store.token_counts import CountText, TokenCounts
from ullage.store.tokenizer import DEFAULT_ENCODING, count_tokens

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
    pruned: tuple[PruneItem, ...] = ()
    """What placeholders stood for in the last request."""
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
    """Whether the runtime fetched the working state since the last request."""
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
    window_tokens: int | None = None
    n_compactions: int | None = None


class Held(msgspec.Struct, frozen=True, kw_only=True):
    """The messages of a call, measured."""

    loaded: Loaded
    sent: Context
    """With placeholders for what was pruned before."""
    progress: Progress

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
    row = find_row(model_table(), runtime.model)
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
    return attached, Progress(n_compactions=_compactions_so_far(attached))


def load_call(attached: Attached, progress: Progress, call: Call) -> Held:
    """Read and measure the messages of a call."""
    context = _context(attached, progress, call)
    n_compactions = _n_compactions(progress, call, context)
    if n_compactions > progress.n_compactions:
        progress = _at_epoch(progress, n_compactions, context)
        context = _context(attached, progress, call)
    pruned_before = still_pruned(context.items, progress.pruned)
    sent = msgspec.structs.replace(
        context, items=pruned(context.items, [item.replacement for item in pruned_before])
    )
    progress = msgspec.structs.replace(
        progress,
        summary_id=None if context.boundary is None else context.boundary.entry_id,
        pruned=pruned_before,
        tried=() if answered_ids(context) - progress.answered_ids else progress.tried,
    )
    return Held(loaded=_measured(attached, context, sent), sent=sent, progress=progress)


def items_of(attached: Attached, messages: list[JsonObject]) -> tuple[ContextItem, ...]:
    """Read single messages, apart from their context."""
    known = Known(header=attached.session.header, n_compactions=0)
    return context_of_messages(attached.shape, messages, known).items


def set_restored(progress: Progress) -> Progress:
    """Note that the runtime fetched the working state itself."""
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
        kept_ids=progress.kept_ids,
        n_tokens_after=progress.n_tokens_after,
    )
    return context_of_messages(attached.shape, call.messages, known, call.entry_ids)


def _measured(attached: Attached, context: Context, sent: Context) -> Loaded:
    loaded = measured(
        attached.session,
        Reading(context=context, index=EMPTY_INDEX),
        attached.config,
        attached.count,
        secrets_for(attached.session.header, attached.places),
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
    if progress.last is None:
        return max(progress.n_compactions, 1 if summary_id else 0)
    is_new_summary = summary_id not in (None, progress.summary_id)
    return progress.n_compactions + (is_new_summary or _is_applied(progress, context))


def _is_applied(progress: Progress, context: Context) -> bool:
    """Whether the runtime applied the summary written last, in our words or in its own."""
    if progress.written is None:
        return False
    boundary = context.boundary
    if boundary is not None and boundary.summary.strip() == progress.written.strip():
        return True
    return progress.replaced_id is not None and progress.replaced_id not in ids_of(context)


def _at_epoch(progress: Progress, n_compactions: int, context: Context) -> Progress:
    """Begin a new epoch: what was pruned, written and said in the last one is over."""
    return Progress(
        n_compactions=n_compactions,
        last=progress.last,
        kept_ids=progress.last_ids & ids_of(context),
        n_tokens_after=progress.n_tokens_after if _is_applied(progress, context) else None,
        is_restore_due=progress.last is not None and not progress.is_restored,
        tried=progress.tried,
        answered_ids=progress.answered_ids,
    )


def _compactions_so_far(attached: Attached) -> int:
    """Count by the runtime's word, else by the transcript, else by what was noted of it."""
    runtime = attached.runtime
    if runtime.n_compactions is not None:
        return runtime.n_compactions
    if runtime.session_file is not None:
        try:
            session = open_session(runtime.session_file)
            return len(read(session, attached.places).context.compactions)
        except InputError:
            pass  # it is not written yet, or not of an agent that we know
    return read_auto_state(attached.key, attached.places).breaker.epoch
