"""From the lines of a rollout to the items that Codex sends, with the figures told in between."""

from collections.abc import Iterable

import msgspec

from ullage.core.transcript.context import Compaction, Context, ContextItem, PruneRecord
from ullage.core.transcript.entries import Entry
from ullage.core.transcript.message import JsonObject, ToolCall, Usage
from ullage.formats.agents.codex.compaction import stands_in
from ullage.formats.agents.codex.messages import is_sent, to_message
from ullage.formats.agents.codex.notes import is_prune, own_note, to_prune_record
from ullage.formats.agents.codex.records import payload_of
from ullage.formats.json_line import int_of, ms_of, object_of, text_of

_FIGURES = ("input_tokens", "output_tokens", "cached_input_tokens", "cache_write_input_tokens")


class Assembly:
    """Items in order. The items that hold a usage come in the order in which it was told.

    A `token_count` is repeated when only rate limits changed, perhaps after new items or even
    after a compaction: one with the same figures as the last tells nothing.
    """

    def __init__(self, items: Iterable[ContextItem] = (), *, has_boundary: bool = False) -> None:
        self.items = list(items)
        self.model: str | None = None
        self.window_tokens: int | None = None
        self.n_tokens_after: int | None = None
        """Codex's estimate of the context right after the boundary."""
        self.pruned: PruneRecord | None = None
        self._last_usage: Usage | None = None
        self._has_boundary = has_boundary
        self._n_kept = len(self.items)
        """Items that stand in the boundary itself; no later figure belongs to them."""
        self._tool_names: dict[str, str] = {}
        for item in self.items:
            self._learn_tools(item)

    @classmethod
    def resumed(cls, context: Context) -> "Assembly":
        """Take up where the reading of a context ended."""
        boundary = context.boundary
        assembly = cls(context.items, has_boundary=boundary is not None)
        kept = (at for at, item in enumerate(context.items) if _is_kept(item, boundary))
        assembly._n_kept = max(kept, default=-1) + 1
        if boundary is not None:
            assembly.n_tokens_after = boundary.n_tokens_after
        assembly.pruned = context.pruned
        assembly.model = context.model
        assembly.window_tokens = context.window_tokens
        assembly._last_usage = last_usage(context)
        return assembly

    def add_above(self, entry: Entry) -> None:
        """Learn from a line before the boundary, whose figures hold no more."""
        self._add_settings(entry)
        self._last_usage = _usage(payload_of(entry)) or self._last_usage

    def add(self, entry: Entry) -> None:
        self._add_settings(entry)
        payload = payload_of(entry)
        if entry.kind == "response_item":
            if is_sent(payload):
                self._add_item(entry, payload)
        elif is_prune(entry):
            self._add_prune(entry, payload)
        elif payload.get("type") == "token_count":
            self._add_usage(_usage(payload))

    def _add_settings(self, entry: Entry) -> None:
        payload = payload_of(entry)
        if entry.kind == "turn_context":
            self.model = text_of(payload, "model") or self.model
            return
        told = payload if "model_context_window" in payload else object_of(payload, "info") or {}
        n_tokens = int_of(told, "model_context_window")
        if n_tokens is not None and n_tokens > 0:
            self.window_tokens = n_tokens

    def _add_item(self, entry: Entry, native: JsonObject) -> None:
        message, category = to_message(native, self._tool_names)
        item = ContextItem(
            entry_id=entry.entry_id,
            message=message,
            category=category,
            native=native,
            at_ms=ms_of(entry.native),
            is_after_boundary=True,
        )
        self._learn_tools(item)
        self.items.append(item)

    def _learn_tools(self, item: ContextItem) -> None:
        for block in item.message.blocks:
            if isinstance(block, ToolCall):
                self._tool_names[block.call_id] = block.name

    def _add_usage(self, usage: Usage | None) -> None:
        """Give a usage to the last item that it covers.

        A reported one ends with what the model answered: outputs of tools that stand before the
        event, but after the answer, were not in it. An estimate covers all that is there.
        """
        if usage is None or usage == self._last_usage:
            return
        is_estimate = usage.n_total > 0 and not (usage.n_input or usage.n_output)
        is_estimate = is_estimate and not (usage.n_cache_read or usage.n_cache_write)
        if len(self.items) == self._n_kept:
            if self._has_boundary and is_estimate:
                self.n_tokens_after = usage.n_total
                self._last_usage = usage
            return
        at = len(self.items) - 1
        if not is_estimate:
            at = next((i for i in reversed(self._own_places()) if self._is_end(i)), at)
        item = self.items[at]
        message = msgspec.structs.replace(item.message, usage=usage)
        self.items[at] = msgspec.structs.replace(item, message=message)
        self._last_usage = usage

    def _add_prune(self, entry: Entry, payload: JsonObject) -> None:
        """Take all figures so far for those of a larger context."""
        self.pruned = to_prune_record(entry, own_note(payload) or {})
        self.items = [msgspec.structs.replace(item, is_after_boundary=False) for item in self.items]
        self._n_kept = len(self.items)
        self._last_usage = _usage(payload) or self._last_usage

    def _own_places(self) -> range:
        return range(self._n_kept, len(self.items))

    def _is_end(self, at: int) -> bool:
        message = self.items[at].message
        return message.role == "assistant" or message.usage is not None


def _is_kept(item: ContextItem, boundary: Compaction | None) -> bool:
    """Whether no later figure can belong to an item."""
    is_in_boundary = boundary is not None and stands_in(item.entry_id, boundary.entry_id)
    return is_in_boundary or not item.is_after_boundary


def last_usage(context: Context) -> Usage | None:
    """Find the figures that were told last; None right after a compaction without any."""
    told = (item.message.usage for item in reversed(context.items))
    found = next((usage for usage in told if usage is not None), None)
    boundary = context.boundary
    if found is not None or boundary is None or boundary.n_tokens_after is None:
        return found
    return _estimate(boundary.n_tokens_after)


def _estimate(n_total: int) -> Usage:
    return Usage(n_input=0, n_output=0, n_cache_read=0, n_cache_write=0, n_total=n_total)


def _usage(payload: JsonObject) -> Usage | None:
    """Read `last_token_usage`, whose input includes what came from the cache or went to it."""
    told = object_of(object_of(payload, "info") or {}, "last_token_usage") or {}
    n_input, n_output, n_read, n_write = (max(0, int_of(told, key) or 0) for key in _FIGURES)
    n_total = int_of(told, "total_tokens")
    n_total = n_input + n_output if n_total is None else n_total
    if n_total <= 0:
        return None
    return Usage(
        n_input=max(0, n_input - n_read - n_write),
        n_output=n_output,
        n_cache_read=n_read,
        n_cache_write=n_write,
        n_total=n_total,
    )
