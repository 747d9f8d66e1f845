"""Tell the editor that lenses and hints of a transcript that grows are to be asked for anew."""

import asyncio
import contextlib

from pygls.exceptions import JsonRpcException

from ullage.lsp.state import UllageServer

PAUSE_S = 1.0
"""An agent writes many lines a second; nobody reads figures that change more often (chosen)."""
ANSWER_S = 10.0
"""What an editor may take to answer before it is not waited for any more (chosen)."""


def views_changed(ls: UllageServer) -> None:
    """Have lenses and hints asked for anew, at once or when the pause since the last time ends."""
    ls.documents.are_views_old = True
    if ls.documents.renewal is None or ls.documents.renewal.done():
        ls.documents.renewal = ls.begin(_renew(ls))


async def _renew(ls: UllageServer) -> None:
    while ls.documents.are_views_old:
        ls.documents.are_views_old = False
        workspace = ls.client_capabilities.workspace
        lens = None if workspace is None else workspace.code_lens
        hint = None if workspace is None else workspace.inlay_hint
        with contextlib.suppress(JsonRpcException, TimeoutError):
            if lens is not None and lens.refresh_support:
                await asyncio.wait_for(ls.workspace_code_lens_refresh_async(None), ANSWER_S)
            if hint is not None and hint.refresh_support:
                await asyncio.wait_for(ls.workspace_inlay_hint_refresh_async(None), ANSWER_S)
        await asyncio.sleep(PAUSE_S)
