"""An editor that starts its server in a hostile repository, and asks for all that it has."""

from contextlib import suppress

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from running import idle

OPENED = (
    "AGENTS.md",
    "CLAUDE.md",
    "MEMORY.md",
    "DREAMS.md",
    ".ullage.yaml",
    ".mcp.json",
    ".codex/config.toml",
    ".claude/settings.json",
    ".claude/rules/evil.md",
    ".claude/skills/evil/SKILL.md",
    "sessions/pi.jsonl",
    "sessions/claude.jsonl",
    "sessions/codex.jsonl",
)
N_LINES = 6
PULLING = types.ClientCapabilities(
    workspace=types.WorkspaceClientCapabilities(
        diagnostics=types.DiagnosticWorkspaceClientCapabilities(refresh_support=True)
    ),
    text_document=types.TextDocumentClientCapabilities(
        diagnostic=types.DiagnosticClientCapabilities()
    ),
)


async def ask_all(client, path) -> None:
    """Ask for whatever an editor shows of a document."""
    document = types.TextDocumentIdentifier(path.as_uri())
    whole = types.Range(types.Position(0, 0), types.Position(N_LINES, 0))
    client.text_document_did_open(
        types.DidOpenTextDocumentParams(
            types.TextDocumentItem(document.uri, "any", 1, path.read_text("utf-8", "replace"))
        )
    )
    for line in range(N_LINES):
        position = types.Position(line, 5)
        await client.text_document_hover_async(types.HoverParams(document, position))
    await client.text_document_code_lens_async(types.CodeLensParams(document))
    await client.text_document_document_link_async(types.DocumentLinkParams(document))
    await client.text_document_document_symbol_async(types.DocumentSymbolParams(document))
    await client.text_document_inlay_hint_async(types.InlayHintParams(document, whole))
    found = await client.text_document_diagnostic_async(types.DocumentDiagnosticParams(document))
    context = types.CodeActionContext(found.items)
    asked = types.CodeActionParams(document, whole, context)
    await client.text_document_code_action_async(asked)


async def test_no_editor_serves_a_hostile_repository(besieged_editor) -> None:
    editor, siege = besieged_editor
    cwd, client = siege.place.cwd, editor.client
    result = await editor.start(cwd, capabilities=PULLING)
    await editor.gauge(lambda gauge: gauge.session is not None)
    for name in OPENED:
        await ask_all(client, cwd / name)
        assert (name, siege.damage()) == (name, [])
    for command in result.capabilities.execute_command_provider.commands:
        # The button that agrees is called as its command, but for one.
        name = command.removeprefix("ullage.")
        editor.answer = "Write" if name == "flush" else name.capitalize()
        for session in ("pi", "claude", "codex"):
            argument = {"session": str(idle(cwd / "sessions" / f"{session}.jsonl"))}
            with suppress(JsonRpcException):
                await client.workspace_execute_command_async(
                    types.ExecuteCommandParams(command, [argument])
                )
            assert (command, siege.damage("work/shop/sessions/")) == (command, [])
