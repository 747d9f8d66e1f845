"""What happens by itself: one nudge for each band, questions, and changes that can be undone."""

import asyncio
import json
import logging
import os
import re
import sys
import time
from functools import partial
from pathlib import Path

import pytest
from lsprotocol import types

from claude_files import SESSION_ID as CLAUDE_ID
from claude_files import ClaudeFile, text
from model_server import Asked, ModelServer, Reply, served, serving, text_reply
from model_session import GOOD
from pi_files import MODEL, SESSION_ID, PiFile, conversation, grow
from running import WAIT_S, Place
from ullage.formats.agents.claude_code.places import folder_name

QUIET_AGE_S = 6
KEPT_IN = r" Before that, what is worth keeping goes to \S*memory/[\d-]+\.md\."
PRESSURE = "Context Window pressure high in read-only sandbox; consider increasing contextWindow"
READ_ONLY = b"sandbox:\n  readOnly: true\n"
AUTO_OFF = b"compaction:\n  autoEnabled: false\n"
UNFLUSHED = b"compaction:\n  memoryFlush:\n    enabled: false\n"
UNASKED = UNFLUSHED + b"  notifyBeforeAuto: false\n"


def make_quiet(path: Path) -> None:
    """Let the agent's last line be seconds old."""
    at = time.time() - QUIET_AGE_S
    os.utime(path, (at, at))


@pytest.fixture
def configure(place: Place):
    def write(data: bytes) -> None:
        place.write(str(place.home / ".openclaw/config.yaml"), data)

    return write


@pytest.fixture
def long_session(place: Place) -> tuple[PiFile, Path]:
    """A session with much to compact that is at 42 % by what its last answer reported."""
    place.let_pi_fill_its_window()
    pi = conversation(16, chars=6000, usage=84_000, cwd=str(place.cwd), model=MODEL)
    folder = f"--{str(place.cwd).lstrip('/').replace('/', '-')}--"
    path = place.home / ".pi" / "agent" / "sessions" / folder / "2026-02-03_s.jsonl"
    return pi, place.write(str(path), pi.data)


async def started(editor, **options: object) -> None:
    await editor.start(editor.place.cwd, options=options)
    await editor.gauge(lambda gauge: gauge.text == "42%")


async def grown(editor, pi: PiFile, path: Path, usage: int) -> None:
    """Let a session grow, and wait until the gauge shows it."""
    grow(pi, path, usage)
    make_quiet(path)
    await editor.gauge(lambda gauge: gauge.text == f"{usage / 200_000:.0%}")


NAME = f"Please look at file number 0. It matters. It… · pi / OpenClaw · {SESSION_ID[-8:]}"


def used(percent: int) -> str:
    return f"Context {percent}% used in {NAME}"


async def test_each_band_is_told_of_once_until_the_context_fell(
    editor, workspace_session, configure
) -> None:
    pi, path = workspace_session
    configure(AUTO_OFF)
    await started(editor)
    for usage, is_told in (
        (150_000, False),
        (164_000, True),
        (166_000, False),
        (192_000, True),
        (194_000, False),
        (60_000, False),
        (170_000, True),
    ):
        await grown(editor, pi, path, usage)
        if is_told:
            await editor.asked(lambda text, usage=usage: text.startswith(used(usage // 2000)))
    assert [text.partition(":")[0] for text in editor.questions] == [used(82), used(96), used(85)]


async def test_of_two_windows_one_tells_and_snoozing_holds_for_both(
    editor, other_editor, workspace_session, configure
) -> None:
    pi, path = workspace_session
    configure(AUTO_OFF)
    editors = (editor, other_editor)
    for one in editors:
        one.answer = "Snooze"
        await started(one)
    for usage in (164_000, 192_000):
        grow(pi, path, usage)
        make_quiet(path)
        for one in editors:
            await one.gauge(lambda gauge, usage=usage: gauge.text == f"{usage / 200_000:.0%}")
        await first_asked(editors, used(usage // 2000))
    for one in editors:
        await one.request("ullage/status")
    assert len(editor.questions + other_editor.questions) == 2


async def test_a_band_is_told_of_though_other_things_were_configured_meanwhile(
    editor, workspace_session, configure
) -> None:
    pi, path = workspace_session
    configure(AUTO_OFF)
    await started(editor)
    await grown(editor, pi, path, 192_000)
    editor.client.workspace_did_change_configuration(
        types.DidChangeConfigurationParams(settings={"ullage": {"gauge.nudge": True}})
    )
    await editor.asked(lambda text: text.startswith(used(96)))


def answered_later(editor, buttons: list[str] | None = None) -> asyncio.Future[str]:
    """Let the first question stand until its answer is given; others are closed."""
    answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    editor.client.protocol.fm._features.pop(types.WINDOW_SHOW_MESSAGE_REQUEST)

    @editor.client.feature(types.WINDOW_SHOW_MESSAGE_REQUEST)
    async def on_question(params: types.ShowMessageRequestParams) -> types.MessageActionItem | None:
        editor.questions.append(params.message)
        editor._asked.put_nowait(params.message)
        if buttons is not None:
            buttons.extend(action.title for action in params.actions or ())
        return types.MessageActionItem(await answer) if len(editor.questions) == 1 else None

    return answer


async def first_asked(editors, beginning: str) -> None:
    """Wait until one of some editors is asked."""
    waiting = [asyncio.create_task(one.asked(lambda t: t.startswith(beginning))) for one in editors]
    _, others = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    for other in others:
        other.cancel()
    await asyncio.gather(*others, return_exceptions=True)


async def test_a_session_that_is_snoozed_is_told_of_only_in_a_higher_band(
    editor, workspace_session, configure
) -> None:
    pi, path = workspace_session
    configure(AUTO_OFF)
    grow(pi, path, 164_000)
    make_quiet(path)
    await editor.start(editor.place.cwd)
    await editor.gauge(lambda gauge: gauge.text == "82%")
    await editor.command("ullage.snooze")
    for usage in (166_000, 192_000):
        await grown(editor, pi, path, usage)
    await editor.asked(lambda text: text.startswith(used(96)))
    assert len(editor.questions) == 1


@pytest.mark.parametrize(
    ("threshold", "growth", "percent"),
    [
        (b"", (164_000, 178_000, 192_000), 89),
        (b"compaction:\n  warnAtTokenThreshold: 120000\n", (130_000,), 65),
    ],
    ids=["where a compaction is due", "where the user says"],
)
async def test_read_only_is_warned_of_once_and_nothing_is_kept(
    threshold, growth, percent, editor, workspace_session, configure
) -> None:
    pi, path = workspace_session
    configure(READ_ONLY + threshold)
    await started(editor)
    before = editor.place.files()
    for usage in growth:
        await grown(editor, pi, path, usage)
        if usage == percent * 2000:
            await editor.said(lambda text: f"{used(percent)}: {PRESSURE}" in text)
    await editor.request("ullage/status")
    assert editor.questions == []
    assert len([text for text in editor.told if "readOnly" in text]) == 1
    written = {name for name, data in editor.place.files().items() if before.get(name) != data}
    assert {name for name in written if not name.endswith(".jsonl")} == set()


async def test_what_cannot_be_kept_is_told_of_once(editor, workspace_session, configure) -> None:
    pi, path = workspace_session
    configure(AUTO_OFF)
    editor.place.write(str(editor.place.state / "context"), b"a file where a folder should be")
    await started(editor)
    for usage in (164_000, 166_000, 168_000):
        await grown(editor, pi, path, usage)
        if usage == 164_000:
            await editor.said(lambda text: text.startswith(f"{NAME}: cannot write "))
    await editor.request("ullage/status")
    assert len(editor.told) == 1


async def test_without_nudges_nothing_is_said(
    editor, other_editor, workspace_session, configure
) -> None:
    pi, path = workspace_session
    configure(AUTO_OFF)
    await editor.start(editor.place.cwd, options={"gauge": {"nudge": False}})
    await started(other_editor)
    await editor.gauge(lambda gauge: gauge.text == "42%")
    await grown(editor, pi, path, 164_000)
    await other_editor.asked(lambda text: text.startswith(used(82)))
    await editor.request("ullage/status")
    assert editor.questions == []


async def test_in_a_workspace_that_is_not_trusted_nothing_is_said_or_done(
    editor, other_editor, long_session
) -> None:
    pi, path = long_session
    await started(editor, isTrusted=False)
    await started(other_editor, isTrusted=True)
    await grown(editor, pi, path, 178_000)
    await other_editor.asked(lambda text: text.startswith(used(89)))
    await editor.request("ullage/status")
    assert editor.questions == []


async def test_an_automatic_compaction_is_asked_about_and_made(
    editor, long_session, configure
) -> None:
    pi, path = long_session
    configure(b"compaction:\n  memoryFlush:\n    enabled: true\n  prune:\n    enabled: false\n")
    editor.answer = "Compact Now"
    await started(editor)
    await grown(editor, pi, path, 178_000)
    await editor.asked(lambda text: text.startswith(f"Compacted {NAME}: "))
    question, told = editor.questions
    assert question.startswith(f"{used(89)}. Ullage would compact it now: ")
    assert re.search(KEPT_IN, question)
    assert "Checkpoint cp_001 written." in told
    assert " of memory in " in told
    assert b'"type":"compaction"' in path.read_bytes()


async def test_what_was_declined_is_asked_about_again_only_for_a_stronger_layer(
    editor, long_session, configure
) -> None:
    pi, path = long_session
    configure(UNFLUSHED)
    editor.answer = "Not Now"
    await started(editor)
    for usage, is_asked in ((178_000, True), (180_000, False), (192_000, True)):
        await grown(editor, pi, path, usage)
        if is_asked:
            await editor.asked(lambda text, usage=usage: text.startswith(used(usage // 2000)))
    assert len(editor.questions) == 2
    assert b'"type":"compaction"' not in path.read_bytes()


async def test_unasked_it_waits_until_the_agent_is_quiet_and_can_be_taken_back(
    editor, long_session, configure
) -> None:
    pi, path = long_session
    configure(UNASKED)
    editor.answer = "Undo"
    await started(editor)
    grow(pi, path, 178_000)
    await editor.gauge(lambda gauge: gauge.text == "89%")
    assert b"pruned for context" not in path.read_bytes()
    make_quiet(path)
    await editor.asked(lambda text: text.startswith("Pruned "))
    await editor.gauge(lambda gauge: gauge.text.startswith("~"))
    await editor.gauge(lambda gauge: gauge.text == "89%")
    await editor.asked(lambda text: text.startswith("Undone: the prune · "))
    assert len(editor.questions) == 2


async def test_a_session_is_switched_and_snoozed_by_commands(editor, workspace_session) -> None:
    await started(editor)
    outcome = await editor.command("ullage.snooze")
    assert outcome.message.startswith("Snoozed until the next compaction")
    outcome = await editor.command("ullage.auto")
    assert outcome.message == f"Automatic compaction is on · {NAME}"
    assert "set by the session" in editor.place.run("autocompact", "status").stdout


def with_model(server) -> dict[str, object]:
    return {"model": {"provider": "custom", "modelName": "m", "baseUrl": server.base_url}}


async def test_no_model_is_asked_before_the_user_said_yes(editor, long_session, configure) -> None:
    pi, path = long_session
    configure(UNFLUSHED + b"  prune:\n    enabled: false\n")
    async with serving(text_reply("## Goal\n- Ship it.\n" * 5)) as server:
        await started(editor, compaction=with_model(server))
        await grown(editor, pi, path, 178_000)
        question = await editor.asked(lambda text: text.startswith(used(89)))
        assert "The configured model would be sent what goes" in question
        await grown(editor, pi, path, 180_000)
        editor.answer = "Snooze"
        await grown(editor, pi, path, 192_000)
        await editor.asked(lambda text: text.startswith(used(96)))
        await grown(editor, pi, path, 194_000)
        await editor.request("ullage/status")
        assert (len(server.asked), len(editor.questions)) == (0, 2)


async def test_no_model_is_spoken_of_where_none_would_be_asked(
    editor, long_session, configure
) -> None:
    pi, path = long_session
    configure(UNFLUSHED + b"  prune:\n    enabled: false\n")
    await started(editor, compaction={"model": {"temperature": 0.1}})
    await grown(editor, pi, path, 178_000)
    assert "model" not in await editor.asked(lambda text: text.startswith(used(89)))


async def test_after_a_yes_the_model_summarizes(editor, long_session, configure) -> None:
    pi, path = long_session
    configure(UNFLUSHED + b"  prune:\n    enabled: false\n")
    editor.answer = "Compact Now"
    async with serving(text_reply("## Goal\n- Ship it.\n" * 5)) as server:
        await started(editor, compaction=with_model(server))
        await grown(editor, pi, path, 178_000)
        await editor.asked(lambda text: text.startswith(f"Compacted {NAME}: "))
        assert server.asked


async def test_a_nudge_to_compact_says_that_memory_is_kept_before(
    editor, long_session, configure
) -> None:
    pi, path = long_session
    configure(AUTO_OFF + b"  memoryFlush:\n    enabled: true\n  prune:\n    enabled: false\n")
    buttons: list[str] = []
    answer = answered_later(editor, buttons)
    await started(editor)
    await grown(editor, pi, path, 178_000)
    assert re.search(KEPT_IN, await editor.asked(lambda text: text.startswith(used(89))))
    assert buttons == ["Preview…", "Compact", "Snooze"]
    answer.set_result("Compact")
    await editor.gauge(lambda gauge: gauge.text.startswith("~"))
    assert b'"type":"compaction"' in path.read_bytes()


async def test_a_nudge_to_compact_leads_to_a_preview(editor, long_session, configure) -> None:
    pi, path = long_session
    configure(AUTO_OFF + b"  prune:\n    enabled: false\n")
    editor.answer = "Preview…"
    shows = types.ShowDocumentClientCapabilities(support=True)
    window = types.WindowClientCapabilities(show_document=shows)
    await editor.start(editor.place.cwd, capabilities=types.ClientCapabilities(window=window))
    await editor.gauge(lambda gauge: gauge.text == "42%")
    await grown(editor, pi, path, 178_000)
    await editor.showed(lambda uri: uri.endswith("/proposed.md"))


@pytest.fixture
def claude_session(place: Place) -> tuple[ClaudeFile, Path]:
    """A session of Claude Code with much to compact, at 42 %."""
    claude = ClaudeFile(cwd=str(place.cwd))
    for number in range(16):
        claude.user(f"Please look at file number {number}. " + "words " * 1500)
        claude.assistant(text("more " * 1500), usage=84_000)
    folder = place.home / ".claude/projects" / folder_name(str(place.cwd))
    return claude, place.write(str(folder / f"{CLAUDE_ID}.jsonl"), claude.data)


async def answered(editor, buttons: dict[str, list[str]], answers: dict[str, str]) -> None:
    """Answer each question by its beginning, and keep what buttons it had."""
    editor.client.protocol.fm._features.pop(types.WINDOW_SHOW_MESSAGE_REQUEST)

    @editor.client.feature(types.WINDOW_SHOW_MESSAGE_REQUEST)
    def on_question(params: types.ShowMessageRequestParams) -> types.MessageActionItem | None:
        editor._asked.put_nowait(params.message)
        buttons[params.message] = [action.title for action in params.actions or ()]
        first = next((key for key in answers if params.message.startswith(key)), None)
        return None if first is None else types.MessageActionItem(answers.pop(first))


async def test_of_a_session_that_is_copied_nothing_sounds_as_if_it_shrank(
    editor, claude_session, configure
) -> None:
    claude, path = claude_session
    configure(AUTO_OFF + b"  prune:\n    enabled: false\n  memoryFlush:\n    enabled: false\n")
    before = path.read_bytes()
    buttons: dict[str, list[str]] = {}
    answers = {"Context 8": "Compact", "Compacted ": "Undo", "Undone: ": "Redo"}
    await answered(editor, buttons, answers)
    async with serving(text_reply("## Goal\n- Ship it.\n" * 5)) as server:
        await started(editor, compaction=with_model(server), showsOutcomes=True)
        claude.user("and now?")
        claude.assistant(text("Done."), usage=178_000)
        path.write_bytes(claude.data)
        make_quiet(path)
        nudge = await editor.asked(lambda message: message.startswith("Context 89% used"))
        assert "The configured model would be sent what goes" in nudge
        assert "Claude Code gets a copy: this one stays as it is, at 89%" in nudge
        made = await editor.asked(lambda message: message.startswith("Compacted "))
        assert " · Claude Code · 77777777 into a new session: " in made
        assert buttons[made] == ["Undo", "Resume in Terminal"]
        undone = await editor.asked(lambda message: message.startswith("Undone: "))
        assert buttons[undone] == ["Redo", "Resume in Terminal"]
        redone = await editor.asked(lambda message: message.startswith("Made again: "))
        assert buttons[redone] == ["Undo", "Resume in Terminal"]
    assert path.read_bytes() != before
    assert not any("Go on with" in message for message in (*buttons, *editor.told))


async def test_a_view_of_a_prune_shows_messages_not_lines(editor, long_session, configure) -> None:
    pi, path = long_session
    configure(UNASKED)
    editor.answer = "View"
    capabilities = types.ClientCapabilities(
        window=types.WindowClientCapabilities(
            show_document=types.ShowDocumentClientCapabilities(support=True)
        ),
        workspace=types.WorkspaceClientCapabilities(
            text_document_content=types.TextDocumentContentClientCapabilities()
        ),
    )
    await editor.start(editor.place.cwd, capabilities=capabilities)
    await editor.gauge(lambda gauge: gauge.text == "42%")
    await grown(editor, pi, path, 178_000)
    await editor.showed(lambda uri: uri.startswith("ullage:/Context.md?"))


async def test_of_two_windows_one_asks_the_model_unasked(
    editor, other_editor, long_session, configure
) -> None:
    pi, path = long_session
    configure(UNASKED + b"  prune:\n    enabled: false\n")
    editors = (editor, other_editor)
    async with serving((1.0, *text_reply("## Goal\n- Ship it.\n" * 5))) as server:
        for one in editors:
            await started(one, compaction=with_model(server))
        grow(pi, path, 178_000)
        make_quiet(path)
        await first_asked(editors, "Compacted ")
        for one in editors:
            await one.gauge(lambda gauge: gauge.text.startswith("~"))
            await one.request("ullage/status")
        assert len([text for one in editors for text in one.questions]) == 1
        assert len(server.asked) == 1


async def test_a_yes_to_a_prune_prunes_however_full_the_window_became(
    editor, long_session, configure
) -> None:
    pi, path = long_session
    configure(UNFLUSHED)
    await started(editor)
    answer = answered_later(editor)
    await grown(editor, pi, path, 178_000)
    question = await editor.asked(lambda text: text.startswith(used(89)))
    assert "Ullage would prune it now" in question
    await grown(editor, pi, path, 192_000)
    answer.set_result("Prune Now")
    await editor.asked(lambda text: text.startswith("Pruned "))
    assert b'"type":"compaction"' not in path.read_bytes()


async def test_the_button_of_a_prune_never_compacts(editor, long_session, configure) -> None:
    pi, path = long_session
    configure(AUTO_OFF)
    await started(editor)
    buttons: list[str] = []
    answer = answered_later(editor, buttons)
    await grown(editor, pi, path, 178_000)
    assert "pruning old tool output would free" in await editor.asked(lambda text: True)
    # What is previewed is a compaction.
    assert buttons == ["Prune", "Snooze"]
    outcome = await editor.execute("ullage.prune", {"isConfirmed": True})
    assert outcome.outcome == "done"
    make_quiet(path)
    answer.set_result("Prune")
    await editor.said(lambda text: "there is nothing to prune any more" in text)
    assert b'"type":"compaction"' not in path.read_bytes()


async def test_an_old_message_takes_back_nothing_but_its_own_change(
    editor, long_session, configure
) -> None:
    pi, path = long_session
    configure(UNASKED)
    buttons: list[str] = []
    answer = answered_later(editor, buttons)
    await started(editor)
    await grown(editor, pi, path, 178_000)
    await editor.asked(lambda text: text.startswith("Pruned "))
    # No "View" where the client shows no documents.
    assert buttons == ["Undo"]
    make_quiet(path)
    compacted = editor.place.run_process("compact", "--session", str(path), "--yes", "--json")
    assert compacted.returncode == 0, compacted.stderr
    make_quiet(path)
    before = path.read_bytes()
    answer.set_result("Undo")
    await editor.said(lambda text: "only its last change can be taken back" in text)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("config", "button"),
    [
        (AUTO_OFF, "Prune"),
        (AUTO_OFF, "Snooze"),
        (UNFLUSHED, "Not Now"),
        (UNFLUSHED, "Prune Now"),
        (UNASKED, "Undo"),
    ],
)
async def test_no_answer_writes_where_the_workspace_became_read_only(
    config, button, editor, long_session, configure
) -> None:
    pi, path = long_session
    configure(config)
    await started(editor)
    answer = answered_later(editor)
    await grown(editor, pi, path, 178_000)
    await editor.asked(lambda text: True)
    configure(READ_ONLY + config)
    await editor.gauge(lambda gauge: not gauge.canWrite)
    before = editor.place.files()
    answer.set_result(button)
    await editor.said(lambda text: text.startswith(f"{NAME}: The workspace is read-only"))
    assert editor.place.files() == before


async def test_what_was_written_while_a_model_worked_is_considered_after_it(
    editor, long_session, configure
) -> None:
    pi, path = long_session
    configure(UNASKED + b"  prune:\n    enabled: false\n")
    may_answer = asyncio.Event()

    def reply(_: Asked) -> Reply:
        return (may_answer, *text_reply("## Goal\n- Ship it.\n" * 5))

    async with served(ModelServer(reply)) as server:
        await started(editor, compaction=with_model(server))
        await grown(editor, pi, path, 178_000)
        await server.until(lambda: server.asked)
        await grown(editor, pi, path, 180_000)
        may_answer.set()
        await editor.asked(lambda text: text.startswith("Compacted "))
        assert len(server.asked) > 1


async def test_what_nobody_answered_before_the_end_is_told_of_in_the_next_window(
    editor, other_editor, workspace_session, configure
) -> None:
    pi, path = workspace_session
    configure(AUTO_OFF)
    answer = answered_later(editor)
    await started(editor)
    await grown(editor, pi, path, 164_000)
    await editor.asked(lambda text: text.startswith(used(82)))
    # pygls' client fails over a question that stands when its server ends.
    editor.client.protocol._request_futures.clear()
    assert await editor.exit_code() == 0
    answer.cancel()
    await other_editor.start(other_editor.place.cwd)
    await other_editor.gauge(lambda gauge: gauge.text == "82%")
    await grown(other_editor, pi, path, 166_000)
    await other_editor.asked(lambda text: text.startswith(used(83)))


async def test_a_client_without_buttons_is_told_in_words(editor, long_session, configure) -> None:
    pi, path = long_session
    configure(UNFLUSHED)
    editor.client.protocol.fm._features.pop(types.WINDOW_SHOW_MESSAGE_REQUEST)
    await started(editor)
    await grown(editor, pi, path, 178_000)
    await editor.said(lambda text: text.startswith(f"{used(89)}: pruning old tool output"))


async def test_a_client_without_buttons_is_told_while_a_summary_is_prepared(
    editor, long_session, configure
) -> None:
    pi, path = long_session
    configure(UNFLUSHED + b"  prune:\n    enabled: false\n")
    editor.client.protocol.fm._features.pop(types.WINDOW_SHOW_MESSAGE_REQUEST)
    await started(editor)
    await grown(editor, pi, path, 166_000)
    await editor.said(lambda text: text.startswith(used(83)))
    await is_prepared(editor)


def summarize(asked: Asked) -> Reply:
    """Answer with a summary that names something of what was sent."""
    named = re.search(r"src/file\d+\.py", asked.prompt)
    return text_reply(GOOD.replace("src/billing/totals.py", named[0] if named else ""))


async def is_prepared(editor) -> None:
    """Wait until a summary is prepared, whichever window did it."""
    async with asyncio.timeout(WAIT_S):
        while not any(editor.place.state.rglob("prepared.json")):
            await editor.request("ullage/status")


async def test_a_summary_is_prepared_and_waits_for_nothing_when_it_is_due(
    editor, long_session, configure, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    pi, path = long_session
    configure(UNASKED + b"  prune:\n    enabled: false\n")
    async with served(ModelServer(summarize)) as server:
        await started(editor, compaction=with_model(server))
        await grown(editor, pi, path, 152_000)
        await server.until(lambda: server.asked)
        await is_prepared(editor)
        n_asked = len(server.asked)
        assert "a summary is prepared by custom/m (" in caplog.text
        await grown(editor, pi, path, 160_000)
        await grown(editor, pi, path, 178_000)
        await editor.asked(lambda text: text.startswith(f"Compacted {NAME}: "))
        assert len(server.asked) == n_asked
        await editor.gauge(lambda gauge: gauge.text.startswith("~"))
    assert b"Fix the rounding of invoices in src/file" in path.read_bytes()
    make_quiet(path)
    async with asyncio.timeout(WAIT_S):
        while any(editor.place.state.rglob("prepared.json")):
            await editor.request("ullage/status")


async def test_a_command_in_a_shell_takes_what_the_editor_prepared(
    editor, long_session, configure
) -> None:
    pi, path = long_session
    async with served(ModelServer(summarize)) as server:
        model = (
            "  layers:\n    summarize:\n      protectRecentTokens: 2000\n"
            f"  model:\n    provider: custom\n    modelName: m\n    baseUrl: {server.base_url}\n"
        )
        configure(UNASKED + b"  prune:\n    enabled: false\n" + model.encode())
        await started(editor)
        await grown(editor, pi, path, 152_000)
        await is_prepared(editor)
        n_asked = len(server.asked)
        for number in range(10):
            pi.user(f"Please look at part {number} of the ledger.")
            pi.assistant(f"Part {number} holds what it should. " * 40, usage=152_000)
        path.write_bytes(pi.data)
        await grown(editor, pi, path, 154_000)
        command = ("compact", "--session", str(path), "--dry-run", "--json")
        run = editor.place.run_process
        planned = json.loads((await asyncio.to_thread(run, *command)).stdout)
        assert planned["audit"]["by"] == "custom/m"
        assert "tokens that came since could go as well" in str(planned["audit"]["warnings"])
        # What is edited stands for the same messages: between two cuts nothing is lost.
        write = f"\"{sys.executable}\" -c \"import sys; open(sys.argv[1], 'a').write('- Mine.')\""
        mine = partial(run, *command, "--edit", EDITOR=write, VISUAL=write)
        edited = json.loads((await asyncio.to_thread(mine)).stdout)
        assert edited["audit"]["by"] == "user"
        assert edited["messages_compacted"] == planned["messages_compacted"]
        assert len(server.asked) == n_asked


async def test_what_is_prepared_for_a_question_no_model_sees(
    editor, long_session, configure
) -> None:
    pi, path = long_session
    configure(UNFLUSHED + b"  prune:\n    enabled: false\n")
    async with served(ModelServer(summarize)) as server:
        await started(editor, compaction=with_model(server))
        await grown(editor, pi, path, 152_000)
        await is_prepared(editor)
        await grown(editor, pi, path, 178_000)
        await editor.asked(lambda text: text.startswith(used(89)))
        assert server.asked == []


async def test_of_two_windows_one_prepares(editor, other_editor, long_session, configure) -> None:
    pi, path = long_session
    configure(UNASKED + b"  prune:\n    enabled: false\n")
    editors = (editor, other_editor)
    async with served(ModelServer(lambda asked: (1.0, *summarize(asked)))) as server:
        for one in editors:
            await started(one, compaction=with_model(server))
        for usage in (152_000, 156_000):
            grow(pi, path, usage)
            make_quiet(path)
            for one in editors:
                await one.gauge(lambda gauge, usage=usage: gauge.text == f"{usage // 2000}%")
            await is_prepared(editor)
        grow(pi, path, 178_000)
        make_quiet(path)
        await first_asked(editors, "Compacted ")
        sent = [re.sub(r"[0-9a-f]{8}", "", asked.prompt) for asked in server.asked]
        assert len(set(sent)) == len(sent) > 0


async def test_what_is_switched_off_is_not_prepared(editor, long_session, configure) -> None:
    pi, path = long_session
    configure(AUTO_OFF)
    await started(editor)
    await grown(editor, pi, path, 152_000)
    await grown(editor, pi, path, 164_000)
    await editor.asked(lambda text: text.startswith(used(82)))
    await editor.request("ullage/status")
    assert not any(editor.place.state.rglob("prepared.json"))
