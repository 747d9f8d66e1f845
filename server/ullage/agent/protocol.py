"""What agent runtimes and `ullage agent` say to each other: JSON-RPC 2.0, one object a line.

`METHODS` is the one declaration: the server dispatches by it, the JSON Schemas are made from it,
and `docs/agent-protocol.md` is checked against it. Names go over the wire in camelCase; unknown
keys are ignored, so that either side may be newer.

It stays whole though it is long: declarations alone, which an author of a runtime reads in order.
"""

from typing import Annotated, Literal, TypeAlias

import msgspec

from ullage.agent.assembly_protocol import ASSEMBLE
from ullage.agent.memory_protocol import MEMORY_METHODS
from ullage.agent.wire import Messages, Method, Wire
from ullage.core.gauge.gauge import Layer, UsedSource
from ullage.core.gauge.window import WindowSource
from ullage.core.transcript.entries import JsonObject, MessageFormat

PROTOCOL_VERSION = 1
"""Raised when a field changes its meaning or goes; new fields and methods do not raise it."""

MAX_TOKENS = 1_000_000_000
MAX_COMPACTIONS = 10_000
"""Chosen: far above what there is, and low enough that no figure costs time or memory."""

Tokens: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=MAX_TOKENS)]
NCompactions: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=MAX_COMPACTIONS)]
Name: TypeAlias = Annotated[str, msgspec.Meta(max_length=200)]


class Open(Wire, frozen=True, kw_only=True):
    """Begin or take up a session; the first call."""

    agent: str
    """The runtime's name: `pi`, `openclaw`, `claude-code`, `codex`, or one of your own."""
    cwd: str
    """Workspace of the session, an absolute path."""
    session_key: str | None = None
    """Names the session's state on disk; else it is the agent's name and the session's id."""
    session_id: str | None = None
    """Either this or `sessionKey` is needed."""
    session_file: str | None = None
    """The agent's own transcript, noted in checkpoints; it is never written to."""
    channel: Name | None = None
    """Where the user talks to the agent, such as `telegram`, noted in checkpoints; else it is read
    from a session key such as `telegram:user123` or `agent:main:telegram:direct:user123`."""
    agent_id: Name | None = None
    """Which of the runtime's agents it is, as `channel`; else it is read from such a key."""
    message_format: MessageFormat | None = None
    """Needed for agents that Ullage does not know."""
    model: str | None = None
    window_tokens: Tokens | None = None
    """Context window as the runtime knows it; the user's setting wins."""
    compaction_count: NCompactions | None = None
    """Compactions of the session so far; else it is taken from the transcript, or what was
    noted when the session was open before."""
    is_read_only: bool = False
    """A sandbox: pruning in memory alone, nothing is written."""
    can_take_turn: bool = False
    """Whether the runtime can have the agent take a silent turn to write its memory."""


class Thresholds(Wire, frozen=True, kw_only=True):
    """Sizes of the context at which something is due, in tokens."""

    gauge_tokens: int
    checkpoint_tokens: int
    prune_tokens: int
    summarize_tokens: int
    full_tokens: int
    reserve_tokens: int | None
    """Where flush and compaction start though no share is reached; null in tiny windows."""


class Opened(Wire, frozen=True, kw_only=True):
    session: str
    """Handle for all further calls."""
    version: int
    """Of this protocol."""
    session_key: str
    checkpoint_id: str | None
    """The latest checkpoint of the session; `context/resume` gives its text."""
    window_tokens: int
    window_source: WindowSource
    thresholds: Thresholds


class ToolResult(Wire, frozen=True, kw_only=True, tag="toolResult", tag_field="type"):
    """A call of a tool and how it ended."""

    call_id: str
    name: str
    arguments: object = None
    """As the model gave them: an object, or JSON text."""
    is_error: bool = False
    error: str = ""
    """What it said where it failed, or the beginning of that."""
    at_ms: int | None = None
    """Milliseconds since 1970."""


class NewMessage(Wire, frozen=True, kw_only=True, tag="message", tag_field="type"):
    """A message that the user or the model finished."""

    message: JsonObject
    """In the shape of the session's messages."""


class Capture(Wire, frozen=True, kw_only=True):
    """Note what happened, for the working state; the same event counts once."""

    session: str
    events: list[ToolResult | NewMessage]


class Captured(Wire, frozen=True, kw_only=True):
    n_events: int
    """Events that were taken; a read-only session takes none."""


class Usage(Wire, frozen=True, kw_only=True):
    """How full the window is, as the runtime or its provider reports it."""

    used_tokens: Tokens | None = None
    """Of the first `nMessages` messages as they were sent; null where unknown."""
    n_messages: Annotated[int, msgspec.Meta(ge=0)] | None = None
    """How many messages that figure is of; what follows is counted. Null: up to the model's last
    answer and with it, as providers report it."""
    window_tokens: Tokens | None = None


class WithMessages(Wire, frozen=True, kw_only=True):
    """Base of the params that hold messages of the context."""

    session: str
    messages: Messages
    """In the runtime's own shape, none of them pruned."""
    entry_ids: list[str] | None = None
    """The runtime's id of each message, noted in checkpoints; else ids are made of the content."""
    usage: Usage | None = None
    """Without it, what the messages themselves report, else a count of them."""
    compaction_count: NCompactions | None = None
    """Compactions so far."""


class Prepare(WithMessages, frozen=True, kw_only=True):
    """Ask, before each request to the model, what is to be done about the context."""


class Replacement(Wire, frozen=True, kw_only=True):
    """A message to be sent in the place of another; the runtime's own copy stays as it is."""

    index: int
    message: JsonObject


class GaugeReport(Wire, frozen=True, kw_only=True):
    """How full the window is, after pruning."""

    used_tokens: int | None
    window_tokens: int
    source: UsedSource
    window_source: WindowSource
    ratio: float | None
    """Used of window; above 1 where the context overflows."""


class SystemEvent(Wire, frozen=True, kw_only=True):
    """A text for the agent. Put it into the conversation once, it is not given again."""

    kind: Literal["checkpointRestore", "advice", "warning"]
    text: str


class Pruned(Wire, frozen=True, kw_only=True, tag="pruned", tag_field="type"):
    """Done: placeholders stand for old tool output in `replacements`."""

    n_outputs: int
    """All that are pruned now, those of earlier calls included."""
    n_tokens: int
    """Freed by all of them."""


class CheckpointWritten(Wire, frozen=True, kw_only=True, tag="checkpointWritten", tag_field="type"):
    """Done: the working state is saved."""

    checkpoint_id: str
    path: str


class MemoryFlushed(Wire, frozen=True, kw_only=True, tag="memoryFlushed", tag_field="type"):
    """Done: what is worth remembering went to the daily log."""

    path: str | None
    """Null where there was nothing to write."""
    by: Literal["model", "extract", "nothing"]


class FlushTurn(Wire, frozen=True, kw_only=True, tag="flushTurn", tag_field="type"):
    """Asked for, once in a compaction epoch: let the agent take a silent turn with this prompt."""

    prompt: str
    system_prompt: str
    log_path: str


class CompactNow(Wire, frozen=True, kw_only=True, tag="compact", tag_field="type"):
    """Asked for: call `context/compact` and apply the answer before the request."""

    layer: Layer
    reason: str
    advice: str | None
    """For the user of a session that is compacted over and over."""


class AskUser(Wire, frozen=True, kw_only=True, tag="askUser", tag_field="type"):
    """Asked for: ask the user; then call `context/compact`, or `context/decline`."""

    layer: Layer
    reason: str
    advice: str | None


class WarnUser(Wire, frozen=True, kw_only=True, tag="warn", tag_field="type"):
    """Asked for: tell the user; nothing more is done by itself."""

    reason: str


TakenOrAsked: TypeAlias = (
    Pruned | CheckpointWritten | MemoryFlushed | FlushTurn | CompactNow | AskUser | WarnUser
)


class Prepared(Wire, frozen=True, kw_only=True):
    replacements: list[Replacement]
    """Messages to send in other words, by their index; all others go as they are."""
    gauge: GaugeReport
    gauge_line: str | None
    """A line for this one request, from 70 % on."""
    system_events: list[SystemEvent]
    actions: list[TakenOrAsked]
    """In the order in which they were taken or are to be taken."""
    notes: list[str]
    """What did not work, for the runtime's log: a line each, without transcript text."""


class Decline(Wire, frozen=True, kw_only=True):
    """Say that the user does not want what `askUser` asked; it waits until the context grew."""

    session: str
    layer: Layer


class Declined(Wire, frozen=True, kw_only=True):
    """Nothing but that it is noted."""


class Compact(WithMessages, frozen=True, kw_only=True):
    """Have a summary written; the runtime applies it. The transcript is not written to."""

    first_kept_index: int | None = None
    """The messages before it are replaced; it may be their number. Without it and
    `firstKeptEntryId`, a legal cut is chosen by the layer."""
    first_kept_entry_id: str | None = None
    """The same by an id of `entryIds`."""
    is_split_turn: bool = False
    """Whether the cut is within a turn of the user."""
    previous_summary: str | None = None
    """Summary of the compaction before, where it is not among the messages."""
    custom_instructions: str | None = None
    layer: Literal["summarize", "full"] = "summarize"
    reason: Literal["threshold", "manual", "overflow"] = "threshold"


class Audit(Wire, frozen=True, kw_only=True):
    """What the audit did with the summary."""

    put_back: dict[str, int]
    """Put into it from the messages, by its kind."""
    left_out: int
    """What it lacks still."""
    compression_ratio: float | None


class CompactionResult(Wire, frozen=True, kw_only=True):
    """What a compaction entry holds (docs/design/sessions.md, "Compaction entries")."""

    summary: str
    first_kept_entry_id: str | None
    tokens_before: int
    details: JsonObject


class Compacted(Wire, frozen=True, kw_only=True):
    ok: bool
    """Always, as is `compacted`: what cannot be done is an error, whose message is the reason."""
    compacted: bool
    reason: str | None
    result: CompactionResult
    """For a runtime that stores a compaction as *context assembly* has it."""
    summary: str
    summary_message: JsonObject
    """A message that holds it, to take the place of those before `firstKeptIndex`, but for
    `standingIndexes`."""
    first_kept_index: int
    standing_indexes: list[int]
    """Messages before `firstKeptIndex` that stay, before `summaryMessage`: those of the system."""
    first_kept_entry_id: str | None
    """Null without `entryIds`, or where nothing is kept."""
    details: JsonObject
    """To be stored beside the summary, where the runtime's transcript has a place for it."""
    tokens_before: int
    tokens_after: int
    author: str
    """`extractive`, or the model as `provider/name`."""
    checkpoint_id: str | None
    notes: list[str]
    audit: Audit


class Overflow(WithMessages, frozen=True, kw_only=True):
    """Ask what to do after the provider refused the context as too large."""


class CompactPlan(Wire, frozen=True, kw_only=True):
    """What the compaction would replace."""

    layer: Literal["summarize", "full"]
    first_kept_index: int
    tokens_before: int
    tokens_replaced: int


class Overflowed(Wire, frozen=True, kw_only=True):
    action: Literal["compact", "retry", "fail"]
    """`compact`: call `context/compact` with the reason `overflow`, apply it, send once more;
    `retry`: send once more with `replacements`; `fail`: end with an error of this `kind`."""
    message: str
    kind: Literal["context_overflow"] | None
    plan: CompactPlan | None
    replacements: list[Replacement]


class Resume(Wire, frozen=True, kw_only=True):
    """Ask for the working state of the latest checkpoint, and what comes again with it."""

    session: str


class Resumed(Wire, frozen=True, kw_only=True):
    text: str | None
    """To be put into the conversation; null where there is nothing to give back."""
    checkpoint_id: str | None
    problem: str | None
    """For instance that the latest checkpoint is damaged and an earlier one was used."""


class Offer(Wire, frozen=True, kw_only=True):
    """Ask, for a session without a past, for the work that the last session of its folder left."""

    session: str


class Offered(Wire, frozen=True, kw_only=True):
    text: str | None
    """To be put into the conversation once; null where nothing is offered, or it was already."""
    note: str | None
    """One line for the user."""
    checkpoint_id: str | None


class Close(Wire, frozen=True, kw_only=True):
    """End a session; its state stays on disk."""

    session: str


class Closed(Wire, frozen=True, kw_only=True):
    """Nothing but that it is done."""


class CancelRequest(Wire, frozen=True, kw_only=True):
    """Cancel a running request, which is then answered with the error -32800."""

    id: int | str


OPEN = Method(name="context/open", params=Open, result=Opened)
EVENT = Method(name="context/event", params=Capture, result=Captured)
PREPARE = Method(name="context/prepare", params=Prepare, result=Prepared)
DECLINE = Method(name="context/decline", params=Decline, result=Declined)
COMPACT = Method(name="context/compact", params=Compact, result=Compacted)
OVERFLOW = Method(name="context/overflow", params=Overflow, result=Overflowed)
RESUME = Method(name="context/resume", params=Resume, result=Resumed)
OFFER = Method(name="context/offer", params=Offer, result=Offered)
CLOSE = Method(name="context/close", params=Close, result=Closed)

METHODS = (
    OPEN,
    ASSEMBLE,
    EVENT,
    PREPARE,
    DECLINE,
    COMPACT,
    OVERFLOW,
    RESUME,
    OFFER,
    CLOSE,
    *MEMORY_METHODS,
)
"""In the order of a session's life, then those that need none; the doc of each is that of its
params."""

CANCEL_REQUEST = "$/cancelRequest"
"""The one notification that is no method; its params are `CancelRequest`."""
