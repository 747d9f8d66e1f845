"""The language server in the hands of an editor."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from claude_files import SESSION_ID, ClaudeFile, text
from pi_files import MODEL, PiFile, conversation
from running import WAIT_S
from ullage.app.memory.origins import begin_memory, list_outside_changes
from ullage.formats.agents.claude_code.places import folder_name
from ullage.store.files.places import Places


async def test_a_session_of_the_protocol_begins_and_ends_cleanly(stdio_editor) -> None:
    result = await stdio_editor.start()
    capabilities = result.capabilities
    assert capabilities.execute_command_provider is not None
    assert "ullage.compact" in capabilities.execute_command_provider.commands
    assert capabilities.code_action_provider is not None
    assert await stdio_editor.exit_code() == 0


async def test_a_full_context_is_a_warning_at_the_first_line(editor, full_session: Path) -> None:
    await editor.start()
    editor.open(full_session)
    (finding,) = await editor.diagnostics(full_session, count=1)
    assert finding.severity == types.DiagnosticSeverity.Warning
    assert (finding.code, finding.source) == ("context-utilization", "ullage")
    assert finding.message.startswith("Context is 91% full: 116,480 / 128,000")
    assert finding.range.start == types.Position(0, 0)
    assert finding.range.end.line == 0
    assert finding.range.end.character > 0


async def test_a_context_with_room_has_no_diagnostics(editor, place) -> None:
    path = place.write("s.jsonl", conversation(2, usage=40_000, model=MODEL).data)
    await editor.start()
    editor.open(path)
    assert await editor.diagnostics(path, count=0) == []


async def test_diagnostics_go_when_the_document_is_closed(editor, full_session: Path) -> None:
    await editor.start()
    editor.open(full_session)
    await editor.diagnostics(full_session, count=1)
    editor.close(full_session)
    assert await editor.diagnostics(full_session, count=0) == []


async def test_diagnostics_go_when_the_file_goes(editor, full_session: Path) -> None:
    await editor.start()
    editor.open(full_session)
    await editor.diagnostics(full_session, count=1)
    full_session.unlink()
    assert await editor.diagnostics(full_session, count=0) == []


async def test_diagnostics_come_when_an_open_session_fills(editor, place) -> None:
    pi = conversation(2, usage=40_000, model=MODEL)
    path = place.write("s.jsonl", pi.data)
    await editor.start()
    editor.open(path)
    await editor.diagnostics(path, count=0)
    n_before = len(pi.data)
    pi.assistant("more", usage=191_000)
    with path.open("ab") as file:
        file.write(pi.data[n_before:])
    (finding,) = await editor.diagnostics(path, count=1)
    assert finding.severity == types.DiagnosticSeverity.Error


async def code_actions(editor, path: Path, findings: list[types.Diagnostic]):
    place = types.Position(0, 0)
    return await editor.client.text_document_code_action_async(
        types.CodeActionParams(
            text_document=types.TextDocumentIdentifier(path.as_uri()),
            range=types.Range(place, place),
            context=types.CodeActionContext(
                diagnostics=findings, only=[types.CodeActionKind.QuickFix]
            ),
        )
    )


async def test_the_quick_fix_of_the_finding_compacts_the_session(
    editor, full_session: Path
) -> None:
    await editor.start()
    editor.open(full_session)
    findings = await editor.diagnostics(full_session, count=1)
    actions = await code_actions(editor, full_session, findings)
    assert actions[0].title.startswith("Compact")
    before = full_session.read_bytes()
    editor.answer = "Compact"
    result = await editor.command("ullage.compact", str(full_session))
    assert result.outcome == "done"
    assert len(editor.questions) == 1
    assert full_session.read_bytes().startswith(before)
    assert full_session.read_bytes().count(b"\n") == before.count(b"\n") + 1
    assert await editor.diagnostics(full_session, count=0) == []


async def test_without_a_confirmation_nothing_is_compacted(editor, full_session: Path) -> None:
    await editor.start()
    before = full_session.read_bytes()
    result = await editor.command("ullage.compact", str(full_session))
    assert result.outcome == "cancelled"
    assert len(editor.questions) == 1
    assert full_session.read_bytes() == before


async def test_a_session_that_is_small_already_is_not_asked_about(editor, place) -> None:
    path = place.write("s.jsonl", conversation(1, model=MODEL).data)
    await editor.start()
    result = await editor.command("ullage.compact", str(path))
    assert result.outcome == "nothing"
    assert editor.questions == []


async def test_other_findings_get_no_quick_fix(editor, full_session: Path) -> None:
    await editor.start()
    editor.open(full_session)
    (finding,) = await editor.diagnostics(full_session, count=1)
    other = types.Diagnostic(range=finding.range, message="from another server", code="x")
    assert not await code_actions(editor, full_session, [other])
    assert not await code_actions(editor, full_session, [])


async def test_the_gauge_shows_the_newest_session_of_the_workspace(
    editor, workspace_session: tuple[PiFile, Path]
) -> None:
    _, path = workspace_session
    await editor.start(editor.place.cwd)
    gauge = await editor.gauge(lambda gauge: gauge.session is not None)
    assert (gauge.text, gauge.level) == ("42%", "normal")
    assert gauge.session.agent == "openclaw"
    assert gauge.session.path == str(path)
    words = "Context 42% used, 84,000 of 200,000 tokens, normal"
    assert gauge.label == f"{words}; {gauge.title}"
    assert "84,000 / 200,000" in gauge.tooltip


async def test_the_gauge_follows_a_session_that_grows(
    editor, workspace_session: tuple[PiFile, Path]
) -> None:
    pi, path = workspace_session
    await editor.start(editor.place.cwd)
    await editor.gauge(lambda gauge: gauge.text == "42%")
    n_before = len(pi.data)
    pi.assistant("one more", usage=164_000)
    with path.open("ab") as file:
        file.write(pi.data[n_before:])
    gauge = await editor.gauge(lambda gauge: gauge.text == "82%")
    assert gauge.level == "warning"


async def grow(editor, pi: PiFile, path: Path, *steps: tuple[int, str]) -> None:
    """Let a session grow; what came first is captured before the last gauge is shown."""
    for usage, shown in steps:
        n_before = len(pi.data)
        pi.user(f"and now? {shown}")
        pi.assistant(f"Reading {shown}.", usage=usage)
        with path.open("ab") as file:
            file.write(pi.data[n_before:])
        await editor.gauge(lambda gauge, shown=shown: gauge.text == shown)


async def test_what_a_session_does_is_captured_while_it_grows(
    editor, workspace_session: tuple[PiFile, Path]
) -> None:
    pi, path = workspace_session
    await editor.start(editor.place.cwd)
    await editor.gauge(lambda gauge: gauge.text == "42%")
    await grow(editor, pi, path, (100_000, "50%"), (120_000, "60%"))
    (thread,) = editor.place.state.glob("context/state/*/thread.json")
    assert b"Reading 50%." in thread.read_bytes()


async def test_what_a_watched_agent_writes_into_memory_is_known_as_its_own(
    editor, workspace_session: tuple[PiFile, Path]
) -> None:
    pi, path = workspace_session
    memory = editor.place.cwd / "MEMORY.md"
    memory.write_text("- first\n", "utf-8")
    home, state = editor.place.home, editor.place.state
    places = Places(cwd=editor.place.cwd, home=home, env={}, state_folder=state)
    begin_memory(editor.place.cwd, places)
    await editor.start(editor.place.cwd)
    await editor.gauge(lambda gauge: gauge.text == "42%")
    memory.write_text("- first\n- the port is 8123\n- from nowhere\n", "utf-8")
    n_before = len(pi.data)
    edit = {"path": str(memory), "oldText": "", "newText": "- the port is 8123"}
    pi.assistant(calls=[("m1", "edit", edit)], usage=90_000, stop="toolUse")
    pi.result("m1", "ok", name="edit")
    with path.open("ab") as file:
        file.write(pi.data[n_before:])
    await editor.gauge(lambda gauge: gauge.text == "45%")
    await grow(editor, pi, path, (100_000, "50%"), (120_000, "60%"))
    (change,) = list_outside_changes(editor.place.cwd, places)
    assert change.added == ((3, "- from nowhere"),)


async def test_a_checkpoint_is_written_once_a_session_that_grows_is_full_enough(
    editor, workspace_session: tuple[PiFile, Path]
) -> None:
    pi, path = workspace_session
    await editor.start(editor.place.cwd)
    await editor.gauge(lambda gauge: gauge.text == "42%")
    steps = ((158_000, "79%", 0), (162_000, "81%", 1), (164_000, "82%", 1), (176_000, "88%", 2))
    for usage, shown, n_written in steps:
        await grow(editor, pi, path, (usage, shown))
        if n_written > len(written(editor)):
            await editor.changed("checkpoints")
        assert len(written(editor)) == n_written


def written(editor) -> list[Path]:
    return list(editor.place.state.rglob("cp_*.yaml"))


@pytest.mark.parametrize(
    ("configured", "options"),
    [(b"sandbox:\n  readOnly: true\n", None), (b"", {"isTrusted": False})],
)
async def test_where_nothing_may_be_written_a_session_grows_and_nothing_is(
    editor, workspace_session: tuple[PiFile, Path], configured: bytes, options: object
) -> None:
    pi, path = workspace_session
    editor.place.write(str(editor.place.home / ".openclaw/config.yaml"), configured)
    await editor.start(editor.place.cwd, options=options)
    await editor.gauge(lambda gauge: gauge.text == "42%")
    await grow(editor, pi, path, (164_000, "82%"), (176_000, "88%"))
    assert not list(editor.place.state.rglob("*"))


async def test_the_gauge_goes_over_to_a_newer_session(
    editor, workspace_session: tuple[PiFile, Path], make_idle: Callable
) -> None:
    _, path = workspace_session
    await editor.start(editor.place.cwd)
    await editor.gauge(lambda gauge: gauge.text == "42%")
    newer = newer_session(editor)
    editor.place.write(str(path.with_name("newer.jsonl")), newer.data, age_s=1)
    gauge = await editor.gauge(lambda gauge: gauge.text == "10%")
    assert gauge.session.path.endswith("newer.jsonl")


def newer_session(editor) -> PiFile:
    cwd = str(editor.place.cwd)
    return conversation(2, usage=20_000, cwd=cwd, model=MODEL, session_id="newer-0002")


async def test_a_session_that_was_chosen_stays_and_is_meant_until_another_is(
    editor, workspace_session: tuple[PiFile, Path]
) -> None:
    _, path = workspace_session
    await editor.start(editor.place.cwd)
    gauge = await editor.gauge(lambda gauge: gauge.text == "42%")
    assert not gauge.isChosen
    await editor.execute("ullage.choose", {"session": str(path)})
    gauge = await editor.gauge(lambda gauge: gauge.isChosen)
    assert gauge.label.endswith("; chosen")
    newer = path.with_name("newer.jsonl")
    editor.place.write(str(newer), newer_session(editor).data, age_s=-WAIT_S)
    while len(rows := (await editor.request("ullage/sessions")).sessions) < 2:
        await editor.changed("sessions")
    assert [(row.isLive, row.isShown) for row in rows] == [(True, False), (False, True)]
    assert (await editor.request("ullage/window")).session.path == str(path)
    await editor.execute("ullage.choose", {})
    gauge = await editor.gauge(lambda gauge: gauge.text == "10%")
    assert (gauge.isChosen, gauge.session.path) == (False, str(newer))
    await editor.execute("ullage.choose", {"session": str(path)})
    await editor.gauge(lambda gauge: gauge.isChosen)
    path.unlink()
    gauge = await editor.gauge(lambda gauge: gauge.text == "10%")
    assert not gauge.isChosen


async def test_a_choice_goes_into_a_copy_and_back_when_that_is_undone(
    editor, workspace_session: tuple[PiFile, Path]
) -> None:
    claude = ClaudeFile(cwd=str(editor.place.cwd))
    for number in range(20):
        claude.user(f"Please look at module {number} and tell me what it does. " * 200)
        claude.assistant(text(f"Module {number} does the {number}th thing. "), usage=99_000)
    folder = editor.place.home / ".claude/projects" / folder_name(str(editor.place.cwd))
    path = editor.place.write(str(folder / f"{SESSION_ID}.jsonl"), claude.data, age_s=60)
    await editor.start(editor.place.cwd, options={"showsOutcomes": True})
    await editor.execute("ullage.choose", {"session": str(path)})
    editor.answer = "Compact"
    made = await editor.execute("ullage.compact", {"session": None})
    copy = Path(made.session.path)
    # The agent goes on in it.
    copy.write_bytes(copy.read_bytes() + claude.data.splitlines(keepends=True)[-1])
    editor.place.write(str(copy), copy.read_bytes(), age_s=1)
    await editor.gauge(lambda gauge: gauge.session.path == str(copy))
    copy.unlink()
    gauge = await editor.gauge(lambda gauge: gauge.session.path != str(copy))
    assert (gauge.session.path, gauge.isChosen) == (str(path), True)


async def test_the_first_session_of_a_workspace_is_found_when_it_comes(
    editor, workspace_session: tuple[PiFile, Path]
) -> None:
    pi, path = workspace_session
    path.unlink()
    path.parent.rmdir()
    await editor.start(editor.place.cwd)
    editor.place.write(str(path), pi.data, age_s=1)
    gauge = await editor.gauge(lambda gauge: gauge.session is not None)
    assert gauge.text == "42%"


async def test_the_gauge_is_empty_again_when_the_session_is_gone(
    editor, workspace_session: tuple[PiFile, Path]
) -> None:
    _, path = workspace_session
    await editor.start(editor.place.cwd)
    await editor.gauge(lambda gauge: gauge.text == "42%")
    path.unlink()
    gauge = await editor.gauge(lambda gauge: gauge.session is None)
    assert gauge.text == "?"


async def test_an_open_transcript_is_gauged_where_the_workspace_has_none(
    editor, full_session: Path
) -> None:
    await editor.start()
    editor.open(full_session)
    gauge = await editor.gauge(lambda gauge: gauge.session is not None)
    assert gauge.session.path == str(full_session)


async def test_the_status_request_gives_the_text_of_the_command_line(
    editor, workspace_session: tuple[PiFile, Path], place
) -> None:
    _, path = workspace_session
    await editor.start(editor.place.cwd)
    await editor.gauge(lambda gauge: gauge.text == "42%")
    by_gauge = await editor.request("ullage/status")
    by_path = await editor.request("ullage/status", {"session": str(path)})
    printed = place.run("context", "status", "--session", path).stdout
    assert by_gauge.text == by_path.text == printed.rstrip("\n")


async def test_a_users_error_is_an_answer_with_its_message(editor, place) -> None:
    place.write("text.jsonl", b"hello\n")
    await editor.start()
    for name, words in (
        (None, "no session of an agent in this workspace"),
        ("missing.jsonl", "does not exist"),
        ("text.jsonl", "is not a session of an agent"),
        (".", "is a folder"),
    ):
        session = name and str(place.cwd / name)
        for answer in (
            editor.request("ullage/status", {"session": session}),
            editor.command("ullage.compact", session),
        ):
            with pytest.raises(JsonRpcException) as caught:
                await answer
            assert words in caught.value.message
            assert caught.value.code == types.LSPErrorCodes.RequestFailed
            assert "Traceback" not in str(caught.value.data)


async def test_a_wrong_argument_is_refused_and_the_server_lives(editor) -> None:
    await editor.start()
    for argument in (7, [], {"a": 1}):
        with pytest.raises(JsonRpcException) as caught:
            await editor.command("ullage.compact", argument)
        assert "Traceback" not in f"{caught.value.message}{caught.value.data}"
    with pytest.raises(JsonRpcException, match="no session"):
        await editor.command("ullage.compact")


@pytest.mark.parametrize("arguments", [None, [], [None], [{}]], ids=str)
async def test_a_command_without_arguments_takes_the_session_of_the_gauge(
    editor, workspace_session: tuple[PiFile, Path], arguments: list | None
) -> None:
    await editor.start(editor.place.cwd)
    await editor.gauge(lambda gauge: gauge.text == "42%")
    result = await editor.client.workspace_execute_command_async(
        types.ExecuteCommandParams(command="ullage.checkpoint", arguments=arguments)
    )
    assert result["outcome"] == "done"
    with pytest.raises(JsonRpcException):
        await editor.client.workspace_execute_command_async(
            types.ExecuteCommandParams(command="ullage.apply", arguments=arguments)
        )


async def test_a_document_that_is_no_transcript_gets_no_diagnostics(editor, place) -> None:
    path = place.write("notes.md", b"# Notes\n")
    await editor.start()
    editor.open(path)
    assert not await code_actions(editor, path, [])


async def test_two_compactions_at_once_make_one(editor, full_session: Path) -> None:
    await editor.start()
    editor.answer = "Compact"
    before = full_session.read_bytes()
    results = await asyncio.gather(
        editor.command("ullage.compact", str(full_session)),
        editor.command("ullage.compact", str(full_session)),
        return_exceptions=True,
    )
    outcomes = [r.outcome for r in results if not isinstance(r, JsonRpcException)]
    assert outcomes == ["done"]
    (error,) = [r for r in results if isinstance(r, JsonRpcException)]
    assert "changed meanwhile" in error.message or "being written to" in error.message
    assert full_session.read_bytes().count(b"\n") == before.count(b"\n") + 1
