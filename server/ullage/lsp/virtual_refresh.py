"""Read-only documents that a client shows are renewed when their session changed."""

from pathlib import Path

from lsprotocol import types

from ullage.lsp.state import UllageServer


def renew_documents(ls: UllageServer, path: Path) -> None:
    """Have the client ask again for what it shows of a session; one that cannot shows the old."""
    workspace = ls.client_capabilities.workspace
    if workspace is None or workspace.text_document_content is None:
        return
    for uri, shown in ls.documents.shown.items():
        if shown == path:
            ls.workspace_text_document_content_refresh(
                types.TextDocumentContentRefreshParams(uri=uri)
            )
