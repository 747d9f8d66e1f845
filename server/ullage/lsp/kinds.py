"""Which kind of document a request is about."""

from pathlib import Path

from ullage.app.document_kind import DocumentKind, document_kind
from ullage.lsp.convert import path_of
from ullage.lsp.state import UllageServer


def document_at(ls: UllageServer, uri: str) -> tuple[Path, DocumentKind] | None:
    """Give the file of a document that is ours to look at, and its kind."""
    path = path_of(uri)
    if path is None:
        return None
    # A transcript under another name was recognized by what is in it.
    kind = document_kind(path, ls.places, ls.workspace_folders()) or (
        "transcript" if path in ls.sessions.followed else None
    )
    return None if kind is None else (path, kind)
