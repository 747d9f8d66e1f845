"""Summaries in stages, each with its fallbacks (S2 §Phase 2)."""

from ullage.summary.endpoint import Endpoint
from ullage.summary.request import ModelSummary, Report, SummaryRequest


async def summarize_with_model(
    request: SummaryRequest, endpoint: Endpoint, *, report: Report | None = None
) -> ModelSummary:
    """Have a model write the summary of a conversation.

    Writes nothing anywhere. Cancelling it closes its connections.

    Raises:
        ModelError: no summary that may be used; the extractive one is the caller's fallback.
        EndpointRefused: nothing may be sent there.
    """
    raise NotImplementedError
