"""Edits of Claude Code's sessions: the session continues in a new file, the old one stays.

A running Claude Code holds its history in memory and may rewrite the file, so that nothing is
ever put into one (docs/design/agents.md, "Writing to a session").
"""

from collections.abc import Mapping, Sequence, Set
from uuid import UUID, uuid5

import msgspec

from ullage.core.change.edit import (
    CompactionEdit,
    LinesBefore,
    NewSession,
    PruneEdit,
    Replacement,
    RestoreEdit,
    UndoEdit,
    group_by_entry,
)
from ullage.core.transcript.context import PREFACE, Compaction, Context
from ullage.core.transcript.entries import Entry, Header, JsonObject, Line, Lines, Problem
from ullage.errors import Refused, WriteNotSupported
from ullage.formats.agent_info import Editor
from ullage.formats.agents.claude_code import records
from ullage.formats.agents.claude_code.conversation import (
    Conversation,
    answer_id,
    cleared_calls,
    items_of,
    read_conversation,
    sent_entries,
)
from ullage.formats.agents.claude_code.messages import native_of, prune_message, tells_usage
from ullage.formats.json_line import objects_of, text_of, with_value, write_line
from ullage.formats.notes import FROM_SESSION, OWN_KEY, own_note, refuse_undo_of_first
from ullage.formats.reading import index_again

_NAMESPACE = UUID("0b6b4fd5-2f0c-5f6a-9a59-5d7c4b1d4a0e")
"""Of all ids that Ullage gives in sessions of Claude Code; drawn once."""
_SETTINGS = frozenset(
    "agent-color agent-name agent-setting ai-title custom-title mode permission-mode pr-link"
    " relocated tag worktree-state".split()
)
"""Records beside the thread of which the last holds for the session (docs/design/agents.md,
"Claude Code: records")."""
_REPLACED_OUTPUTS = "content-replacement"
"""What Claude Code sends for outputs that it put into files; all of them hold."""
_ENVELOPE = ("userType", "entrypoint", "cwd", "version", "gitBranch", "slug")


class Copier:
    """Lines of the new session, each record after the one before it."""

    def __init__(self, lines: Lines, context: Context, entry_id: str) -> None:
        self.session_id = derived_id(context.header, entry_id)
        self._cwd = context.header.cwd
        """What records without a parent name: the folder of the session. The agent may have gone
        to another before the first record that is copied."""
        self._source = lines
        self._sent = {item.entry_id: item.native for item in context.items}
        self._parent_id: str | None = None
        self._usage_of: str | None = None
        self._n_tokens = 0
        self._lines: list[bytes] = []

    def add(self, entry: Entry, replacements: Sequence[Replacement] = ()) -> None:
        """Copy a record; what it does not send in another way stays as it is to the byte."""
        raw = self._own_line(entry)
        raw = with_value(raw, ("parentUuid",), self._parent_id)
        if self._parent_id is None and self._cwd is not None:
            raw = with_value(raw, ("cwd",), self._cwd)
        sent, own = self._sent.get(entry.entry_id), native_of(entry)
        if sent is not None and own is not None:
            sent = prune_message(sent, replacements)
            if sent.get("content") != own.get("content"):
                raw = _sending(raw, entry, sent)
        if self._usage_of is not None and answer_id(entry) == self._usage_of:
            raw = with_value(raw, ("message", "usage"), _usage(self._n_tokens))
        self._lines.append(raw)
        self._parent_id = entry.entry_id

    def report_usage(self, conversation: Conversation, n_tokens: int | None) -> None:
        """Let the last answer report what the whole context has; 0 where it is not known yet."""
        answers = (answer_id(e) for e in reversed(conversation.after) if tells_usage(e))
        self._usage_of, self._n_tokens = next(answers, None), n_tokens or 0

    def add_thread(
        self, conversation: Conversation, replacements: Mapping[str, Sequence[Replacement]]
    ) -> None:
        """Copy a whole conversation, the boundary that it begins with included."""
        for entry in conversation.preserved:
            self.add(entry, replacements.get(entry.entry_id, ()))
        self._parent_id = None
        note = conversation.pruned
        for entry in conversation.after:
            if note is not None and note.offset < entry.offset:
                self._lines.append(self._own_line(note))
                note = None
            if not cleared_calls(entry):
                self.add(entry, replacements.get(entry.entry_id, ()))
        if note is not None:
            self._lines.append(self._own_line(note))

    def add_settings(self, pruned_calls: Set[str] = frozenset()) -> None:
        """Copy what holds for the session beside its thread, down from the last boundary."""
        last: dict[str, bytes] = {}
        replaced: list[bytes] = []
        for line in self._source.backward():
            stub = records.read_stub(line)
            if stub is None or isinstance(stub, Problem):
                continue
            if stub.is_boundary:
                break
            if stub.type in _SETTINGS and stub.type not in last:
                last[stub.type] = self._own(line)
            elif stub.type == _REPLACED_OUTPUTS:
                replaced.append(_without_calls(self._own(line), pruned_calls))
        self._lines += [*reversed(last.values()), *reversed(replaced)]

    def add_new(self, record: JsonObject, uuid: str, neighbor: Entry) -> None:
        """Write a record of our own, in the envelope of another one."""
        envelope = {key: neighbor.native[key] for key in _ENVELOPE if key in neighbor.native}
        thread: JsonObject = {"parentUuid": self._parent_id, "isSidechain": False}
        if self._parent_id is None and self._cwd is not None:
            envelope["cwd"] = self._cwd
        self.add_note(thread | record | {"uuid": uuid} | envelope)
        self._parent_id = uuid

    def add_note(self, record: JsonObject) -> None:
        self._lines.append(write_line(record | {"sessionId": self.session_id}))

    def start_chain(self) -> None:
        """Let the next record have no parent."""
        self._parent_id = None

    def new_session(self) -> NewSession:
        data = b"".join(self._lines)
        return NewSession(session_id=self.session_id, name=f"{self.session_id}.jsonl", data=data)

    def _own_line(self, entry: Entry) -> bytes:
        return self._own(next(self._source.forward(entry.offset)))

    def _own(self, line: Line) -> bytes:
        raw = with_value(line.raw, ("sessionId",), self.session_id)
        return raw if raw.endswith(b"\n") else raw + b"\n"


def _refuse(header: Header) -> str | None:
    if header.parent_session_id is None:
        return None
    return (
        "a subagent's transcript cannot be resumed by itself:"
        f" change the session that it belongs to, {header.parent_session_id}"
    )


def _compact(lines: Lines, context: Context, edit: CompactionEdit) -> NewSession:
    """Begin a session with the kept records, a boundary that preserves them, and the summary.

    That is how Claude Code itself keeps records beyond a compaction: it sends them after the
    summary and takes the usage in them for nothing, as we do (2.1.197, read and run).
    """
    entries = sent_entries(live_conversation(lines, context))
    at = next(n for n, entry in enumerate(entries) if entry.entry_id == edit.first_kept_id)
    kept = [e for e in entries[at:] if not records.is_boundary_entry(e) and not cleared_calls(e)]
    copier = Copier(lines, context, edit.entry_id)
    for entry in kept:
        copier.add(entry)
    copier.start_chain()
    last = entries[-1]
    boundary_id = derived_id(context.header, copier.session_id, "boundary")
    summary_id = derived_id(context.header, copier.session_id, "summary")
    copier.add_new(
        {
            "logicalParentUuid": last.entry_id,
            "type": "system",
            "subtype": "compact_boundary",
            "content": "Conversation compacted",
            "isMeta": False,
            "timestamp": edit.timestamp,
            "level": "info",
            "compactMetadata": _metadata(context, edit, kept, summary_id),
        },
        boundary_id,
        last,
    )
    copier.add_new(
        {
            "type": "user",
            "message": {"role": "user", "content": PREFACE + edit.summary},
            "isVisibleInTranscriptOnly": True,
            "isCompactSummary": True,
            "timestamp": edit.timestamp,
        },
        summary_id,
        last,
    )
    copier.add_settings()
    return copier.new_session()


def _prune(lines: Lines, context: Context, edit: PruneEdit) -> NewSession:
    """Copy the conversation with placeholders in it, and note the prune behind it.

    Claude Code takes the last answer's usage for the size of its context, and would compact the
    copy at once: that answer reports what is left.
    """
    conversation = msgspec.structs.replace(live_conversation(lines, context), pruned=None)
    copier = Copier(lines, context, edit.entry_id)
    copier.report_usage(conversation, edit.n_tokens_after)
    copier.add_thread(conversation, group_by_entry(edit.replacements))
    copier.add_settings({part.call_id for part in edit.replacements if part.call_id is not None})
    copier.add_note(records.new_prune_note(context, edit))
    return copier.new_session()


def _undo_compaction(
    lines: Lines, context: Context, compaction: Compaction, edit: UndoEdit
) -> NewSession:
    """Copy the conversation as it was when the boundary was written; what followed stays behind.

    Raises:
        Refused: the lines from before the compaction are not in the file.
    """
    before = _lines_before(lines, context, compaction)
    refs = tuple(ref for ref in context.compactions if ref.offset < before.size_bytes)
    earlier = msgspec.structs.replace(context, compactions=refs)
    conversation = live_conversation(before, earlier)
    earlier = msgspec.structs.replace(earlier, items=items_of(conversation))
    copier = Copier(before, earlier, edit.entry_id)
    copier.add_thread(conversation, {})
    copier.add_settings()
    return copier.new_session()


def _restore(lines: Lines, context: Context, edit: RestoreEdit) -> NewSession:
    """Copy the conversation with the text behind it.

    Raises:
        WriteNotSupported: there is no conversation.
    """
    conversation = live_conversation(lines, context)
    copier = Copier(lines, context, edit.entry_id)
    copier.add_thread(conversation, {})
    _add_text(copier, context, edit, _last(conversation))
    copier.add_settings()
    return copier.new_session()


def _begin(lines: Lines, context: Context, edit: RestoreEdit) -> NewSession:
    """Begin a session of the same folder with the text alone.

    Raises:
        WriteNotSupported: there is no conversation whose surroundings could be taken over.
    """
    last = _last(live_conversation(lines, context))
    copier = Copier(lines, context, edit.entry_id)
    _add_text(copier, context, edit, last)
    return copier.new_session()


def _last(conversation: Conversation) -> Entry:
    entries = sent_entries(conversation)
    if not entries:
        raise WriteNotSupported("the session has no messages")
    return entries[-1]


def _add_text(copier: Copier, context: Context, edit: RestoreEdit, neighbor: Entry) -> None:
    """Add a user's message.

    When Claude Code resumes a session that ends with one, it puts an answer of its own behind that,
    "No response requested." (2.1.197, run; a message that it hides gets the same).
    """
    message = {"role": "user", "content": edit.text}
    record: JsonObject = {"type": "user", "message": message, "timestamp": edit.timestamp}
    copier.add_new(record, derived_id(context.header, copier.session_id, "checkpoint"), neighbor)


def _entitle(session: NewSession, title: str) -> NewSession:
    """Begin a session with its title, as Claude Code notes one that no user gave.

    It lists the session by it, and writes it again whenever it is resumed (2.1.329, read).
    """
    line = write_line({"type": "ai-title", "aiTitle": title, "sessionId": session.session_id})
    return msgspec.structs.replace(session, data=line + session.data)


def _metadata(
    context: Context, edit: CompactionEdit, kept: Sequence[Entry], summary_id: str
) -> JsonObject:
    kept_ids = [entry.entry_id for entry in kept]
    trigger = text_of(edit.details, "trigger")
    metadata: JsonObject = {
        "trigger": trigger if trigger in ("manual", "auto") else "manual",
        "preTokens": edit.n_tokens_before,
    }
    if edit.n_tokens_after is not None:
        metadata["postTokens"] = edit.n_tokens_after
    return metadata | {
        "preservedSegment": {
            "headUuid": kept_ids[0],
            "anchorUuid": summary_id,
            "tailUuid": kept_ids[-1],
        },
        "preservedMessages": {
            "anchorUuid": summary_id,
            "uuids": kept_ids,
            "allUuids": kept_ids,
        },
        OWN_KEY: edit.details | {FROM_SESSION: context.header.session_id},
    }


def _lines_before(lines: Lines, context: Context, compaction: Compaction) -> LinesBefore:
    """Give the file as it was before a compaction.

    The boundary names the record that it was written after: a user may have gone back to it, so
    that what lies between was not in the context.
    """
    ref = next(ref for ref in context.compactions if ref.entry_id == compaction.entry_id)
    boundary = records.read_entry(next(lines.forward(ref.offset)))
    metadata = records.metadata_of(boundary) if isinstance(boundary, Entry) else {}
    refuse_undo_of_first(own_note(metadata), "claude --resume")
    leaf_id = text_of(boundary.native, "logicalParentUuid") if isinstance(boundary, Entry) else None
    before = LinesBefore(lines, ref.offset)
    for line in before.backward():
        entry = records.read_entry(line)
        if isinstance(entry, Entry) and entry.entry_id == leaf_id:
            return LinesBefore(lines, line.offset + len(line.raw))
    raise Refused(
        "the lines from before the last compaction are not in this session's file any more,"
        " so that it cannot be undone: see its checkpoints (ullage checkpoint list)"
    )


def derived_id(header: Header, *names: str) -> str:
    """Make a uuid that is the same whenever the same edit is rendered."""
    return str(uuid5(_NAMESPACE, "\n".join((header.session_id, *names))))


def live_conversation(lines: Lines, context: Context) -> Conversation:
    return read_conversation(lines, context.header, index_again(lines, context))


def _sending(raw: bytes, entry: Entry, native: JsonObject) -> bytes:
    """Make a record send this content.

    What is rendered beside an attachment only shows what was sent: the agent renders it again.
    One whose images are pruned becomes a message that the agent put in.
    """
    content = native.get("content")
    if entry.kind != "attachment":
        return with_value(raw, ("message", "content"), content)
    for key, value in (
        ("type", "user"),
        ("isMeta", True),
        ("message", {"role": "user", "content": content}),
    ):
        raw = with_value(raw, (key,), value)
    return raw


def _usage(n_tokens: int) -> JsonObject:
    return {
        "input_tokens": n_tokens,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": 0,
    }


def _without_calls(raw: bytes, call_ids: Set[str]) -> bytes:
    """Leave out what would take the place of an output that is pruned."""
    entry = records.read_entry(Line(0, raw))
    if not call_ids or not isinstance(entry, Entry):
        return raw
    replacements = objects_of(entry.native, "replacements")
    kept = [row for row in replacements if text_of(row, "toolUseId") not in call_ids]
    return with_value(raw, ("replacements",), kept)


EDITOR = Editor(
    refuse=_refuse,
    makes_copies=True,
    compact=_compact,
    prune=_prune,
    restore=_restore,
    begin=_begin,
    undo_compaction=_undo_compaction,
    entitle=_entitle,
)
