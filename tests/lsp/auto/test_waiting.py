"""An editor tells that an agent waits, once for each turn, where its user wants that."""

import asyncio
import os
import time
from pathlib import Path

from pi_files import SESSION_ID, PiFile, grow
from ullage.store.state.told_turn import TOLD_FILE

QUIET_AGE_S = 6
MESSAGE = "Done, and waits for you: Please look at file number 0."
WANTED = {"notify": {"agentWaits": True}, "showsOutcomes": True}


def make_quiet(path: Path) -> None:
    at = time.time() - QUIET_AGE_S
    os.utime(path, (at, at))


def is_told(text: str) -> bool:
    return text.startswith(MESSAGE)


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
        told = await editor.asked(is_told)
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


async def test_of_two_windows_one_tells_of_a_turn(
    editor, other_editor, workspace_session: tuple[PiFile, Path]
) -> None:
    pi, path = workspace_session
    windows = (editor, other_editor)
    for window in windows:
        await window.start(editor.place.cwd, options=WANTED)
        await window.gauge(lambda gauge: gauge.text == "42%")
    for n_turns, usage in enumerate((86_000, 90_000, 94_000), 1):
        grow(pi, path, usage)
        make_quiet(path)
        for window in windows:
            await window.gauge(lambda gauge, usage=usage: gauge.text == f"{usage / 200_000:.0%}")
        waiting = [asyncio.create_task(window.asked(is_told)) for window in windows]
        _, silent = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        for task in silent:
            task.cancel()
        # The silent one has had its say of the turn before at the latest.
        assert sum(len(window.questions) for window in windows) == n_turns


async def test_a_read_only_workspace_is_told_of_and_keeps_no_note_of_that(
    editor, workspace_session: tuple[PiFile, Path]
) -> None:
    pi, path = workspace_session
    await editor.start(editor.place.cwd, options=WANTED | {"sandbox": {"readOnly": True}})
    await editor.gauge(lambda gauge: gauge.text == "42%")
    await turn(editor, pi, path, 86_000)
    await editor.asked(is_told)
    assert list(editor.place.places().state_folder.rglob(TOLD_FILE.name)) == []


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
    await other_editor.asked(is_told)
    await editor.request("ullage/status")
    assert (len(other_editor.questions), editor.questions) == (1, [])


async def test_a_turn_is_told_of_while_something_is_worked_out(
    editor, workspace_session: tuple[PiFile, Path]
) -> None:
    pi, path = workspace_session
    await editor.start(editor.place.cwd, options=WANTED)
    await editor.gauge(lambda gauge: gauge.text == "42%")
    editor.server.sessions.at_work.add(path)
    await turn(editor, pi, path, 86_000)
    await editor.asked(is_told)
