"""Messages of pi in the shape of the core, and as pi and OpenClaw hold them in memory."""

from collections.abc import Mapping, Sequence

from ullage.core.change.edit import Replacement
from ullage.core.transcript import entries
from ullage.core.transcript.context import Category
from ullage.formats.agents.openclaw.speech import attribute, attribute_answer, split_summary
from ullage.formats.in_memory import MessageShape, prune_content
from ullage.formats.json_line import compact_json, int_of, object_of, objects_of, text_of
from ullage.formats.reading import counts_in, make_usage
from ullage.formats.speech import attribute_to_harness, is_harness

_SUMMARY_HEAD = (
    "The conversation history before this point was compacted into the following summary:"
    "\n\n<summary>\n"
)
_BRANCH_HEAD = (
    "The following is a summary of a branch that this conversation came back from:\n\n<summary>\n"
)
_ROLES: dict[str, tuple[entries.Role, Category]] = {
    "system": ("system", "system"),
    "user": ("user", "user"),
    "assistant": ("assistant", "assistant"),
    "toolResult": ("tool", "tool results"),
    "tool": ("tool", "tool results"),
    "bashExecution": ("user", "injected"),
    "custom": ("user", "injected"),
    "branchSummary": ("user", "summary"),
    "compactionSummary": ("user", "summary"),
}


SECTIONS: dict[str, tuple[Category, str]] = {
    "preamble": ("system", "system prompt"),
    "tools": ("tools", "tools in a line each"),
    "rules": ("system", "system prompt"),
    "docs": ("system", "system prompt"),
    "addendum": ("bootstrap", "appended prompt"),
    "project_context": ("bootstrap", "instructions"),
    "skills": ("skills", "skills"),
    "cwd": ("system", "environment"),
}
"""What each section of a system message is, and which part of the request (pi 0.87, seen)."""

_STOPS = {"stop": True, "toolUse": False}
"""Whether an answer ends the turn, by its `stopReason`."""


def to_message(native: entries.JsonObject) -> tuple[entries.Message, Category]:
    """Give a message as pi sends it to the model; roles that pi drops come out empty."""
    name = text_of(native, "role") or ""
    role, category = _ROLES.get(name, ("user", "injected"))
    blocks = _blocks(name, native)
    if category == "user":
        blocks = attribute(blocks) if _is_sent(native) else attribute_to_harness(blocks)
        category = "injected" if is_harness(blocks) else category
    if name != "assistant":
        return entries.Message(role=role, blocks=blocks), category
    usage = read_usage(native)
    is_unfinished = native.get("stopReason") in ("error", "aborted")
    message = entries.Message(
        role=role,
        blocks=attribute_answer(blocks),
        model=text_of(native, "model"),
        usage=None if is_unfinished else usage,
        unfinished_usage=usage if is_unfinished else None,
        ends_turn=_STOPS.get(text_of(native, "stopReason") or ""),
    )
    return message, category


def _is_sent(native: entries.JsonObject) -> bool:
    """Whether a user's message may be a person's, by OpenClaw's own field (2026.3 and later)."""
    provenance = object_of(native, "provenance")
    return provenance is None or text_of(provenance, "kind") == "external_user"


def _tells_error(native: entries.JsonObject) -> bool:
    """Whether a tool of OpenClaw says in its details that it failed, which is no error to pi."""
    return text_of(object_of(native, "details") or {}, "status") == "error"


def prune_message(
    native: entries.JsonObject, replacements: Sequence[Replacement]
) -> entries.JsonObject:
    """Put placeholders into a message in the agent's own shape; the rest stays as it is."""
    is_result = native.get("role") in ("toolResult", "tool")
    call_id = (text_of(native, "toolCallId") or "") if is_result else None
    if is_result and native.get("content") is None and replacements:
        no_content: list[object] = []
        native = native | {"content": no_content}
    return prune_content(native, replacements, call_id=call_id, is_image=_is_image)


def _blocks(name: str, native: entries.JsonObject) -> tuple[entries.Block, ...]:
    match name:
        case "toolResult" | "tool":
            parts = _content(native)
            content = tuple(
                part for part in parts if isinstance(part, entries.Text | entries.Image)
            )
            return (
                entries.ToolResult(
                    call_id=text_of(native, "toolCallId") or "",
                    name=text_of(native, "toolName") or "",
                    content=content,
                    is_error=native.get("isError") is True or _tells_error(native),
                ),
            )
        case "bashExecution":
            if native.get("excludeFromContext"):
                return ()
            return (entries.Text(text=_bash_text(native)),)
        case "branchSummary":
            return (_summary_text(_BRANCH_HEAD, native, "</summary>"),)
        case "compactionSummary":
            return (_summary_text(_SUMMARY_HEAD, native, "\n</summary>"),)
        case "user" | "assistant" | "custom" | "system":
            return _content(native)
        case _:
            return ()


def _summary_text(head: str, native: entries.JsonObject, end: str) -> entries.Text:
    summary = text_of(native, "summary") or ""
    parts = (entries.Speech(speaker="harness", text=head.strip()), *split_summary(summary))
    return entries.Text(text=f"{head}{summary}{end}", speech=parts)


def list_sections(native: entries.JsonObject) -> dict[str, str]:
    """Give the sections of a system message (pi 0.84 and later), joined by blank lines when sent.

    One that is null takes away what an earlier message set; empty here.
    """
    sections = object_of(native, "sections")
    if not sections:
        return {}
    return {name: text if isinstance(text, str) else "" for name, text in sections.items()}


def list_section_categories(native: entries.JsonObject) -> tuple[Category, ...]:
    """Name what each section is, as its blocks are in their order."""
    sections = list_sections(native)
    return tuple(SECTIONS.get(name, ("system", ""))[0] for name, text in sections.items() if text)


def _content(native: entries.JsonObject) -> tuple[entries.Block, ...]:
    if sections := list_sections(native):
        return tuple(entries.Text(text=text) for text in sections.values() if text)
    content = text_of(native, "content")
    if content is not None:
        return (entries.Text(text=content),) if content else ()
    blocks = (_block(block) for block in objects_of(native, "content"))
    return tuple(block for block in blocks if block is not None)


def _block(block: entries.JsonObject) -> entries.Block | None:
    match block.get("type"):
        case "text":
            return entries.Text(text=text_of(block, "text") or "")
        case "thinking":
            return entries.Thinking(text=text_of(block, "thinking") or "")
        case "image":
            return entries.Image(
                media_type=text_of(block, "mimeType") or "",
                size_bytes=len(text_of(block, "data") or ""),
            )
        case "toolCall":
            return entries.ToolCall(
                call_id=text_of(block, "id") or "",
                name=text_of(block, "name") or "",
                arguments=compact_json(block.get("arguments", {})),
            )
        case _:
            return None


def read_usage(native: entries.JsonObject) -> entries.Usage | None:
    """Read what an answer or a compaction took."""
    usage = object_of(native, "usage")
    if usage is None:
        return None
    counts = counts_in(usage, ("input", "output", "cacheRead", "cacheWrite"))
    return make_usage(*counts, n_total=int_of(usage, "totalTokens") or None)


def _bash_text(native: entries.JsonObject) -> str:
    output = text_of(native, "output")
    text = f"Ran `{text_of(native, 'command') or ''}`\n"
    text += f"```\n{output}\n```" if output else "(no output)"
    exit_code = int_of(native, "exitCode")
    if native.get("cancelled"):
        text += "\n\n(command cancelled)"
    elif exit_code:
        text += f"\n\nCommand exited with code {exit_code}"
    full_output = text_of(native, "fullOutputPath")
    if native.get("truncated") and full_output:
        text += f"\n\n[Output truncated. Full output: {full_output}]"
    return text


def _is_image(block: entries.JsonObject) -> bool:
    return block.get("type") == "image"


def _message_of(
    native: entries.JsonObject, tool_names: Mapping[str, str]
) -> tuple[entries.Message, Category]:
    del tool_names  # a result of pi names its tool
    return to_message(native)


def _summary_of(native: entries.JsonObject) -> str | None:
    """Give a compaction's summary; that of a branch is of the same category."""
    if native.get("role") != "compactionSummary":
        return None
    return text_of(native, "summary") or ""


def _make_summary(summary: str, n_tokens_before: int, at_ms: int) -> entries.JsonObject:
    return {
        "role": "compactionSummary",
        "summary": summary,
        "tokensBefore": n_tokens_before,
        "timestamp": at_ms,
    }


IN_MEMORY = MessageShape(
    runtimes=("pi", "openclaw"),
    message_of=_message_of,
    summary_of=_summary_of,
    make_summary=_make_summary,
    prune_message=prune_message,
)
