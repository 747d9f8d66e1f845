"""Code actions: what can be done about a finding."""

from lsprotocol import types

from ullage.lsp.boundary import guarded
from ullage.lsp.convert import UTILIZATION_CODE, path_of
from ullage.lsp.protocol import COMPACT_COMMAND
from ullage.lsp.state import UllageServer


@guarded
async def code_actions(ls: UllageServer, params: types.CodeActionParams) -> list[types.CodeAction]:
    path = path_of(params.text_document.uri)
    findings = [d for d in params.context.diagnostics if d.code == UTILIZATION_CODE]
    if path is None or path not in ls.followed or not findings:
        return []
    title = "Compact this session…"
    return [
        types.CodeAction(
            title=title,
            kind=types.CodeActionKind.QuickFix,
            diagnostics=findings,
            is_preferred=True,
            command=types.Command(
                title=title, command=COMPACT_COMMAND, arguments=[{"session": str(path)}]
            ),
        )
    ]
