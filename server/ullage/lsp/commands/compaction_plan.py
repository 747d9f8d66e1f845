"""A compaction worked out with the configured model, under a progress that can be cancelled."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import msgspec

from ullage.app.change.compact import Plan, Request, plan_compaction, with_flush
from ullage.app.sessions.load import Loaded
from ullage.app.summary.write import ModelUse, model_use
from ullage.core.change.compaction import Unneeded
from ullage.lsp.commands.progress import with_progress
from ullage.lsp.state import UllageServer

T = TypeVar("T")


async def planned_compaction(
    ls: UllageServer, loaded: Loaded, request: Request
) -> Plan | Unneeded | None:
    """Plan a compaction with its flush of memory; None where the user cancelled it."""

    async def planned(model: ModelUse) -> Plan | Unneeded:
        plan = await plan_compaction(loaded, request, ls.config, ls.places, model)
        if isinstance(plan, Unneeded):
            return plan
        return await with_flush(plan, ls.config, ls.places, model)

    return await with_model(ls, loaded, planned)


async def with_model(
    ls: UllageServer, loaded: Loaded, work: Callable[[ModelUse], Awaitable[T]]
) -> T | None:
    """Do what may ask the configured model for a summary; the progress names that model.

    None where the user cancelled it.
    """
    # The keyring may be asked for its key.
    model = await asyncio.to_thread(model_use, ls.config.model, loaded, ls.places)
    asked = model.endpoint
    title = "Planning a compaction" if asked is None else f"Asking {asked.model} for a summary"
    return await with_progress(
        ls, title, lambda report: work(msgspec.structs.replace(model, report=report))
    )
