"""Undo of a compaction that made a new session file, and what is told of it."""

import json
from pathlib import Path

import pytest

from claude_files import json_line
from planning import SMALL, compacted
from ullage.app.change.make import ChangeResult, made_change
from ullage.app.change.undo import (
    plan_undo_of,
    report_undo_plan,
    undo,
    undo_plan_text,
    undo_question,
    undone_line,
)
from ullage.core.config.settings import Config, Policy
from ullage.errors import WriteNotSupported
from ullage.store.files.demo import make_idle
from ullage.store.files.places import Places


@pytest.fixture
def made(claude_session: Path, places: Places) -> ChangeResult:
    return compacted(claude_session, places)[1]


def test_a_new_file_stays_where_nothing_may_be_written_any_more(
    made: ChangeResult, places: Places
) -> None:
    plan = plan_undo_of(made_change(made), SMALL, places)
    with pytest.raises(WriteNotSupported, match="read-only"):
        undo(plan, Config(policy=Policy(is_read_only=True)), places)
    assert made.session.path.exists()


@pytest.mark.parametrize(
    ("n_later", "said"),
    [(1, "The 1 message that came since will not be in it, and stays in"),
     (2, "The 2 messages that came since will not be in it, and stay in")],
)  # fmt: skip
def test_messages_that_stay_behind_are_asked_about_and_the_way_on_is_told(
    n_later: int, said: str, made: ChangeResult, places: Places
) -> None:
    new = made.session.path
    old = Path(plan_undo_of(made_change(made), SMALL, places).receipt.path)
    last = json.loads(new.read_bytes().splitlines()[-1])
    later = {**last, "type": "user", "message": {"role": "user", "content": "More work."}}
    del later["isCompactSummary"], later["isVisibleInTranscriptOnly"]
    with new.open("ab") as file:
        for number in range(n_later):
            uuid = f"00000000-0000-4000-8000-0000000000f{number}"
            later = {**later, "parentUuid": later["uuid"], "uuid": uuid}
            file.write(json_line(later))
    make_idle(new)
    plan = plan_undo_of(made_change(made), SMALL, places)
    assert plan.n_left_behind == n_later
    assert undo_question(plan).startswith("Undo the last compaction of please do number 0 ")
    *_, last_line = undo_plan_text(report_undo_plan(plan), "undo").splitlines()
    assert last_line == f"{said} {new}"
    undone = undo(plan, SMALL, places)
    assert undone_line(undone).startswith("Undone: the compaction · ")
    assert undone.is_elsewhere
    assert undone.resume_command == f"claude --resume {old.stem}"
    assert new.exists()
