"""Take the figures of a compaction's loss from its audit."""

from ullage.core.gauge.loss import KindLoss, Loss
from ullage.core.summary.audit import Audit, count_by_kind
from ullage.core.summary.insert_missing import CompletedSummary


def measure_loss(
    audit: Audit, done: CompletedSummary, *, n_tokens_replaced: int, n_summary_tokens: int
) -> Loss:
    """Take the figures of one compaction; the summary's tokens are those after completion."""
    kinds = count_by_kind(audit)
    n_inserted = {tally.kind: 0 for tally in kinds}
    for fact in done.inserted:
        n_inserted[fact.kind] += 1
    return Loss(
        n_found=audit.n_found,
        n_kept=audit.n_kept,
        n_inserted=len(done.inserted),
        n_tokens_replaced=n_tokens_replaced,
        n_summary_tokens=n_summary_tokens,
        n_invented=len(audit.invented),
        by_kind={
            tally.kind: KindLoss(
                n_found=tally.n_found, n_kept=tally.n_kept, n_inserted=n_inserted[tally.kind]
            )
            for tally in kinds
        },
    )
