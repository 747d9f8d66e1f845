"""The adapter for Claude Code: the context as its next request would carry it."""

from itertools import islice

from ullage.core.transcript.context import Compaction, Context, ContextItem
from ullage.core.transcript.entries import (
    Agent,
    Entry,
    Header,
    Lines,
    MemoryLines,
    Transcript,
)
from ullage.core.transcript.index import CompactionRef, Index, chain
from ullage.core.transcript.injected import PREFACE
from ullage.core.transcript.message import JsonObject
from ullage.formats.agents.claude_code.conversation import read_conversation
from ullage.formats.agents.claude_code.extension import extend
from ullage.formats.agents.claude_code.items import item_of, items_of
from ullage.formats.agents.claude_code.notes import own_details, to_prune_record
from ullage.formats.agents.claude_code.places import (
    live_folders,
    session_folders,
    session_roots,
    subagent_folders,
)
from ullage.formats.agents.claude_code.prune import prune_message
from ullage.formats.agents.claude_code.records import (
    Stub,
    metadata_of,
    read_entry,
    read_header,
    read_stub,
)
from ullage.formats.format import Reading, index_of, transcript_of
from ullage.formats.json_line import int_of, ms_of, objects_of, text_of

__all__ = [
    "AGENT",
    "HAS_NESTED_FOLDERS",
    "extend",
    "live_folders",
    "messages",
    "parse",
    "prune_message",
    "read_compaction",
    "read_context",
    "read_header",
    "session_folders",
    "session_roots",
    "subagent_folders",
]

AGENT: Agent = "claude-code"
HAS_NESTED_FOLDERS: bool = False
MAX_SUMMARY_DISTANCE = 20
"""Lines after a boundary among which its summary is looked for (it follows at once)."""


def read_context(lines: Lines, header: Header, known: Index) -> Reading:
    conversation = read_conversation(lines, header, known)
    refs = {ref.entry_id: ref for ref in (*known.compactions, *conversation.refs)}
    items = items_of(conversation)
    boundary = conversation.boundary
    context = Context(
        header=header,
        items=items,
        boundary=None if boundary is None else _to_compaction(boundary, items),
        compactions=chain(refs, None if boundary is None else boundary.entry_id),
        leaf_id=conversation.after[-1].entry_id if conversation.after else None,
        model=next((i.message.model for i in reversed(items) if i.message.model), None),
        n_entries=conversation.n_entries,
        size_bytes=lines.size_bytes,
        problems=conversation.problems,
        pruned=None if conversation.pruned is None else to_prune_record(conversation.pruned),
    )
    return Reading(
        context=context,
        index=index_of(
            lines,
            conversation.n_entries,
            refs.values(),
            lambda line: isinstance(read_stub(line), Stub),
        ),
    )


def read_compaction(lines: Lines, ref: CompactionRef) -> Compaction | None:
    """Read a boundary and its summary, which is the next record of the thread."""
    found = (read_entry(line) for line in islice(lines.forward(ref.offset), MAX_SUMMARY_DISTANCE))
    entries = [entry for entry in found if isinstance(entry, Entry)]
    if not entries or entries[0].entry_id != ref.entry_id:
        return None
    items = (item_of(e, {}) for e in entries[1:] if e.parent_id == ref.entry_id)
    return _to_compaction(entries[0], tuple(item for item in items if item is not None))


def messages(context: Context) -> list[JsonObject]:
    """List the messages, one for each answer: its blocks stand on several entries."""
    found: list[JsonObject] = []
    last_answer_id: str | None = None
    for item in context.items:
        answer_id = item.message.answer_id
        if answer_id is not None and answer_id == last_answer_id:
            content = (*objects_of(found[-1], "content"), *objects_of(item.native, "content"))
            found[-1] = found[-1] | {"content": list(content)}
        else:
            found.append(
                {key: item.native[key] for key in ("role", "content") if key in item.native}
            )
        last_answer_id = answer_id
    return found


def parse(data: bytes) -> Transcript:
    lines = MemoryLines(data)
    return transcript_of(lines, read_header(lines), map(read_entry, lines.forward()))


def _to_compaction(boundary: Entry, items: tuple[ContextItem, ...]) -> Compaction:
    metadata = metadata_of(boundary)
    details = own_details(metadata) or metadata
    summary = next((item for item in items if item.category == "summary"), None)
    text = "" if summary is None else text_of(summary.native, "content") or ""
    return Compaction(
        entry_id=boundary.entry_id,
        parent_id=boundary.parent_id,
        at_ms=ms_of(boundary.native),
        summary=text.removeprefix(PREFACE),
        first_kept_id=None,
        n_tokens_before=int_of(metadata, "preTokens"),
        n_tokens_after=int_of(metadata, "postTokens"),
        trigger=text_of(details, "trigger"),
        layer=text_of(details, "layer"),
        n_messages=int_of(details, "messagesCompacted") or int_of(metadata, "messagesSummarized"),
        details=details,
    )
