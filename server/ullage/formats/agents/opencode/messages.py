"""The records of opencode, read; its messages in the shape of the core.

One message of opencode holds the calls of a step and their results; models are sent the results
as messages of their own, so it makes several items here.
"""

from collections.abc import Iterator, Sequence

import msgspec

from ullage.core.change.edit import PRUNED_IMAGE, PRUNED_OUTPUT, Replacement
from ullage.core.transcript import entries
from ullage.core.transcript.context import Category, ContextItem
from ullage.formats import json_line
from ullage.formats.in_memory import prune_parts
from ullage.formats.json_line import compact_json, int_of, object_of, objects_of, text_of
from ullage.formats.reading import counts_in, make_entry, make_usage
from ullage.formats.speech import is_harness, make_speech

CLEARED = "[Old tool result content cleared]"
"""What opencode sends for output that it pruned."""
INTERRUPTED = "[Tool execution was interrupted]"
ASKED_FOR_SUMMARY = "What did we do so far?"
"""What opencode sends for the part that asks for a compaction."""
ASKED_FOR_SUBTASK = "The following tool was executed by the user"
UNSENT_FILES = ("text/plain", "application/x-directory")
"""opencode puts these into texts beside them."""
_FINISHES = {"stop": True, "tool-calls": False}
"""Whether an answer ends the turn, by its `finish`."""
_UNSENT_PARTS = frozenset({"step-start", "step-finish", "patch", "snapshot", "retry", "agent"})
_NO_FILES: entries.JsonObject = {"attachments": list[object]()}
_IDS = ("id", "sessionID", "messageID")
NOT_A_MESSAGE = "line is not a message of opencode"


class Revert(msgspec.Struct, frozen=True, kw_only=True):
    """Where a user went back to: opencode removes what follows before its next request."""

    message_id: str
    part_id: str | None


def items_of(entry: entries.Entry, *, is_after_boundary: bool) -> tuple[ContextItem, ...]:
    """Give the messages that an entry sends; failed answers send none."""
    if entry.kind == "user":
        sent = _user_item(entry)
    elif entry.kind == "assistant" and not _is_failed(entry):
        sent = _assistant_items(entry)
    else:
        return ()
    native = _native(entry)
    return tuple(
        ContextItem(
            entry_id=entry_id,
            message=message,
            category=category,
            native=native,
            at_ms=created_ms(entry),
            is_after_boundary=is_after_boundary,
        )
        for entry_id, message, category in sent
    )


def usage_of(entry: entries.Entry) -> entries.Usage | None:
    """Read the tokens of an answer; those of a summary tell nothing of the context after it."""
    return None if info_of(entry).get("summary") is True else read_tokens(entry)


def read_tokens(entry: entries.Entry) -> entries.Usage | None:
    tokens = object_of(info_of(entry), "tokens")
    if entry.kind != "assistant" or tokens is None:
        return None
    cache = object_of(tokens, "cache") or {}
    n_input, n_output, n_reasoning = counts_in(tokens, ("input", "output", "reasoning"))
    n_read, n_write = counts_in(cache, ("read", "write"))
    n_total = int_of(tokens, "total") or n_input + n_output + n_read + n_write
    return make_usage(n_input, n_output + n_reasoning, n_read, n_write, n_total)


def prune_message(
    native: entries.JsonObject, replacements: Sequence[Replacement]
) -> entries.JsonObject:
    """Put placeholders into a message; in memory only, for its database is not ours to write.

    One message holds a whole answer with its calls: all replacements in it go in together.
    """
    return prune_parts(native, replacements, _prune_part)


def _user_item(entry: entries.Entry) -> Iterator[tuple[str, entries.Message, Category]]:
    parts = parts_of(entry)
    blocks = tuple(block for block in map(_user_block, parts) if block is not None)
    if not blocks:
        return
    category: Category = "user"
    if compaction_part(entry) is not None:
        category = "summary"
    elif is_harness(blocks):
        category = "injected"
    yield entry.entry_id, entries.Message(role="user", blocks=blocks), category


def _user_block(part: entries.JsonObject) -> entries.Block | None:
    match part.get("type"):
        case "text" if not part.get("ignored"):
            text = text_of(part, "text")
            if not text:
                return None
            return _write_text(text) if part.get("synthetic") is True else entries.Text(text=text)
        case "file" if text_of(part, "mime") not in UNSENT_FILES:
            return _file(part)
        case "compaction":
            return _write_text(ASKED_FOR_SUMMARY)
        case "subtask":
            return _write_text(ASKED_FOR_SUBTASK)
        case _:
            return None


def _write_text(text: str) -> entries.Text:
    """Give a text that opencode itself puts into the user's message."""
    return entries.Text(text=text, speech=make_speech(("harness", text)))


def _assistant_items(entry: entries.Entry) -> Iterator[tuple[str, entries.Message, Category]]:
    info = info_of(entry)
    model = text_of(info, "modelID")
    category: Category = "summary" if is_summary(entry) else "assistant"
    steps = [step for step in _steps(entry) if any(_blocks(part) for part in step)]
    for at, step in enumerate(steps):
        message = entries.Message(
            role="assistant",
            blocks=tuple(block for part in step for block in _blocks(part)),
            model=model,
            usage=usage_of(entry) if at == len(steps) - 1 else None,
            ends_turn=_FINISHES.get(text_of(info, "finish") or "") if step is steps[-1] else False,
        )
        yield (text_of(step[0], "id") or "") if at else entry.entry_id, message, category
        for part in step:
            if part.get("type") == "tool":
                result = entries.Message(role="tool", blocks=(_result(part),))
                yield text_of(part, "id") or entry.entry_id, result, "tool results"


def _steps(entry: entries.Entry) -> list[list[entries.JsonObject]]:
    """Part an answer where its model was called again."""
    steps: list[list[entries.JsonObject]] = [[]]
    for part in parts_of(entry):
        if part.get("type") == "step-start":
            steps.append([])
        elif part.get("type") in ("text", "reasoning", "tool"):
            steps[-1].append(part)
    return steps


def _blocks(part: entries.JsonObject) -> tuple[entries.Block, ...]:
    match part.get("type"):
        case "text":
            text = text_of(part, "text")
            return (entries.Text(text=text),) if text else ()
        case "reasoning":
            text = text_of(part, "text")
            return (entries.Thinking(text=text),) if text else ()
        case "tool":
            state = object_of(part, "state") or {}
            call = entries.ToolCall(
                call_id=text_of(part, "callID") or "",
                name=text_of(part, "tool") or "",
                arguments=compact_json(state.get("input", {})),
            )
            return (call,)
        case _:
            return ()


def _result(part: entries.JsonObject) -> entries.ToolResult:
    state = object_of(part, "state") or {}
    is_error = False
    files: tuple[entries.JsonObject, ...] = ()
    match state.get("status"):
        case "completed" if _is_cleared(state):
            text = CLEARED
        case "completed":
            text = text_of(state, "output") or ""
            files = objects_of(state, "attachments")
        case "error":
            output = _output_before_interruption(state)
            is_error = output is None
            text = text_of(state, "error") or "" if output is None else output
        case _:
            is_error = True
            text = INTERRUPTED
    return entries.ToolResult(
        call_id=text_of(part, "callID") or "",
        name=text_of(part, "tool") or "",
        content=(entries.Text(text=text), *map(_file, files)),
        is_error=is_error,
    )


def _output_before_interruption(state: entries.JsonObject) -> str | None:
    metadata = object_of(state, "metadata") or {}
    return text_of(metadata, "output") if metadata.get("interrupted") is True else None


def _is_cleared(state: entries.JsonObject) -> bool:
    return bool((object_of(state, "time") or {}).get("compacted"))


def _file(part: entries.JsonObject) -> entries.Image:
    """Give a file that is sent encoded; all kinds of them are images to the core."""
    return entries.Image(
        media_type=text_of(part, "mime") or "", size_bytes=len(text_of(part, "url") or "")
    )


def _is_failed(entry: entries.Entry) -> bool:
    """Whether an answer ended in an error; one that the user broke off is sent if it said much."""
    info = info_of(entry)
    if not info.get("error"):
        return False
    is_aborted = text_of(object_of(info, "error") or {}, "name") == "MessageAbortedError"
    says_much = any(part.get("type") not in ("step-start", "reasoning") for part in parts_of(entry))
    return not (is_aborted and says_much)


def _native(entry: entries.Entry) -> entries.JsonObject:
    """Give a message with the parts of it that are sent, pruned output as it is sent."""
    parts: list[object] = []
    for part in parts_of(entry):
        if part.get("type") in _UNSENT_PARTS:
            continue
        state = object_of(part, "state")
        if state is not None and state.get("status") == "completed" and _is_cleared(state):
            no_files: list[object] = []
            state = state | {"output": CLEARED, "attachments": no_files}
            parts.append(part | {"state": state})
        else:
            parts.append(part)
    return entry.native | {"parts": parts}


def _prune_part(
    part: entries.JsonObject, outputs: set[str | None], images: set[str | None]
) -> entries.JsonObject:
    if part.get("type") == "file" and None in images:
        if text_of(part, "mime") in UNSENT_FILES:
            return part
        ids = {key: part[key] for key in _IDS if key in part}
        return ids | {"type": "text", "text": PRUNED_IMAGE}
    state = object_of(part, "state")
    if part.get("type") != "tool" or state is None:
        return part
    call_id = text_of(part, "callID") or ""
    if call_id in outputs:
        return part | {"state": _without_output(state)}
    files = objects_of(state, "attachments")
    if call_id in images and files:
        texts = [text_of(state, "output") or "", *(PRUNED_IMAGE for _ in files)]
        return part | {"state": state | {"output": "\n".join(texts)} | _NO_FILES}
    return part


def _without_output(state: entries.JsonObject) -> entries.JsonObject:
    pruned = state | _NO_FILES if "attachments" in state else dict(state)
    if "output" in state:
        pruned["output"] = PRUNED_OUTPUT
    if "error" in state:
        pruned["error"] = PRUNED_OUTPUT
    metadata = object_of(state, "metadata") or {}
    if "output" in metadata:
        # What a command had said before it was interrupted.
        pruned["metadata"] = metadata | {"output": PRUNED_OUTPUT}
    return pruned


def read_header(lines: entries.Lines) -> entries.Header | None:
    """Recognize a session by its first line, which holds the session's row."""
    session = _session_of(lines)
    session_id = None if session is None else text_of(session, "id")
    if session is None or session_id is None:
        return None
    return entries.Header(
        agent="opencode",
        session_id=session_id,
        version=0,
        cwd=text_of(session, "directory"),
        parent_session_id=text_of(session, "parent_id"),
    )


def read_revert(lines: entries.Lines) -> Revert | None:
    session = _session_of(lines) or {}
    text = text_of(session, "revert")
    native = session.get("revert")
    if text is not None:
        native = json_line.decode_object(entries.Line(0, text.encode("utf-8", "replace")))
    revert = json_line.as_object(native) or {}
    message_id = text_of(revert, "messageID")
    if message_id is None:
        return None
    return Revert(message_id=message_id, part_id=text_of(revert, "partID"))


def read_entry(line: entries.Line) -> entries.Entry | entries.Problem | None:
    """Read a message; None for blank lines and the session's own."""
    native = json_line.read_object(line)
    if not isinstance(native, dict):
        return native
    info = object_of(native, "info")
    if info is None:
        is_session = object_of(native, "session") is not None
        return None if is_session else entries.Problem(offset=line.offset, message=NOT_A_MESSAGE)
    return make_entry(
        line,
        native,
        entry_id=text_of(info, "id"),
        kind=text_of(info, "role") or "",
        parent_id=text_of(info, "parentID"),
    )


def without_reverted(entry: entries.Entry, revert: Revert | None) -> entries.Entry | None:
    """Apply a revert; ids grow with time, and opencode too compares them as text."""
    if revert is None or entry.entry_id < revert.message_id:
        return entry
    parts = parts_of(entry)
    ids = [text_of(part, "id") for part in parts]
    if entry.entry_id > revert.message_id or revert.part_id is None:
        return None
    n_kept = ids.index(revert.part_id) if revert.part_id in ids else len(parts)
    return msgspec.structs.replace(entry, native=entry.native | {"parts": list(parts[:n_kept])})


def info_of(entry: entries.Entry) -> entries.JsonObject:
    return object_of(entry.native, "info") or {}


def parts_of(entry: entries.Entry) -> tuple[entries.JsonObject, ...]:
    return objects_of(entry.native, "parts")


def created_ms(entry: entries.Entry) -> int | None:
    return int_of(object_of(info_of(entry), "time") or {}, "created")


def compaction_part(entry: entries.Entry) -> entries.JsonObject | None:
    """Give the part by which a user's message asks for a compaction."""
    if entry.kind != "user":
        return None
    return next((part for part in parts_of(entry) if part.get("type") == "compaction"), None)


def is_summary(entry: entries.Entry) -> bool:
    """Whether a message is the summary of a compaction that came to its end."""
    info = info_of(entry)
    return (
        entry.kind == "assistant"
        and info.get("summary") is True
        and bool(info.get("finish"))
        and not info.get("error")
    )


def _session_of(lines: entries.Lines) -> entries.JsonObject | None:
    first = next(lines.forward(), None)
    native = "" if first is None else json_line.decode_object(first)
    return None if isinstance(native, str) else object_of(native, "session")
