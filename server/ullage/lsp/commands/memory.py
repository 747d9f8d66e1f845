"""`ullage.acceptMemory`: a change of memory from outside counts as seen."""

import asyncio
from pathlib import Path

from lsprotocol.types import TextDocumentContentRefreshParams

from ullage.app.documents.outside_changes import write_changes_uri
from ullage.app.memory.origins import accept_change
from ullage.lsp.client_refresh import refresh_diagnostics, refresh_lists
from ullage.lsp.documents.diagnostics import check_soon
from ullage.lsp.memory import find_memory, refuse_agents
from ullage.lsp.protocol import AcceptMemoryArgument, Outcome
from ullage.lsp.state import UllageServer


async def run_accept(ls: UllageServer, argument: AcceptMemoryArgument) -> Outcome:
    refuse_agents(ls)
    file = Path(argument.path)
    workspace, path = find_memory(ls, file)
    await asyncio.to_thread(accept_change, path, argument.sha256, workspace, ls.config, ls.places)
    if file in ls.documents.small_uris:
        check_soon(ls, file, "memory", delay_s=0.0)
        refresh_diagnostics(ls)
    if ls.client_workspace.text_document_content is not None:
        uri = write_changes_uri(workspace, path)
        ls.workspace_text_document_content_refresh(TextDocumentContentRefreshParams(uri))
    refresh_lists(ls, "memory")
    return Outcome(outcome="nothing", message=f"{path} counts as seen as it is now")
