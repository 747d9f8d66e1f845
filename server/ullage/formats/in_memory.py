"""Messages that an agent's runtime holds in memory, read into the same context as a transcript."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import cast

import msgspec

from ullage.core.change.edit import PRUNED_IMAGE, PRUNED_OUTPUT, Replacement
from ullage.core.transcript.context import (
    PREFACE,
    SYSTEM_SUMMARY_OPENING,
    Category,
    Compaction,
    Context,
    ContextItem,
)
from ullage.core.transcript.entries import Header, JsonObject, Line, Message, Text, Usage
from ullage.core.transcript.lineage import CompactionRef
from ullage.errors import BadRequest
from ullage.formats.json_line import as_object, canonical_json, decode_object, ms_of, objects_of
from ullage.formats.reading import calls_in

_ID_BYTES = 8


def as_system_message(summary: str) -> JsonObject:
    """Make the message of a summary as *context assembly* has it."""
    return {"role": "system", "content": SYSTEM_SUMMARY_OPENING + summary}


def as_user_message(summary: str, *_: int) -> JsonObject:
    """Make a user's message without more: APIs refuse fields that they do not know."""
    return {"role": "user", "content": PREFACE + summary}


class MessageShape(msgspec.Struct, frozen=True, kw_only=True):
    """How messages look in memory."""

    runtimes: tuple[str, ...] = ()
    """The programs that hold messages of this shape, by the names that they give themselves."""
    message_of: Callable[[JsonObject, Mapping[str, str]], tuple[Message, Category]]
    """Gives a message as it is sent, told the tool behind each call id; one that is not sent comes
    out empty."""
    summary_of: Callable[[JsonObject], str | None]
    """Gives a compaction's summary; None for other messages of the category `summary`."""
    make_summary: Callable[[str, int, int], JsonObject] = as_user_message
    """Makes the message that holds a summary, of its text, the tokens before it and the time."""
    begin_history: Callable[[str], JsonObject] = as_system_message
    """Makes the message of a summary with which an assembled history begins."""
    prune_message: Callable[[JsonObject, Sequence[Replacement]], JsonObject]
    """Puts placeholders into a message; the rest stays as it is."""


class SessionFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What a runtime tells of a session besides its messages."""

    header: Header
    n_compactions: int
    model: str | None = None
    """Where no message names one."""
    window_tokens: int | None = None
    used_tokens: int | None = None
    """As reported for the first `n_reported` messages together."""
    n_reported: int | None = None
    """None: up to the last answer of the model, which is what a provider reports."""
    kept_ids: Collection[str] = ()
    """Messages that the last compaction kept: usage that they report is stale."""
    n_tokens_after: int | None = None
    """What the last compaction left, by its own figures."""


def context_of_messages(
    shape: MessageShape,
    messages: Sequence[JsonObject],
    facts: SessionFacts,
    entry_ids: Sequence[str] | None = None,
) -> Context:
    """Read messages as the context that they are: one item for each message.

    Without `entry_ids`, of which there is one for each message, ids are made of the content.
    The order of keys in the messages changes nothing.

    Raises:
        BadRequest: one of them is no message of any shape.
    """
    for at, native in enumerate(messages):
        _check_message(at, native)
    items = _items(shape, messages, entry_ids)
    at = max((n for n, item in enumerate(items) if _is_boundary(shape, item)), default=None)
    summary = None if at is None else items[at]
    items = tuple(_place(n, item, at, summary, facts.kept_ids) for n, item in enumerate(items))
    items = _add_reported(items, facts)
    named = (item.message.model for item in reversed(items))
    boundary = None if summary is None else _boundary(shape, summary, facts.n_tokens_after)
    return Context(
        header=facts.header,
        items=items,
        boundary=boundary,
        compactions=_compactions(facts.n_compactions, boundary),
        leaf_id=items[-1].entry_id if items else None,
        model=next((model for model in named if model), facts.model),
        n_entries=len(messages),
        size_bytes=0,
        problems=(),
        window_tokens=facts.window_tokens,
    )


def content_ids(bodies: Iterable[bytes]) -> tuple[str, ...]:
    """Make an id of each message; a number in their order distinguishes equal ones."""
    import hashlib  # no session on disk needs it

    n_seen: Counter[str] = Counter()
    ids: list[str] = []
    for body in bodies:
        name = hashlib.blake2b(body, digest_size=_ID_BYTES).hexdigest()
        n_seen[name] += 1
        ids.append(name if n_seen[name] == 1 else f"{name}.{n_seen[name]}")
    return tuple(ids)


def _check_message(at: int, native: JsonObject) -> None:
    if not isinstance(native.get("role"), str) and not isinstance(native.get("type"), str):
        raise BadRequest(f"messages[{at}] has neither a `role` nor a `type`")
    content = native.get("content")
    is_list = isinstance(content, list)
    if is_list and len(objects_of(native, "content")) == len(cast(list[object], content)):
        return
    if is_list or not isinstance(content, str | None):
        raise BadRequest(f"the `content` of messages[{at}] is neither a text nor a list of objects")


def _items(
    shape: MessageShape, messages: Sequence[JsonObject], entry_ids: Sequence[str] | None
) -> tuple[ContextItem, ...]:
    bodies = [canonical_json(native) for native in messages]
    ids = content_ids(bodies) if entry_ids is None else entry_ids
    tool_names: dict[str, str] = {}
    items: list[ContextItem] = []
    for native, body, entry_id in zip(messages, bodies, ids, strict=True):
        ordered = decode_object(Line(0, body))
        if isinstance(ordered, str):  # only what is too large or too deep to be read
            ordered = native
        message, category = _message_of(shape, ordered, tool_names)
        tool_names |= calls_in(message)
        items.append(
            ContextItem(
                entry_id=entry_id,
                message=message,
                category=category,
                native=native,
                at_ms=ms_of(ordered),
            )
        )
    return tuple(items)


def _is_boundary(shape: MessageShape, item: ContextItem) -> bool:
    return item.category == "summary" and _summary_of(shape, item.native) is not None


def _message_of(
    shape: MessageShape, native: JsonObject, tool_names: Mapping[str, str]
) -> tuple[Message, Category]:
    summary = _assembled_summary_of(native)
    if summary is None:
        return shape.message_of(native, tool_names)
    text = Text(text=SYSTEM_SUMMARY_OPENING + summary)
    return Message(role="system", blocks=(text,)), "summary"


def _summary_of(shape: MessageShape, native: JsonObject) -> str | None:
    summary = _assembled_summary_of(native)
    return shape.summary_of(native) if summary is None else summary


def _assembled_summary_of(native: JsonObject) -> str | None:
    """Give the summary of a message that an assembled history begins with, whatever its shape."""
    content = native.get("content")
    is_summary = native.get("role") == "system" and isinstance(content, str)
    if is_summary and cast(str, content).startswith(SYSTEM_SUMMARY_OPENING):
        return cast(str, content).removeprefix(SYSTEM_SUMMARY_OPENING)
    return None


def _place(
    n: int,
    item: ContextItem,
    summary_at: int | None,
    summary: ContextItem | None,
    kept_ids: Collection[str],
) -> ContextItem:
    """Tell what the last compaction kept: by what is known of it, else by the times."""
    is_earlier = False
    if summary_at is not None and summary is not None and n != summary_at:
        is_before = n < summary_at
        if item.at_ms is not None and summary.at_ms is not None:
            is_before = is_before or item.at_ms <= summary.at_ms
        is_earlier = is_before
    if not is_earlier and item.entry_id not in kept_ids:
        return item
    return msgspec.structs.replace(item, is_after_boundary=False)


def _add_reported(items: tuple[ContextItem, ...], facts: SessionFacts) -> tuple[ContextItem, ...]:
    """Let the last message of what was reported tell how full the window is with it.

    What follows is counted. A figure of an answer from before a compaction says nothing.
    """
    if facts.used_tokens is None or not items or facts.n_reported == 0:
        return items
    answers = (n for n in reversed(range(len(items))) if items[n].category == "assistant")
    last = next(answers, len(items) - 1) if facts.n_reported is None else facts.n_reported - 1
    if facts.n_reported is None and not items[last].is_after_boundary:
        return items
    usage = Usage(n_input=0, n_output=0, n_cache_read=0, n_cache_write=0, n_total=facts.used_tokens)
    message = msgspec.structs.replace(items[last].message, usage=usage, answer_id=None)
    reported = msgspec.structs.replace(items[last], message=message, is_after_boundary=True)
    return (*items[:last], reported, *items[last + 1 :])


def _boundary(shape: MessageShape, summary: ContextItem, n_tokens_after: int | None) -> Compaction:
    return Compaction(
        entry_id=summary.entry_id,
        at_ms=summary.at_ms,
        summary=_summary_of(shape, summary.native) or "",
        n_tokens_after=n_tokens_after,
    )


def _compactions(n_compactions: int, boundary: Compaction | None) -> tuple[CompactionRef, ...]:
    """List compactions of which only the number is known."""
    unknown = CompactionRef(entry_id="", at_ms=None, offset=0, size_bytes=0)
    if boundary is None or n_compactions == 0:
        return (unknown,) * n_compactions
    last = msgspec.structs.replace(unknown, entry_id=boundary.entry_id, at_ms=boundary.at_ms)
    return (*(unknown,) * (n_compactions - 1), last)


def prune_content(
    native: JsonObject,
    replacements: Sequence[Replacement],
    *,
    call_id: str | None,
    is_image: Callable[[JsonObject], bool],
    key: str = "content",
    text_type: str = "text",
) -> JsonObject:
    """Put placeholders into the text or the list of parts at a key; the rest stays as it is.

    `call_id` names the call whose result it is; None for a message that is no result.
    """
    content = native.get(key)
    for replacement in replacements:
        if replacement.call_id != call_id:
            continue
        if replacement.what == "images":
            content = _without_images(content, is_image, text_type)
        elif call_id is not None:
            content = _placeholder(content, text_type)
    return native if content == native.get(key) else native | {key: content}


def prune_parts(
    native: JsonObject,
    replacements: Sequence[Replacement],
    prune_part: Callable[[JsonObject, set[str | None], set[str | None]], JsonObject],
) -> JsonObject:
    """Put placeholders into a message that holds calls and results as parts.

    `prune_part` is told the calls whose output goes, and those whose images go.
    """
    parts = objects_of(native, "parts")
    outputs = {replacement.call_id for replacement in replacements if replacement.what == "output"}
    images = {replacement.call_id for replacement in replacements if replacement.what == "images"}
    pruned = tuple(prune_part(part, outputs, images) for part in parts)
    return native if pruned == parts else native | {"parts": list(pruned)}


def _placeholder(content: object, text_type: str) -> object:
    holder = as_object(content)
    if holder is not None:
        return holder | {"content": PRUNED_OUTPUT}
    is_list = isinstance(content, list)
    return [{"type": text_type, "text": PRUNED_OUTPUT}] if is_list else PRUNED_OUTPUT


def _without_images(
    content: object, is_image: Callable[[JsonObject], bool], text_type: str
) -> object:
    holder = as_object(content)
    if holder is not None:
        return holder | {"content": _without_images(holder.get("content"), is_image, text_type)}
    if not isinstance(content, list):
        return content
    placeholder = {"type": text_type, "text": PRUNED_IMAGE}
    parts = cast(list[object], content)
    return [placeholder if is_image(as_object(part) or {}) else part for part in parts]
