"""What is measured of a session's compactions: what was put back, how much smaller they made it.

It is taken in `measure_loss`, by the audit's rules; to read a note of it needs none of them. It
says nothing of how good a summary is: docs/design/gauge.md, "Measured".
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import cast

import msgspec

from ullage.core.text.prose import plural
from ullage.core.transcript.entries import JsonObject

TARGET_RATIO = 5.0
"""Tokens replaced by tokens of the summary: 5:1 or more (docs/design/gauge.md, "Measured")."""
_FIELD = "audit"


class KindLoss(msgspec.Struct, frozen=True, kw_only=True):
    """What the audit put back of one kind."""

    n_inserted: int = msgspec.field(name="inserted")


class Loss(msgspec.Struct, frozen=True, kw_only=True):
    """What was measured of one compaction, or of all; as noted in a compaction's `details`.

    Notes of version 0.1.0 have figures of facts beside these, which are not read.
    """

    n_inserted: int = msgspec.field(name="inserted")
    """Points that the summary lacked as it was written, and that were put into it."""
    n_tokens_replaced: int = msgspec.field(name="tokensReplaced")
    n_summary_tokens: int = msgspec.field(name="summaryTokens")
    n_left_out: int = msgspec.field(name="leftOut", default=0)
    """Points that it lacks still."""
    n_invented: int = msgspec.field(name="invented", default=0)
    """Identifiers of the summary that stood nowhere in the messages."""
    n_asked_again: int = msgspec.field(name="askedAgain", default=0)
    """Files read and commands failed again since the compaction before, though its summary had
    them."""
    by_kind: dict[str, KindLoss] = msgspec.field(name="byKind", default_factory=dict)

    @property
    def compression_ratio(self) -> float | None:
        """Tokens replaced by tokens of the summary; None where there is no summary."""
        return self.n_tokens_replaced / self.n_summary_tokens if self.n_summary_tokens else None

    @property
    def put_back(self) -> dict[str, int]:
        """Count what was put back by its kind, without kinds of which nothing was."""
        return {kind: loss.n_inserted for kind, loss in self.by_kind.items() if loss.n_inserted}


def audit_details(loss: Loss) -> JsonObject:
    """Give what a compaction notes in its `details`, to be read back by `read_noted_loss`."""
    return {_FIELD: cast(JsonObject, msgspec.to_builtins(loss))}


def read_noted_loss(details: JsonObject) -> Loss | None:
    """Read what a compaction noted; None where it noted nothing, or what is no such note."""
    try:
        return msgspec.convert(details.get(_FIELD), Loss)
    except (msgspec.ValidationError, OverflowError):
        return None


def add_up_losses(losses: Iterable[Loss | None]) -> Loss | None:
    """Add up the compactions of a session that were measured; None where none was."""
    counted = [loss for loss in losses if loss is not None]
    if not counted:
        return None
    put_back: Counter[str] = Counter()
    for loss in counted:
        put_back.update(loss.put_back)
    return Loss(
        n_inserted=sum(loss.n_inserted for loss in counted),
        n_left_out=sum(loss.n_left_out for loss in counted),
        n_tokens_replaced=sum(loss.n_tokens_replaced for loss in counted),
        n_summary_tokens=sum(loss.n_summary_tokens for loss in counted),
        n_invented=sum(loss.n_invented for loss in counted),
        n_asked_again=sum(loss.n_asked_again for loss in counted),
        by_kind={kind: KindLoss(n_inserted=n) for kind, n in put_back.items()},
    )


def kinds_text(counts: Mapping[str, int]) -> str:
    """Count points by their kinds: `2 constraints, 1 file`; empty where there are none."""
    return ", ".join(plural(n, kind) for kind, n in counts.items())


def loss_text(loss: Loss) -> str:
    """Tell what was put back: `put back 2 constraints, 1 file; 1 point is not in the summary`."""
    kinds = kinds_text(loss.put_back) or plural(loss.n_inserted, "point")
    text = f"put back {kinds}" if loss.n_inserted else "nothing put back"
    return f"{text}; {left_out_text(loss)}" if loss.n_left_out else text


def left_out_text(loss: Loss) -> str:
    """Count what the summary lacks still."""
    is_not = "is not" if loss.n_left_out == 1 else "are not"
    return f"{plural(loss.n_left_out, 'point')} {is_not} in the summary"


def measured_text(loss: Loss) -> str:
    """Tell what was put back, how much smaller the summary is, and what was asked again."""
    parts = [loss_text(loss)]
    ratio = loss.compression_ratio
    if ratio is not None:
        aim = "" if ratio >= TARGET_RATIO else f", below the aim of {TARGET_RATIO:g}:1"
        parts.append(f"summary {ratio:.1f}:1{aim}")
    if loss.n_asked_again:
        parts.append(f"{loss.n_asked_again:,} asked again")
    return " · ".join(parts)
