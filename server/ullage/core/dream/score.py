"""How much speaks for a candidate: the score of docs/design/memory.md, "Score of a candidate".

Recalls by a person or an agent are counted apart from what Ullage's own passes saw: where nobody
ever asked for a text, nothing is applied unread, however often it was written down.
"""

import math
from contextlib import suppress
from datetime import date

import msgspec

from ullage.core.memory.journal import RecallCount

HALF_LIFE_DAYS = 14
MIN_SCORE = 0.75
MIN_SIGNALS = 3
MIN_CONTEXTS = 2
"""For applying unread (docs/design/memory.md, "Score of a candidate"), with one recall at least."""
LASTING_BOOST = 0.15
"""What the judgment that a statement lasts adds at most: as much as OpenClaw's earlier phases."""
_MOST_TAGS = 6
_MOST_CONTEXTS = 5


class Support(msgspec.Struct, frozen=True, kw_only=True):
    """What speaks for a candidate."""

    days: tuple[str, ...]
    """On which it was said, `YYYY-MM-DD`."""
    recalls: tuple[RecallCount, ...] = ()
    """Of the pieces of memory that say it."""
    n_tags: int = 0
    """Names in it: paths, identifiers, values."""
    probability: float = 0.0
    """That it lasts."""

    @property
    def asked(self) -> tuple[RecallCount, ...]:
        """Recalls by persons and agents."""
        return tuple(count for count in self.recalls if count.by != "ullage")

    @property
    def n_recalls(self) -> int:
        return sum(count.n_recalls for count in self.asked)

    @property
    def n_signals(self) -> int:
        return self.n_recalls + len(set(self.days))

    @property
    def n_contexts(self) -> int:
        """Different queries or days, whichever are more."""
        return max(sum(count.n_queries for count in self.asked), len(_list_days(self)))


def score(support: Support, today: date) -> float:
    """Score a candidate, 0 to 1."""
    days = _list_days(support)
    newest = max(days, default=today)
    span_days = (newest - min(days, default=today)).days
    n_hits = support.n_recalls
    total = sum(count.total_score for count in support.asked)
    consolidation = 0.2
    if len(days) > 1:
        consolidation = 0.55 * math.log(len(days)) / math.log(5) + 0.45 * span_days / 7
    parts = (
        (0.30, total / n_hits if n_hits else 0.0),
        (0.24, math.log(1 + support.n_signals) / math.log(11)),
        (0.15, support.n_contexts / _MOST_CONTEXTS),
        (0.15, 0.5 ** (max(0, (today - newest).days) / HALF_LIFE_DAYS)),
        (0.10, consolidation),
        (0.06, support.n_tags / _MOST_TAGS),
    )
    boost = LASTING_BOOST * support.probability
    return min(1.0, sum(weight * min(1.0, part) for weight, part in parts) + boost)


def may_apply_unread(support: Support, today: date) -> bool:
    """Tell whether a candidate may reach `MEMORY.md` before a person saw it, where that is set."""
    return (
        score(support, today) >= MIN_SCORE
        and support.n_signals >= MIN_SIGNALS
        and support.n_contexts >= MIN_CONTEXTS
        and support.n_recalls > 0
    )


def _list_days(support: Support) -> frozenset[date]:
    days: set[date] = set()
    for day in (*support.days, *(count.last_day for count in support.asked)):
        with suppress(ValueError):
            days.add(date.fromisoformat(day))
    return frozenset(days)
