"""Findings on small documents, over stdio: opened, typed in, saved, pushed, pulled, turned off."""

import asyncio
import os
from pathlib import Path

import pytest
from lsprotocol import types

from checkpoint_files import made_checkpoint
from claude_files import ClaudeFile
from pi_files import MODEL, conversation, grow
from running import WAIT_S
from small_documents import PULL, PUSH, SYNC, Documents
from ullage.app.assembly.skill_use import MIN_SESSIONS
from ullage.store.checkpoint.yaml_file import dump

SAVE_ONLY = types.ClientCapabilities()
PULL_ONCE = types.ClientCapabilities(
    text_document=types.TextDocumentClientCapabilities(
        synchronization=SYNC, diagnostic=types.DiagnosticClientCapabilities()
    )
)
"""A client that cannot be asked to pull again."""
DEAD = "See `src/gone/main.py`.\n"


@pytest.fixture
def documents(editor) -> Documents:
    return Documents(editor)


@pytest.fixture
def rules(place) -> Path:
    place.write("src/main.py", b"")
    return place.write("AGENTS.md", DEAD.encode())


async def registration(documents: Documents) -> types.Registration:
    return await asyncio.wait_for(documents.registered.get(), WAIT_S)


async def test_typing_is_asked_for_in_small_documents_and_never_in_transcripts(
    documents: Documents,
) -> None:
    result = await documents.start(PUSH)
    sync = result.capabilities.text_document_sync
    assert isinstance(sync, types.TextDocumentSyncOptions)
    assert sync.change == types.TextDocumentSyncKind.None_
    assert sync.save
    one = await registration(documents)
    assert one.method == types.TEXT_DOCUMENT_DID_CHANGE
    assert "AGENTS.md" in str(one.register_options)
    assert "jsonl" not in str(one.register_options)


async def test_positions_are_in_utf_16_whatever_the_client_likes_best(documents: Documents) -> None:
    result = await documents.start(
        types.ClientCapabilities(
            general=types.GeneralClientCapabilities(
                position_encodings=[
                    types.PositionEncodingKind.Utf8,
                    types.PositionEncodingKind.Utf16,
                ]
            )
        )
    )
    assert result.capabilities.position_encoding == types.PositionEncodingKind.Utf16


async def test_findings_follow_what_is_typed(editor, documents: Documents, rules: Path) -> None:
    await documents.start(PUSH)
    await registration(documents)
    documents.open(rules)
    (finding,) = await editor.diagnostics(rules, count=1)
    assert finding.code == "instructions-dead-path"
    assert finding.code_description is not None
    assert "diagnostics.md#L" in finding.code_description.href
    documents.type(rules, "Nothing is named.\n")
    await editor.diagnostics(rules, count=0)
    documents.type(rules, "😀 `src/gone/a.py` and `src/gone/b.py`\n")
    first, _ = await editor.diagnostics(rules, count=2)
    assert first.range.start == types.Position(0, 4)
    assert rules.read_text("utf-8") == DEAD


async def test_where_typing_is_not_sent_findings_follow_what_is_saved(
    editor, documents: Documents, rules: Path
) -> None:
    await documents.start(SAVE_ONLY)
    documents.open(rules, "an old text of the editor")
    await editor.diagnostics(rules, count=1)
    rules.write_text("Nothing is named.\n", "utf-8")
    documents.save(rules)
    await editor.diagnostics(rules, count=0)


async def test_findings_go_with_the_document(editor, documents: Documents, rules: Path) -> None:
    await documents.start(PUSH)
    documents.open(rules)
    await editor.diagnostics(rules, count=1)
    editor.close(rules)
    await editor.diagnostics(rules, count=0)


async def test_a_code_that_the_workspace_turned_off_is_not_shown(
    editor, documents: Documents, rules: Path, place
) -> None:
    place.write(".ullage.yaml", b"diagnostics:\n  off: [instructions-dead-path]\n")
    place.write("CLAUDE.md", b"word " * 8001)
    await documents.start(PUSH)
    documents.open(rules)
    await editor.diagnostics(rules, count=0)
    path = place.cwd / "CLAUDE.md"
    documents.open(path)
    # OpenClaw, which would cut it, loads AGENTS.md instead of it.
    (found,) = await editor.diagnostics(path, count=1)
    assert (found.code, found.severity) == (
        "instructions-large",
        types.DiagnosticSeverity.Information,
    )


async def test_what_no_agent_sees_is_grayed_out(editor, documents: Documents, place) -> None:
    place.write(str(place.home / ".openclaw/agents/main/sessions/sessions.json"), b"{}")
    path = place.write("AGENTS.md", b"- a rule that is not said twice\n" * 1000)
    await documents.start(PUSH)
    documents.open(path)
    warning, mark = await editor.diagnostics(path, count=2)
    assert (warning.severity, mark.severity) == (
        types.DiagnosticSeverity.Warning,
        types.DiagnosticSeverity.Hint,
    )
    assert list(mark.tags or ()) == [types.DiagnosticTag.Unnecessary]


async def test_a_duplicate_is_removed_by_its_quick_fix(editor, documents, place) -> None:
    rule = "Run the whole test suite before you commit anything to the main branch.\n"
    other = place.write("CLAUDE.md", rule.encode())
    path = place.write("CLAUDE.local.md", f"Mine.\n\n{rule}".encode())
    await documents.start(PUSH)
    await registration(documents)
    documents.open(path)
    (finding,) = await editor.diagnostics(path, count=1)
    assert finding.related_information is not None
    assert finding.related_information[0].location.uri == other.as_uri()
    (fix,) = await documents.fixes(path, finding)
    assert (fix.title, fix.is_preferred) == ("Remove this copy", False)
    assert fix.edit is not None
    assert fix.edit.changes is not None
    (edit,) = fix.edit.changes[path.as_uri()]
    assert (edit.range.start.line, edit.new_text) == (2, "")
    documents.open(other)
    await editor.diagnostics(other, count=0)
    documents.type(other, "Other words.\n")
    await editor.diagnostics(path, count=0)


async def test_a_fix_is_not_offered_for_a_place_that_moved(editor, documents, place) -> None:
    place.write("src/app/main.py", b"")
    path = place.write("AGENTS.md", b"See `src/main.py`.\n")
    await documents.start(PUSH)
    documents.open(path)
    (finding,) = await editor.diagnostics(path, count=1)
    (fix,) = await documents.fixes(path, finding)
    assert fix.title == "Did you mean src/app/main.py?"
    finding.range.start.line = finding.range.end.line = 5
    assert await documents.fixes(path, finding) == []


async def test_a_fix_names_the_version_that_it_is_for(editor, documents, place) -> None:
    path = place.write(".ullage.yaml", b"")
    await documents.start(
        types.ClientCapabilities(
            text_document=PUSH.text_document,
            workspace=types.WorkspaceClientCapabilities(
                workspace_edit=types.WorkspaceEditClientCapabilities(document_changes=True)
            ),
        )
    )
    await registration(documents)
    documents.open(path)
    documents.type(path, "gauge:\n  triger: 60\n")
    (finding,) = await editor.diagnostics(path, count=1)
    (fix,) = await documents.fixes(path, finding)
    (change,) = fix.edit.document_changes
    assert (change.text_document.uri, change.text_document.version) == (path.as_uri(), 2)
    # Not checked yet: what was found before is no ground for a change of this text.
    documents.type(path, "# other\ngauge:\n  triger: 60\n")
    assert await documents.fixes(path, finding) == []


@pytest.mark.parametrize("operations", [[types.ResourceOperationKind.Create], None])
async def test_a_part_moves_to_a_file_of_its_own_where_the_client_makes_files(
    editor, documents, place, operations
) -> None:
    lines = "".join(f"- {at:04} a fact of some length that lasts\n" for at in range(220))
    path = place.write(".claude/projects/-shop/memory/MEMORY.md", f"# Memory\n\n{lines}".encode())
    await documents.start(
        types.ClientCapabilities(
            text_document=PUSH.text_document,
            workspace=types.WorkspaceClientCapabilities(
                workspace_edit=types.WorkspaceEditClientCapabilities(
                    document_changes=True, resource_operations=operations
                )
            ),
        )
    )
    documents.open(path)
    finding, _ = await editor.diagnostics(path, count=2)
    assert finding.code == "memory-cut"
    fixes = await documents.fixes(path, finding)
    if operations is None:
        assert fixes == []
        return
    (fix,) = fixes
    made, filled, left = fix.edit.document_changes
    assert made.kind == "create"
    assert made.uri == filled.text_document.uri == path.with_name("more.md").as_uri()
    assert filled.edits[0].new_text.endswith("- 0219 a fact of some length that lasts\n")
    assert left.text_document.uri == path.as_uri()
    assert left.edits[0].new_text == "- More of this: more.md\n"


async def test_a_configuration_is_checked_while_it_is_typed(editor, documents, place) -> None:
    path = place.write(".ullage.yaml", b"")
    await documents.start(PUSH)
    await registration(documents)
    documents.open(path)
    await editor.diagnostics(path, count=0)
    documents.type(path, "gauge:\n  triger: 60\n")
    (finding,) = await editor.diagnostics(path, count=1)
    assert (finding.code, finding.range.start) == ("config-unknown", types.Position(1, 2))
    (fix,) = await documents.fixes(path, finding)
    assert fix.title == "Change to trigger"


async def test_a_checkpoint_tells_of_its_chain(editor, documents, place) -> None:
    data = dump(made_checkpoint("cp_002", previous_checkpoint="cp_001"))
    path = place.write(str(place.state / "context/checkpoints/s/cp_002.yaml"), data)
    await documents.start(PUSH)
    documents.open(path)
    (finding,) = await editor.diagnostics(path, count=1)
    assert finding.code == "checkpoint-chain"
    place.write(str(path.with_name("cp_001.yaml")), dump(made_checkpoint("cp_001")))
    documents.save(path.with_name("cp_001.yaml"))
    await editor.diagnostics(path, count=0)


async def test_a_damaged_line_of_a_transcript_is_marked(editor, documents, place) -> None:
    data = conversation(2, usage=40_000, model=MODEL).data
    first, rest = data.split(b"\n", 1)
    path = place.write("s.jsonl", first + b"\n{broken canary\n" + rest)
    await documents.start(PUSH)
    editor.open(path)
    found = await editor.diagnostics(path, count=1)
    assert [(one.code, one.range.start.line) for one in found] == [("torn-line", 1)]
    assert "canary" not in found[0].message


async def test_a_client_that_pulls_is_pushed_nothing(
    editor, documents: Documents, rules: Path
) -> None:
    await documents.start(PULL)
    await registration(documents)
    documents.open(rules)
    report = await documents.pull(rules)
    assert [one.code for one in report.items] == ["instructions-dead-path"]
    again = await documents.pull(rules, report.result_id)
    assert again.kind == "unchanged"
    documents.type(rules, "Nothing is named.\n")
    changed = await documents.pull(rules, report.result_id)
    assert (changed.kind, list(changed.items)) == ("full", [])
    assert editor._published.empty()


async def test_a_client_that_pulls_is_told_when_a_transcript_changes(
    editor, documents: Documents, place
) -> None:
    pi = conversation(2, usage=40_000, model=MODEL)
    path = place.write("s.jsonl", pi.data)
    await documents.start(PULL)
    editor.open(path)
    await asyncio.wait_for(documents.refreshes.get(), WAIT_S)
    assert list((await documents.pull(path)).items) == []
    n_before = len(pi.data)
    pi.assistant("more", usage=191_000)
    with path.open("ab") as file:
        file.write(pi.data[n_before:])
    async with asyncio.timeout(WAIT_S):
        found: list[types.Diagnostic] = []
        while not found:
            await documents.refreshes.get()
            found = list((await documents.pull(path)).items)
    assert [one.code for one in found] == ["context-utilization"]
    assert editor._published.empty()


async def test_a_document_that_is_not_ours_has_no_findings(documents: Documents, place) -> None:
    path = place.write("README.md", DEAD.encode())
    await documents.start(PULL)
    documents.open(path)
    assert list((await documents.pull(path)).items) == []


async def test_a_client_that_cannot_be_asked_to_pull_again_is_pushed_to(
    editor, documents: Documents, workspace_session
) -> None:
    pi, path = workspace_session
    result = await documents.start(PULL_ONCE)
    assert result.capabilities.diagnostic_provider is None
    await editor.gauge(lambda gauge: gauge.text == "42%")
    editor.open(path)
    assert await editor.diagnostics(path, count=0) == []
    grow(pi, path, 192_000)
    (finding,) = await editor.diagnostics(path, count=1)
    assert finding.code == "context-utilization"


async def test_a_client_that_pulls_is_told_that_it_can(documents: Documents) -> None:
    result = await documents.start(PULL)
    assert result.capabilities.diagnostic_provider.inter_file_dependencies


async def test_a_skill_that_nobody_used_is_told_until_its_fix_is_typed(
    editor, documents: Documents, place
) -> None:
    text = "---\nname: idle\ndescription: Does it.\n---\nDo it.\n"
    path = place.write(".claude/skills/idle/SKILL.md", text.encode())
    os.utime(path, (1, 1))
    slug = "".join(letter if letter.isalnum() else "-" for letter in str(place.cwd))
    sessions = place.home / ".claude/projects" / slug
    sessions.mkdir(parents=True)
    for number in range(MIN_SESSIONS):
        session_id = f"33333333-4444-4555-8666-{number:012}"
        claude = ClaudeFile(cwd=str(place.cwd), session_id=session_id)
        claude.user("Begin.")
        (sessions / f"{session_id}.jsonl").write_bytes(claude.data)
    await documents.start(PUSH)
    await registration(documents)
    documents.open(path)
    (finding,) = await editor.diagnostics(path, count=1)
    assert finding.code == "skill-unused"
    documents.type(path, text.replace("name:", "disable-model-invocation: true\nname:"))
    await editor.diagnostics(path, count=0)
