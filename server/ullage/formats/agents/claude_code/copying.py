"""Records of a session as the lines of a new one, which Claude Code resumes as its own.

Claude Code branches a session in the same way: the records keep their uuids and follow each
other in one line, and their session is the new one (2.1.197, read). Side chains, abandoned
branches and the log of the agent's requests stay behind.
"""

from collections.abc import Mapping, Sequence, Set
from uuid import UUID, uuid5

from ullage.core.change.edit import NewSession, Replacement
from ullage.core.transcript.context import Context
from ullage.core.transcript.entries import Entry, Header, Line, Lines, Problem
from ullage.core.transcript.message import JsonObject
from ullage.formats.agents.claude_code.conversation import (
    Conversation,
    answer_id,
    cleared_calls,
    read_conversation,
)
from ullage.formats.agents.claude_code.messages import native_of, prune_message, tells_usage
from ullage.formats.agents.claude_code.records import read_entry, read_stub
from ullage.formats.json_line import compact_json, objects_of, text_of, with_value
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


def derived_id(header: Header, *names: str) -> str:
    """Make a uuid that is the same whenever the same edit is rendered."""
    return str(uuid5(_NAMESPACE, "\n".join((header.session_id, *names))))


def live_conversation(lines: Lines, context: Context) -> Conversation:
    return read_conversation(lines, context.header, index_again(lines, context))


class Copier:
    """Lines of the new session, each record after the one before it."""

    def __init__(self, lines: Lines, context: Context, entry_id: str, timestamp: str) -> None:
        self.session_id = derived_id(context.header, entry_id, timestamp)
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
        sent = self._sent.get(entry.entry_id)
        if sent is not None:
            sent = prune_message(sent, replacements)
            if sent.get("content") != (native_of(entry) or {}).get("content"):
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
            stub = read_stub(line)
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
        self.add_note(thread | record | {"uuid": uuid} | envelope)
        self._parent_id = uuid

    def add_note(self, record: JsonObject) -> None:
        self._lines.append(compact_json(record | {"sessionId": self.session_id}).encode() + b"\n")

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


def _sending(raw: bytes, entry: Entry, native: JsonObject) -> bytes:
    """Make a record send this content.

    What is rendered beside an attachment only tells what was sent: the agent renders it anew.
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
    entry = read_entry(Line(0, raw))
    if not call_ids or not isinstance(entry, Entry):
        return raw
    replacements = objects_of(entry.native, "replacements")
    kept = [one for one in replacements if text_of(one, "toolUseId") not in call_ids]
    return with_value(raw, ("replacements",), kept)
