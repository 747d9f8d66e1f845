"""What a placeholder could stand for in a session, and what of it the rule chooses."""

import asyncio

from ullage.app.change.prune import PruneRequest, Unpruned, plan_pruning
from ullage.app.sessions.load import Loaded
from ullage.core.change.prune import PruneItem
from ullage.core.secrets.scan import mask
from ullage.core.text.prose import gist
from ullage.lsp.convert import session_ref
from ullage.lsp.error_edge import request
from ullage.lsp.protocol import PrunableResult, PrunableRow, SessionArgument
from ullage.lsp.session import load_session, session_path
from ullage.lsp.state import UllageServer

LABEL_CHARS = 80
"""A line of a list in an editor (chosen)."""


@request(SessionArgument)
async def run_prunable(ls: UllageServer, argument: SessionArgument) -> PrunableResult:
    path = session_path(ls, argument.session)
    if path is None:
        return PrunableResult(session=None, headline="No session in this workspace", rows=[])
    return await asyncio.to_thread(prunable_result, await load_session(ls, path))


def prunable_result(loaded: Loaded) -> PrunableResult:
    """List what could be pruned: what the rule chooses first, then by size."""
    planned = plan_pruning(loaded, PruneRequest())
    items = sorted(planned.plan.items, key=lambda item: (not item.is_chosen, -item.n_freed))
    return PrunableResult(
        session=session_ref(loaded),
        headline=f"Nothing is due: {planned.reason}"
        if isinstance(planned, Unpruned)
        else f"{planned.n_tokens_before:,} → {planned.n_tokens_after:,} tokens by the rule",
        rows=[_row(item, loaded.known_secrets) for item in items],
    )


def _row(item: PruneItem, known: tuple[str, ...]) -> PrunableRow:
    label = gist(mask(item.label, known), LABEL_CHARS)
    return PrunableRow(
        item=item.item_id,
        title=f"{item.tool or 'Image'} {label}".rstrip(),
        detail=f"{item.n_freed:,} tokens · {item.reason}",
        nTokens=item.n_freed,
        isChosen=item.is_chosen,
    )
