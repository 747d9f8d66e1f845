"""What a session did since its last checkpoint, worked out of the events captured of it.

It is a function of the set of events: in what order, by how many ways and how often they arrive
makes no difference, and an event that a checkpoint holds is not counted again. A call is known by
its id. A message has none, and each way has its own clock: the same words of the same speaker
with nothing of anyone else between them are one message.

The state is in four parts, each a file of its own. What a checkpoint holds is taken out of them;
what is needed to know it again stays.
"""

from collections.abc import Iterable, Sequence
from itertools import groupby, pairwise, zip_longest
from typing import Literal

import msgspec

from ullage.core.checkpoint.captured import Captured, CapturedCall, CapturedMessage
from ullage.core.facts.settled import IN_REPLY
from ullage.core.facts.thread import SHORT_REPLY_CHARS, TOPIC_CHARS
from ullage.core.text.prose import PASTED, gist
from ullage.core.text.word_lists import QUESTION_MARKS

MAX_DECISIONS = 50
MAX_EXCHANGES = 8
MAX_TOOLS = 100
MAX_FILES = 100
"""Files are those read and those modified, each. docs/design/checkpoints.md, "Working state"."""
MAX_ERRORS = 20
MAX_COUNTED = 500
"""Tool calls remembered as counted: more than two ways are ever apart (chosen)."""
MAX_MESSAGES = 48
"""Messages remembered: six times as many as are shown, since two ways may bring each (chosen)."""
_Groups = Sequence[Sequence[CapturedMessage]]
"""Messages in order, those together that are one which arrived more than once."""


class LastUse(msgspec.Struct, frozen=True, kw_only=True):
    """A file or a tool, and when it was used last."""

    name: str
    at_ms: int


class CallCounts(msgspec.Struct, frozen=True, kw_only=True):
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

    def held(self) -> "Decisions":
        return Decisions()


class CapturedThread(msgspec.Struct, frozen=True, kw_only=True):
    topic: str = ""
    """What the user said last."""
    exchanges: tuple[CapturedExchange, ...] = ()
    errors: tuple[CapturedError, ...] = ()
    counted: CallCounts = CallCounts()
    """Failed calls."""
    messages: tuple[CapturedMessage, ...] = msgspec.field(default=(), name="heard")
    floor_ms: int = -1
    """Messages up to this time were captured, and are not remembered any more."""

    def held(self) -> "CapturedThread":
        return CapturedThread(
            counted=self.counted,
            messages=tuple(msgspec.structs.replace(m, is_held=True) for m in self.messages),
            floor_ms=self.floor_ms,
        )


class CapturedResources(msgspec.Struct, frozen=True, kw_only=True):
    read: tuple[LastUse, ...] = ()
    modified: tuple[LastUse, ...] = ()
    tools: tuple[LastUse, ...] = ()
    counted: CallCounts = CallCounts()

    @property
    def files_read(self) -> tuple[str, ...]:
        """The files that were read and not modified, the last one last."""
        modified = self.files_modified
        return tuple(file.name for file in self.read if file.name not in modified)

    @property
    def files_modified(self) -> tuple[str, ...]:
        return tuple(file.name for file in self.modified)

    @property
    def tools_used(self) -> tuple[str, ...]:
        return tuple(tool.name for tool in self.tools)

    def held(self) -> "CapturedResources":
        return CapturedResources(counted=self.counted)


class OpenItems(msgspec.Struct, frozen=True, kw_only=True):
    """The steps of the agent's own to-do list that are not done."""

    steps: tuple[str, ...] = ()
    counted: CallCounts = CallCounts()
    """The calls that wrote the list; the last of them is the list."""

    def held(self) -> "OpenItems":
        return OpenItems(counted=self.counted)


class WorkingState(msgspec.Struct, frozen=True, kw_only=True):
    decisions: Decisions = Decisions()
    thread: CapturedThread = CapturedThread()
    resources: CapturedResources = CapturedResources()
    open_items: OpenItems = OpenItems()

    def held(self) -> "WorkingState":
        """Take out what a checkpoint holds now, which is all; that it was counted stays known."""
        return WorkingState(
            decisions=self.decisions.held(),
            thread=self.thread.held(),
            resources=self.resources.held(),
            open_items=self.open_items.held(),
        )


def add_captured(state: WorkingState, *parts: Captured) -> WorkingState:
    """Add what was captured; what was counted before changes nothing.

    Each part remembers by itself what it counted: a process that is killed between two files, or
    a file that is lost, leaves parts that the same events bring up to date.
    """
    calls = [call for part in parts for call in part.calls]
    groups = _group_messages(state.thread, parts)
    return WorkingState(
        # Before any message is forgotten: many may arrive at once.
        decisions=_with_replies(state.decisions, groups),
        thread=_with_messages(_with_errors(state.thread, calls), groups),
        resources=_with_calls(state.resources, calls),
        open_items=_with_list(state.open_items, calls),
    )


def _uncounted(
    counted: CallCounts, calls: Iterable[CapturedCall]
) -> tuple[list[CapturedCall], CallCounts]:
    """Part off the calls that were not counted yet, each once."""
    counted_names = {name for _, name in counted.calls}
    new: dict[str, CapturedCall] = {}
    for call in calls:
        if call.name not in counted_names and call.at_ms > counted.floor_ms:
            new.setdefault(call.name, call)
    all_known = sorted((*counted.calls, *((call.at_ms, call.name) for call in new.values())))
    dropped = all_known[-MAX_COUNTED - 1 : -MAX_COUNTED]
    floor_ms = max((at_ms for at_ms, _ in dropped), default=counted.floor_ms)
    return list(new.values()), CallCounts(calls=tuple(all_known[-MAX_COUNTED:]), floor_ms=floor_ms)


def _with_calls(resources: CapturedResources, calls: Iterable[CapturedCall]) -> CapturedResources:
    new, counted = _uncounted(resources.counted, calls)
    read = [(path, call.at_ms) for call in new for path in call.read]
    modified = [(path, call.at_ms) for call in new for path in call.modified]
    tools = [(call.tool, call.at_ms) for call in new if call.tool]
    return CapturedResources(
        read=_with_used(resources.read, read)[-MAX_FILES:],
        modified=_with_used(resources.modified, modified)[-MAX_FILES:],
        tools=_with_used(resources.tools, tools)[-MAX_TOOLS:],
        counted=counted,
    )


def _with_used(used: Iterable[LastUse], new: Iterable[tuple[str, int]]) -> tuple[LastUse, ...]:
    last = {entry.name: entry.at_ms for entry in used}
    for name, at_ms in new:
        last[name] = max(at_ms, last.get(name, 0))
    in_order = sorted((at_ms, name) for name, at_ms in last.items())
    return tuple(LastUse(name=name, at_ms=at_ms) for at_ms, name in in_order)


def _with_list(open_items: OpenItems, calls: Iterable[CapturedCall]) -> OpenItems:
    new, counted = _uncounted(
        open_items.counted, (call for call in calls if call.steps is not None)
    )
    newest = [call for call in new if (call.at_ms, call.name) == counted.calls[-1]]
    steps = newest[0].steps or () if newest else open_items.steps
    return OpenItems(steps=steps, counted=counted)


def _with_errors(thread: CapturedThread, calls: Iterable[CapturedCall]) -> CapturedThread:
    new, counted = _uncounted(thread.counted, (call for call in calls if call.error is not None))
    added = (CapturedError(text=call.error or "", at_ms=call.at_ms, call=call.name) for call in new)
    errors = sorted((*thread.errors, *added), key=lambda error: (error.at_ms, error.call))
    return msgspec.structs.replace(thread, errors=tuple(errors[-MAX_ERRORS:]), counted=counted)


def _group_messages(thread: CapturedThread, parts: Iterable[Captured]) -> _Groups:
    new = (message for part in parts for message in part.messages)
    arrived = {(m.at_ms, m.message_id): m for m in new if m.at_ms > thread.floor_ms}
    arrived.update({(m.at_ms, m.message_id): m for m in thread.messages})
    in_order = (arrived[key] for key in sorted(arrived))
    groups = [list(group) for _, group in groupby(in_order, lambda m: m.message_id)]
    # Held if any of them is: a checkpoint has it, and it can be forgotten.
    return [
        [msgspec.structs.replace(message, is_held=True) for message in group]
        if any(message.is_held for message in group)
        else group
        for group in groups
    ]


def _with_messages(thread: CapturedThread, groups: _Groups) -> CapturedThread:
    asked = [group[0] for group in groups if group[0].is_user]
    messages, floor_ms = _forget([m for group in groups for m in group], thread.floor_ms)
    return msgspec.structs.replace(
        thread,
        topic=gist(asked[-1].gist, TOPIC_CHARS) if asked and not asked[-1].is_held else "",
        exchanges=tuple(
            CapturedExchange(
                role="user" if spoken.is_user else "agent", gist=spoken.gist, at_ms=spoken.at_ms
            )
            for spoken in _find_turns(groups)[-MAX_EXCHANGES:]
        ),
        messages=messages,
        floor_ms=floor_ms,
    )


def _forget(
    messages: Sequence[CapturedMessage], floor_ms: int
) -> tuple[tuple[CapturedMessage, ...], int]:
    """Keep at most `MAX_MESSAGES` messages; also give the time up to which none counts.

    What the agent said in the middle of a turn goes first: no reply answers it.
    """
    n_over = len(messages) - MAX_MESSAGES
    kept: list[CapturedMessage] = []
    for message, following in zip_longest(messages, messages[1:]):
        is_last = following is None or following.is_user
        if n_over > 0 and not message.is_user and not is_last:
            n_over -= 1
        else:
            kept.append(message)
    if n_over > 0:
        floor_ms = max(floor_ms, kept[n_over - 1].at_ms)
    return tuple(kept[max(0, n_over) :]), floor_ms


def _find_turns(groups: _Groups) -> list[CapturedMessage]:
    """Give what no checkpoint holds: the user's messages, and the agent's last words on each."""
    messages = [group[0] for group in groups]
    return [
        message
        for message, following in zip_longest(messages, messages[1:])
        if not message.is_held and (message.is_user or following is None or following.is_user)
    ]


def _with_replies(decisions: Decisions, groups: _Groups) -> Decisions:
    """Find the user's short replies to long answers; a question is none.

    Those found before stay where their messages are forgotten, or what the first one answered.
    """
    here = {(message.at_ms, message.message_id) for group in groups[1:] for message in group}
    made = [d for d in decisions.made if (d.at_ms, d.message_id) not in here]
    made += [
        CapturedDecision(
            what=f"{reply.gist}{IN_REPLY}{answer.proposal})",
            at_ms=reply.at_ms,
            message_id=reply.message_id,
        )
        for answer, reply in pairwise(group[0] for group in groups)
        if answer.proposal and not reply.is_held and _settles(reply)
    ]
    made.sort(key=lambda d: (d.at_ms, d.message_id))
    return Decisions(made=tuple(made[-MAX_DECISIONS:]))


def _settles(reply: CapturedMessage) -> bool:
    is_said = not reply.gist.endswith(QUESTION_MARKS) and not reply.gist.startswith(PASTED)
    return reply.is_user and len(reply.gist) < SHORT_REPLY_CHARS and is_said
