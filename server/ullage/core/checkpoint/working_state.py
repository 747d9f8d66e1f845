"""What a session did since its last checkpoint, captured event by event.

The state is a function of the set of events: in what order, by how many ways and how often they
arrive makes no difference, and an event that a checkpoint holds is not counted again. It is in
four parts, each in a file of its own, and each remembers by itself what it counted: a process
that is killed between two files leaves parts that the same events bring up to date.

Nothing that a tool answered becomes a decision or an open item; of a failure, one line is kept.
"""

from collections.abc import Sequence
from typing import Literal, TypeAlias

import msgspec

from ullage.core.facts.captured_messages import (
    Heard,
    content_id,
    forget,
    grouped,
    heard,
    remember,
    replies_of,
    topic_of,
    turns_of,
)
from ullage.core.facts.tool_calls import CallFacts, read_call, write_sorted_json
from ullage.core.secrets.scan import mask
from ullage.core.text.prose import gist, one_line, separate_injected
from ullage.core.transcript.message import ToolCall

MAX_DECISIONS = 50
MAX_EXCHANGES = 8
MAX_TOOLS = 100
MAX_FILES = 100
"""Files are those read and those modified, each. docs/design/checkpoints.md, "Working state"."""
MAX_ERRORS = 20
MAX_OPEN_ITEMS = 20
"""As many as a checkpoint has of open items (chosen)."""
MAX_COUNTED = 500
"""Tool calls remembered as counted: more than two ways are ever apart (chosen)."""
MAX_COUNTED_REPLIES = 100
"""More than there are messages to find a reply among again (chosen)."""
_LONG_ID_CHARS = 9
"""Shorter call ids are numbers, which some local model servers begin anew with each answer."""
_MAX_NAME_CHARS = 200
_STEP_CHARS = 200
"""As in a checkpoint."""
_MAX_OUTPUT_CHARS = 20_000
"""How much of a failure's end is looked at (chosen)."""


class ToolEvent(msgspec.Struct, frozen=True, kw_only=True):
    """A tool call that has its result."""

    call_id: str
    name: str
    arguments: str
    """The arguments as JSON text."""
    is_error: bool = False
    error: str = ""
    """What the tool answered, where it failed."""
    at_ms: int | None = None


class MessageEvent(msgspec.Struct, frozen=True, kw_only=True):
    """What the user or the agent said."""

    role: Literal["user", "agent"]
    text: str
    at_ms: int | None = None
    """When, by the agent's own record where there is one."""


Event: TypeAlias = ToolEvent | MessageEvent


class Used(msgspec.Struct, frozen=True, kw_only=True):
    """A file or a tool, and when it was used last."""

    name: str
    at_ms: int


class Counted(msgspec.Struct, frozen=True, kw_only=True):
    """Which calls were counted: the newest by name, and a time before which all others were."""

    calls: tuple[tuple[int, str], ...] = ()
    """Time and name of each, in order."""
    floor_ms: int = -1


class CapturedDecision(msgspec.Struct, frozen=True, kw_only=True):
    what: str
    at_ms: int
    message_id: str


class CapturedExchange(msgspec.Struct, frozen=True, kw_only=True):
    role: Literal["user", "agent"]
    gist: str
    at_ms: int


class CapturedError(msgspec.Struct, frozen=True, kw_only=True):
    text: str
    at_ms: int
    call: str


class Decisions(msgspec.Struct, frozen=True, kw_only=True):
    made: tuple[CapturedDecision, ...] = ()
    bundled: tuple[tuple[int, str], ...] = ()
    """Time and message of those that a checkpoint holds."""


class CapturedThread(msgspec.Struct, frozen=True, kw_only=True):
    topic: str = ""
    """What the user said last."""
    exchanges: tuple[CapturedExchange, ...] = ()
    errors: tuple[CapturedError, ...] = ()
    counted: Counted = Counted()
    """Failed calls."""
    heard: tuple[Heard, ...] = ()
    floor_ms: int = -1
    """Messages up to this time were heard, and are not remembered any more."""


class CapturedResources(msgspec.Struct, frozen=True, kw_only=True):
    read: tuple[Used, ...] = ()
    modified: tuple[Used, ...] = ()
    tools: tuple[Used, ...] = ()
    counted: Counted = Counted()

    @property
    def files_read(self) -> tuple[str, ...]:
        """The files that were read and not modified, the last one last."""
        modified = {one.name for one in self.modified}
        return tuple(one.name for one in self.read if one.name not in modified)

    @property
    def files_modified(self) -> tuple[str, ...]:
        return tuple(one.name for one in self.modified)

    @property
    def tools_used(self) -> tuple[str, ...]:
        return tuple(one.name for one in self.tools)


class OpenItems(msgspec.Struct, frozen=True, kw_only=True):
    """The steps of the agent's own to-do list that are not done."""

    steps: tuple[str, ...] = ()
    counted: Counted = Counted()
    """The calls that wrote the list; the last of them is the list."""


class WorkingState(msgspec.Struct, frozen=True, kw_only=True):
    decisions: Decisions = Decisions()
    thread: CapturedThread = CapturedThread()
    resources: CapturedResources = CapturedResources()
    open_items: OpenItems = OpenItems()


class TakenCall(msgspec.Struct, frozen=True, kw_only=True):
    """What is counted of a tool call."""

    name: str
    """Of the call, made of its id."""
    at_ms: int
    tool: str
    read: tuple[str, ...]
    modified: tuple[str, ...]
    error: str | None
    """One line, where it failed."""
    steps: tuple[str, ...] | None
    """What is left of the agent's to-do list, where the call wrote it."""


class Taken(msgspec.Struct, frozen=True, kw_only=True):
    """What is counted of events, without the secrets in them: all that is ever written."""

    calls: tuple[TakenCall, ...] = ()
    said: tuple[Heard, ...] = ()


def merge(
    state: WorkingState, events: Sequence[Event], *, now_ms: int, known: Sequence[str] = ()
) -> WorkingState:
    """Add events; those that were counted before change nothing."""
    return add(state, take(events, now_ms=now_ms, known=known))


def take(events: Sequence[Event], *, now_ms: int, known: Sequence[str] = ()) -> Taken:
    """Read what is counted of events.

    An event without a time happened now. Secrets are masked, `known` ones too, before anything
    is cut or kept.
    """
    calls: list[TakenCall] = []
    said: list[Heard] = []
    for event in events:
        at_ms = now_ms if event.at_ms is None else event.at_ms
        if isinstance(event, ToolEvent):
            calls.append(_take_call(event, at_ms, known))
        elif one := _hear(event, at_ms, known):
            said.append(one)
    return Taken(calls=tuple(calls), said=tuple(said))


def add(state: WorkingState, taken: Taken) -> WorkingState:
    # Decisions are found before anything is forgotten of many messages that arrive at once.
    remembered = remember(state.thread.heard, taken.said, state.thread.floor_ms)
    return WorkingState(
        decisions=_with_replies(state.decisions, remembered),
        thread=_with_errors(_with_messages(state.thread, remembered), taken.calls),
        resources=_with_calls(state.resources, taken.calls),
        open_items=_with_lists(state.open_items, taken.calls),
    )


def _take_call(event: ToolEvent, at_ms: int, known: Sequence[str]) -> TakenCall:
    facts = read_call(ToolCall(call_id=event.call_id, name=event.name, arguments=event.arguments))
    is_number = len(event.call_id) < _LONG_ID_CHARS
    arguments = write_sorted_json(event.arguments) if is_number else ""
    told = (event.call_id, event.name, arguments) if is_number else (event.call_id,)
    left = [step for step, is_done in facts.plan if not is_done]
    steps = dict.fromkeys(gist(one_line(mask(step, known)), _STEP_CHARS) for step in left)
    return TakenCall(
        name=content_id("\0".join(told)),
        at_ms=at_ms,
        tool=_clean(event.name, known),
        read=_paths(facts, known, is_modified=False),
        modified=_paths(facts, known, is_modified=True),
        error=_error(event, facts, known) if event.is_error else None,
        steps=tuple(steps)[:MAX_OPEN_ITEMS] if facts.plan else None,
    )


def _paths(facts: CallFacts, known: Sequence[str], *, is_modified: bool) -> tuple[str, ...]:
    touched = (touch.path for touch in facts.touches if touch.is_modified is is_modified)
    return tuple(_clean(path, known) for path in touched)


def _error(event: ToolEvent, facts: CallFacts, known: Sequence[str]) -> str:
    # The patterns of errors take longer to compile than a hook may need for a call that worked.
    from ullage.core.facts.command_runs import find_error_line

    touched = ", ".join(touch.path for touch in facts.touches)
    done = gist(one_line(mask(facts.command or touched, known)), 120)
    told = one_line(find_error_line(mask(event.error[-_MAX_OUTPUT_CHARS:], known)))
    head = f"{_clean(event.name, known)} {done}".strip()
    return f"{head}: {told}" if told else head


def _clean(name: str, known: Sequence[str]) -> str:
    return one_line(mask(name, known))[:_MAX_NAME_CHARS]


def _hear(event: MessageEvent, at_ms: int, known: Sequence[str]) -> Heard | None:
    is_user = event.role == "user"
    text = (separate_injected(event.text)[0] if is_user else event.text).strip()
    if not text:
        return None
    return heard(is_user=is_user, text=text, masked=mask(text, known), at_ms=at_ms)


def _with_messages(thread: CapturedThread, remembered: Sequence[Heard]) -> CapturedThread:
    kept, floor_ms = forget(remembered, thread.floor_ms)
    return retold(msgspec.structs.replace(thread, heard=kept, floor_ms=floor_ms))


def retold(thread: CapturedThread) -> CapturedThread:
    """Say anew what follows from the messages remembered."""
    exchanges = tuple(
        CapturedExchange(role="user" if one.is_user else "agent", gist=one.gist, at_ms=one.at_ms)
        for one in turns_of(thread.heard)[-MAX_EXCHANGES:]
    )
    return msgspec.structs.replace(thread, topic=topic_of(thread.heard), exchanges=exchanges)


def _with_replies(decisions: Decisions, remembered: Sequence[Heard]) -> Decisions:
    """Find the decisions among the messages remembered; those found before them stay."""
    # What the first of them answered may be forgotten.
    here = {(one.at_ms, one.message_id) for group in grouped(remembered)[1:] for one in group}
    made = [one for one in decisions.made if (one.at_ms, one.message_id) not in here]
    bundled = set(decisions.bundled)
    made += [
        CapturedDecision(what=reply.what, at_ms=reply.at_ms, message_id=reply.message_id)
        for reply in replies_of(remembered)
        if not any((at_ms, reply.message_id) in bundled for at_ms in reply.times_ms)
    ]
    made.sort(key=lambda one: (one.at_ms, one.message_id))
    return msgspec.structs.replace(decisions, made=tuple(made[-MAX_DECISIONS:]))


def _with_errors(thread: CapturedThread, calls: Sequence[TakenCall]) -> CapturedThread:
    failed = [call for call in calls if call.error is not None]
    new, counted = _uncounted(thread.counted, failed)
    if not new:
        return thread
    added = (CapturedError(text=call.error or "", at_ms=call.at_ms, call=call.name) for call in new)
    errors = sorted((*thread.errors, *added), key=lambda one: (one.at_ms, one.call))
    return msgspec.structs.replace(thread, errors=tuple(errors[-MAX_ERRORS:]), counted=counted)


def _with_calls(resources: CapturedResources, calls: Sequence[TakenCall]) -> CapturedResources:
    new, counted = _uncounted(resources.counted, calls)
    if not new:
        return resources
    tools = [(call.tool, call.at_ms) for call in new if call.tool]
    read = [(path, call.at_ms) for call in new for path in call.read]
    modified = [(path, call.at_ms) for call in new for path in call.modified]
    return CapturedResources(
        read=_with_used(resources.read, read)[-MAX_FILES:],
        modified=_with_used(resources.modified, modified)[-MAX_FILES:],
        tools=_with_used(resources.tools, tools)[-MAX_TOOLS:],
        counted=counted,
    )


def _with_used(used: Sequence[Used], new: Sequence[tuple[str, int]]) -> tuple[Used, ...]:
    last = {one.name: one.at_ms for one in used}
    for name, at_ms in new:
        last[name] = max(at_ms, last.get(name, 0))
    found = [Used(name=name, at_ms=at_ms) for name, at_ms in last.items()]
    return tuple(sorted(found, key=lambda one: (one.at_ms, one.name)))


def _with_lists(open_items: OpenItems, calls: Sequence[TakenCall]) -> OpenItems:
    """Take up the newest to-do list."""
    lists = [call for call in calls if call.steps is not None]
    new, counted = _uncounted(open_items.counted, lists)
    if not new:
        return open_items
    newest = max(new, key=lambda call: (call.at_ms, call.name))
    if counted.calls[-1] != (newest.at_ms, newest.name):
        return msgspec.structs.replace(open_items, counted=counted)
    return OpenItems(steps=newest.steps or (), counted=counted)


def _uncounted(counted: Counted, calls: Sequence[TakenCall]) -> tuple[list[TakenCall], Counted]:
    """Part off the calls that were not counted yet, each once."""
    names = {name for _, name in counted.calls}
    new: list[TakenCall] = []
    for call in calls:
        if call.name not in names and call.at_ms > counted.floor_ms:
            names.add(call.name)
            new.append(call)
    if not new:
        return [], counted
    known = sorted((*counted.calls, *((call.at_ms, call.name) for call in new)))
    floor_ms = known[-MAX_COUNTED - 1][0] if len(known) > MAX_COUNTED else counted.floor_ms
    return new, Counted(calls=tuple(known[-MAX_COUNTED:]), floor_ms=max(floor_ms, counted.floor_ms))
