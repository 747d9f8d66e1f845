"""Whatever an editor may ask about a session is answered for every agent's."""

import logging
import shutil
from pathlib import Path

import attrs
import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from running import idle
from test_agents import each_agent, sample_of
from ullage.formats.agent_info import AgentInfo
from ullage.lsp import protocol
from ullage.lsp.server import COMMANDS, REQUESTS

MORE = {
    protocol.PREVIEW_REQUEST: {"layer": "full"},
    protocol.PREVIEW_COMMAND: {"layer": "full"},
    protocol.PIN_COMMAND: {"text": "Keep the tests green."},
    protocol.UNPIN_COMMAND: {"text": "Keep the tests green."},
}
"""What a method needs besides the session."""
ABOUT_A_SESSION = [
    method for method in (*REQUESTS, *COMMANDS) if "session" in attrs.fields_dict(method.argument)
]
POINT = types.Position(1, 3)


def faults_in(caplog: pytest.LogCaptureFixture) -> list[str]:
    ours = [record for record in caplog.records if record.name.startswith("ullage.")]
    return [record.getMessage() for record in ours if record.levelno >= logging.ERROR]


@each_agent
async def test_every_method_answers_or_says_why_not(editor, caplog, info: AgentInfo) -> None:
    path = idle(Path(shutil.copy(sample_of(info).path, editor.place.cwd)))
    refusals: dict[str, JsonRpcException] = {}
    await editor.start(editor.place.cwd)
    for method in ABOUT_A_SESSION:
        argument = {"session": str(path)} | MORE.get(method.name, {})
        ask = editor.request if method in REQUESTS else editor.execute
        try:
            assert await ask(method.name, argument) is not None
        except JsonRpcException as error:
            refusals[method.name] = error
    assert {error.code for error in refusals.values()} <= {types.LSPErrorCodes.RequestFailed}
    assert [name for name, error in refusals.items() if "fault" in error.message] == []
    assert faults_in(caplog) == []


@each_agent
async def test_every_part_of_a_transcript_is_shown(editor, caplog, info: AgentInfo) -> None:
    path = idle(Path(shutil.copy(sample_of(info).path, editor.place.cwd)))
    if info.session_folders is None:
        pytest.skip("a database is no document")
    await editor.start(editor.place.cwd)
    editor.open(path)
    document, client = types.TextDocumentIdentifier(path.as_uri()), editor.client
    everything = types.Range(types.Position(0, 0), types.Position(99, 0))
    lenses = await client.text_document_code_lens_async(types.CodeLensParams(document))
    await client.text_document_hover_async(types.HoverParams(document, POINT))
    await client.text_document_inlay_hint_async(types.InlayHintParams(document, everything))
    await client.text_document_document_symbol_async(types.DocumentSymbolParams(document))
    await client.text_document_folding_range_async(types.FoldingRangeParams(document))
    await client.text_document_document_link_async(types.DocumentLinkParams(document))
    context = types.CodeActionContext(diagnostics=[])
    await client.text_document_code_action_async(
        types.CodeActionParams(document, types.Range(POINT, POINT), context)
    )
    assert lenses
    assert faults_in(caplog) == []
