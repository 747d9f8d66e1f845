"""The history of a session as a request holds it: the latest summary, then what was kept.

docs/design/assembly.md, "History".
"""

from collections.abc import Callable, Sequence

import msgspec

from ullage.core.transcript.context import Context, ContextItem
from ullage.core.transcript.entries import JsonObject, plain_text
from ullage.core.transcript.tokens import Count, count_items


class SessionHistory(msgspec.Struct, frozen=True, kw_only=True):
    """What a request holds of a session's past."""

    summary: JsonObject | None
    """Its message; None where nothing was compacted, or the summary is not to be read."""
    kept: Context
    """The messages behind it."""

    def messages(
        self, list_messages: Callable[[Context], Sequence[JsonObject]]
    ) -> tuple[JsonObject, ...]:
        """Give the summary's message and those that were kept, these in their agent's own shape."""
        kept = tuple(list_messages(self.kept))
        return kept if self.summary is None else (self.summary, *kept)

    def count_tokens(self, count: Count) -> int:
        n_kept = count_items(self.kept.items, count)
        return n_kept + (0 if self.summary is None else count(str(self.summary["content"])))


def build_session_history(
    context: Context, begin_history: Callable[[str], JsonObject]
) -> SessionHistory:
    """Part the latest summary of a context from what stands beside it.

    `begin_history` makes its message. A summary that nobody but its provider can read stays where
    it is.
    """
    boundary = context.boundary
    if boundary is None or not boundary.summary.strip():
        return SessionHistory(summary=None, kept=context)
    kept = _drop_summary(context.items, boundary.entry_id, boundary.summary)
    return SessionHistory(
        summary=begin_history(boundary.summary),
        kept=msgspec.structs.replace(context, items=kept),
    )


def _drop_summary(
    items: tuple[ContextItem, ...], entry_id: str, summary: str
) -> tuple[ContextItem, ...]:
    """Leave out the messages that hold a summary: some agents part it into a request and an answer.

    A summary behind it is of a branch, which is kept.
    """
    holders = (
        at
        for at, item in enumerate(items)
        if item.category == "summary"
        and (item.entry_id == entry_id or summary.strip() in plain_text(item.message))
    )
    end = max(holders, default=-1) + 1
    return tuple(item for at, item in enumerate(items) if at >= end or item.category != "summary")
