"""An editor tells that an agent waits, once for each turn, where its user wants that."""

import asyncio
import os
import time
from pathlib import Path

from pi_files import SESSION_ID, PiFile, conversation, grow
from running import Place
from ullage.app.sessions.follow import start
from ullage.core.config.settings import Config, Policy
from ullage.lsp.auto.waiting import note_turn_end, tell_waiting
from ullage.lsp.state import SessionChange, UllageServer

QUIET_AGE_S = 6
MESSAGE = "Done, and waits for you: Please look at file number 0."
WANTED = {"notify": {"agentWaits": True}, "showsOutcomes": True}


def make_quiet(path: Path) -> None:
    at = time.time() - QUIET_AGE_S
    os.utime(path, (at, at))


async def turn(editor, pi: PiFile, path: Path, usage: int) -> None:
    """Let the agent end a turn, and wait until the gauge shows it."""
    grow(pi, path, usage)
    make_quiet(path)
    await editor.gauge(lambda gauge: gauge.text == f"{usage / 200_000:.0%}")


async def test_each_turn_is_told_of_once_and_leads_to_the_terminal(
    editor, workspace_session: tuple[PiFile, Path]
) -> None:
    shown: asyncio.Queue[list[int]] = asyncio.Queue()

    @editor.client.feature("ullage/terminal")
    def on_terminal(params) -> None:
        shown.put_nowait(params.processes)

    pi, path = workspace_session
    editor.answer = "Go to Terminal"
    await editor.start(editor.place.cwd, options=WANTED)
    await editor.gauge(lambda gauge: gauge.text == "42%")
    for n_turns, usage in enumerate((86_000, 90_000), 1):
        await turn(editor, pi, path, usage)
        told = await editor.asked(lambda text: text.startswith(MESSAGE))
        assert told.endswith(SESSION_ID[-8:])
        # pi does not say which process it is.
        assert await shown.get() == []
        assert len(editor.questions) == n_turns
    # A record behind the answer is no turn: the session is never told of by its first name.
    for name in ("First", "Second"):
        with path.open("ab") as file:
            n_before = len(pi.data)
            pi.entry("session_info", name=name)
            file.write(pi.data[n_before:])
        make_quiet(path)
        await editor.request("ullage/status")
    await turn(editor, pi, path, 94_000)
    await editor.asked(lambda text: "Second" in text)
    assert [text for text in editor.questions if "First" in text] == []
    assert len(editor.questions) == 3


async def test_a_turn_that_is_the_last_again_is_not_told_of_again(place: Place) -> None:
    """As after an undo of what was put behind it."""
    pi = conversation(1, cwd=str(place.cwd))
    answered = place.write("answered.jsonl", pi.data)
    pi.user("Restored.")
    restored = place.write("restored.jsonl", pi.data)
    server = UllageServer("ullage", "0", place.places())
    config = Config(policy=Policy(tells_waiting=True))
    at_end, at_work = (
        start(path, config, place.places(), lambda text, _: len(text))
        for path in (answered, restored)
    )
    is_new = []
    for _ in range(2):
        await note_turn_end(server, SessionChange(path=answered, before=at_work, after=at_end))
        is_new.append(answered in server.sessions.turn_ends)
        tell_waiting(server, at_end.loaded)
        await note_turn_end(server, SessionChange(path=answered, before=at_end, after=at_work))
    assert is_new == [True, False]


async def test_while_the_agent_works_and_unless_it_is_wanted_nothing_is_told(
    editor, other_editor, workspace_session: tuple[PiFile, Path]
) -> None:
    pi, path = workspace_session
    await editor.start(editor.place.cwd, options={"showsOutcomes": True})
    await other_editor.start(editor.place.cwd, options=WANTED)
    for one in (editor, other_editor):
        await one.gauge(lambda gauge: gauge.text == "42%")
    with path.open("ab") as file:
        n_before = len(pi.data)
        pi.user("look")
        pi.assistant("I look.", calls=[("c9", "bash", {"command": "ls"})], usage=88_000)
        file.write(pi.data[n_before:])
    make_quiet(path)
    await other_editor.gauge(lambda gauge: gauge.text == "44%")
    await turn(other_editor, pi, path, 92_000)
    await other_editor.asked(lambda text: text.startswith(MESSAGE))
    await editor.request("ullage/status")
    assert (len(other_editor.questions), editor.questions) == (1, [])
