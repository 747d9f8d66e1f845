"""Nudges: when a user is told that a window fills, once for each band until it fell again.

A band is told of when the context comes into it, and not again before the context was clearly
below it, as after a compaction: a gauge that goes up and down at the edge of a band says nothing
new. A question whether to compact is asked once for each layer in the same way. Snoozed is both
until the next compaction, or until the context comes into a higher band.
"""

from typing import Literal, TypeAlias, get_args

import msgspec

from ullage.core.config.settings import Policy
from ullage.core.gauge.gauge import LAYERS, Band, Layer, band_of

NudgedBand: TypeAlias = Literal["warning", "critical"]
BANDS: tuple[Band, ...] = get_args(Band)
FALL_RATIO = 0.10
"""Of the window, below the start of a band: more than the noise of our measuring (chosen)."""


class Nudges(msgspec.Struct, frozen=True, kw_only=True):
    """What a session's user was warned of and asked."""

    told_band: Band = "normal"
    """The highest band announced since the context was clearly below it."""
    asked_layer: Layer | None = None
    """The strongest layer asked about, and the number of compactions at that time."""
    asked_compactions: int = 0
    snoozed_band: Band | None = None
    """The band in which the user wanted no more of it, and the session's compactions then."""
    snoozed_compactions: int = 0


def nudge(
    nudges: Nudges, utilization: float | None, n_compactions: int, policy: Policy
) -> tuple[Nudges, NudgedBand | None]:
    """Give the new state, and the band to announce now, if any."""
    if utilization is None:
        return nudges, None
    band = band_of(utilization, policy)
    settled = msgspec.structs.replace(nudges, told_band=_left(nudges, utilization, policy))
    if band not in ("warning", "critical") or _rank(band) <= _rank(settled.told_band):
        return settled, None
    nudged = msgspec.structs.replace(settled, told_band=band)
    return nudged, None if is_snoozed(nudges, band, n_compactions) else band


def may_ask(nudges: Nudges, layer: Layer, band: Band, n_compactions: int) -> bool:
    """Tell whether a question about a layer would be news, and is not snoozed."""
    asked = nudges.asked_layer if nudges.asked_compactions == n_compactions else None
    is_new = asked is None or LAYERS.index(layer) > LAYERS.index(asked)
    return is_new and not is_snoozed(nudges, band, n_compactions)


def ask(nudges: Nudges, layer: Layer, band: Band, n_compactions: int) -> tuple[Nudges, bool]:
    """Tell whether the user is to be asked about a layer now, and what was asked then.

    A question counts as a nudge: the band is not announced as well.
    """
    if not may_ask(nudges, layer, band, n_compactions):
        return nudges, False
    return (
        msgspec.structs.replace(
            nudges,
            told_band=max(nudges.told_band, band, key=_rank),
            asked_layer=layer,
            asked_compactions=n_compactions,
        ),
        True,
    )


def record_return(nudges: Nudges, layer: Layer, band: Band, n_compactions: int) -> Nudges:
    """Count as told and asked what a session came back into when a change was taken back."""
    if band not in ("warning", "critical"):
        return nudges
    settled = msgspec.structs.replace(nudges, told_band=max(nudges.told_band, band, key=_rank))
    return ask(settled, layer, band, n_compactions)[0]


def snooze(nudges: Nudges, band: Band, n_compactions: int) -> Nudges:
    return msgspec.structs.replace(nudges, snoozed_band=band, snoozed_compactions=n_compactions)


def is_snoozed(nudges: Nudges, band: Band, n_compactions: int) -> bool:
    snoozed = nudges.snoozed_band
    return (
        snoozed is not None
        and nudges.snoozed_compactions == n_compactions
        and _rank(band) <= _rank(snoozed)
    )


def _left(nudges: Nudges, utilization: float, policy: Policy) -> Band:
    """Give the band that still counts as announced, at a size of the context."""
    held = band_of(utilization + FALL_RATIO, policy)
    return min(nudges.told_band, held, key=_rank)


def _rank(band: Band) -> int:
    return BANDS.index(band)
