"""Hovers, links, lenses, hints and code actions on small documents and transcripts, over stdio."""

import re
from pathlib import Path
from urllib.parse import unquote

from lsprotocol import types

from checkpoint_files import made_checkpoint
from ullage.core.documents.virtual_uri import VirtualUri, parse_virtual_uri
from ullage.store.checkpoint.yaml_file import dump

RULES = """\
# Rules

See `src/app.py` and [more](docs/MORE.md).

## Deep

Some words that cost something.

# Last
"""


def identifier(path: Path) -> types.TextDocumentIdentifier:
    return types.TextDocumentIdentifier(path.as_uri())


async def hover_text(editor, path: Path, line: int, column: int) -> str | None:
    found = await editor.client.text_document_hover_async(
        types.HoverParams(identifier(path), types.Position(line, column))
    )
    return None if found is None else found.contents.value


async def test_a_key_of_the_configuration_explains_itself(editor, place) -> None:
    user = place.home / ".openclaw/config.yaml"
    place.write(str(user), b"gauge:\n  trigger: 66\n")
    path = place.write(".ullage.yaml", b"gauge:\n  trigger: 61\ncheckpoint:\n  retention: 9\n")
    await editor.start(place.cwd)
    text = await hover_text(editor, path, 1, 4)
    assert text is not None
    assert "**gauge.trigger**" in text
    assert "Default: 70%" in text
    assert "Now: 61%, from " in text
    assert "`ULLAGE_GAUGE_TRIGGER`" in text
    untrusted = await hover_text(editor, path, 3, 4)
    assert untrusted is not None
    assert "Now: the default" in untrusted
    assert await hover_text(editor, path, 0, 0) is None


async def test_a_checkpoint_leads_to_the_one_before_and_to_its_session(editor, place) -> None:
    session = place.write("my s&t.jsonl", b"{}\n")
    folder = place.state / "context/checkpoints/s"
    before = place.write(str(folder / "cp_001.yaml"), dump(made_checkpoint("cp_001")))
    made = made_checkpoint("cp_002", previous_checkpoint="cp_001", session_file=str(session))
    text = dump(made).decode()
    path = place.write(str(folder / "cp_002.yaml"), text.encode())
    await editor.start(place.cwd, options={"showsOutcomes": True})
    found = await editor.client.text_document_document_link_async(
        types.DocumentLinkParams(identifier(path))
    )
    assert {link.target for link in found} == {session.as_uri(), before.as_uri()}
    line = next(at for at, one in enumerate(text.split("\n")) if "previous_checkpoint" in one)
    told = await hover_text(editor, path, line, text.split("\n")[line].index("cp_001") + 1)
    assert told is not None
    assert "162,431 of 200,000 tokens" in told
    assert "Rework of the \\*gauge\\*" in told
    lenses = await editor.client.text_document_code_lens_async(
        types.CodeLensParams(identifier(path))
    )
    titles = [lens.command.title for lens in lenses]
    assert titles == [
        "Restore as text",
        "into this session…",
        "into a new one…",
        "Compare with cp_001",
    ]
    assert lenses[0].command.arguments == (
        {"session": str(session), "checkpoint": "cp_002", "into": "text"},
    )
    uri = lenses[3].command.arguments[0]["uri"]
    # As an editor gives it back that decodes a query whole.
    assert parse_virtual_uri(unquote(uri)) == VirtualUri(
        name="Checkpoint Changes", session=str(session), old="cp_001", new="cp_002"
    )


async def test_an_instruction_file_says_what_it_costs(editor, place) -> None:
    source = place.write("src/app.py", b"")
    more = place.write("docs/MORE.md", b"")
    path = place.write("AGENTS.md", RULES.encode())
    await editor.start(place.cwd)
    (lens,) = await editor.client.text_document_code_lens_async(
        types.CodeLensParams(identifier(path))
    )
    assert lens.command.title.startswith(f"{len(RULES)} characters · ~")
    assert lens.command.command == ""
    found = await editor.client.text_document_document_link_async(
        types.DocumentLinkParams(identifier(path))
    )
    assert [link.target for link in found] == [source.as_uri(), more.as_uri()]
    whole = types.Range(types.Position(0, 0), types.Position(99, 0))
    hints = await editor.client.text_document_inlay_hint_async(
        types.InlayHintParams(text_document=identifier(path), range=whole)
    )
    assert [hint.position.line for hint in hints] == [0, 4, 8]
    top = types.Range(types.Position(0, 0), types.Position(2, 0))
    seen = await editor.client.text_document_inlay_hint_async(
        types.InlayHintParams(text_document=identifier(path), range=top)
    )
    assert len(seen) == 1
    told = await hover_text(editor, path, 4, 3)
    assert told is not None
    assert "tokens with all below it" in told
    (cost,) = re.findall(r"~\d+ tokens", lens.command.title)
    assert f"about {cost[1:-7]}." in told
    memory = await editor.request("ullage/memory")
    assert [row.detail for row in memory.rows] == [f"{len(RULES)} characters, {cost}"]
    n_sections = [int(re.sub(r"\D", "", hint.label)) for hint in hints]
    assert n_sections[0] + n_sections[2] == int(cost[1:-7])
    assert await hover_text(editor, path, 6, 3) is None


def commands(actions: list[types.CodeAction]) -> set[str]:
    """Name the commands of actions; the client's lsprotocol takes each action for its command."""
    return {name for action in actions for name in re.findall(r"ullage\.\w+", str(action.command))}


async def test_a_transcript_offers_what_the_server_can_do(editor, full_session: Path) -> None:
    result = await editor.start()
    known = set(result.capabilities.execute_command_provider.commands)
    editor.open(full_session)
    findings = await editor.diagnostics(full_session, count=1)
    place = types.Position(0, 0)

    async def actions(
        only: list[types.CodeActionKind] | None, diagnostics: list[types.Diagnostic]
    ) -> list[types.CodeAction]:
        found = await editor.client.text_document_code_action_async(
            types.CodeActionParams(
                text_document=identifier(full_session),
                range=types.Range(place, place),
                context=types.CodeActionContext(diagnostics=diagnostics, only=only),
            )
        )
        return list(found or ())

    fixes = await actions([types.CodeActionKind.QuickFix], findings)
    assert fixes[0].title == "Compact this session…"
    assert commands(fixes) <= known
    assert await actions([types.CodeActionKind.QuickFix], []) == []
    refactors = await actions([types.CodeActionKind.Refactor], [])
    assert commands(refactors) <= known
    both = await actions(None, findings)
    assert len(commands(both)) == len(both)
