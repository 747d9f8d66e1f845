"""Messages of Claude Code in the shape of the core, and as its runtime holds them."""

from collections.abc import Mapping, Sequence
from typing import cast

from ullage.core.change.edit import Replacement
from ullage.core.gauge.window import has_large_window, is_same_model
from ullage.core.transcript import entries
from ullage.core.transcript.context import PREFACE, Category
from ullage.formats.agents.claude_code import speech
from ullage.formats.agents.claude_code.tail import SYNTHETIC_MODEL, USAGE_KEYS
from ullage.formats.in_memory import MessageShape, as_user_message, prune_content
from ullage.formats.json_line import as_object, compact_json, int_of, object_of, objects_of, text_of
from ullage.formats.reading import counts_in, make_usage
from ullage.formats.speech import attribute_to_harness, is_harness

_STOPS = {"end_turn": True, "stop_sequence": True, "tool_use": False}
"""Whether an answer ends the turn, by its `stop_reason`; records of blocks that were streamed have
none."""
ATTACHMENTS: dict[str, tuple[Category, str]] = {
    "instructions": ("bootstrap", "instructions"),
    "nested_memory": ("bootstrap", "instructions"),
    "skill_listing": ("skills", "skills"),
    "dynamic_skill": ("skills", "skills"),
    "invoked_skills": ("skills", "skills"),
    "deferred_tools_delta": ("tools", "deferred tools"),
    "agent_listing_delta": ("tools", "agents"),
    "mcp_instructions_delta": ("tools", "MCP servers"),
    "environment": ("system", "environment"),
    "model": ("system", "environment"),
    "date": ("system", "environment"),
    "session_context": ("system", "git status"),
    "remote_session_change": ("system", "attribution"),
    "output_style": ("system", "output style"),
    "output_style_instructions": ("system", "output style"),
    "total_tokens_reminder": ("injected", "reminders"),
}
"""What an attachment adds to, and which part of the request that is, by its type
(docs/design/agents.md, "Claude Code: records"); all others are injected into the conversation."""


def native_of(entry: entries.Entry) -> entries.JsonObject | None:
    """Give the message that a record sends, None where it sends none."""
    match entry.kind:
        case "user" | "assistant":
            is_hidden = entry.native.get("isVisibleInTranscriptOnly") is True
            if is_hidden and entry.native.get("isCompactSummary") is not True:
                return None
            return object_of(entry.native, "message")
        case "attachment":
            return _rendered(entry.native)
        case _:
            return None


def to_message(
    entry: entries.Entry, native: entries.JsonObject, tool_names: Mapping[str, str]
) -> tuple[entries.Message, Category]:
    """Give a record's message; `tool_names` tells the tool behind each call id."""
    blocks = _content_of(native, tool_names)
    if entry.kind == "assistant":
        is_answer = _is_answer(entry)
        message = entries.Message(
            role="assistant",
            blocks=blocks if is_answer else attribute_to_harness(blocks),
            model=model_named_by(entry),
            usage=_usage_of(native) if is_answer else None,
            answer_id=text_of(native, "id"),
            ends_turn=_STOPS.get(text_of(native, "stop_reason") or ""),
        )
    else:
        blocks = speech.attribute_record(entry, blocks)
        message = entries.Message(role="user", blocks=blocks, model=model_named_by(entry))
    return message, _category(entry, blocks)


def model_named_by(entry: entries.Entry) -> str | None:
    """Name the model that answered, or that an attachment tells the model itself of.

    An answer's is named as it was requested, with the window that the user chose.
    """
    if entry.kind != "assistant":
        attachment = object_of(entry.native, "attachment") or {}
        return text_of(object_of(attachment, "identity") or {}, "modelId")
    model = text_of(object_of(entry.native, "message") or {}, "model")
    if model is None or not _is_answer(entry):
        return None
    requested = text_of(entry.native, "requestedModel") or ""
    is_chosen = has_large_window(requested) and is_same_model(requested, model)
    return requested if is_chosen else model


def _is_answer(entry: entries.Entry) -> bool:
    """Whether a model wrote a record of an assistant, and not Claude Code itself."""
    model = text_of(object_of(entry.native, "message") or {}, "model")
    return model != SYNTHETIC_MODEL and entry.native.get("isApiErrorMessage") is not True


def tells_usage(entry: entries.Entry) -> bool:
    """Whether Claude Code takes a record's usage for the size of its context."""
    message = object_of(entry.native, "message") or {}
    is_answer = entry.kind == "assistant" and text_of(message, "model") != SYNTHETIC_MODEL
    return is_answer and object_of(message, "usage") is not None


def _category(entry: entries.Entry, blocks: tuple[entries.Block, ...]) -> Category:
    if entry.native.get("isCompactSummary") is True:
        return "summary"
    if entry.kind == "assistant":
        return "assistant"
    if entry.kind == "attachment":
        attachment = object_of(entry.native, "attachment") or {}
        if speech.read_queued(attachment):
            return "user"
        category, _ = ATTACHMENTS.get(text_of(attachment, "type") or "", ("injected", ""))
        return category
    if any(isinstance(block, entries.ToolResult) for block in blocks):
        return "tool results"
    return "user" if speech.is_typed(entry.native) and not is_harness(blocks) else "injected"


def _rendered(native: entries.JsonObject) -> entries.JsonObject | None:
    """Give an attachment as Claude Code renders it; unrendered ones are not sent.

    But for what a person typed, which older versions render anew.
    """
    parts = objects_of(native, "rendered")
    if not parts:
        queued = speech.read_queued(object_of(native, "attachment") or {})
        return {"role": "user", "content": queued} if queued else None
    content: list[object] = []
    for part in parts:
        text = text_of(part, "content")
        if text is None:
            content.extend(objects_of(part, "content"))
        else:
            content.append({"type": "text", "text": text})
    return {"role": text_of(native, "renderedRole") or "user", "content": content}


def _content_of(
    native: entries.JsonObject, tool_names: Mapping[str, str]
) -> tuple[entries.Block, ...]:
    text = text_of(native, "content")
    if text is not None:
        return (entries.Text(text=text),)
    blocks = (_block(block, tool_names) for block in objects_of(native, "content"))
    return tuple(block for block in blocks if block is not None)


def _block(block: entries.JsonObject, tool_names: Mapping[str, str]) -> entries.Block | None:
    match block.get("type"):
        case "text":
            return entries.Text(text=text_of(block, "text") or "")
        case "thinking":
            return entries.Thinking(text=text_of(block, "thinking") or "")
        case "image" | "document":
            source = object_of(block, "source") or {}
            return entries.Image(
                media_type=text_of(source, "media_type") or "",
                size_bytes=len(text_of(source, "data") or ""),
            )
        case "tool_use":
            return entries.ToolCall(
                call_id=text_of(block, "id") or "",
                name=text_of(block, "name") or "",
                arguments=compact_json(block.get("input", {})),
            )
        case "tool_result":
            call_id = text_of(block, "tool_use_id") or ""
            parts = _content_of(block, tool_names)
            return entries.ToolResult(
                call_id=call_id,
                name=tool_names.get(call_id, ""),
                content=tuple(
                    part for part in parts if isinstance(part, entries.Text | entries.Image)
                ),
                is_error=block.get("is_error") is True,
            )
        case _:
            return None


def _usage_of(native: entries.JsonObject) -> entries.Usage | None:
    """Read the usage of the last iteration: what the next request sends again.

    Claude Code compacts by input, both caches and output together (docs/design/agents.md,
    "Claude Code: usage").
    """
    usage = object_of(native, "usage")
    if usage is None:
        return None
    iterations = objects_of(usage, "iterations")
    told = iterations[-1] if iterations else usage
    written = object_of(told, "cache_creation") or {}
    n_hour = int_of(written, "ephemeral_1h_input_tokens") or 0
    return make_usage(*counts_in(told, USAGE_KEYS), n_hour_write=n_hour)


def prune_message(
    native: entries.JsonObject, replacements: Sequence[Replacement]
) -> entries.JsonObject:
    """Put placeholders into a message in the agent's own shape; the rest stays as it is."""
    native = prune_content(native, replacements, call_id=None, is_image=_is_image)
    content = native.get("content")
    if not isinstance(content, list):
        return native
    blocks = cast(list[object], content)
    pruned = [_prune_result(block, replacements) for block in blocks]
    return native if pruned == blocks else native | {"content": pruned}


def _prune_result(value: object, replacements: Sequence[Replacement]) -> object:
    block = as_object(value)
    if block is None or block.get("type") != "tool_result":
        return value
    call_id = text_of(block, "tool_use_id") or ""
    return prune_content(block, replacements, call_id=call_id, is_image=_is_image)


def _is_image(block: entries.JsonObject) -> bool:
    return block.get("type") in ("image", "document")


def _message_of(
    native: entries.JsonObject, tool_names: Mapping[str, str]
) -> tuple[entries.Message, Category]:
    blocks = _content_of(native, tool_names)
    if native.get("role") == "assistant":
        message = entries.Message(
            role="assistant",
            blocks=blocks,
            model=text_of(native, "model"),
            usage=_usage_of(native),
            answer_id=text_of(native, "id"),
        )
        return message, "assistant"
    if native.get("role") == "system":
        return entries.Message(role="system", blocks=blocks), "system"
    message = entries.Message(role="user", blocks=speech.attribute_blocks(blocks, {}))
    text = entries.plain_text(message)
    if any(isinstance(block, entries.ToolResult) for block in blocks):
        return message, "tool results"
    if text.startswith(PREFACE):
        return message, "summary"
    return message, "injected" if is_harness(message.blocks) else "user"


def _summary_of(native: entries.JsonObject) -> str | None:
    return entries.plain_text(
        entries.Message(role="user", blocks=_content_of(native, {}))
    ).removeprefix(PREFACE)


IN_MEMORY = MessageShape(
    runtimes=("claude-code",),
    message_of=_message_of,
    summary_of=_summary_of,
    begin_history=as_user_message,  # the API refuses the role `system` among the messages
    prune_message=prune_message,
)
