"""Edits of Codex's sessions: the session continues as a new thread, the old one stays.

Codex notes the places of lines in a database beside its rollouts, so that nothing is ever put
into one (docs/design/agents.md, "Writing to a session").
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TypeAlias
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
from ullage.core.gauge.status import rfc3339
from ullage.core.transcript.context import PREFACE, Compaction, Context, last_time_ms
from ullage.core.transcript.entries import Entry, Header, JsonObject, Lines, Problem, plain_text
from ullage.formats import json_line, notes
from ullage.formats.agent_info import Editor
from ullage.formats.agents.codex.history import read_history
from ullage.formats.agents.codex.messages import make_user_message, prune_message, to_message
from ullage.formats.agents.codex.records import payload_of, read_entry, read_stub, to_entry
from ullage.formats.reading import index_again

_NAMESPACE = UUID("d6a3c0f2-6a51-5d0b-8c3e-0f1b7a9e4c55")
"""Of the ids of threads that Ullage begins; drawn once."""
_Edit: TypeAlias = CompactionEdit | PruneEdit | RestoreEdit | UndoEdit
_Replacements: TypeAlias = Mapping[str, Sequence[Replacement]]
_FIGURES = (
    "input_tokens cached_input_tokens cache_write_input_tokens output_tokens"
    " reasoning_output_tokens total_tokens".split()
)


def _refuse(header: Header) -> str | None:
    if header.parent_session_id is None:
        return None
    return "a subagent's thread belongs to the session that started it: change that one instead" + (
        f", {header.parent_session_id}" if header.parent_session_id else ""
    )


def _compact(lines: Lines, context: Context, edit: CompactionEdit) -> NewSession:
    """Begin a thread with a `compacted` line that holds the summary and the kept items."""
    items = context.items
    at = next(n for n, item in enumerate(items) if item.entry_id == edit.first_kept_id)
    copier = Copier(lines, context, edit)
    copier.add_last_settings()
    message = PREFACE + edit.summary
    own = edit.details | {
        "tokensBefore": edit.n_tokens_before,
        notes.FROM_SESSION: context.header.session_id,
    }
    history = [make_user_message(message), *(item.native for item in items[at:])]
    copier.add_new(
        "compacted", {"message": message, "replacement_history": history, notes.OWN_KEY: own}
    )
    count = _token_count(_last_info(lines), edit.n_tokens_after, context.window_tokens)
    copier.add_new("event_msg", count)
    return copier.new_session()


def _prune(lines: Lines, context: Context, edit: PruneEdit) -> NewSession:
    """Copy the live lines with placeholders in them, and tell the new size behind them.

    Codex takes the last size that was told for that of its context, and would compact the copy
    at once.
    """
    copier = Copier(lines, context, edit)
    copier.add_live_lines(group_by_entry(edit.replacements))
    note: JsonObject = {"id": edit.entry_id, **notes.prune_figures(context, edit)}
    note |= {notes.FROM_SESSION: context.header.session_id}
    count = _token_count(_last_info(lines), edit.n_tokens_after, context.window_tokens)
    copier.add_new("event_msg", count | {notes.OWN_KEY: note})
    return copier.new_session()


def _undo_compaction(
    lines: Lines, context: Context, compaction: Compaction, edit: UndoEdit
) -> NewSession:
    """Copy the thread as it was when the compaction was written; what followed stays behind.

    Raises:
        Refused: the lines from before the compaction are not in the file.
    """
    ref = next(ref for ref in context.compactions if ref.entry_id == compaction.entry_id)
    boundary = read_entry(next(lines.forward(ref.offset)))
    if isinstance(boundary, Entry):
        notes.refuse_undo_of_first(notes.own_note(payload_of(boundary)), "codex resume")
    before = LinesBefore(lines, _end_before(LinesBefore(lines, ref.offset), compaction))
    refs = tuple(passed for passed in context.compactions if passed.offset < ref.offset)
    earlier = msgspec.structs.replace(context, compactions=refs)
    copier = Copier(before, earlier, edit)
    copier.add_live_lines({})
    return copier.new_session()


def _restore(lines: Lines, context: Context, edit: RestoreEdit) -> NewSession:
    """Copy the live lines with the text behind them."""
    copier = Copier(lines, context, edit)
    copier.add_live_lines({})
    _add_text(copier, edit)
    return copier.new_session()


def _begin(lines: Lines, context: Context, edit: RestoreEdit) -> NewSession:
    """Begin a thread of the same folder, with the model of this one, by the text alone."""
    copier = Copier(lines, context, edit)
    copier.add_last_settings()
    _add_text(copier, edit)
    return copier.new_session()


class Copier:
    """Lines of the new thread, renumbered where Codex numbers them."""

    def __init__(self, lines: Lines, context: Context, edit: _Edit) -> None:
        """Begin with a copy of the first line, which names the thread."""
        self._source = lines
        self._context = context
        self._old_id = context.header.session_id
        self._timestamp = edit.timestamp
        self._lines: list[bytes] = []
        names = (self._old_id, edit.entry_id)
        self.session_id = str(uuid5(_NAMESPACE, "\n".join(names)))
        raw = next(line.raw for line in lines.forward() if line.raw.strip())
        for key in ("id", "session_id"):
            raw = json_line.with_value(raw, ("payload", key), self.session_id)
        raw = json_line.with_value(raw, ("timestamp",), self._timestamp)
        self._is_numbered = b'"ordinal"' in raw
        self._add(json_line.with_value(raw, ("payload", "timestamp"), self._timestamp))

    def add_live_lines(self, replacements: _Replacements) -> None:
        """Copy what is needed: settings and figures from above the boundary, then all.

        Turns that were taken back stay, with what took them back.
        """
        history = read_history(self._source, index_again(self._source, self._context))
        for entry in history.above:
            self._add_line(entry.offset, replacements)
        start = 0 if history.boundary is None else history.boundary.offset
        for line in self._source.forward(start):
            stub = read_stub(line)
            if stub is not None and not isinstance(stub, Problem) and stub.type != "session_meta":
                self._add_line(line.offset, replacements)

    def add_last_settings(self) -> None:
        """Copy the last turn's settings, from which Codex takes the model."""
        for line in self._source.backward():
            stub = read_stub(line)
            if stub is not None and not isinstance(stub, Problem) and stub.type == "turn_context":
                self._add_line(line.offset, {})
                return

    def _add_line(self, offset: int, replacements: _Replacements) -> None:
        """Copy a line; what a placeholder does not stand in stays as it is to the byte."""
        line = next(self._source.forward(offset))
        native = json_line.decode_object(line)
        if isinstance(native, str):
            return
        entry = to_entry(line, json_line.text_of(native, "type") or "", native)
        payload, raw = payload_of(entry), line.raw
        for key in ("thread_id", "session_id"):
            if entry.kind != "response_item" and payload.get(key) == self._old_id:
                raw = json_line.with_value(raw, ("payload", key), self.session_id)
        if entry.kind == "response_item":
            pruned = prune_message(payload, replacements.get(entry.entry_id, ()))
            if pruned is not payload:
                raw = json_line.with_value(raw, ("payload",), pruned)
        elif entry.kind == "compacted":
            natives = json_line.objects_of(payload, "replacement_history")
            pruned_natives = [
                prune_message(message, replacements.get(f"{entry.entry_id}.{at}", ()))
                for at, message in enumerate(natives)
            ]
            if pruned_natives != list(natives):
                raw = json_line.with_value(raw, ("payload", "replacement_history"), pruned_natives)
        self._add(raw)

    def add_new(self, kind: str, payload: JsonObject) -> None:
        line: JsonObject = {"timestamp": self._timestamp}
        if self._is_numbered:
            line["ordinal"] = 0
        self._add(json_line.compact_json(line | {"type": kind, "payload": payload}).encode())

    def new_session(self) -> NewSession:
        # By a time that a preview knows as well.
        last_time = rfc3339(last_time_ms(self._context.items)) or self._timestamp
        name = file_name(datetime.fromisoformat(last_time), self.session_id)
        return NewSession(session_id=self.session_id, name=name, data=b"".join(self._lines))

    def _add(self, raw: bytes) -> None:
        if self._is_numbered:
            raw = json_line.with_value(raw, ("ordinal",), len(self._lines))
        self._lines.append(raw if raw.endswith(b"\n") else raw + b"\n")


def file_name(began: datetime, session_id: str) -> str:
    """Name a rollout as Codex does, by the local time of its beginning."""
    return f"rollout-{began.astimezone():%Y-%m-%dT%H-%M-%S}-{session_id}.jsonl"


def _last_info(lines: Lines) -> JsonObject:
    """Find the info of the last `token_count`, whose sums over the session continue."""
    for line in lines.backward():
        stub = read_stub(line)
        if stub is None or isinstance(stub, Problem) or not stub.is_event("token_count"):
            continue
        entry = read_entry(line)
        if entry is not None and not isinstance(entry, Problem):
            info = json_line.object_of(payload_of(entry), "info")
            if info is not None:
                return info
    return {}


def _token_count(info: JsonObject, n_tokens: int | None, window_tokens: int | None) -> JsonObject:
    """Tell the size of a context as Codex does after a compaction: a sum without its parts."""
    none = dict.fromkeys(_FIGURES, 0)
    figures: JsonObject = {"total_token_usage": none, "model_context_window": window_tokens}
    figures |= info | {"last_token_usage": none | {"total_tokens": n_tokens or 0}}
    return {"type": "token_count", "info": figures, "rate_limits": None}


def _add_text(copier: Copier, edit: RestoreEdit) -> None:
    """Add what goes to the model, and the event by which Codex shows and lists it."""
    copier.add_new("response_item", make_user_message(edit.text))
    copier.add_new("event_msg", {"type": "user_message", "message": edit.text})


def _entitle(session: NewSession, title: str) -> NewSession:
    """End a thread with its name, as Codex notes one."""
    (first,) = json_line.objects_in(session.data.partition(b"\n")[0])
    line: JsonObject = {"timestamp": first["timestamp"]}
    if "ordinal" in first:
        line["ordinal"] = session.data.count(b"\n")
    named = {"type": "thread_name_updated", "thread_id": session.session_id, "thread_name": title}
    line |= {"type": "event_msg", "payload": named}
    return msgspec.structs.replace(session, data=session.data + json_line.write_line(line))


def _end_before(lines: Lines, compaction: Compaction) -> int:
    """Find where the context ends that was compacted.

    Codex 0.169 also writes down the answer that the summary was taken from, with its reasoning.
    """
    end = lines.size_bytes
    is_in_answer = False
    for line in lines.backward():
        entry = read_entry(line)
        if not isinstance(entry, Entry) or entry.kind != "response_item":
            continue
        message, _ = to_message(payload_of(entry), {})
        text = plain_text(message)
        is_summary = message.role == "assistant" and text and compaction.summary.endswith(text)
        is_thought = payload_of(entry).get("type") == "reasoning"
        if not (is_thought if is_in_answer else is_summary):
            break
        is_in_answer = True
        end = line.offset
    return end


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
