"""Parts of a conversation for a model to summarize: shares, chunks, and what is too large."""

from collections.abc import Sequence
from itertools import accumulate, pairwise

import msgspec

from ullage.core.change.compaction import legal_cuts
from ullage.core.summary.model_input import Piece, fenced, pieces_of
from ullage.core.transcript.context import ContextItem
from ullage.core.transcript.message import Role
from ullage.core.transcript.tokens import Count, count_message

DEFAULT_PARTS = 2
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


class Sized(msgspec.Struct, frozen=True, kw_only=True):
    """Messages, and how large each is."""

    items: tuple[ContextItem, ...]
    pieces: tuple[tuple[Piece, ...], ...]
    """What a model is shown of each."""
    n_tokens: tuple[int, ...]
    """Of the pieces."""
    n_whole_tokens: tuple[int, ...]
    """Of the messages as they are in the context."""

    def between(self, start: int, end: int) -> "Sized":
        return self.of(range(start, min(end, len(self.items))))

    def of(self, places: Sequence[int]) -> "Sized":
        return Sized(
            items=tuple(self.items[at] for at in places),
            pieces=tuple(self.pieces[at] for at in places),
            n_tokens=tuple(self.n_tokens[at] for at in places),
            n_whole_tokens=tuple(self.n_whole_tokens[at] for at in places),
        )


def measured(items: Sequence[ContextItem], known_secrets: Sequence[str], count: Count) -> Sized:
    pieces = tuple(pieces_of([item], known_secrets) for item in items)
    return Sized(
        items=tuple(items),
        pieces=pieces,
        n_tokens=tuple(count(fenced(shown, _ANY_NONCE)) for shown in pieces),
        n_whole_tokens=tuple(count_message(item.message, count) for item in items),
    )


def reserve_tokens(window_tokens: int) -> int:
    return min(RESERVE_TOKENS, window_tokens // _SMALL_WINDOW_SHARE)


def max_chunk_tokens(window_tokens: int, n_fixed_tokens: int) -> int:
    """Give how many tokens of messages one request may hold.

    `n_fixed_tokens`: what else is in the request, its instructions and the earlier summary.
    """
    room = window_tokens - reserve_tokens(window_tokens) - n_fixed_tokens
    return max(0, int(min(window_tokens * MAX_CHUNK_RATIO, room) / _COUNT_MARGIN))


def split_by_share(sized: Sized, n_parts: int) -> tuple[Sized, ...]:
    """Split messages into parts of about equal tokens, never a call from its result.

    Fewer parts where there are fewer places to split; none is empty.
    """
    sums = list(accumulate(sized.n_tokens, initial=0))
    legal = [at for at in legal_cuts(sized.items) if at > 0]
    cuts = [0]
    for n_part in range(1, n_parts):
        target = sums[-1] * n_part / n_parts
        ahead = [at for at in legal if at > cuts[-1]]
        if ahead:
            cuts.append(min(ahead, key=lambda at: abs(sums[at] - target)))
    cuts.append(len(sized.items))
    return tuple(sized.between(start, end) for start, end in pairwise(cuts) if start < end)


def chunks(sized: Sized, max_tokens: int) -> tuple[Sized, ...]:
    """Cut messages into runs of at most so many tokens.

    A call stays with its result unless the two do not fit together; a message that alone is
    larger is a chunk of its own.
    """
    legal = frozenset(legal_cuts(sized.items))
    cuts = [0]
    last_legal = 0
    n_chunk = 0
    for at, n_message in enumerate(sized.n_tokens):
        if at in legal:
            last_legal = at
        if at > cuts[-1] and n_chunk + n_message > max_tokens:
            cuts.append(last_legal if last_legal > cuts[-1] else at)
            n_chunk = sum(sized.n_tokens[cuts[-1] : at])
            if at > cuts[-1] and n_chunk + n_message > max_tokens:
                cuts.append(at)
                n_chunk = 0
        n_chunk += n_message
    cuts.append(len(sized.items))
    return tuple(sized.between(start, end) for start, end in pairwise(cuts) if start < end)


def without_oversized(sized: Sized, window_tokens: int) -> tuple[Sized, tuple[str, ...]]:
    """Take out the messages that are larger than half the window; give a note for each."""
    limit = window_tokens * OVERSIZED_RATIO
    small = [at for at, n in enumerate(sized.n_whole_tokens) if n <= limit]
    notes = tuple(
        omission_note(item.message.role, n)
        for item, n in zip(sized.items, sized.n_whole_tokens, strict=True)
        if n > limit
    )
    return sized.of(small), notes


def omission_note(role: Role, n_tokens: int) -> str:
    """Word the note that stands for a message too large to be summarized."""
    name = _ROLES_IN_NOTES.get(role, role)
    return f"[Large {name} (~{(n_tokens + 500) // 1000}K tokens) omitted from summary]"


def plain_note(n_messages: int, n_oversized: int) -> str:
    """Word the note for messages that nothing could summarize."""
    return (
        f"Context contained {n_messages} messages ({n_oversized} oversized)."
        " Summary unavailable due to size limits."
    )
