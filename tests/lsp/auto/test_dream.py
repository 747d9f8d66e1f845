"""Dreams by themselves: when one is due it happens once, and what it proposes is told."""

import os
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from lsprotocol import types

from pi_files import PiFile
from running import Place
from small_documents import PUSH, SYNC, Documents
from ullage.app.memory.origins import begin_memory, record_lines
from ullage.core.memory.origin import digest_line
from ullage.lsp.auto.dream import consider_dream
from ullage.store.files.local_time import LOCAL
from ullage.store.memory.dream_state import dream_lock

SAID = (
    "Always run the tests against PostgreSQL 17 before you push.",
    "We decided to release on Tuesdays from now on.",
)
NIGHT = datetime(2026, 11, 21, 2, 0, tzinfo=LOCAL)
READ_ONLY = b"sandbox:\n  readOnly: true\n"
NO_SCHEDULE = b"dreaming:\n  triggers:\n    schedule:\n      cron: null\n"
SHOWING = types.ClientCapabilities(
    text_document=types.TextDocumentClientCapabilities(synchronization=SYNC),
    window=types.WindowClientCapabilities(
        show_document=types.ShowDocumentClientCapabilities(support=True)
    ),
)


class Clock:
    """A clock that a test turns."""

    def __init__(self) -> None:
        self.at = NIGHT

    def __call__(self) -> datetime:
        return self.at


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def documents(editor) -> Documents:
    return Documents(editor)


@pytest.fixture
def log(place: Place) -> Path:
    return write_log(place, "2026-11-20", *SAID)


def write_log(place: Place, day: str, *lines: str) -> Path:
    text = f"# {day}\n\n" + "".join(f"- {line}\n" for line in lines)
    path = place.write(f"memory/{day}.md", text.encode())
    begin_memory(place.cwd, place.places())
    record_lines({digest_line(line): "user" for line in lines}, "s", place.cwd, place.places())
    return path


async def start(editor, **options: object) -> None:
    """Start, and wait until the sessions were looked at: nothing is dreamt before."""
    await editor.start(editor.place.cwd, options=options, capabilities=SHOWING)
    await editor.gauge(lambda gauge: gauge.text == "42%")


async def look(editor, clock: Clock, place: Place, *, n_times: int = 1) -> None:
    for _ in range(n_times):
        await consider_dream(editor.server, place.cwd, clock)


def read_dream_log(place: Place) -> list[str]:
    return [
        line
        for path in place.state.glob("memory/*/dreams.log")
        for line in path.read_text("utf-8").splitlines()
    ]


async def test_a_night_has_one_dream_which_is_told_of_and_shown(
    editor, place: Place, log: Path, clock: Clock, workspace_session: tuple[PiFile, Path]
) -> None:
    editor.answer = "Review"
    await start(editor)
    await look(editor, clock, place, n_times=3)
    assert await editor.asked(lambda text: True) == "Ullage proposes 2 lines for MEMORY.md"
    inbox = place.cwd / "DREAMS.md"
    assert await editor.showed(lambda uri: True) == inbox.as_uri()
    titles = [row.title for row in (await editor.request("ullage/memory")).inbox]
    assert sorted(titles) == sorted(SAID)
    assert len(read_dream_log(place)) == 1

    # Nothing new was written: no dream, at whatever hour.
    clock.at += timedelta(hours=2)
    await look(editor, clock, place)
    assert len(read_dream_log(place)) == 1

    # What does not last is dreamt of, and nobody is told.
    write_log(place, "2026-11-21", "Fixed the typo in the header.")
    await look(editor, clock, place, n_times=2)
    assert len(read_dream_log(place)) == 2
    assert editor.questions == ["Ullage proposes 2 lines for MEMORY.md"]


async def test_a_session_that_became_idle_lets_its_folder_be_dreamt_of(
    editor, place: Place, log: Path, clock: Clock, workspace_session: tuple[PiFile, Path]
) -> None:
    place.write(str(place.home / ".openclaw/config.yaml"), NO_SCHEDULE)
    left_s = (NIGHT - timedelta(minutes=10)).timestamp()
    os.utime(workspace_session[1], (left_s, left_s))
    await start(editor)
    await look(editor, clock, place)
    assert read_dream_log(place) == []
    clock.at += timedelta(minutes=21)
    await look(editor, clock, place, n_times=2)
    (line,) = read_dream_log(place)
    assert "session_idle" in line


async def test_nothing_is_dreamt_over_what_is_typed(
    documents: Documents,
    place: Place,
    log: Path,
    clock: Clock,
    workspace_session: tuple[PiFile, Path],
) -> None:
    editor = documents.editor
    inbox = place.write("DREAMS.md", b"# DREAMS.md\n")
    await documents.start(PUSH)
    await editor.gauge(lambda gauge: gauge.text == "42%")
    documents.open(inbox)
    documents.type(inbox, "# DREAMS.md\n\nI am writing here.\n")
    await editor.request("ullage/memory")
    await look(editor, clock, place)
    assert read_dream_log(place) == []
    inbox.write_text("# DREAMS.md\n\nI am writing here.\n", "utf-8")
    await look(editor, clock, place)
    assert len(read_dream_log(place)) == 1
    # A client that opens no document is told without a button.
    assert await editor.said(lambda text: "proposes" in text)
    assert len(editor.told) == 1


@pytest.mark.parametrize(
    ("settings", "options"),
    [(b"memory:\n  enabled: false\n", {}), (READ_ONLY, {}), (b"", {"isTrusted": False})],
    ids=["switched off", "read-only", "restricted"],
)
async def test_nothing_is_dreamt_where_nothing_may_be_written(
    editor,
    place: Place,
    log: Path,
    clock: Clock,
    workspace_session: tuple[PiFile, Path],
    settings: bytes,
    options: dict[str, object],
) -> None:
    place.write(str(place.home / ".openclaw/config.yaml"), settings)
    await start(editor, **options)
    await look(editor, clock, place)
    assert read_dream_log(place) == []
    assert not (place.cwd / "DREAMS.md").exists()


async def test_another_dream_under_way_is_silent_and_a_refusal_is_told_once(
    editor, place: Place, log: Path, clock: Clock, workspace_session: tuple[PiFile, Path]
) -> None:
    await start(editor)
    with dream_lock(place.cwd, place.places()):
        await look(editor, clock, place)
    assert editor.told == []
    (place.cwd / "DREAMS.md").mkdir()
    await look(editor, clock, place, n_times=2)
    told = await editor.said(lambda text: True)
    assert "DREAMS.md" in told
    await editor.request("ullage/memory")
    assert editor.told == [told]


async def test_the_server_looks_from_its_start_to_its_end(editor, place: Place) -> None:
    await editor.start(place.cwd)
    await editor.request("ullage/memory")
    names = [task.get_coro().__qualname__ for task in editor.server.tasks]
    assert "dream_when_due" in names
    assert await editor.exit_code() == 0
    assert not editor.server.tasks
