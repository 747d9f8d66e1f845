"""What an editor shows on a transcript, over stdio."""

import ast
import asyncio
import time
from ast import literal_eval
from pathlib import Path

import pytest
from lsprotocol import types
from pygls.protocol import default_converter

from claude_files import ClaudeFile, call, result, text
from codex_files import CodexFile
from pi_files import MODEL, PiFile
from running import WAIT_S

SECRET = "sk-ant-api03-" + "Ab1" * 30
WINE = "🍷 grüße"


def compacted(cwd: Path) -> PiFile:
    """Two turns that a compaction replaced, one that it kept, one after it."""
    pi = PiFile(cwd=str(cwd))
    pi.user("first question")
    pi.assistant("first answer", usage=1_000, model=MODEL)
    kept = pi.user("second question")
    calls = [("c1", "read", {"path": "src/a.py"}), ("c2", "bash", {"command": "make test"})]
    pi.assistant("", calls=calls, usage=2_000, stop="toolUse", model=MODEL)
    pi.result("c1", "print('a')", name="read")
    pi.result("c2", "ok")
    pi.compaction(f"## Goal\nShip it with {SECRET}\n*bold*", kept, details={"messagesCompacted": 2})
    pi.user(f"{WINE} third question about {SECRET}")
    pi.assistant("done", usage=60_000, model=MODEL)
    return pi


@pytest.fixture
def transcript(editor) -> Path:
    pi = compacted(editor.place.cwd)
    (editor.place.cwd / "src").mkdir()
    (editor.place.cwd / "src" / "a.py").write_bytes(b"print('a')")
    return editor.place.write("s.jsonl", pi.data)


def identifier(path: Path) -> types.TextDocumentIdentifier:
    return types.TextDocumentIdentifier(path.as_uri())


async def hover_at(editor, path: Path, line: int) -> str:
    found = await editor.client.text_document_hover_async(
        types.HoverParams(identifier(path), types.Position(line, 3))
    )
    assert found is not None, line
    assert isinstance(found.contents, types.MarkupContent)
    return found.contents.value


async def tooltip_at(editor, path: Path, line: int) -> str:
    wanted = types.Range(types.Position(line, 0), types.Position(line, 0))
    (found,) = await editor.client.text_document_inlay_hint_async(
        types.InlayHintParams(identifier(path), wanted)
    )
    return found.tooltip


async def hints_of(editor, path: Path, first: int = 0, last: int = 99) -> dict[int, str]:
    wanted = types.Range(types.Position(first, 0), types.Position(last, 0))
    found = await editor.client.text_document_inlay_hint_async(
        types.InlayHintParams(identifier(path), wanted)
    )
    return {hint.position.line: str(hint.label) for hint in found or ()}


async def symbols_of(editor, path: Path) -> list[types.DocumentSymbol]:
    found = await editor.client.text_document_document_symbol_async(
        types.DocumentSymbolParams(identifier(path))
    )
    return [one for one in found or () if isinstance(one, types.DocumentSymbol)]


async def lenses_of(editor, path: Path) -> list[tuple[int, str, str]]:
    found = await editor.client.text_document_code_lens_async(
        types.CodeLensParams(identifier(path))
    )
    commands = [(one.range.start.line, one.command) for one in found or ()]
    return [(line, c.title, c.command) for line, c in commands if c is not None]


async def folds_of(editor, path: Path) -> list[tuple[int, int, str | None]]:
    found = await editor.client.text_document_folding_range_async(
        types.FoldingRangeParams(identifier(path))
    )
    return [(f.start_line, f.end_line, f.kind) for f in found or ()]


async def links_of(editor, path: Path) -> list[tuple[str, str]]:
    """Give the text below each link and the name of what it leads to."""
    found = await editor.client.text_document_document_link_async(
        types.DocumentLinkParams(identifier(path))
    )
    lines = path.read_bytes().decode().split("\n")
    shown: list[tuple[str, str]] = []
    for one in found or ():
        units = lines[one.range.start.line].encode("utf-16-le")
        start, end = one.range.start.character, one.range.end.character
        name = units[2 * start : 2 * end].decode("utf-16-le")
        shown.append((name, (one.target or "").rpartition("/")[2]))
    return shown


async def test_a_hover_tells_what_an_entry_costs_and_whether_it_is_in_the_context(
    editor, transcript: Path
) -> None:
    await editor.start()
    editor.open(transcript)
    replaced = await hover_at(editor, transcript, 1)
    assert "Message of the user" in replaced
    assert "first question" in replaced
    assert "replaced by the compaction on line 8" in replaced
    live = await hover_at(editor, transcript, 9)
    assert "In the context" in live
    assert "Up to here 60,000 of the window's 200,000 tokens (30%)" in live
    assert "1 token, 0.0% of the window" in live
    kept = await hover_at(editor, transcript, 3)
    assert "In the context" in kept
    for line, title in ((5, "read src/a.py"), (6, "bash make test")):
        shown = await hover_at(editor, transcript, line)
        head, said, _ = shown.split("\n\n")
        assert (head.startswith("**Tool result**"), said) == (True, title)

    # The summary of a compaction is masked, and plain text.
    shown = await hover_at(editor, transcript, 7)
    assert "900 → ?" in shown
    assert "2 messages" in shown
    assert "Ship it with" in shown
    assert SECRET not in shown
    assert "REDACTED" in shown
    assert r"\*bold\*" in shown
    assert "Goal" not in shown

    # Hints stand before what is visible alone.
    hints = await hints_of(editor, transcript)
    assert hints[9].endswith("tok · 30% full")
    assert await tooltip_at(editor, transcript, 9) == (
        "This entry: 1 token. In the context."
        " Up to here 60,000 of the window's 200,000 tokens (30%)."
    )
    assert hints[1].endswith("tok · compacted away")
    replaced = await tooltip_at(editor, transcript, 1)
    assert replaced.endswith("Not in the context: replaced by the compaction on line 8.")
    assert 0 not in hints  # the header costs nothing
    assert set(await hints_of(editor, transcript, 3, 4)) == {3, 4}


async def test_symbols_are_the_turns_by_what_the_user_said_with_the_calls_below(
    editor, transcript: Path
) -> None:
    await editor.start()
    editor.open(transcript)
    found = await symbols_of(editor, transcript)
    assert [one.name for one in found[:3]] == ["first question", "second question", "Compaction"]
    assert found[0].detail == "compacted away"
    assert [child.name for child in found[1].children or ()] == ["read src/a.py", "bash make test"]
    assert found[3].name.startswith(f"{WINE} third question about [REDACTED")
    assert SECRET not in found[3].name


async def test_turns_fold_and_what_was_compacted_away_is_a_region(editor, transcript: Path) -> None:
    await editor.start()
    editor.open(transcript)
    region = types.FoldingRangeKind.Region
    assert await folds_of(editor, transcript) == [
        (1, 2, None),
        (3, 6, None),
        (8, 9, None),
        (0, 6, region),
    ]


async def test_no_more_folds_are_given_than_an_editor_shows(editor) -> None:
    pi = PiFile(cwd=str(editor.place.cwd))
    for _ in range(5000):
        kept = pi.user("question")
        pi.assistant("answer")
        pi.compaction("summary", kept)
    path = editor.place.write("s.jsonl", pi.data)
    await editor.start()
    editor.open(path)
    folds = await folds_of(editor, path)
    assert len(folds) == 5000
    assert {kind for _, _, kind in folds} == {types.FoldingRangeKind.Region}


SHOWING = types.ClientCapabilities(
    workspace=types.WorkspaceClientCapabilities(
        text_document_content=types.TextDocumentContentClientCapabilities()
    ),
    window=types.WindowClientCapabilities(
        show_document=types.ShowDocumentClientCapabilities(support=True)
    ),
)
"""A client that shows documents of our scheme."""


async def test_lenses_offer_what_can_be_done_and_undo_at_the_last_compaction_alone(
    editor, transcript: Path
) -> None:
    await editor.start(capabilities=SHOWING)
    editor.open(transcript)
    found = await lenses_of(editor, transcript)
    assert found[:4] == [
        (0, "30%", ""),
        (0, "Compact…", "ullage.compact"),
        (0, "Prune…", "ullage.prune"),
        (0, "Write Checkpoint", "ullage.checkpoint"),
    ]
    assert [one[1:] for one in found[4:]] == [
        ("900 → ? · 2 messages", ""),
        ("Show summary", "ullage.show"),
        ("Undo", "ullage.undo"),
    ]
    assert {line for line, *_ in found[4:]} == {7}


async def test_lenses_and_actions_offer_nothing_where_nothing_may_be_written(
    editor, transcript: Path
) -> None:
    await editor.start(options={"isTrusted": False}, capabilities=SHOWING)
    editor.open(transcript)
    found = await lenses_of(editor, transcript)
    assert [title for _, title, command in found if command] == ["Show summary"]
    assert await actions_at(editor, transcript, 0) == []


async def test_no_lens_shows_what_the_client_cannot_show(editor, transcript: Path) -> None:
    await editor.start()
    editor.open(transcript)
    found = await lenses_of(editor, transcript)
    assert "Show summary" not in [title for _, title, _ in found]


async def test_the_action_that_restores_asks_to(editor, full_session: Path) -> None:
    await editor.start()
    await editor.command("ullage.checkpoint", str(full_session))
    editor.open(full_session)
    await editor.diagnostics(full_session, count=1)
    place = types.Position(0, 0)
    found = await editor.client.text_document_code_action_async(
        types.CodeActionParams(
            identifier(full_session),
            types.Range(place, place),
            types.CodeActionContext(diagnostics=[]),
        )
    )
    (action,) = [one for one in found if one.title == "Restore the latest checkpoint…"]
    # lsprotocol takes an action with a command for a command whose name is all of it.
    command = literal_eval(action.command)
    outcome = await editor.execute(command["command"], command["arguments"][0])
    assert outcome.message.startswith("Nothing was restored · Please look at file number 0.")
    (question,) = editor.questions
    assert question.startswith("Restore checkpoint cp_001 of Please look at file number 0.")
    assert "? Its text goes to the end" in question


async def test_actions_are_those_that_can_work(editor, transcript: Path) -> None:
    await editor.start()
    editor.open(transcript)
    # A message of the user: to find that out the file would have to be read.
    asked = await actions_at(editor, transcript, 1)
    assert asked == [
        "Preview the compaction…",
        "Prune old tool output…",
        "Write a checkpoint",
        "Undo the last change…",
    ]
    await editor.command("ullage.checkpoint", str(transcript))
    invoked = types.CodeActionTriggerKind.Invoked
    assert await actions_at(editor, transcript, 1, invoked) == [
        *asked,
        "Restore the latest checkpoint…",
        "Pin this message",
    ]


async def actions_at(
    editor, path: Path, line: int, trigger: types.CodeActionTriggerKind | None = None
) -> list[str]:
    place = types.Position(line, 0)
    found = await editor.client.text_document_code_action_async(
        types.CodeActionParams(
            identifier(path),
            types.Range(place, place),
            types.CodeActionContext(diagnostics=[], trigger_kind=trigger),
        )
    )
    return [one.title for one in found or ()]


async def test_a_path_is_a_link_where_the_file_exists(editor) -> None:
    place = editor.place
    pi = PiFile(cwd=str(place.cwd))
    pi.user("look")
    said = {"path": "src/grüße.py", "note": WINE}
    pi.assistant(WINE, calls=[("c1", "read", said), ("c2", "read", {"path": "src/gone.py"})])
    (place.cwd / "src").mkdir()
    (place.cwd / "src" / "grüße.py").write_bytes(b"")
    path = place.write("s.jsonl", pi.data)
    await editor.start()
    editor.open(path)
    assert await links_of(editor, path) == [("src/grüße.py", "gr%C3%BC%C3%9Fe.py")]


async def test_a_compaction_leads_to_the_checkpoint_before_it(editor, full_session: Path) -> None:
    editor.answer = "Compact"
    done = editor.place.run_process("compact", "--session", full_session, "--yes")
    assert done.returncode == 0, done.stderr
    await editor.start()
    editor.open(full_session)
    assert ("compaction", "cp_001.yaml") in await links_of(editor, full_session)


async def test_a_session_of_claude_code_is_read_as_well(editor) -> None:
    claude = ClaudeFile(cwd=str(editor.place.cwd))
    claude.user("first question")
    claude.assistant(text("first answer"))
    claude.assistant(call("t1", "Read", file_path="/nowhere/a.py"))
    claude.user([result("t1", "text of a")])
    claude.boundary(n_before=900, n_after=60)
    claude.summary("Summary of the first")
    claude.user("second question")
    claude.assistant(text("second answer"), usage=50_000)
    path = editor.place.write("claude.jsonl", claude.data)
    await editor.start()
    editor.open(path)
    found = await symbols_of(editor, path)
    assert [one.name for one in found] == ["first question", "Compaction", "second question"]
    for line in range(4):
        assert "replaced by the compaction on line 5" in await hover_at(editor, path, line)
    assert "900 → 60" in await hover_at(editor, path, 4)
    assert (await hints_of(editor, path))[7].endswith("25% full")
    assert (4, "900 → 60", "") in await lenses_of(editor, path)


async def test_a_rollout_of_codex_is_read_as_well(editor) -> None:
    codex = CodexFile()
    codex.turn()
    codex.user("first question")
    codex.tool("out")
    codex.assistant("first answer", n_total=3_000)
    codex.compact("Summary of the first", "first question")
    codex.user("second question")
    codex.assistant("second answer", n_total=129_200)
    path = editor.place.write("rollout.jsonl", codex.data)
    await editor.start()
    editor.open(path)
    found = await symbols_of(editor, path)
    assert [one.name for one in found] == ["first question", "Compaction", "second question"]
    assert "replaced by the compaction" in await hover_at(editor, path, 3)
    hovers = [await hover_at(editor, path, line) for line in range(8)]
    assert ["exec\\_command ls" in one for one in hovers if "Tool result" in one] == [True]
    assert "Summary of the first" in await hover_at(editor, path, 9)
    assert any(hint.endswith("50% full") for hint in (await hints_of(editor, path)).values())


async def test_a_branch_that_was_left_is_told_from_what_was_compacted(editor) -> None:
    pi = PiFile()
    first = pi.user("question")
    pi.assistant("one way")
    pi.leaf = first
    pi.assistant("other way", usage=500)
    path = editor.place.write("s.jsonl", pi.data)
    await editor.start()
    editor.open(path)
    assert "on a branch that was left" in await hover_at(editor, path, 2)
    assert "In the context" in await hover_at(editor, path, 3)


async def test_lines_are_those_that_the_editor_shows(editor) -> None:
    pi = PiFile(ending="\r\n")
    pi.user("one\u2028line\u0085only")
    pi.lines.append(b" \r \r\n")
    pi.user("two")
    path = editor.place.write("s.jsonl", pi.data)
    await editor.start()
    editor.open(path)
    found = await symbols_of(editor, path)
    assert [(one.name, one.range.start.line) for one in found] == [("one line only", 1), ("two", 4)]


async def test_a_line_that_is_not_finished_counts_once_it_is(editor) -> None:
    pi = PiFile()
    pi.user("one")
    whole = pi.data
    pi.user("two")
    path = editor.place.write("s.jsonl", pi.data[:-30])
    await editor.start()
    editor.open(path)
    assert [one.name for one in await symbols_of(editor, path)] == ["one"]
    assert "Unreadable line" in await hover_at(editor, path, 2)
    path.write_bytes(pi.data)
    assert [one.name for one in await symbols_of(editor, path)] == ["one", "two"]
    pi.user("three")
    path.write_bytes(pi.data)
    assert [one.name for one in await symbols_of(editor, path)] == ["one", "two", "three"]
    assert "In the context" in await hover_at(editor, path, 3)
    path.write_bytes(whole)
    assert [one.name for one in await symbols_of(editor, path)] == ["one"]


async def test_a_file_that_is_replaced_while_it_is_open_is_read_anew(editor) -> None:
    path = editor.place.write("s.jsonl", compacted(editor.place.cwd).data)
    await editor.start()
    editor.open(path)
    assert len(await symbols_of(editor, path)) == 4
    other = PiFile(session_id="019c2f00-0000-7000-8000-000000000002")
    other.user("another session " * 40)
    fresh = editor.place.write("fresh", other.data)
    fresh.replace(path)
    assert [one.name[:15] for one in await symbols_of(editor, path)] == ["another session"]
    path.unlink()
    assert await symbols_of(editor, path) == []


async def test_a_line_of_five_megabytes_is_like_any_other(editor) -> None:
    await editor.start()
    eighth, whole = [await cpu_s_of_line(editor, n) for n in (30_000, 240_000)]
    # Quadratic would be 64 times the time of an eighth.
    assert whole < 16 * eighth + 0.1


async def cpu_s_of_line(editor, n_parts: int) -> float:
    """Measure what a session with a line of so many parts, 21 bytes each, takes."""
    pi = PiFile(cwd=str(editor.place.cwd))
    pi.user("big")
    pi.assistant("", calls=[("c1", "read", {"path": "a.py"})])
    pi.result("c1", 'a "quoted" line 🍷\n' * n_parts, name="read")
    pi.assistant("done", usage=90_000)
    path = editor.place.write(f"{n_parts}.jsonl", pi.data)
    began_s = time.process_time()
    editor.open(path)
    assert "Tool result" in await hover_at(editor, path, 3)
    assert len((await hints_of(editor, path))[3]) < 40
    assert [one.name for one in await symbols_of(editor, path)] == ["big"]
    return time.process_time() - began_s


async def test_nothing_is_shown_on_other_files(editor) -> None:
    path = editor.place.write("notes.txt", b"hello\n")
    broken = editor.place.write("other.jsonl", b'{"a": 1}\n')
    await editor.start()
    for one in (path, broken):
        editor.open(one)
        assert await symbols_of(editor, one) == []
        assert await lenses_of(editor, one) == []
        assert await folds_of(editor, one) == []
        assert await hints_of(editor, one) == {}


async def test_lenses_and_hints_are_asked_for_anew_when_the_session_or_the_configuration_changes(
    editor,
) -> None:
    asked: asyncio.Queue[str] = asyncio.Queue()

    @editor.client.feature(types.WORKSPACE_CODE_LENS_REFRESH)
    def on_lenses(params: None) -> None:
        asked.put_nowait("lenses")

    @editor.client.feature(types.WORKSPACE_INLAY_HINT_REFRESH)
    def on_hints(params: None) -> None:
        asked.put_nowait("hints")

    pi = PiFile()
    pi.user("one")
    path = editor.place.write("s.jsonl", pi.data)
    supported = types.WorkspaceClientCapabilities(
        code_lens=types.CodeLensWorkspaceClientCapabilities(refresh_support=True),
        inlay_hint=types.InlayHintWorkspaceClientCapabilities(refresh_support=True),
    )
    await editor.client.initialize_session(
        types.InitializeParams(capabilities=types.ClientCapabilities(workspace=supported))
    )
    editor.open(path)
    assert len(await symbols_of(editor, path)) == 1
    assert asked.empty()
    started = time.monotonic()
    for n in range(5):
        pi.user(f"more {n}")
        path.write_bytes(pi.data)
        await symbols_of(editor, path)
    async with asyncio.timeout(WAIT_S):
        assert [await asked.get() for _ in range(4)] == ["lenses", "hints"] * 2
        assert time.monotonic() - started > 0.9
        editor.client.workspace_did_change_configuration(
            types.DidChangeConfigurationParams(settings={"contextWindow": 1_000_000})
        )
        assert [await asked.get() for _ in range(2)] == ["lenses", "hints"]


async def test_a_message_of_the_user_can_be_pinned_where_it_stands(
    editor, transcript: Path
) -> None:
    await editor.start()
    editor.open(transcript)
    symbols = await symbols_of(editor, transcript)
    line = next(one for one in symbols if "third question" in one.name).range.start.line

    async def pinning(line: int) -> list[types.Command]:
        place = types.Position(line, 0)
        found = await editor.client.text_document_code_action_async(
            types.CodeActionParams(
                identifier(transcript),
                types.Range(place, place),
                types.CodeActionContext(diagnostics=[], only=[types.CodeActionKind.Refactor]),
            )
        )
        # The client's library takes an action without an edit for a command around a command.
        return [
            default_converter().structure(ast.literal_eval(str(one.command)), types.Command)
            for one in found or ()
            if one.title == "Pin this message"
        ]

    assert await pinning(line + 1) == []
    (command,) = await pinning(line)
    outcome = await editor.client.workspace_execute_command_async(
        types.ExecuteCommandParams(command.command, command.arguments)
    )
    assert outcome["message"].startswith("Pinned")
    assert SECRET not in outcome["message"]
