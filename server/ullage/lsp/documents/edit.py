"""Changes of a document's text, as a client applies them."""

from lsprotocol import types

from ullage.core.documents.finding import TextFix
from ullage.lsp.convert import path_of
from ullage.lsp.documents.finding import range_of
from ullage.lsp.state import UllageServer


def fix_action(
    ls: UllageServer,
    uri: str,
    fix: TextFix,
    version: int | None,
    diagnostics: list[types.Diagnostic],
    *,
    is_preferred: bool = False,
) -> types.CodeAction:
    """Offer a change; of the file as it was saved where nobody knows what was typed since."""
    path = path_of(uri)
    is_known = path is not None and ls.documents.is_typing_known(path)
    return types.CodeAction(
        title=fix.title if is_known else f"{fix.title} (as saved)",
        kind=types.CodeActionKind.QuickFix,
        diagnostics=diagnostics,
        is_preferred=is_preferred and is_known,
        edit=_workspace_edit(ls, uri, fix, version),
    )


def _workspace_edit(
    ls: UllageServer, uri: str, fix: TextFix, version: int | None
) -> types.WorkspaceEdit:
    """Make a change for one version of a document: a client refuses it for a later one.

    The version is known of clients that send what is typed.
    """
    edit = types.TextEdit(range=range_of(fix.extent), new_text=fix.new_text)
    if version is None or not _takes_versions(ls):
        return types.WorkspaceEdit(changes={uri: [edit]})
    document = types.OptionalVersionedTextDocumentIdentifier(uri=uri, version=version)
    return types.WorkspaceEdit(
        document_changes=[types.TextDocumentEdit(text_document=document, edits=[edit])]
    )


def _takes_versions(ls: UllageServer) -> bool:
    workspace = ls.client_capabilities.workspace
    edits = None if workspace is None else workspace.workspace_edit
    return edits is not None and edits.document_changes is True
