"""Memory for agents: a question about a workspace, with or without a session."""

from pathlib import Path

import pytest

from service import Service
from ullage.agent.json_rpc import RpcError
from ullage.agent.memory_protocol import GET, SEARCH, STORE, MemoryFound, MemoryLines, MemoryStored
from ullage.agent.protocol import PREPARE
from ullage.app.memory.open_memories import MAX_OPEN
from ullage.app.memory.search import NOTHING
from ullage.core.transcript.recalled import cut_recalled
from ullage.errors import Refused
from ullage.store.files.places import Places
from ullage.store.memory.journal import read_journal

MEMORY = """# Memory

## Storage

- Parcels are stored in SQLite, never in files
- The tests need no network
"""

GUIDE = """# Guide

Parcels are weighed in grams.

## Upkeep

The scale is calibrated each Monday by the night shift.
"""


@pytest.fixture
def workspace(places: Places) -> Path:
    (places.cwd / "MEMORY.md").write_text(MEMORY, "utf-8")
    log = places.cwd / "memory" / "2026-10-01.md"
    log.parent.mkdir()
    log.write_text("# 2026-10-01\n\n- Parcels got a column for their owner\n", "utf-8")
    (places.cwd / "guide.md").write_text(GUIDE, "utf-8")
    return places.cwd


async def search(service: Service, query: str, **params: object) -> MemoryFound:
    cwd = str(service.sessions.places.cwd)
    return await service.ask(SEARCH.name, **{"cwd": cwd, "query": query} | params)


async def test_a_question_is_answered_with_places(service: Service, workspace: Path) -> None:
    del workspace
    found = await search(service, "Where are parcels stored?")
    first = found.results[0]
    assert (first.path, first.first_line, first.last_line) == ("MEMORY.md", 5, 5)
    assert (first.heading, first.origin, first.by) == ("Memory › Storage", "file", "words")
    assert "SQLite" in first.text
    assert 0 < first.score <= 1
    assert found.note is None


async def test_the_text_for_a_model_is_data_that_is_known_again(
    service: Service, workspace: Path
) -> None:
    del workspace
    found = await search(service, "Where are parcels stored?", limit=1)
    assert "MEMORY.md#L5 (under Memory › Storage, origin file, score " in found.text
    assert "\n- Parcels are stored in SQLite, never in files\n</ullage-memory>" in found.text
    assert cut_recalled(f"before {found.text} behind") == "before  behind"


async def test_nothing_found_is_an_answer(service: Service, workspace: Path) -> None:
    del workspace
    found = await search(service, "Which helicopter engine?")
    assert (found.results, found.note, found.text) == ([], NOTHING, f"Note: {NOTHING}.")


@pytest.mark.parametrize(
    ("params", "paths"),
    [
        ({"scope": "memory"}, {"MEMORY.md", "memory/2026-10-01.md"}),
        ({"scope": "documents"}, {"guide.md"}),
        ({"since": "2026-10-02", "scope": "memory"}, {"MEMORY.md"}),
        ({"since": "2026-10-01"}, {"MEMORY.md", "memory/2026-10-01.md", "guide.md"}),
        ({"limit": 1, "scope": "documents"}, {"guide.md"}),
    ],
)
async def test_scope_since_and_limit_choose(
    service: Service, workspace: Path, params: dict[str, object], paths: set[str]
) -> None:
    del workspace
    found = await search(service, "parcels", **params)
    assert {hit.path for hit in found.results} == paths


async def test_a_changed_file_is_found_at_once(service: Service, workspace: Path) -> None:
    await search(service, "parcels")
    (workspace / "memory" / "notes.md").write_text("- The mast is made of spruce\n", "utf-8")
    assert (await search(service, "What is the mast made of?")).results[0].path == "memory/notes.md"


async def test_a_recall_is_noted_by_who_asked(
    service: Service, workspace: Path, places: Places
) -> None:
    await search(service, "Where are parcels stored?")
    await search(service, "Where are parcels stored?", by="user")
    recalls = read_journal(workspace, places).list_recalls()
    assert [recall.by for recall in recalls] == ["agent", "user"]


async def test_lines_around_a_result_are_read_back(service: Service, workspace: Path) -> None:
    ask = {"cwd": str(workspace), "path": "MEMORY.md", "firstLine": 3, "nLines": 3}
    lines: MemoryLines = await service.ask(GET.name, **ask)
    assert (lines.first_line, lines.last_line, lines.n_lines) == (3, 5, 6)
    assert lines.lines == "## Storage\n\n- Parcels are stored in SQLite, never in files"
    assert f"\n\nMEMORY.md#L3-L5 (of 6 lines, origin file)\n{lines.lines}\n</" in lines.text
    named: MemoryLines = await service.ask(GET.name, cwd=str(workspace), path="MEMORY.md#L3-L5")
    assert named == lines


async def store(service: Service, text: str, **params: object) -> MemoryStored:
    cwd = str(service.sessions.places.cwd)
    return await service.ask(STORE.name, **{"cwd": cwd, "text": text, "kind": "fact"} | params)


async def test_an_item_is_stored_once_and_waits_in_the_inbox(
    service: Service, workspace: Path
) -> None:
    text = "The staging server runs on port 8443."
    session = (await service.open()).opened
    stored = await store(service, text, session=session.session)
    assert (stored.path, stored.item) == ("DREAMS.md", text)
    inbox = (workspace / "DREAMS.md").read_text("utf-8")
    assert text in inbox
    assert session.session_key in inbox
    again = await store(service, text)
    assert (again.path, again.note) == (None, "not stored again: DREAMS.md says it")


async def test_what_was_handed_out_is_not_stored_as_new(service: Service, workspace: Path) -> None:
    found = await search(service, "How are parcels weighed?", limit=1)
    assert found.results[0].path == "guide.md"
    lines = await service.ask(GET.name, cwd=str(workspace), path="guide.md", firstLine=7)
    for text in (found.results[0].text, lines.lines):
        assert (await store(service, text)).note.startswith("not stored again: what was recalled")
    assert not (workspace / "DREAMS.md").exists()


async def test_a_read_only_session_stores_nothing(service: Service, workspace: Path) -> None:
    session = await service.open(isReadOnly=True)
    with pytest.raises(RpcError, match="read-only: nothing is stored") as refused:
        await store(service, "The port is 8443.", session=session.opened.session)
    assert refused.value.kind == "read_only"
    assert not (workspace / "DREAMS.md").exists()


async def test_lines_that_came_from_outside_since_the_first_question_are_marked(
    service: Service, workspace: Path
) -> None:
    await search(service, "parcels")
    with (workspace / "MEMORY.md").open("a", encoding="utf-8") as memory:
        memory.write("- Parcels are sent to the spaceport\n")
    found = await search(service, "Are parcels sent to the spaceport?", limit=1)
    assert found.results[0].origin == "unknown"


async def test_a_read_only_session_leaves_nothing_behind(
    service: Service, workspace: Path, places: Places
) -> None:
    session = await service.open(isReadOnly=True)
    found = await search(service, "Where are parcels stored?", session=session.opened.session)
    assert found.results[0].path == "MEMORY.md"
    assert not read_journal(workspace, places).events
    assert not (places.state_folder / "memory").exists()


async def test_switched_off_while_it_runs_is_off(service: Service, workspace: Path) -> None:
    assert (await search(service, "parcels")).results
    (workspace / ".ullage.yaml").write_text("memory:\n  enabled: false\n", "utf-8")
    with pytest.raises(Refused, match=r"memory is switched off \(`memory.enabled`\)"):
        await search(service, "parcels")
    (workspace / ".ullage.yaml").unlink()
    assert (await search(service, "parcels")).results


async def test_few_workspaces_are_kept_open_and_any_answers(
    service: Service, tmp_path: Path
) -> None:
    folders = [tmp_path / f"work{n}" for n in range(MAX_OPEN + 2)]
    for n, folder in enumerate(folders):
        folder.mkdir()
        (folder / "MEMORY.md").write_text(f"- The code word is number{n}\n", "utf-8")
    for _ in range(2):
        for n, folder in enumerate(folders):
            found = await search(service, "Which code word?", cwd=str(folder))
            assert f"number{n}" in found.results[0].text


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"cwd": "work"}, "cwd: give an absolute path"),
        ({"cwd": str(Path(__file__).parent) + "\0"}, "cwd: give an absolute path"),
        ({"query": ""}, "query"),
        ({"query": "x" * 2_001}, "query"),
        ({"limit": 0}, "limit"),
        ({"limit": 51}, "limit"),
        ({"scope": "web"}, "scope"),
        ({"since": "yesterday"}, "since"),
        ({"by": "nobody"}, "by"),
        ({"session": "s9"}, "no session is open by this handle"),
    ],
)
async def test_bad_params_are_named(
    service: Service, workspace: Path, params: dict[str, object], said: str
) -> None:
    del workspace
    with pytest.raises(RpcError, match=said):
        await search(service, **{"query": "parcels"} | params)


@pytest.mark.parametrize(
    ("method", "params"),
    [
        (SEARCH.name, {"query": "x"}),
        (GET.name, {"path": "MEMORY.md"}),
        (STORE.name, {"text": "The port is 8443", "kind": "fact"}),
    ],
)
async def test_a_folder_that_is_none_is_told_and_leaves_nothing_behind(
    service: Service, workspace: Path, places: Places, method: str, params: dict[str, str]
) -> None:
    for folder in (workspace / "none", workspace / "MEMORY.md"):
        with pytest.raises(RpcError, match="cwd: there is no such folder"):
            await service.ask(method, cwd=str(folder), **params)
    assert not (workspace / "none").exists()
    assert not (places.state_folder / "memory").exists()


async def test_memory_is_no_part_of_the_session_that_asks(
    service: Service, workspace: Path
) -> None:
    del workspace
    session = await service.open()
    session.turn("Hello")
    await search(service, "parcels", session=session.opened.session)
    prepared = await service.ask(
        PREPARE.name, session=session.opened.session, messages=session.messages
    )
    assert "parcels" not in str(prepared).lower()
