"""Small documents in an editor that opens, types, saves and asks for findings."""

import asyncio
from pathlib import Path

from lsprotocol import types

from running import WAIT_S

SYNC = types.TextDocumentSyncClientCapabilities(dynamic_registration=True)
PUSH = types.ClientCapabilities(
    text_document=types.TextDocumentClientCapabilities(synchronization=SYNC)
)
PULL = types.ClientCapabilities(
    text_document=types.TextDocumentClientCapabilities(
        synchronization=SYNC, diagnostic=types.DiagnosticClientCapabilities()
    ),
    workspace=types.WorkspaceClientCapabilities(
        diagnostics=types.DiagnosticWorkspaceClientCapabilities(refresh_support=True)
    ),
)


class Documents:
    """Small documents in the hands of an editor that can do what it is told to be able to."""

    def __init__(self, editor) -> None:
        self.editor = editor
        self.registered: asyncio.Queue[types.Registration] = asyncio.Queue()
        self.refreshes: asyncio.Queue[None] = asyncio.Queue()
        self.version = 0

        @editor.client.feature(types.CLIENT_REGISTER_CAPABILITY)
        def on_register(params: types.RegistrationParams) -> None:
            for one in params.registrations:
                self.registered.put_nowait(one)

        @editor.client.feature(types.WORKSPACE_DIAGNOSTIC_REFRESH)
        def on_refresh(params: None) -> None:
            self.refreshes.put_nowait(None)

    async def start(self, capabilities: types.ClientCapabilities) -> types.InitializeResult:
        folder = self.editor.place.cwd
        return await self.editor.client.initialize_session(
            types.InitializeParams(
                capabilities=capabilities,
                workspace_folders=[types.WorkspaceFolder(uri=folder.as_uri(), name="shop")],
            )
        )

    def open(self, path: Path, text: str | None = None) -> None:
        self.version += 1
        item = types.TextDocumentItem(
            uri=path.as_uri(),
            language_id="markdown",
            version=self.version,
            text=path.read_text("utf-8") if text is None else text,
        )
        self.editor.client.text_document_did_open(types.DidOpenTextDocumentParams(item))

    def type(self, path: Path, text: str) -> None:
        self.version += 1
        self.editor.client.text_document_did_change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(uri=path.as_uri(), version=self.version),
                [types.TextDocumentContentChangeWholeDocument(text=text)],
            )
        )

    def save(self, path: Path) -> None:
        self.editor.client.text_document_did_save(
            types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(path.as_uri()))
        )

    async def pull(self, path: Path, previous: str | None = None):
        return await asyncio.wait_for(
            self.editor.client.text_document_diagnostic_async(
                types.DocumentDiagnosticParams(
                    text_document=types.TextDocumentIdentifier(path.as_uri()),
                    previous_result_id=previous,
                )
            ),
            WAIT_S,
        )

    async def fixes(self, path: Path, finding: types.Diagnostic) -> list[types.CodeAction]:
        found = await self.editor.client.text_document_code_action_async(
            types.CodeActionParams(
                text_document=types.TextDocumentIdentifier(path.as_uri()),
                range=finding.range,
                context=types.CodeActionContext(diagnostics=[finding]),
            )
        )
        return list(found or ())
