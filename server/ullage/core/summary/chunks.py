"""Parts of a conversation for a model to summarize: shares, chunks, and what is too large."""

from collections.abc import Sequence
from itertools import accumulate, pairwise

import msgspec

from ullage.core.summary.model_input import Excerpt, fence_excerpts, list_excerpts
from ullage.core.transcript.context import ContextItem, list_cuts
from ullage.core.transcript.entries import Role
from ullage.core.transcript.tokens import Count, count_message

"""docs/design/summaries.md, "Stages", as the two figures below."""
MAX_CHUNK_RATIO = 0.4
"""Of the window."""
RESERVE_TOKENS = 4000
"""Kept free for the answer."""
OVERSIZED_RATIO = 0.5
"""A message beyond this share of the window is oversized: docs/design/summaries.md,
"Fallbacks"."""
_COUNT_MARGIN = 1.2
"""Room for a model whose tokens are smaller than those that we count; chosen."""
_SMALL_WINDOW_SHARE = 4
"""A window too small for the reserve keeps a quarter of itself free; chosen."""
_ANY_NONCE = "01234567"
"""As long as those that `summary` makes; fences cost tokens, too."""
_ROLES_IN_NOTES: dict[Role, str] = {"tool": "toolResult"}
"""Roles that a note words otherwise than we do."""


class MeasuredMessages(msgspec.Struct, frozen=True, kw_only=True):
    """Messages, and how large each is."""

    items: tuple[ContextItem, ...]
    pieces: tuple[tuple[Excerpt, ...], ...]
    """What a model is shown of each."""
    n_tokens: tuple[int, ...]
    """Of the pieces."""
    n_whole_tokens: tuple[int, ...]
    """Of the messages as they are in the context."""

    def between(self, start: int, end: int) -> "MeasuredMessages":
        return self.of(range(start, min(end, len(self.items))))

    def of(self, places: Sequence[int]) -> "MeasuredMessages":
        return MeasuredMessages(
            items=tuple(self.items[at] for at in places),
            pieces=tuple(self.pieces[at] for at in places),
            n_tokens=tuple(self.n_tokens[at] for at in places),
            n_whole_tokens=tuple(self.n_whole_tokens[at] for at in places),
        )


def measure_messages(
    items: Sequence[ContextItem], known_secrets: Sequence[str], count: Count
) -> MeasuredMessages:
    pieces = tuple(list_excerpts([item], known_secrets) for item in items)
    return MeasuredMessages(
        items=tuple(items),
        pieces=pieces,
        n_tokens=tuple(count(fence_excerpts(shown, _ANY_NONCE)) for shown in pieces),
        n_whole_tokens=tuple(count_message(item.message, count) for item in items),
    )


def count_reserve(window_tokens: int) -> int:
    return min(RESERVE_TOKENS, window_tokens // _SMALL_WINDOW_SHARE)


def limit_chunk(window_tokens: int, n_fixed_tokens: int) -> int:
    """Give how many tokens of messages one request may hold.

    `n_fixed_tokens`: what else is in the request, its instructions and the earlier summary.
    """
    room = window_tokens - count_reserve(window_tokens) - n_fixed_tokens
    return max(0, int(min(window_tokens * MAX_CHUNK_RATIO, room) / _COUNT_MARGIN))


def split_by_share(messages: MeasuredMessages, n_parts: int) -> tuple[MeasuredMessages, ...]:
    """Split messages into parts of about equal tokens, never a call from its result.

    Fewer parts where there are fewer places to split; none is empty.
    """
    sums = list(accumulate(messages.n_tokens, initial=0))
    legal = [at for at in list_cuts(messages.items) if at > 0]
    cuts = [0]
    for n_part in range(1, n_parts):
        target = sums[-1] * n_part / n_parts
        ahead = [at for at in legal if at > cuts[-1]]
        if ahead:
            cuts.append(min(ahead, key=lambda at: abs(sums[at] - target)))
    cuts.append(len(messages.items))
    return tuple(messages.between(start, end) for start, end in pairwise(cuts) if start < end)


def cut_chunks(messages: MeasuredMessages, max_tokens: int) -> tuple[MeasuredMessages, ...]:
    """Cut messages into runs of at most `max_tokens` tokens.

    A call stays with its result unless the two do not fit together; a message that alone is
    larger is a chunk of its own.
    """
    legal = frozenset(list_cuts(messages.items))
    cuts = [0]
    last_legal = 0
    n_chunk = 0
    for at, n_message in enumerate(messages.n_tokens):
        if at in legal:
            last_legal = at
        if at > cuts[-1] and n_chunk + n_message > max_tokens:
            cuts.append(last_legal if last_legal > cuts[-1] else at)
            n_chunk = sum(messages.n_tokens[cuts[-1] : at])
            if at > cuts[-1] and n_chunk + n_message > max_tokens:
                cuts.append(at)
                n_chunk = 0
        n_chunk += n_message
    cuts.append(len(messages.items))
    return tuple(messages.between(start, end) for start, end in pairwise(cuts) if start < end)


def drop_oversized(
    messages: MeasuredMessages, window_tokens: int
) -> tuple[MeasuredMessages, tuple[str, ...]]:
    """Take out the messages that are larger than half the window; give a note for each."""
    limit = window_tokens * OVERSIZED_RATIO
    small = [at for at, n in enumerate(messages.n_whole_tokens) if n <= limit]
    notes = tuple(
        format_omission(item.message.role, n)
        for item, n in zip(messages.items, messages.n_whole_tokens, strict=True)
        if n > limit
    )
    return messages.of(small), notes


def format_omission(role: Role, n_tokens: int) -> str:
    """Word the note that stands for a message too large to be summarized."""
    name = _ROLES_IN_NOTES.get(role, role)
    return f"[Large {name} (~{(n_tokens + 500) // 1000}K tokens) omitted from summary]"


def format_note(n_messages: int, n_oversized: int) -> str:
    """Word the note for messages that nothing could summarize."""
    return (
        f"Context contained {n_messages} messages ({n_oversized} oversized)."
        " Summary unavailable due to size limits."
    )
