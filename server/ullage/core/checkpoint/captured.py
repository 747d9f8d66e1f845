"""What happens in a session, and what of it is captured for its next checkpoint.

Nothing that a tool answered becomes a decision or an open item; of a failure, one line is kept.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

import msgspec

from ullage.core.facts.thread import GIST_CHARS, LONG_ANSWER_CHARS
from ullage.core.facts.tool_calls import CallFacts, read_call, write_sorted_json
from ullage.core.secrets.scan import list_named_secrets, mask
from ullage.core.text.prose import gist
from ullage.core.text.quoting import one_line
from ullage.core.transcript.entries import ToolCall, ToolResult, result_text

if TYPE_CHECKING:
    from ullage.core.transcript.context import ContextItem

MAX_OPEN_ITEMS = 20
"""As many as a checkpoint has of open items (chosen)."""
_LONG_ID_CHARS = 9
"""Shorter call ids are numbers, which some local model servers restart with each answer."""
_MAX_NAME_CHARS = 200
_STEP_CHARS = 200
"""As in a checkpoint."""
_PROPOSAL_CHARS = 200
_MAX_READ_CHARS = 4_000
"""How far from either end a message is looked at for its gist (chosen)."""
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


class CapturedCall(msgspec.Struct, frozen=True, kw_only=True):
    """What is captured of a tool call."""

    name: str
    """Of the call, made from its id: the same for every way of arrival."""
    at_ms: int
    tool: str
    read: tuple[str, ...]
    modified: tuple[str, ...]
    error: str | None
    """One line, where it failed."""
    steps: tuple[str, ...] | None
    """What is left of the agent's to-do list, where the call wrote it."""


class CapturedMessage(msgspec.Struct, frozen=True, kw_only=True):
    """What is captured of a message, as it arrived once."""

    message_id: str
    """Made from its text: the same for every way of arrival."""
    at_ms: int
    is_user: bool
    gist: str
    proposal: str
    """What a reply would reply to; empty unless the agent said much."""
    is_held: bool = msgspec.field(default=False, name="is_bundled")
    """Whether a checkpoint holds it."""


class Captured(msgspec.Struct, frozen=True, kw_only=True):
    """What is captured of some events, without the secrets in them: all that is ever written."""

    calls: tuple[CapturedCall, ...] = ()
    messages: tuple[CapturedMessage, ...] = msgspec.field(default=(), name="said")


def events_of(items: Sequence["ContextItem"], places: Iterable[int]) -> Iterator[Event]:
    """Give what the messages at some places of a context say and do.

    What a compaction or a prune left is passed over: it happened before.
    """
    from ullage.core.transcript.speech import read_speech

    for place in places:
        item = items[place]
        if not item.is_after_boundary:
            continue
        for speaker in ("typed", "assistant"):
            if text := read_speech(item, speaker):
                role = "user" if speaker == "typed" else "agent"
                yield MessageEvent(role=role, text=text, at_ms=item.at_ms)
        for block in item.message.blocks:
            if isinstance(block, ToolResult):
                call = _find_call(block.call_id, items, place)
                yield ToolEvent(
                    call_id=block.call_id,
                    name=block.name or (call.name if call else ""),
                    arguments=call.arguments if call else "{}",
                    is_error=block.is_error,
                    error=result_text(block) if block.is_error else "",
                    at_ms=item.at_ms,
                )


def _find_call(call_id: str, items: Sequence["ContextItem"], place: int) -> ToolCall | None:
    """Find the call that a result answers; mostly in the message before it."""
    for at in range(place - 1, -1, -1):
        for block in items[at].message.blocks:
            if isinstance(block, ToolCall) and block.call_id == call_id:
                return block
    return None


def capture_events(
    events: Iterable[Event], *, now_ms: int, known_secrets: Sequence[str] = ()
) -> Captured:
    """Read what is captured of events.

    Events without a time happened now, one after the other. Secrets are masked, `known_secrets`
    too, before anything is cut or kept.
    """
    calls: list[CapturedCall] = []
    messages: list[CapturedMessage] = []
    for arrived_ms, event in enumerate(events, now_ms):
        at_ms = arrived_ms if event.at_ms is None else event.at_ms
        if isinstance(event, ToolEvent):
            calls.append(_capture_call(event, at_ms, (*known_secrets, *_list_named(event))))
        elif message := _capture_message(event, at_ms, known_secrets):
            messages.append(message)
    return Captured(calls=tuple(calls), messages=tuple(messages))


def _list_named(event: ToolEvent) -> Iterator[str]:
    """Give what a call names as a secret: its steps and its paths are parted from the names."""
    for text in (event.arguments, event.error):
        yield from list_named_secrets(text)


def _capture_call(event: ToolEvent, at_ms: int, known_secrets: Sequence[str]) -> CapturedCall:
    facts = read_call(ToolCall(call_id=event.call_id, name=event.name, arguments=event.arguments))
    is_number = len(event.call_id) < _LONG_ID_CHARS
    arguments = write_sorted_json(event.arguments) if is_number else ""
    named = (event.call_id, event.name, arguments) if is_number else (event.call_id,)
    plan = facts.plan.steps if facts.plan else None
    left = [step.text for step in plan or () if step.state != "done"]
    steps = dict.fromkeys(gist(one_line(mask(step, known_secrets)), _STEP_CHARS) for step in left)
    return CapturedCall(
        name=_content_id("\0".join(named)),
        at_ms=at_ms,
        tool=_clean(event.name, known_secrets),
        read=_paths(facts, known_secrets, is_modified=False),
        modified=_paths(facts, known_secrets, is_modified=True),
        error=_error(event, facts, known_secrets) if event.is_error else None,
        steps=tuple(steps)[:MAX_OPEN_ITEMS] if plan else None,
    )


def _paths(facts: CallFacts, known_secrets: Sequence[str], *, is_modified: bool) -> tuple[str, ...]:
    touched = (touch.path for touch in facts.touches if touch.is_modified is is_modified)
    return tuple(_clean(path, known_secrets) for path in touched)


def _error(event: ToolEvent, facts: CallFacts, known_secrets: Sequence[str]) -> str:
    # The patterns of errors take longer to compile than a hook may need for a call that worked.
    from ullage.core.facts.command_runs import find_error_line

    touched = ", ".join(touch.path for touch in facts.touches)
    done = gist(one_line(mask(facts.command or touched, known_secrets)), 120)
    output = one_line(find_error_line(mask(event.error[-_MAX_OUTPUT_CHARS:], known_secrets)))
    head = f"{_clean(event.name, known_secrets)} {done}".strip()
    return f"{head}: {output}" if output else head


def _clean(name: str, known_secrets: Sequence[str]) -> str:
    return one_line(mask(name, known_secrets))[:_MAX_NAME_CHARS]


def _capture_message(
    event: MessageEvent, at_ms: int, known_secrets: Sequence[str]
) -> CapturedMessage | None:
    is_user = event.role == "user"
    # A tool call's hook pays for no patterns that it does not need.
    from ullage.core.transcript.recalled import cut_recalled

    text = cut_recalled(event.text).strip()
    if not text:
        return None
    from ullage.core.text.questions import find_last_question
    from ullage.core.text.quotations import mark_pasted, read_own_words

    masked = mask(text, known_secrets)
    own = read_own_words(masked, is_agents=not is_user)
    if not own and not is_user:
        return None
    beginning = one_line((own or mark_pasted(masked, GIST_CHARS))[:_MAX_READ_CHARS])
    proposal = ""
    if not is_user and len(own) > LONG_ANSWER_CHARS:
        proposal = find_last_question(own) or gist(beginning, _PROPOSAL_CHARS)
    return CapturedMessage(
        message_id=_content_id(f"{event.role}\0{' '.join(text.split())}"),
        at_ms=at_ms,
        is_user=is_user,
        gist=gist(beginning, GIST_CHARS),
        proposal=proposal,
    )


def _content_id(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
