"""Response items of Codex in the shape of the core, and as its runtime holds them."""

import re
from collections.abc import Mapping, Sequence

from ullage.core.change.edit import Replacement
from ullage.core.transcript import entries
from ullage.core.transcript.context import PREFACE, Category
from ullage.formats.agents.codex.speech import attribute
from ullage.formats.agents.codex.tail import TOOLS_TYPE, UNDO_TYPE
from ullage.formats.in_memory import MessageShape, prune_content
from ullage.formats.json_line import compact_json, object_of, objects_of, text_of, texts_of
from ullage.formats.speech import is_harness

_KINDS: dict[str, tuple[Category, str]] = {
    "model": ("system", "system prompt"),
    "generic": ("system", "developer instructions"),
    "memories": ("bootstrap", "memory"),
    "host_skills": ("skills", "skills"),
    "skills": ("skills", "skills"),
    "tools": ("tools", "deferred tools"),
    "agents_md": ("bootstrap", "instructions"),
    "permissions": ("system", "permissions"),
    "collaboration_mode": ("system", "modes"),
    "multi_agent": ("system", "modes"),
    "environments": ("system", "environment"),
    "hooks": ("injected", ""),
    "user": ("user", ""),
    "compaction": ("summary", ""),
}
"""Category, and part of the request if it is not of the conversation, by the first word of
`content_item_kinds` (Codex 0.169, seen)."""

_OPENINGS: tuple[tuple[str, tuple[Category, str]], ...] = (
    ("<environment_context>", ("system", "environment")),
    ("<permissions instructions>", ("system", "permissions")),
    ("<user_instructions>", ("bootstrap", "instructions")),
    ("# AGENTS.md instructions", ("bootstrap", "instructions")),
    ("<skill", ("skills", "skills")),
)
"""How older rollouts, which name no kinds, tell what Codex itself put into the user's role; what
else is its own is injected."""

_FAILED = re.compile(
    r"^(?:Process exited with code|Exit code:) (?!0\b)-?\d+|\Aapply_patch verification failed:",
    re.MULTILINE,
)
_FAILED_IN_JSON = re.compile(r'"exit_code":\s{0,3}(?!0\b)-?\d+')
_DATA_URL = re.compile(r"data:([\w.+-]+/[\w.+-]+)[;,]")
_HEAD_CHARS = 300
"""Where the exit code of a command stands: before its output, or after it in older JSON."""


_PHASES = {"final_answer": True, "commentary": False}
"""Whether an answer ends the turn, by its `phase` (0.99 and later)."""


def is_sent(native: entries.JsonObject) -> bool:
    """Whether an item goes to the model."""
    return native.get("type") != UNDO_TYPE


def to_message(
    native: entries.JsonObject, tool_names: Mapping[str, str]
) -> tuple[entries.Message, Category]:
    """Give an item's message; `tool_names` tells the tool behind each call id."""
    kind = text_of(native, "type") or ""
    if kind == "message":
        return _conversation_message(native)
    if kind.startswith("compaction"):
        # A compaction by the server: what it holds is encrypted, so its size stays unknown.
        return entries.Message(role="user", blocks=()), "summary"
    if kind == TOOLS_TYPE:
        schemas = (entries.Text(text=compact_json(tool)) for tool in objects_of(native, "tools"))
        return entries.Message(role="system", blocks=tuple(schemas)), "tools"
    if kind.endswith("_output"):
        result = _tool_result(native, tool_names)
        return entries.Message(role="tool", blocks=(result,)), "tool results"
    return entries.Message(role="assistant", blocks=_model_blocks(kind, native)), "assistant"


def make_user_message(text: str) -> entries.JsonObject:
    content = [{"type": "input_text", "text": text}]
    return {"type": "message", "role": "user", "content": content}


def prune_message(
    native: entries.JsonObject, replacements: Sequence[Replacement]
) -> entries.JsonObject:
    """Put placeholders into a message in the agent's own shape; the rest stays as it is."""
    is_result = (text_of(native, "type") or "").endswith("_output")
    return prune_content(
        native,
        replacements,
        call_id=(text_of(native, "call_id") or "") if is_result else None,
        is_image=lambda part: bool(text_of(part, "image_url")),
        key="output" if is_result else "content",
        text_type="input_text",
    )


def _conversation_message(native: entries.JsonObject) -> tuple[entries.Message, Category]:
    """Give a message, and what most of it is."""
    blocks = _parts(native, "content")
    if native.get("role") == "assistant":
        ends_turn = _PHASES.get(text_of(native, "phase") or "")
        message = entries.Message(role="assistant", blocks=blocks, ends_turn=ends_turn)
        return message, "assistant"
    role = "system" if native.get("role") in ("developer", "system") else "user"
    if role == "user":
        blocks = attribute(blocks, _list_kinds(native, blocks))
    categories = _list_categories(native, blocks, role)
    longest = max(range(len(blocks)), key=lambda at: _n_chars(blocks[at]), default=None)
    category = role if longest is None else categories[longest]
    return entries.Message(role=role, blocks=blocks), category


def list_block_categories(
    native: entries.JsonObject, message: entries.Message
) -> tuple[Category, ...]:
    """Name what each block of a message is where they are of several kinds, as in the first one.

    Codex puts skills, permissions and tools into one message of the developer's role.
    """
    if message.role not in ("user", "system") or native.get("type") != "message":
        return ()
    categories = _list_categories(native, message.blocks, message.role)
    return categories if len(set(categories)) > 1 else ()


def _n_chars(block: entries.Block) -> int:
    return len(block.text) if isinstance(block, entries.Text) else 0


def _list_categories(
    native: entries.JsonObject, blocks: tuple[entries.Block, ...], default: Category
) -> tuple[Category, ...]:
    """Name what each block of a message is, as its kinds or else its opening tell it."""
    return tuple(
        category or ("injected" if default == "user" and is_harness((block,)) else default)
        for block, (category, _) in zip(blocks, place_blocks(native, blocks), strict=True)
    )


def place_blocks(
    native: entries.JsonObject, blocks: Sequence[entries.Block]
) -> tuple[tuple[Category | None, str], ...]:
    """Tell the category of each block, and the part of the request that it is; nothing where
    neither its kind nor its opening tells it."""
    return tuple(
        _KINDS.get(kind.partition(".")[0]) or _place_by_opening(block)
        for kind, block in zip(_list_kinds(native, blocks), blocks, strict=True)
    )


def _list_kinds(native: entries.JsonObject, blocks: Sequence[entries.Block]) -> tuple[str, ...]:
    """List what Codex names each block; empty where it names none."""
    passthrough = object_of(native, "internal_chat_message_metadata_passthrough") or {}
    kinds = texts_of(passthrough, "content_item_kinds")
    return kinds if len(kinds) == len(blocks) else ("",) * len(blocks)


def _place_by_opening(block: entries.Block) -> tuple[Category | None, str]:
    text = block.text if isinstance(block, entries.Text) else ""
    return next((place for opening, place in _OPENINGS if text.startswith(opening)), (None, ""))


def _model_blocks(kind: str, native: entries.JsonObject) -> tuple[entries.Block, ...]:
    """Give what the model made. Encrypted reasoning is resent too, but cannot be counted."""
    match kind:
        case "reasoning":
            parts = (*objects_of(native, "summary"), *objects_of(native, "content"))
            return tuple(entries.Thinking(text=text_of(part, "text") or "") for part in parts)
        case "function_call":
            return (_call(native, text_of(native, "name"), text_of(native, "arguments") or "{}"),)
        case "custom_tool_call":
            arguments = compact_json({"input": native.get("input")})
            return (_call(native, text_of(native, "name"), arguments),)
        case _ if kind.endswith("_call"):
            action = native.get("action", native.get("arguments", {}))
            return (_call(native, kind.removesuffix("_call"), compact_json(action)),)
        case _:
            return _parts(native, "content")


def _call(native: entries.JsonObject, name: str | None, arguments: str) -> entries.ToolCall:
    call_id = text_of(native, "call_id") or text_of(native, "id") or ""
    return entries.ToolCall(call_id=call_id, name=name or "", arguments=arguments)


def _tool_result(native: entries.JsonObject, tool_names: Mapping[str, str]) -> entries.ToolResult:
    call_id = text_of(native, "call_id") or ""
    output = object_of(native, "output")
    if output is not None:
        parts = _parts(output, "content")
        is_error = output.get("success") is False
    else:
        parts = _parts(native, "output")
        is_error = any(
            _tells_failure(part.text) for part in parts[:1] if isinstance(part, entries.Text)
        )
    name = tool_names.get(call_id, "")
    return entries.ToolResult(call_id=call_id, name=name, content=parts, is_error=is_error)


def _tells_failure(text: str) -> bool:
    if text.startswith('{"output"'):
        return _FAILED_IN_JSON.search(text[-_HEAD_CHARS:]) is not None
    return _FAILED.search(text[:_HEAD_CHARS]) is not None


def _parts(native: entries.JsonObject, key: str) -> tuple[entries.Text | entries.Image, ...]:
    """Read a text, or a list of texts and images; other parts count as the JSON that they are."""
    text = text_of(native, key)
    if text is not None:
        return (entries.Text(text=text),)
    return tuple(map(_part, objects_of(native, key)))


def _part(part: entries.JsonObject) -> entries.Text | entries.Image:
    url = text_of(part, "image_url")
    if url is not None:
        match = _DATA_URL.match(url)
        return entries.Image(media_type=match[1] if match else "", size_bytes=len(url))
    text = text_of(part, "text")
    return entries.Text(text=compact_json(part) if text is None else text)


def _message_of(
    native: entries.JsonObject, tool_names: Mapping[str, str]
) -> tuple[entries.Message, Category]:
    if not is_sent(native):
        return entries.Message(role="system", blocks=()), "system"
    # The API takes a message without its type as well.
    message, category = to_message(native if "type" in native else _typed(native), tool_names)
    text = entries.plain_text(message) if category == "user" else ""
    if text.startswith(PREFACE):
        return message, "summary"
    return message, category


def _summary_of(native: entries.JsonObject) -> str | None:
    message, _ = to_message(_typed(native), {})
    return entries.plain_text(message).removeprefix(PREFACE)


def _make_summary(summary: str, n_tokens_before: int, at_ms: int) -> entries.JsonObject:
    del n_tokens_before, at_ms  # the API refuses fields that it does not know
    return make_user_message(PREFACE + summary)


def _typed(native: entries.JsonObject) -> entries.JsonObject:
    return native | {"type": "message"}


IN_MEMORY = MessageShape(
    runtimes=("codex",),
    message_of=_message_of,
    summary_of=_summary_of,
    make_summary=_make_summary,
    prune_message=prune_message,
)
