"""How full the context was after each of its messages."""

from collections.abc import Sequence

from ullage.core.gauge.gauge import Gauge, tells_usage
from ullage.core.transcript.context import ContextItem
from ullage.core.transcript.tokens import count_message, estimate


def running_totals(items: Sequence[ContextItem], gauge: Gauge) -> tuple[int, ...]:
    """Give the tokens of the context up to each message, that one included.

    An answer's reported usage is exact. Between two of them characters are counted, which cannot
    err by more than a turn does; before the first, what the agent sends beside the messages, its
    system prompt and tools, is what the figures leave over.
    """
    sizes = [count_message(item.message, estimate) for item in items]
    reported = [
        item.message.usage.n_total if item.message.usage and tells_usage(item) else None
        for item in items
    ]
    first = next((at for at, n_tokens in enumerate(reported) if n_tokens is not None), None)
    if first is None:
        total = max(0, (gauge.used_tokens or 0) - sum(sizes))
    else:
        total = max(0, (reported[first] or 0) - sum(sizes[: first + 1]))
    totals: list[int] = []
    for n_tokens, size in zip(reported, sizes, strict=True):
        total = total + size if n_tokens is None else n_tokens
        totals.append(total)
    return tuple(totals)
