"""What a dream makes of what a killed process left, and of a disk that gives nothing."""

import asyncio
import os
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace

import pytest

from ullage.app.dream.dream import DreamResult, dream
from ullage.app.dream.review import list_waiting, make_review, plan_review
from ullage.app.memory.origins import begin_memory, list_outside_changes, record_lines
from ullage.app.summary.write import ModelUse
from ullage.core.config.settings import Config
from ullage.core.dream.review import Decision
from ullage.core.memory.inbox import format_item, propose_item, read_items
from ullage.core.memory.origin import list_line_digests
from ullage.errors import StorageError
from ullage.store.files.places import Places
from ullage.store.memory import daily_log
from ullage.store.memory.dream_state import read_dream_state
from ullage.store.memory.journal import read_journal
from ullage.store.memory.places import DREAMS, MEMORY, memory_folder

NOW = datetime(2026, 11, 21, 3, 0).astimezone()
RULE = "Always run the tests against PostgreSQL 17 before you push."


@pytest.fixture
def workspace(tmp_path: Path, places: Places) -> Path:
    workspace = tmp_path / "work"
    log = workspace / "memory" / "2026-11-20.md"
    log.parent.mkdir(parents=True)
    log.write_text(f"# 2026-11-20\n\n- {RULE}\n", "utf-8")
    begin_memory(workspace, places)
    lines = dict.fromkeys(list_line_digests(RULE), "user")
    record_lines(lines, "a:b", workspace, places)
    return workspace


def dream_once(workspace: Path, places: Places) -> DreamResult:
    return asyncio.run(dream(workspace, Config(), places, ModelUse(), now=NOW))


def read_findings(workspace: Path) -> list[str]:
    return [item.finding for item in read_items((workspace / DREAMS).read_text("utf-8"))]


@pytest.mark.parametrize("share", [0.5, 0.7, 0.9])
def test_a_part_of_an_item_that_a_kill_left_passes_for_none(
    workspace: Path, places: Places, monkeypatch: pytest.MonkeyPatch, share: float
) -> None:
    class Killed(BaseException):
        pass

    def part(fd: int, data: bytes) -> int:
        os.write(fd, data[: int(share * len(data))])
        raise Killed

    with monkeypatch.context() as patched:
        # Files of ours are written by another module.
        patched.setattr(daily_log, "os", SimpleNamespace(**vars(os) | {"write": part}))
        with pytest.raises(Killed):
            dream_once(workspace, places)
    assert RULE[:10] in (workspace / DREAMS).read_text("utf-8")

    assert [item.finding for item in dream_once(workspace, places).items] == [RULE]
    assert read_findings(workspace) == [RULE]
    assert not dream_once(workspace, places).items


def test_a_dream_that_cannot_read_the_journal_is_none(workspace: Path, places: Places) -> None:
    journal = memory_folder(workspace, places) / "journal.jsonl"
    assert read_journal(workspace, places).is_begun
    journal.rename(journal.with_name("aside"))
    journal.mkdir()
    with pytest.raises(StorageError, match="cannot be read"):
        dream_once(workspace, places)
    assert read_dream_state(workspace, places).last_at is None
    journal.rmdir()
    journal.with_name("aside").rename(journal)
    assert len(dream_once(workspace, places).items) == 1


def test_no_line_that_a_review_writes_is_told_as_one_from_outside(
    workspace: Path, places: Places
) -> None:
    (workspace / MEMORY).write_text("- use npm\n", "utf-8")
    record_lines(dict.fromkeys(list_line_digests("use npm"), "user"), "a:b", workspace, places)
    item = propose_item(
        "decision", "use pnpm", day="2026-11-20", title="x", source="", replaces=("use npm",)
    )
    (workspace / DREAMS).write_text(format_item(item, ""), "utf-8")
    (waiting,) = list_waiting(workspace, places)
    decisions = [Decision(choice="accept", ids=(waiting.id,))]
    make_review(plan_review(decisions, workspace, Config(), places), workspace, places)
    assert list_outside_changes(workspace, places) == ()

    for name in (MEMORY, "memory/superseded.md"):
        with (workspace / name).open("a", encoding="utf-8") as file:
            file.write("- by hand\n")
    changes = list_outside_changes(workspace, places)
    told = [[line for _, line in change.added] for change in changes]
    assert told == [["- by hand"], ["- by hand"]]
    known = read_journal(workspace, places).read_origins()
    assert known.tell(MEMORY, "## Decisions") == "user"
    superseded = (workspace / "memory/superseded.md").read_text("utf-8").split("\n")[2]
    # The words were put into the inbox by nobody who is known.
    assert known.tell("memory/superseded.md", superseded) == "unknown"
