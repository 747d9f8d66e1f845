"""Changes of a document's text, as a client applies them."""

from lsprotocol import types

from ullage.core.documents.finding import TextFix
from ullage.lsp.convert import path_of, range_of
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
    """Offer a change; of the file as it was saved where nobody knows what was typed since.

    The version is that of the text that was checked: a client refuses the change for a later one.
    It is known of clients that send what is typed.
    """
    path = path_of(uri)
    is_known = path is not None and ls.documents.is_typing_known(path)
    edit = types.TextEdit(range=range_of(fix.extent), new_text=fix.new_text)
    if version is None or not _takes_versions(ls):
        workspace_edit = types.WorkspaceEdit(changes={uri: [edit]})
    else:
        document = types.OptionalVersionedTextDocumentIdentifier(uri=uri, version=version)
        workspace_edit = types.WorkspaceEdit(
            document_changes=[types.TextDocumentEdit(text_document=document, edits=[edit])]
        )
    return types.CodeAction(
        title=fix.title if is_known else f"{fix.title} (as saved)",
        kind=types.CodeActionKind.QuickFix,
        diagnostics=diagnostics,
        is_preferred=is_preferred and is_known,
        edit=workspace_edit,
    )


def _takes_versions(ls: UllageServer) -> bool:
    edits = ls.client_workspace.workspace_edit
    return edits is not None and edits.document_changes is True
