"""Measured loss: what the audits of a session's compactions found, kept and put back.

It is taken in `measure_loss`, by the audit's rules; to read a note of it needs none of them.
"""

from collections.abc import Iterable
from typing import cast

import msgspec

from ullage.core.transcript.entries import JsonObject

TARGET_RATIO = 5.0
"""Tokens replaced by tokens of the summary: 5:1 or more (docs/design/gauge.md, "Measured loss")."""
_FIELD = "audit"


class KindLoss(msgspec.Struct, frozen=True, kw_only=True):
    """Facts of one kind."""

    n_found: int = msgspec.field(name="found")
    n_kept: int = msgspec.field(name="kept")
    n_inserted: int = msgspec.field(name="inserted")


class Loss(msgspec.Struct, frozen=True, kw_only=True):
    """What one compaction, or all together, kept; as noted in a compaction's `details`."""

    n_found: int = msgspec.field(name="found")
    """Facts in the messages that were replaced."""
    n_kept: int = msgspec.field(name="kept")
    """Those of them that the summary held as it was written."""
    n_inserted: int = msgspec.field(name="inserted")
    """Those that were put into it afterwards."""
    n_tokens_replaced: int = msgspec.field(name="tokensReplaced")
    n_summary_tokens: int = msgspec.field(name="summaryTokens")
    n_invented: int = msgspec.field(name="invented", default=0)
    """Identifiers of the summary that stood nowhere in the messages."""
    by_kind: dict[str, KindLoss] = msgspec.field(name="byKind", default_factory=dict)

    @property
    def n_lost(self) -> int:
        return max(0, self.n_found - self.n_kept - self.n_inserted)

    @property
    def loss_ratio(self) -> float:
        """Share of the facts that are in the context no longer, 0 to 1."""
        return self.n_lost / self.n_found if self.n_found else 0.0

    @property
    def compression_ratio(self) -> float | None:
        """Tokens replaced by tokens of the summary; None where there is no summary."""
        return self.n_tokens_replaced / self.n_summary_tokens if self.n_summary_tokens else None


def audit_details(loss: Loss) -> JsonObject:
    """Give what a compaction notes in its `details`, to be read back by `noted_loss`."""
    return {_FIELD: cast(JsonObject, msgspec.to_builtins(loss))}


def read_noted_loss(details: JsonObject) -> Loss | None:
    """Read what a compaction noted; None where it noted nothing, or what is no such note."""
    try:
        return msgspec.convert(details.get(_FIELD), Loss)
    except (msgspec.ValidationError, OverflowError):
        return None


def add_up_losses(losses: Iterable[Loss | None]) -> Loss | None:
    """Add up the compactions of a session that noted their loss; None where none did."""
    counted = [loss for loss in losses if loss is not None]
    if not counted:
        return None
    return Loss(
        n_found=sum(loss.n_found for loss in counted),
        n_kept=sum(loss.n_kept for loss in counted),
        n_inserted=sum(loss.n_inserted for loss in counted),
        n_tokens_replaced=sum(loss.n_tokens_replaced for loss in counted),
        n_summary_tokens=sum(loss.n_summary_tokens for loss in counted),
        n_invented=sum(loss.n_invented for loss in counted),
    )


def loss_text(loss: Loss) -> str:
    """Tell what was kept: `kept 31 of 36 facts; inserted 5`."""
    text = f"kept {loss.n_kept:,} of {loss.n_found:,} facts"
    if loss.n_inserted:
        text += f"; inserted {loss.n_inserted:,}"
    if loss.n_lost:
        text += f"; left out {loss.n_lost:,}"
    return text


def measured_text(loss: Loss) -> str:
    """Tell what was kept, and how much smaller the summary is than what it replaced."""
    ratio = loss.compression_ratio
    if ratio is None:
        return loss_text(loss)
    aim = "" if ratio >= TARGET_RATIO else f", below the aim of {TARGET_RATIO:g}:1"
    return f"{loss_text(loss)} · {ratio:.1f}:1{aim}"
