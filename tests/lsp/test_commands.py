"""The commands over stdio: each asks before it changes something, and tells what it did."""

import json
from pathlib import Path

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from claude_files import ClaudeFile, text
from pi_files import SESSION_ID, conversation, json_line
from running import WAIT_S, idle

SESSION = "session"
NAME = f"Please look at file number 0. It matters. It… · pi / OpenClaw · {SESSION_ID[-8:]}"


async def begun(editor, **options: object) -> None:
    await editor.start(options={"showsOutcomes": True, **options})


async def test_old_output_is_pruned_once_it_was_agreed(editor, full_session: Path) -> None:
    await begun(editor)
    argument = {SESSION: str(full_session), "isEverything": True}
    before = full_session.read_bytes()
    assert (await editor.execute("ullage.prune", argument)).outcome == "cancelled"
    assert full_session.read_bytes() == before
    editor.answer = "Prune"
    outcome = await editor.execute("ullage.prune", argument)
    assert outcome.outcome == "done"
    assert outcome.message.startswith("Pruned ")
    assert outcome.change
    assert "Placeholders take the place of" in editor.questions[-1]
    assert b"[output pruned for context]" in full_session.read_bytes()


async def test_items_that_were_chosen_are_pruned_without_a_question(
    editor, full_session: Path
) -> None:
    await begun(editor)
    with pytest.raises(JsonRpcException, match="cannot prune"):
        await editor.execute(
            "ullage.prune", {SESSION: str(full_session), "items": ["zz"], "isConfirmed": True}
        )
    outcome = await editor.execute(
        "ullage.prune", {SESSION: str(full_session), "isEverything": True, "isConfirmed": True}
    )
    assert (outcome.outcome, editor.questions) == ("done", [])


async def test_a_question_about_one_output_names_it(editor, full_session: Path) -> None:
    await begun(editor)
    session = {SESSION: str(full_session)}
    row = (await editor.request("ullage/prunable", {"session": str(full_session)})).rows[0]
    await editor.execute("ullage.prune", session | {"items": [row.item]})
    assert f"Placeholders take the place of 1 output ({row.title}): " in editor.questions[-1]


async def test_a_compaction_is_undone_once_it_was_agreed(editor, full_session: Path) -> None:
    await begun(editor)
    editor.answer = "Compact"
    made = await editor.command("ullage.compact", str(full_session))
    assert made.message.startswith("Context compacted · 116k → ")
    assert made.resume is None
    compacted = idle(full_session).read_bytes()
    assert (await editor.command("ullage.undo", str(full_session))).outcome == "cancelled"
    assert full_session.read_bytes() == compacted
    editor.answer = "Undo"
    undone = await editor.command("ullage.undo", str(full_session))
    assert undone.outcome == "done"
    assert undone.message.startswith("Undone: the compaction")
    question, now, later = editor.questions[-1].split("\n")
    assert question == f"Undo the last compaction of {NAME}?"
    assert now.startswith("Current context: ")
    assert later.startswith("After undo: ")
    with pytest.raises(JsonRpcException, match="no compaction or prune to undo") as refused:
        await editor.command("ullage.undo", str(full_session))
    assert refused.value.message.startswith(f"{NAME}: ")


async def test_whatever_comes_of_a_command_names_its_session(editor, full_session: Path) -> None:
    await begun(editor)
    everything = {SESSION: str(full_session), "isEverything": True}
    cancelled = [
        await editor.execute("ullage.prune", everything),
        await editor.command("ullage.compact", str(full_session)),
    ]
    editor.answer = "Prune"
    await editor.execute("ullage.prune", everything)
    idle(full_session)
    editor.answer = "No"
    cancelled.append(await editor.command("ullage.undo", str(full_session)))
    nothing = await editor.execute("ullage.prune", everything)
    assert [outcome.outcome for outcome in (*cancelled, nothing)] == ["cancelled"] * 3 + ["nothing"]
    for outcome in (*cancelled, nothing):
        assert outcome.message.endswith(f" · {NAME}")
    shown = await editor.execute("ullage.show", {"uri": nothing.uri})
    assert shown.text.startswith("Context Status")
    pin = {SESSION: str(full_session), "text": "Never push."}
    await editor.execute("ullage.pin", pin)
    with pytest.raises(JsonRpcException, match="pinned already") as refused:
        await editor.execute("ullage.pin", pin)
    assert refused.value.message.startswith(f"{NAME}: ")
    assert f"pin --list --session {full_session}" in refused.value.message


async def offered_undo(editor, path: Path) -> dict[str, str]:
    """Prune, and give what the outcome offers."""
    argument = {SESSION: str(path), "isEverything": True, "isConfirmed": True}
    made = await editor.execute("ullage.prune", argument)
    return {SESSION: made.session.path, "change": made.change}


async def test_what_an_outcome_offers_is_undone_without_a_question(
    editor, full_session: Path
) -> None:
    await begun(editor)
    before = full_session.read_bytes()
    undone = await editor.execute("ullage.undo", await offered_undo(editor, full_session))
    assert (undone.outcome, editor.questions) == ("done", [])
    assert undone.message.startswith("Undone: the prune · ")
    assert full_session.read_bytes() == before
    redone = await follow(editor, undone, "Redo")
    editor.answer = "Undo"
    assert (await follow(editor, redone, "Undo")).next.title == "Redo"
    assert full_session.read_bytes() == before


async def test_what_was_undone_is_made_again_without_a_question(editor, full_session: Path) -> None:
    await editor.start(options={"showsOutcomes": True})
    session = {"session": str(full_session)}
    editor.answer = "Compact"
    await editor.execute("ullage.compact", session)
    after = idle(full_session).read_bytes()
    editor.answer = "Undo"
    await editor.execute("ullage.undo", session)
    assert idle(full_session).read_bytes() != after
    editor.answer = None
    redone = await editor.execute("ullage.redo", session)
    assert redone.message.startswith("Made again: the compaction · ")
    assert full_session.read_bytes() == after


@pytest.mark.parametrize("answer", ["Undo", None])
async def test_what_an_outcome_offered_before_a_new_server_is_undone_after_a_question(
    editor, full_session: Path, answer: str | None
) -> None:
    await begun(editor)
    before = full_session.read_bytes()
    offered = await offered_undo(editor, full_session)
    after = idle(full_session).read_bytes()
    # As a server that was started since has it.
    editor.server.sessions.made.clear()
    with pytest.raises(JsonRpcException, match="was changed again since"):
        await editor.execute("ullage.undo", {**offered, "change": "9999"})
    editor.answer = answer
    undone = await editor.execute("ullage.undo", offered)
    assert undone.outcome == ("cancelled" if answer is None else "done")
    assert editor.questions[0].startswith(f"Undo the last prune of {NAME}?")
    assert full_session.read_bytes() == (after if answer is None else before)


async def test_an_outcome_undoes_nothing_else(editor, full_session: Path) -> None:
    await begun(editor)
    offered = await offered_undo(editor, full_session)
    editor.answer = "Compact"
    await editor.command("ullage.compact", str(idle(full_session)))
    later = idle(full_session).read_bytes()
    editor.questions.clear()
    with pytest.raises(JsonRpcException, match="was changed again since"):
        await editor.execute("ullage.undo", offered)
    assert (editor.questions, full_session.read_bytes()) == ([], later)


async def test_what_another_did_since_is_not_undone_by_an_outcome(
    editor, full_session: Path
) -> None:
    await begun(editor)
    offered = await offered_undo(editor, full_session)
    lines = full_session.read_bytes()
    last_id = json.loads(lines.split(b"\n")[-2])["id"]
    compaction = {"type": "compaction", "id": "00c0ffee", "parentId": last_id, "tokensBefore": 9}
    compaction |= {
        "summary": "By the agent.",
        "firstKeptEntryId": last_id,
        "timestamp": "2026-02-03T12:00:00Z",
    }
    full_session.write_bytes(lines + json_line(compaction))
    with pytest.raises(JsonRpcException, match="was changed again since"):
        await editor.execute("ullage.undo", {**offered, SESSION: str(idle(full_session))})


async def test_a_client_without_dialogs_is_asked_by_a_message(editor, full_session: Path) -> None:
    editor.client.protocol.fm._features.pop("ullage/confirm")
    await begun(editor)
    editor.answer = "Prune"
    outcome = await editor.execute(
        "ullage.prune", {SESSION: str(full_session), "isEverything": True}
    )
    assert outcome.outcome == "done"
    assert f"Prune {NAME}? Placeholders take the place of " in editor.questions[0]


async def test_a_checkpoint_is_written_and_told_of(editor, full_session: Path) -> None:
    await begun(editor)
    outcome = await editor.command("ullage.checkpoint", str(full_session))
    assert (outcome.outcome, outcome.message) == ("done", f"Checkpoint cp_001 written · {NAME}")
    assert outcome.uri.endswith("cp_001.yaml")
    again = await editor.command("ullage.checkpoint", str(full_session))
    assert (again.outcome, again.message) == (
        "nothing",
        f"Unchanged since checkpoint cp_001 · {NAME}",
    )
    await editor.changed("checkpoints")


@pytest.mark.parametrize("into", ["session", "new"])
async def test_a_checkpoint_is_restored(editor, full_session: Path, into: str) -> None:
    await begun(editor)
    await editor.command("ullage.checkpoint", str(full_session))
    argument = {SESSION: str(full_session), "checkpoint": "cp_001"}
    text = await editor.execute("ullage.restore", argument)
    assert text.text.strip()
    assert text.message.startswith(f"The text of cp_001 of {NAME}: paste it ")
    shown = await editor.execute("ullage.show", {"uri": text.uri})
    assert shown.text.rstrip("\n") == text.text.rstrip("\n")
    editor.answer = "Restore"
    outcome = await editor.execute("ullage.restore", {**argument, "into": into})
    where = "restored into a new session · " if into == "new" else "restored · 116k → "
    assert outcome.message.startswith(f"Checkpoint cp_001 {where}")
    assert outcome.message.endswith(f" tokens · {NAME}")
    assert outcome.resume.command == f"pi --session {outcome.session.path}"
    assert (outcome.session.path == str(full_session)) == (into == "session")
    assert (outcome.change is not None) == (into == "session")
    assert Path(outcome.session.path).exists()


async def test_a_restored_checkpoint_is_asked_about_first(editor, full_session: Path) -> None:
    await begun(editor)
    await editor.command("ullage.checkpoint", str(full_session))
    before = full_session.read_bytes()
    outcome = await editor.execute(
        "ullage.restore", {SESSION: str(full_session), "into": "session"}
    )
    assert outcome.outcome == "cancelled"
    assert full_session.read_bytes() == before


@pytest.mark.parametrize("command", ["compact", "checkpoint restore cp_001 --into new"])
async def test_a_client_that_cannot_ask_says_what_to_run(
    editor, full_session: Path, command: str
) -> None:
    editor.client.protocol.fm._features.pop(types.WINDOW_SHOW_MESSAGE_REQUEST)
    await editor.start()
    await editor.command("ullage.checkpoint", str(full_session))
    before = full_session.read_bytes()
    name = "restore" if "restore" in command else command
    way = {"into": "new"} if name == "restore" else {}
    with pytest.raises(JsonRpcException) as caught:
        await editor.execute(f"ullage.{name}", {SESSION: str(full_session), **way})
    assert caught.value.message == (
        f"{NAME}: this editor does not let us ask, so that nothing was changed: run"
        f" `ullage {command} --session {full_session}` in a shell"
    )
    assert full_session.read_bytes() == before


async def pinned(editor, path: str):
    found = await editor.request("ullage/window", {"session": path})
    return next(row for row in found.rows if row.kind == "pins")


async def follow(editor, outcome, title: str):
    """Press the button that an outcome offers next."""
    assert outcome.next.title == title
    return await editor.execute(outcome.next.command, vars(outcome.next.argument))


async def test_a_text_and_a_message_are_pinned(editor, full_session: Path) -> None:
    await begun(editor)
    path = str(full_session)
    outcome = await editor.execute("ullage.pin", {SESSION: path, "text": "Keep this."})
    assert outcome.message == f"Pinned: every summary will hold “Keep this.” · {NAME}"
    removed, again = await follow(editor, outcome, "Remove Pin"), "Pin Again"
    assert removed.message.startswith("Pin removed: no summary has to hold “Keep this.”")
    assert (await follow(editor, removed, again)).message == outcome.message
    outcome = await editor.execute("ullage.pin", {SESSION: path, "entry": "000000a3"})
    removed = await follow(editor, outcome, "Remove Pin")
    await follow(editor, removed, again)
    pins = await editor.execute("ullage.show", {"uri": "ullage:/Pins?session=" + path})
    assert "Keep this." in pins.text
    assert "message 000000a3" in pins.text
    group = await pinned(editor, path)
    text, message = group.children
    assert (group.label, text.title) == ("Pins, 2 pins that every summary holds", "Keep this.")
    assert text.detail == "in the editor, just now"
    assert (text.uri, message.detail.startswith("message 000000a3, in the editor")) == (None, True)
    assert "000000a3" in message.uri
    assert (text.label, message.label) == (
        "Pin: Keep this., in the editor, just now",
        f"Pin: {message.title}, {message.detail}",
    )
    removed = await editor.execute("ullage.unpin", {SESSION: path, "text": text.pin})
    assert removed.message.startswith("Pin removed: no summary has to hold “Keep this.”")
    assert [row.pin for row in (await pinned(editor, path)).children] == [message.pin]
    with pytest.raises(JsonRpcException, match="not pinned any more"):
        await editor.execute("ullage.unpin", {SESSION: path, "text": text.pin})
    for wrong in ({}, {"text": "a", "entry": "b"}):
        with pytest.raises(JsonRpcException, match="either a message or a text"):
            await editor.execute("ullage.pin", {SESSION: path, **wrong})


async def test_memory_is_flushed_once_it_was_agreed(editor, place) -> None:
    pi = conversation(2, cwd=str(place.cwd))
    pi.user("We decided to use PostgreSQL 16 for the shop, because of its JSON indexes.")
    pi.assistant("Decision noted: we will use PostgreSQL 16 for the shop.")
    path = place.write("s.jsonl", pi.data)
    await begun(editor)
    assert (await editor.command("ullage.flush", str(path))).outcome == "cancelled"
    assert not (place.cwd / "memory").exists()
    editor.answer = "Write"
    outcome = await editor.command("ullage.flush", str(path))
    assert outcome.outcome == "done"
    (log,) = (place.cwd / "memory").iterdir()
    assert "PostgreSQL 16" in log.read_text("utf-8")
    assert outcome.uri == log.as_uri()
    assert (await editor.command("ullage.flush", str(path))).outcome == "nothing"


async def test_a_client_that_shows_no_outcomes_is_told_by_the_server(
    editor, full_session: Path
) -> None:
    await editor.start()
    await editor.command("ullage.checkpoint", str(full_session))
    assert editor.told == [f"Checkpoint cp_001 written · {NAME}"]


async def test_a_session_that_goes_on_in_a_new_file_comes_with_the_command(editor, place) -> None:
    claude = ClaudeFile(cwd=str(place.cwd))
    for at in range(12):
        claude.user(f"{at} " + "words " * 3000)
        claude.assistant(text("more " * 3000), usage=110_000)
    path = place.write("claude.jsonl", claude.data)
    editor.answer = "Compact"
    await editor.start()
    outcome = await editor.command("ullage.compact", str(path))
    assert outcome.message.startswith("Context compacted into a new session · 110k → ")
    command = f"claude --resume {outcome.session.sessionId}"
    assert vars(outcome.resume) == {"command": command, "folder": str(place.cwd)}
    assert editor.told == [f"{outcome.message}. Go on with: {command}"]


async def test_documents_are_given_by_the_protocol_and_by_the_command(
    editor, full_session: Path
) -> None:
    result = await editor.start(
        options={"showsOutcomes": True},
        capabilities=types.ClientCapabilities(
            workspace=types.WorkspaceClientCapabilities(
                text_document_content=types.TextDocumentContentClientCapabilities()
            )
        ),
    )
    assert result.capabilities.workspace.text_document_content.schemes == ("ullage",)
    editor.answer = "Compact"
    await editor.command("ullage.checkpoint", str(full_session))
    await editor.command("ullage.compact", str(full_session))
    for name, words in (
        ("Context Status", "Tokens"),
        ("Context Breakdown", "Largest entries"),
        ("Compaction History", "Degradation Risk"),
        ("Context.md", "OpenClaw · 00000001\n\n## 1. Summary"),
        ("Summary.md", "## Goal"),
        ("Checkpoint Changes", "Nothing differs"),
        ("Resume.md", "file number"),
        ("Pins", "Nothing is pinned"),
        ("Configuration", "No findings."),
    ):
        uri = f"ullage:/{name.replace(' ', '%20')}?session={full_session}"
        if name == "Checkpoint Changes":
            uri += "&old=cp_001&new=cp_001"
        given = await editor.client.workspace_text_document_content_async(
            types.TextDocumentContentParams(uri=uri)
        )
        assert words in given.text, name
        shown = await editor.execute("ullage.show", {"uri": uri})
        assert shown.text == given.text, name
    with pytest.raises(JsonRpcException, match="is no document of Ullage"):
        await editor.execute("ullage.show", {"uri": "ullage:/Nothing"})
    with pytest.raises(JsonRpcException, match="has no compaction"):
        await editor.execute(
            "ullage.show", {"uri": f"ullage:/Summary.md?session={full_session}&entry=zz"}
        )


async def test_a_document_that_is_shown_is_renewed_when_its_session_grows(
    editor, full_session: Path
) -> None:
    import asyncio

    renewed: asyncio.Queue[str] = asyncio.Queue()

    @editor.client.feature(types.WORKSPACE_TEXT_DOCUMENT_CONTENT_REFRESH)
    def on_refresh(params: types.TextDocumentContentRefreshParams) -> None:
        renewed.put_nowait(params.uri)

    await editor.start(
        capabilities=types.ClientCapabilities(
            workspace=types.WorkspaceClientCapabilities(
                text_document_content=types.TextDocumentContentClientCapabilities()
            )
        )
    )
    editor.open(full_session)
    await editor.gauge(lambda gauge: gauge.session is not None)
    uri = f"ullage:/Context%20Status?session={full_session}"
    await editor.client.workspace_text_document_content_async(
        types.TextDocumentContentParams(uri=uri)
    )
    with full_session.open("ab") as file:
        file.write(b"\n")
    assert await asyncio.wait_for(renewed.get(), WAIT_S) == uri
