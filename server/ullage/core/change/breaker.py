"""Loop protection: when automatic runs must wait, judged by what earlier runs gained.

The rules, after the loops that users report (211 compactions in one session and the like):

- After a run that freed less than a fifth, none of its kind or of a weaker one follows until the
  context has grown by a fifth. A user who declines a run, or takes one back, has the same rest,
  or one until half of what was left of the window is used.
- Three failures in a row end automatic compaction until they expire, after an hour. A compaction
  that freed less than a fifth is a failure.
- No compaction follows another within ten minutes, and no prune another prune. Where a runtime
  holds the messages, a compaction that freed a fifth and was seen applied holds up no other: what
  comes between them is growth.
- A compaction that somebody else made begins a new epoch, where only the failures still count.

An overflow does not wait for the first and third rule, as the agent cannot continue without it.
The value is kept beside the session; every transition gives a new one. Times are milliseconds
since 1970.
"""

import math

import msgspec

from ullage.core.gauge.gauge import LAYERS, Layer

MIN_GAIN_RATIO = 0.20
"""Of the context; a run that frees less is not worth another soon (chosen)."""
MIN_GROWTH_RATIO = 0.20
MAX_STRIKES = 3
RUN_INTERVAL_MS = 10 * 60_000
STRIKE_LIFE_MS = 60 * 60_000
"""Chosen: long enough for an outage of a provider or a change of settings."""


class Breaker(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a session's automatic runs."""

    epoch: int = 0
    """Compactions of the session when this was last written."""
    last_prune_ms: int | None = None
    last_compaction_ms: int | None = None
    strikes_ms: tuple[int, ...] = ()
    """When runs failed, in a row."""
    held_layer: Layer | None = None
    """No automatic run of this layer or a weaker one until the context has the size below."""
    held_until_tokens: int = 0
    is_warned: bool = False
    """Whether the user was told in this epoch that automatic runs have stopped."""


def refuse_run(
    breaker: Breaker, layer: Layer, used_tokens: int, now_ms: int, *, is_overflow: bool = False
) -> str | None:
    """Say why a layer must not run automatically now; None where it may."""
    if is_tripped(breaker, now_ms):
        return (
            f"{MAX_STRIKES} automatic runs in a row failed or freed next to nothing: what is left"
            " may be the system prompt, the tools' descriptions and the last messages"
        )
    if is_overflow:
        return None
    if (
        breaker.held_layer is not None
        and LAYERS.index(layer) <= LAYERS.index(breaker.held_layer)
        and used_tokens < breaker.held_until_tokens
    ):
        return f"the next automatic run waits until {breaker.held_until_tokens:,} tokens are used"
    last_ms = breaker.last_prune_ms if layer == "prune" else breaker.last_compaction_ms
    # A clock that was set back must not hold up the next run for longer than the interval.
    if last_ms is not None and abs(now_ms - last_ms) < RUN_INTERVAL_MS:
        return "the last automatic run was less than 10 minutes ago"
    return None


def is_tripped(breaker: Breaker, now_ms: int) -> bool:
    return len(_live_strikes(breaker, now_ms)) >= MAX_STRIKES


def record_run(
    breaker: Breaker,
    layer: Layer,
    *,
    n_before: int,
    n_after: int,
    n_compactions: int,
    now_ms: int,
) -> Breaker:
    """Record an automatic run by its strongest layer and the context before and after it.

    `n_compactions` are those of the session now, this one included.
    """
    is_worthwhile = n_before - n_after >= MIN_GAIN_RATIO * n_before
    is_compaction = layer != "prune"
    strikes = _live_strikes(breaker, now_ms)
    if is_compaction:
        strikes = () if is_worthwhile else (*strikes, now_ms)
    return Breaker(
        epoch=n_compactions,
        last_prune_ms=breaker.last_prune_ms if is_compaction else now_ms,
        last_compaction_ms=now_ms if is_compaction else breaker.last_compaction_ms,
        strikes_ms=strikes,
        held_layer=None if is_worthwhile else layer,
        held_until_tokens=0 if is_worthwhile else _after_growth(n_after),
        is_warned=breaker.is_warned and not (is_compaction and is_worthwhile),
    )


def record_applied(breaker: Breaker, n_compactions: int) -> Breaker:
    """Record that a runtime applied the compaction that was recorded last."""
    last_ms = None if breaker.held_layer is None else breaker.last_compaction_ms
    return msgspec.structs.replace(breaker, epoch=n_compactions, last_compaction_ms=last_ms)


def record_failure(breaker: Breaker, now_ms: int) -> Breaker:
    """Record an automatic run that ended with an error and changed nothing."""
    return msgspec.structs.replace(
        breaker,
        strikes_ms=(*_live_strikes(breaker, now_ms), now_ms),
        last_compaction_ms=now_ms,
    )


def put_off(
    breaker: Breaker,
    layer: Layer,
    *,
    used_tokens: int,
    window_tokens: int | None,
    n_compactions: int,
) -> Breaker:
    """Record that the user declined a run of a layer, or undid one; stronger ones still ask.

    It rests until half of what was left of the window is used, where that comes first: a context
    that is nearly full cannot grow by a fifth.
    """
    until_tokens = _after_growth(used_tokens)
    if window_tokens is not None and window_tokens > used_tokens:
        until_tokens = min(until_tokens, math.ceil((used_tokens + window_tokens) / 2))
    return msgspec.structs.replace(
        breaker,
        epoch=n_compactions,
        held_layer=layer,
        held_until_tokens=until_tokens,
    )


def record_warning(breaker: Breaker, *, n_compactions: int) -> Breaker:
    return msgspec.structs.replace(breaker, epoch=n_compactions, is_warned=True)


def begin_epoch(breaker: Breaker, n_compactions: int) -> Breaker:
    """Begin a new epoch where the session was compacted by other means since."""
    if n_compactions <= breaker.epoch:
        return breaker
    return msgspec.structs.replace(
        breaker, epoch=n_compactions, held_layer=None, held_until_tokens=0, is_warned=False
    )


def _live_strikes(breaker: Breaker, now_ms: int) -> tuple[int, ...]:
    return tuple(at for at in breaker.strikes_ms if abs(now_ms - at) < STRIKE_LIFE_MS)


def _after_growth(n_tokens: int) -> int:
    return math.ceil(n_tokens * (1 + MIN_GROWTH_RATIO))
