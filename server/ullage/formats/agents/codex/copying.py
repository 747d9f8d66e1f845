"""Lines of a rollout as those of a new thread, which Codex resumes as its own."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID, uuid5

from ullage.core.change.edit import NewSession, Replacement
from ullage.core.transcript.context import Context
from ullage.core.transcript.entries import Lines, Problem
from ullage.core.transcript.message import JsonObject
from ullage.formats.agents.codex.history import History, read_history
from ullage.formats.agents.codex.messages import prune_message
from ullage.formats.agents.codex.records import payload_of, read_entry, read_stub, to_entry
from ullage.formats.json_line import (
    compact_json,
    decode_object,
    object_of,
    objects_of,
    text_of,
    with_value,
)
from ullage.formats.reading import index_again

_NAMESPACE = UUID("d6a3c0f2-6a51-5d0b-8c3e-0f1b7a9e4c55")
"""Of the ids of threads that Ullage begins; drawn once."""


class Copier:
    """Lines of the new thread, numbered anew where Codex numbers them."""

    def __init__(self, lines: Lines, context: Context, *, entry_id: str, timestamp: str) -> None:
        self._source = lines
        self._old_id = context.header.session_id
        self._timestamp = timestamp
        self._is_numbered = False
        self._lines: list[bytes] = []
        names = (self._old_id, entry_id, timestamp)
        self.session_id = str(uuid5(_NAMESPACE, "\n".join(names)))

    def add_header(self) -> None:
        """Copy the first line, which names the thread."""
        raw = next(line.raw for line in self._source.forward() if line.raw.strip())
        for key in ("id", "session_id"):
            raw = with_value(raw, ("payload", key), self.session_id)
        raw = with_value(raw, ("timestamp",), self._timestamp)
        self._is_numbered = b'"ordinal"' in raw
        self._add(with_value(raw, ("payload", "timestamp"), self._timestamp))

    def add_line(self, offset: int, replacements: Mapping[str, Sequence[Replacement]]) -> None:
        """Copy a line; what a placeholder does not stand in stays as it is to the byte."""
        line = next(self._source.forward(offset))
        native = decode_object(line)
        if isinstance(native, str):
            return
        entry = to_entry(line, text_of(native, "type") or "", native)
        payload, raw = payload_of(entry), line.raw
        for key in ("thread_id", "session_id"):
            if entry.kind != "response_item" and payload.get(key) == self._old_id:
                raw = with_value(raw, ("payload", key), self.session_id)
        if entry.kind == "response_item":
            pruned = prune_message(payload, replacements.get(entry.entry_id, ()))
            if pruned is not payload:
                raw = with_value(raw, ("payload",), pruned)
        elif entry.kind == "compacted":
            natives = objects_of(payload, "replacement_history")
            pruned_natives = [
                prune_message(one, replacements.get(f"{entry.entry_id}.{at}", ()))
                for at, one in enumerate(natives)
            ]
            if pruned_natives != list(natives):
                raw = with_value(raw, ("payload", "replacement_history"), pruned_natives)
        self._add(raw)

    def add_new(self, kind: str, payload: JsonObject) -> None:
        line: JsonObject = {"timestamp": self._timestamp}
        if self._is_numbered:
            line["ordinal"] = 0
        self._add(compact_json(line | {"type": kind, "payload": payload}).encode())

    def new_session(self) -> NewSession:
        # Codex names a rollout by the local time of its beginning.
        at = datetime.fromisoformat(self._timestamp).astimezone()
        name = f"rollout-{at:%Y-%m-%dT%H-%M-%S}-{self.session_id}.jsonl"
        return NewSession(session_id=self.session_id, name=name, data=b"".join(self._lines))

    def _add(self, raw: bytes) -> None:
        if self._is_numbered:
            raw = with_value(raw, ("ordinal",), len(self._lines))
        self._lines.append(raw if raw.endswith(b"\n") else raw + b"\n")


def live_history(lines: Lines, context: Context) -> History:
    return read_history(lines, index_again(lines, context))


def live_offsets(lines: Lines, history: History) -> list[int]:
    """List the lines that a copy needs: settings and figures from above the boundary, then all.

    Turns that were taken back stay, with what took them back.
    """
    offsets = [entry.offset for entry in history.above]
    start = 0 if history.boundary is None else history.boundary.offset
    for line in lines.forward(start):
        stub = read_stub(line)
        if stub is not None and not isinstance(stub, Problem) and stub.type != "session_meta":
            offsets.append(line.offset)
    return offsets


def last_info(lines: Lines) -> JsonObject:
    """Find what the last `token_count` told, whose sums over the session go on."""
    for line in lines.backward():
        stub = read_stub(line)
        if stub is None or isinstance(stub, Problem) or not stub.is_event("token_count"):
            continue
        entry = read_entry(line)
        if entry is not None and not isinstance(entry, Problem):
            info = object_of(payload_of(entry), "info")
            if info is not None:
                return info
    return {}


def token_count(info: JsonObject, n_tokens: int | None, window_tokens: int | None) -> JsonObject:
    """Tell the size of a context as Codex does after a compaction: a sum without its parts."""
    none = dict.fromkeys(
        (
            "input_tokens",
            "cached_input_tokens",
            "cache_write_input_tokens",
            "output_tokens",
            "reasoning_output_tokens",
            "total_tokens",
        ),
        0,
    )
    told: JsonObject = {"total_token_usage": none, "model_context_window": window_tokens}
    told |= info | {"last_token_usage": none | {"total_tokens": n_tokens or 0}}
    return {"type": "token_count", "info": told, "rate_limits": None}


def last_settings(lines: Lines) -> int | None:
    """Find the last turn's settings, from which Codex takes the model."""
    for line in lines.backward():
        stub = read_stub(line)
        if stub is not None and not isinstance(stub, Problem) and stub.type == "turn_context":
            return line.offset
    return None
