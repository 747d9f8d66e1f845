"""From the lines of a rollout to the items that Codex sends, with the figures told in between.

A `compacted` line holds a summary, or the history that takes the old one's place.
"""

from collections.abc import Iterable, Mapping

import msgspec

from ullage.core.transcript.agent_lines import MAX_PERCENT
from ullage.core.transcript.context import PREFACE, Compaction, Context, ContextItem, PruneRecord
from ullage.core.transcript.entries import Entry, JsonObject, Usage, plain_text
from ullage.core.transcript.limits import Limit
from ullage.formats.agents.codex.messages import (
    is_sent,
    list_block_categories,
    make_user_message,
    to_message,
)
from ullage.formats.agents.codex.records import is_prune, payload_of, read_prune_note
from ullage.formats.json_line import int_of, ms_of, object_of, objects_of, text_of
from ullage.formats.notes import own_note
from ullage.formats.reading import calls_in, counts_in, make_item, make_usage

_LARGE_KEYS = frozenset(
    ("message", "replacement_history", "replacement_history_metadata", "retained_context")
)
_FIGURES = ("input_tokens", "output_tokens", "cached_input_tokens", "cache_write_input_tokens")


def items_of_boundary(boundary: Entry) -> list[ContextItem]:
    """List what a compaction left: its replacement history, else its summary alone.

    Where there is no replacement history, Codex up to 0.12x rebuilds one when it resumes: its
    first messages made anew, the user's messages back from the last one up to 20,000 tokens, the
    summary. The rollout does not hold that list, so that the user's messages are left out here.
    """
    payload = payload_of(boundary)
    summary = text_of(payload, "message") or ""
    if isinstance(payload.get("replacement_history"), list):
        natives = objects_of(payload, "replacement_history")
    else:
        natives = (make_user_message(summary),) if summary else ()
    items: list[ContextItem] = []
    tool_names: dict[str, str] = {}
    for at, native in enumerate(natives):
        if is_sent(native):
            items.append(_item_of_boundary(boundary, at, native, summary, tool_names))
            tool_names |= calls_in(items[-1].message)
    return items


def to_compaction(
    boundary: Entry, items: Iterable[ContextItem], n_tokens_after: int | None
) -> Compaction:
    payload = payload_of(boundary)
    usage = object_of(object_of(payload, "latest_token_usage_record") or {}, "usage") or {}
    text = next((plain_text(i.message) for i in items if i.category == "summary"), "")
    summary = text_of(payload, "message") or text
    own = own_note(payload)
    own_before = int_of(own or {}, "tokensBefore")
    details = own or {key: value for key, value in payload.items() if key not in _LARGE_KEYS}
    return Compaction(
        entry_id=boundary.entry_id,
        at_ms=ms_of(boundary.native),
        summary=summary.removeprefix(PREFACE),
        is_opaque=not summary and isinstance(payload.get("replacement_history"), list),
        # The request that asked for the summary, and so the old context and little more.
        n_tokens_before=int_of(usage, "total_tokens") if own is None else own_before,
        n_tokens_after=n_tokens_after,
        trigger=text_of(details, "trigger"),
        layer=text_of(details, "layer"),
        n_messages=int_of(details, "messagesCompacted"),
        details=details,
    )


class Assembly:
    """Items in order. The items that hold a usage come in the order in which it was told.

    A `token_count` is repeated when only rate limits changed, perhaps after new items or even
    after a compaction: one with the same figures as the last tells nothing.
    """

    def __init__(self, items: Iterable[ContextItem] = (), *, has_boundary: bool = False) -> None:
        self.items = list(items)
        self.model: str | None = None
        self.window_tokens: int | None = None
        self.limits: tuple[Limit, ...] = ()
        self.n_tokens_after: int | None = None
        """Codex's estimate of the context right after the boundary."""
        self.pruned: PruneRecord | None = None
        self._last_usage: Usage | None = None
        self._has_boundary = has_boundary
        self._n_kept = len(self.items)
        """Items that stand in the boundary itself; no later figure belongs to them."""
        self._tool_names: dict[str, str] = {}
        for item in self.items:
            self._tool_names |= calls_in(item.message)

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
        assembly.limits = context.limits
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
        info = payload if "model_context_window" in payload else object_of(payload, "info") or {}
        n_tokens = int_of(info, "model_context_window")
        if n_tokens is not None and n_tokens > 0:
            self.window_tokens = n_tokens
        self.limits = _limits(payload) or self.limits

    def _add_item(self, entry: Entry, native: JsonObject) -> None:
        item = item_of(entry, native, self._tool_names)
        self._tool_names |= calls_in(item.message)
        self.items.append(item)

    def _add_usage(self, usage: Usage | None) -> None:
        """Give a usage to the last item that it covers.

        A reported one ends with what the model answered: outputs of tools that stand before the
        event, but after the answer, were not in it. An estimate covers all that is there; one
        beyond the window is none, as no request can be that large.
        """
        if usage is None or usage == self._last_usage:
            return
        is_estimate = usage.n_total > 0 and not (usage.n_input or usage.n_output)
        is_estimate = is_estimate and not (usage.n_cache_read or usage.n_cache_write)
        if is_estimate and usage.n_total > (self.window_tokens or usage.n_total):
            return
        if len(self.items) == self._n_kept:
            if self._has_boundary and is_estimate:
                self.n_tokens_after = usage.n_total
                self._last_usage = usage
            return
        at = len(self.items) - 1
        if not is_estimate:
            at = next((i for i in reversed(self._own_places()) if self._is_end(i)), at)
        item = self.items[at]
        message = msgspec.structs.replace(item.message, usage=usage, model=self.model)
        self.items[at] = msgspec.structs.replace(item, message=message)
        self._last_usage = usage

    def _add_prune(self, entry: Entry, payload: JsonObject) -> None:
        """Take all figures so far for those of a larger context."""
        self.pruned = read_prune_note(entry)
        self.items = [msgspec.structs.replace(item, is_after_boundary=False) for item in self.items]
        self._n_kept = len(self.items)
        self._last_usage = _usage(payload) or self._last_usage

    def _own_places(self) -> range:
        return range(self._n_kept, len(self.items))

    def _is_end(self, at: int) -> bool:
        message = self.items[at].message
        return message.role == "assistant" or message.usage is not None


def item_of(entry: Entry, native: JsonObject, tool_names: Mapping[str, str]) -> ContextItem:
    message, category = to_message(native, tool_names)
    item = make_item(entry, message, category, native)
    categories = list_block_categories(native, message)
    return msgspec.structs.replace(item, block_categories=categories) if categories else item


def last_usage(context: Context) -> Usage | None:
    """Find the figures that were told last; None right after a compaction without any."""
    usages = (item.message.usage for item in reversed(context.items))
    last = next((usage for usage in usages if usage is not None), None)
    boundary = context.boundary
    if last is not None or boundary is None or boundary.n_tokens_after is None:
        return last
    return make_usage(0, 0, 0, 0, boundary.n_tokens_after)


def _stands_in(entry_id: str, boundary_id: str) -> bool:
    """Whether an item is part of a boundary itself."""
    return entry_id.partition(".")[0] == boundary_id


def _is_kept(item: ContextItem, boundary: Compaction | None) -> bool:
    """Whether no later figure can belong to an item."""
    is_in_boundary = boundary is not None and _stands_in(item.entry_id, boundary.entry_id)
    return is_in_boundary or not item.is_after_boundary


def _item_of_boundary(
    boundary: Entry, at: int, native: JsonObject, summary: str, tool_names: Mapping[str, str]
) -> ContextItem:
    message, category = to_message(native, tool_names)
    if summary and message.role == "user" and plain_text(message) == summary:
        category = "summary"
    return ContextItem(
        entry_id=boundary.entry_id if category == "summary" else f"{boundary.entry_id}.{at}",
        message=message,
        category=category,
        native=native,
        block_categories=list_block_categories(native, message),
        at_ms=ms_of(boundary.native),
        is_after_boundary=category == "summary",
    )


def _limits(payload: JsonObject) -> tuple[Limit, ...]:
    """Read the limits of a `token_count`: mostly those of five hours and of a week."""
    told = object_of(payload, "rate_limits") or {}
    limits: list[Limit] = []
    for limit in (object_of(told, name) or {} for name in ("primary", "secondary")):
        percent, n_minutes = limit.get("used_percent"), int_of(limit, "window_minutes")
        if n_minutes is None or n_minutes <= 0 or not isinstance(percent, int | float):
            continue
        if 0 <= percent < MAX_PERCENT:
            resets_at_s = int_of(limit, "resets_at") or 0
            limits.append(
                Limit(n_minutes=n_minutes, used_percent=round(percent), resets_at_s=resets_at_s)
            )
    return tuple(limits)


def _usage(payload: JsonObject) -> Usage | None:
    """Read `last_token_usage`, whose input includes what came from the cache or went to it."""
    usage = object_of(object_of(payload, "info") or {}, "last_token_usage") or {}
    n_input, n_output, n_read, n_write = (max(0, n) for n in counts_in(usage, _FIGURES))
    n_total = int_of(usage, "total_tokens")
    n_total = n_input + n_output if n_total is None else n_total
    return make_usage(max(0, n_input - n_read - n_write), n_output, n_read, n_write, n_total)
