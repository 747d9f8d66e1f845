"""Which kind of document a request is about, and what a feature has for that kind."""

from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

from ullage.app.documents.kind import DocumentKind, document_kind
from ullage.lsp.convert import path_of
from ullage.lsp.state import UllageServer

R = TypeVar("R")


def reader_at(
    ls: UllageServer, uri: str, readers: Mapping[DocumentKind, R]
) -> tuple[R, Path] | None:
    """Give what a feature reads documents of such a kind with, and the document's file."""
    path = path_of(uri)
    if path is None:
        return None
    # A transcript under another name was recognized by what is in it.
    kind = document_kind(path, ls.places, ls.workspace_folders()) or (
        "transcript" if path in ls.sessions.followed else None
    )
    reader = None if kind is None else readers.get(kind)
    return None if reader is None else (reader, path)
