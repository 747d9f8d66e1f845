"""What server and client say to each other beyond the Language Server Protocol.

The extension's `src/protocol.ts` mirrors this file; tests/lsp/test_protocol_mirror.py compares.
Texts are ready to be shown: a client decides no words, numbers or colors.

It stays whole though it is long: declarations alone, of which each side compares one file.
"""

from typing import Final, Literal

from attrs import Factory, frozen

GAUGE_NOTIFICATION: Final = "ullage/gauge"
CHANGED_NOTIFICATION: Final = "ullage/changed"
COPY_NOTIFICATION: Final = "ullage/copy"
RESUME_NOTIFICATION: Final = "ullage/resume"
TERMINAL_NOTIFICATION: Final = "ullage/terminal"

CONFIRM_QUESTION: Final = "ullage/confirm"

STATUS_REQUEST: Final = "ullage/status"
SESSIONS_REQUEST: Final = "ullage/sessions"
WINDOW_REQUEST: Final = "ullage/window"
HISTORY_REQUEST: Final = "ullage/history"
USAGE_REQUEST: Final = "ullage/usage"
CHECKPOINTS_REQUEST: Final = "ullage/checkpoints"
MEMORY_REQUEST: Final = "ullage/memory"
MEMORY_SEARCH_REQUEST: Final = "ullage/memorySearch"
MEMORY_CHOSEN_REQUEST: Final = "ullage/memoryChosen"
PREVIEW_REQUEST: Final = "ullage/preview"
PRUNABLE_REQUEST: Final = "ullage/prunable"
PINNABLE_REQUEST: Final = "ullage/pinnable"

COMPACT_COMMAND: Final = "ullage.compact"
PREVIEW_COMMAND: Final = "ullage.preview"
APPLY_COMMAND: Final = "ullage.apply"
REGENERATE_COMMAND: Final = "ullage.regenerate"
DISCARD_COMMAND: Final = "ullage.discard"
PRUNE_COMMAND: Final = "ullage.prune"
UNDO_COMMAND: Final = "ullage.undo"
REDO_COMMAND: Final = "ullage.redo"
CHECKPOINT_COMMAND: Final = "ullage.checkpoint"
RESTORE_COMMAND: Final = "ullage.restore"
PIN_COMMAND: Final = "ullage.pin"
UNPIN_COMMAND: Final = "ullage.unpin"
AUTO_COMMAND: Final = "ullage.auto"
SNOOZE_COMMAND: Final = "ullage.snooze"
FLUSH_COMMAND: Final = "ullage.flush"
ACCEPT_MEMORY_COMMAND: Final = "ullage.acceptMemory"
DREAM_COMMAND: Final = "ullage.dream"
REVIEW_MEMORY_COMMAND: Final = "ullage.reviewMemory"
EDIT_MEMORY_ITEM_COMMAND: Final = "ullage.editMemoryItem"
UNDO_REVIEW_COMMAND: Final = "ullage.undoReview"
SHOW_COMMAND: Final = "ullage.show"
CHOOSE_COMMAND: Final = "ullage.choose"

Level = Literal["normal", "warning", "error"]
_NO_SESSION: Final = "No session in this workspace"


@frozen(kw_only=True)
class SessionRef:
    agent: str
    sessionId: str
    path: str


@frozen(kw_only=True)
class GaugeParams:
    session: SessionRef | None
    text: str
    tooltip: str
    level: Level
    label: str
    title: str = ""
    """What the session is called: its title, its agent and the end of its id."""
    itemText: str = ""
    """Of the status item: the gauge, limits where wanted, agent and title where others live."""
    isChosen: bool = False
    """Whether its user chose it, so that it stays."""
    canWrite: bool = False
    """Whether it may be changed: we write to its agent's sessions, and the policy allows it."""
    canNote: bool = False
    """Whether we may write beside it: checkpoints, memory, what is snoozed."""
    isAutomatic: bool = False
    """Whether it is compacted automatically."""


@frozen(kw_only=True)
class CopyParams:
    """What the user asked to have in the clipboard."""

    text: str


@frozen(kw_only=True)
class ResumeParams:
    """What goes on with a session in a terminal, as its user asked."""

    command: str
    """For a shell."""
    folder: str | None
    """The one that the session's agent works in, as far as it is known."""


@frozen(kw_only=True)
class TerminalParams:
    """Whose terminal the user wants to see."""

    processes: list[int]
    """The agent, its parent and so on; empty where the agent does not say which it is."""


@frozen(kw_only=True)
class ConfirmParams:
    """What a command asks before it changes something."""

    question: str
    detail: str
    """What changes and what is written where, a line each."""
    button: str


@frozen(kw_only=True)
class ConfirmResult:
    isConfirmed: bool


@frozen(kw_only=True)
class ChangedParams:
    """What a client that shows it should request again."""

    what: list[Literal["sessions", "checkpoints", "memory"]]


@frozen(kw_only=True)
class SessionArgument:
    """The session; None is the one that the gauge shows."""

    session: str | None = None


@frozen(kw_only=True)
class StatusResult:
    text: str


@frozen(kw_only=True)
class SessionRow:
    """A session of the workspace; the live one that was written to last comes first."""

    session: SessionRef
    title: str
    gauge: str
    detail: str
    level: Level
    isLive: bool
    isShown: bool
    label: str
    subagents: "list[SessionRow]"
    canWrite: bool = False
    """As in `GaugeParams`."""
    canNote: bool = False
    isAutomatic: bool = False


@frozen(kw_only=True)
class SessionsResult:
    sessions: list[SessionRow]


@frozen(kw_only=True)
class WindowRow:
    """A share of the window, an entry of the context, a part of what is sent, or a pin."""

    key: str
    kind: Literal["category", "entry", "part", "cut", "advice", "free", "pins", "pin", "problem"]
    """A part of which something is not sent is cut."""
    title: str
    detail: str
    tooltip: str
    label: str
    nTokens: int
    path: str | None = None
    """The file that a part comes from."""
    uri: str | None = None
    """A document that shows an entry as readable chat."""
    item: str | None = None
    """What `ullage.prune` takes; None where it cannot be pruned."""
    entry: str | None = None
    """What `ullage.pin` takes; None where it cannot be pinned."""
    pin: str | None = None
    """The text that `ullage.unpin` takes; None where there is none to be removed."""
    children: "list[WindowRow]" = Factory(list["WindowRow"])


@frozen(kw_only=True)
class WindowResult:
    session: SessionRef | None = None
    headline: str = _NO_SESSION
    rows: list[WindowRow] = Factory(list[WindowRow])


@frozen(kw_only=True)
class HistoryPoint:
    at: str | None
    nTokens: int
    share: str
    """Of the window, as the gauge has it."""
    isEstimated: bool
    entry: str | None


@frozen(kw_only=True)
class HistoryMark:
    """A compaction or a prune, between the point before it and the one after it."""

    nPoint: int
    at: str | None
    title: str
    tokensBefore: int | None
    tokensAfter: int | None
    shareAfter: str | None


@frozen(kw_only=True)
class HistoryThreshold:
    name: str
    atTokens: int


@frozen(kw_only=True)
class HistoryResult:
    session: SessionRef | None = None
    title: str = _NO_SESSION
    windowTokens: int = 0
    points: list[HistoryPoint] = Factory(list[HistoryPoint])
    marks: list[HistoryMark] = Factory(list[HistoryMark])
    thresholds: list[HistoryThreshold] = Factory(list[HistoryThreshold])


@frozen(kw_only=True)
class UsageDay:
    nSent: int
    """Tokens, as high as its bar."""
    cells: list[str]


@frozen(kw_only=True)
class UsageResult:
    """What the sessions of the workspace used; each row has a cell for each head."""

    title: str
    heads: list[str]
    days: list[UsageDay]
    total: list[str]
    notes: list[str]


@frozen(kw_only=True)
class CheckpointRow:
    checkpoint: str
    path: str
    title: str
    detail: str
    tooltip: str
    label: str
    isLatest: bool = False
    isReadable: bool = False
    previous: str | None = None


@frozen(kw_only=True)
class CheckpointsResult:
    session: SessionRef | None = None
    rows: list[CheckpointRow] = Factory(list[CheckpointRow])


@frozen(kw_only=True)
class MemoryRow:
    """A file, an item that waits, a chunk recalled today, a change from outside, or a problem."""

    path: str
    kind: Literal["memory", "log", "instructions", "item", "recall", "change", "problem"]
    title: str
    detail: str
    label: str
    tooltip: str = ""
    firstLine: int | None = None
    """From 0, as `lastLine`."""
    lastLine: int | None = None
    uri: str | None = None
    """A document that shows what changed."""
    sha256: str | None = None
    """What `ullage.acceptMemory` takes; None where nothing can be accepted."""
    item: str | None = None
    """What `ullage.reviewMemory` takes; None where nothing can be reviewed."""


@frozen(kw_only=True)
class MemoryResult:
    rows: list[MemoryRow]
    """The files."""
    inbox: list[MemoryRow]
    """What waits for a review."""
    recalled: list[MemoryRow]
    changes: list[MemoryRow]
    canDream: bool
    canUndoReview: bool


@frozen(kw_only=True)
class MemorySearchArgument:
    query: str


@frozen(kw_only=True)
class MemoryHitRow:
    """A chunk that answers a question; its texts are data, whatever they say."""

    path: str
    firstLine: int
    """From 0, as `lastLine`."""
    lastLine: int
    title: str
    """The beginning of its text."""
    place: str
    detail: str
    """Its heading, and where it comes from."""


@frozen(kw_only=True)
class MemorySearchResult:
    rows: list[MemoryHitRow]
    """Best first."""
    message: str
    """What the user should know of the answer, or why there is none; empty for nothing."""


@frozen(kw_only=True)
class MemoryChosenArgument:
    """What the user chose among the answers to a question."""

    query: str
    path: str
    firstLine: int


@frozen(kw_only=True)
class MemoryChosenResult:
    isNoted: bool


@frozen(kw_only=True)
class AcceptMemoryArgument:
    path: str
    sha256: str
    """Of the content that the user saw."""


@frozen(kw_only=True)
class DreamArgument:
    path: str | None = None
    """A file of the folder that is meant; None is every folder of the workspace."""


@frozen(kw_only=True)
class ReviewMemoryArgument:
    path: str
    """Of `DREAMS.md`."""
    choice: Literal["accept", "reject", "merge"]
    """`merge` accepts several items as one line, in the section of the first."""
    ids: list[str]
    text: str | None = None
    """The words that are accepted; None are those of the item, of several those of the first."""
    isConfirmed: bool = False
    """Whether the user has agreed already, so that the server need not ask."""


@frozen(kw_only=True)
class MemoryItemArgument:
    path: str
    """Of `DREAMS.md`."""
    id: str


@frozen(kw_only=True)
class UndoReviewArgument:
    path: str | None = None
    """A file of the folder that is meant; None is the one that was reviewed last."""
    change: str | None = None
    """The review that is meant; None is the last one. Another than the last is refused."""


@frozen(kw_only=True)
class PrunableRow:
    """Something that a placeholder could stand for."""

    item: str
    """What `ullage.prune` takes."""
    title: str
    detail: str
    nTokens: int
    """What is freed."""
    isChosen: bool
    """Whether the rule for old output chooses it."""
    uri: str
    """A document that shows it as readable chat."""


@frozen(kw_only=True)
class PrunableResult:
    session: SessionRef | None = None
    title: str = _NO_SESSION
    headline: str = _NO_SESSION
    """What the rule would free, or why it chooses nothing."""
    rows: list[PrunableRow] = Factory(list[PrunableRow])


@frozen(kw_only=True)
class PinnableRow:
    """A message that can be pinned."""

    entry: str
    """What `ullage.pin` takes."""
    title: str
    """Its first words."""
    detail: str


@frozen(kw_only=True)
class PinnableResult:
    session: SessionRef | None = None
    title: str = _NO_SESSION
    rows: list[PinnableRow] = Factory(list[PinnableRow])


@frozen(kw_only=True)
class PreviewArgument:
    session: str | None = None
    layer: Literal["summarize", "full"] | None = None
    """None is summarize, or full where that would do nothing."""
    focus: str | None = None


@frozen(kw_only=True)
class Preview:
    """A compaction as two files: what goes, and what is proposed, which the user may edit."""

    preview: str
    session: SessionRef
    beforePath: str
    proposedPath: str
    title: str
    tokensBefore: int
    tokensAfter: int


@frozen(kw_only=True)
class PreviewResult:
    preview: Preview | None
    message: str
    """Why there is nothing to preview, or what became of a proposal that the user edited."""


@frozen(kw_only=True)
class ApplyArgument:
    preview: str


@frozen(kw_only=True)
class RegenerateArgument:
    preview: str
    focus: str | None = None
    """None is the one of the preview before."""


@frozen(kw_only=True)
class PruneArgument:
    session: str | None = None
    items: list[str] | None = None
    isEverything: bool = False
    isConfirmed: bool = False
    """Whether the user has agreed already, so that the server need not ask."""


@frozen(kw_only=True)
class UndoArgument:
    session: str | None = None
    change: str | None = None
    """The change that an outcome named: that one is taken back, asked about only where messages
    would be left behind, or where another server made it. None is the last one, which is asked
    about.
    """


@frozen(kw_only=True)
class RestoreArgument:
    session: str | None = None
    checkpoint: str | None = None
    into: Literal["text", "session", "new"] = "text"


@frozen(kw_only=True)
class PinArgument:
    session: str | None = None
    entry: str | None = None
    text: str | None = None


@frozen(kw_only=True)
class UnpinArgument:
    session: str | None = None
    text: str
    """Of the pin, of which a session has one."""


@frozen(kw_only=True)
class AutoArgument:
    session: str | None = None
    isOn: bool = True


@frozen(kw_only=True)
class ShowArgument:
    """A virtual document, for clients without `workspace/textDocumentContent`."""

    uri: str


@frozen(kw_only=True)
class NextCommand:
    """What the user may want after a command: a button of that title."""

    title: str
    command: str
    argument: SessionArgument | PinArgument | UnpinArgument


@frozen(kw_only=True)
class Outcome:
    """What became of a command; a client tells its user the message."""

    outcome: Literal["done", "cancelled", "nothing"]
    message: str
    session: SessionRef | None = None
    """Where the session goes on."""
    change: str | None = None
    """What `ullage.undo` takes; None where it does not undo this."""
    review: UndoReviewArgument | None = None
    """What `ullage.undoReview` takes, where that is how it is undone."""
    text: str | None = None
    """What was asked for, to be shown or copied."""
    uri: str | None = None
    """What to show when the user asks for a view of it."""
    resume: ResumeParams | None = None
    """The message does not have it."""
    next: NextCommand | None = None
