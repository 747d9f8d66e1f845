"""A compaction worked out with the configured model, under a progress that can be cancelled."""

import asyncio

from ullage.app.compact import Plan, Request, plan_compaction, with_flush
from ullage.app.load import Loaded
from ullage.app.models import model_use
from ullage.core.compaction import Unneeded
from ullage.lsp.progress import Reporter, with_progress
from ullage.lsp.state import UllageServer


async def planned_compaction(
    ls: UllageServer, loaded: Loaded, request: Request
) -> Plan | Unneeded | None:
    """Plan a compaction with its flush of memory; None where the user cancelled it."""

    async def planned(report: Reporter) -> Plan | Unneeded:
        model = await asyncio.to_thread(
            lambda: model_use(ls.config.model, loaded, ls.places, report=report)
        )
        plan = await plan_compaction(loaded, request, ls.config, ls.places, model)
        if isinstance(plan, Unneeded):
            return plan
        return await with_flush(plan, ls.config, ls.places, model)

    return await with_progress(ls, "Planning a compaction", planned)
