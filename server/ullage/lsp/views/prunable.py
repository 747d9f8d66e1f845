"""What a placeholder could stand for in a session, and what of it the rule chooses."""

import asyncio

from ullage.app.change.prune import PruneRequest, Unpruned, plan_pruning
from ullage.app.sessions.load import Loaded
from ullage.core.change.prune import PruneItem
from ullage.core.secrets.scan import mask
from ullage.core.text.prose import gist
from ullage.lsp.convert import session_ref
from ullage.lsp.follow import load_if_any
from ullage.lsp.protocol import PrunableResult, PrunableRow, SessionArgument
from ullage.lsp.state import UllageServer

LABEL_CHARS = 80
"""A line of a list in an editor (chosen)."""


async def run_prunable(ls: UllageServer, argument: SessionArgument) -> PrunableResult:
    loaded = await load_if_any(ls, argument.session)
    return PrunableResult() if loaded is None else await asyncio.to_thread(prunable_result, loaded)


def prunable_result(loaded: Loaded) -> PrunableResult:
    """List what could be pruned: what the rule chooses first, then by size."""
    plan = plan_pruning(loaded, PruneRequest())
    items = sorted(plan.plan.items, key=lambda item: (not item.is_chosen, -item.n_freed))
    return PrunableResult(
        session=session_ref(loaded),
        headline=f"Nothing is due: {plan.reason}"
        if isinstance(plan, Unpruned)
        else f"{plan.n_tokens_before:,} → {plan.n_tokens_after:,} tokens by the rule",
        rows=[_row(item, loaded.known_secrets) for item in items],
    )


def _row(item: PruneItem, secrets: tuple[str, ...]) -> PrunableRow:
    label = gist(mask(item.label, secrets), LABEL_CHARS)
    return PrunableRow(
        item=item.item_id,
        title=f"{item.tool or 'Image'} {label}".rstrip(),
        detail=f"{item.n_freed:,} tokens · {item.reason}",
        nTokens=item.n_freed,
        isChosen=item.is_chosen,
    )
