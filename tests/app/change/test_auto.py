"""What is due by the thresholds is worked out as one change, asked about, and never in a loop."""

import asyncio
from pathlib import Path

import msgspec
import pytest

from pi_files import PiFile
from planning import compacted, loaded, undone
from ullage.app.change.auto import (
    AutoPlan,
    decline,
    make_auto,
    plan_auto,
    remember_idle,
    report_auto,
    switch,
)
from ullage.app.change.compact import Plan
from ullage.app.change.make import made_change
from ullage.app.change.nudge import claim_nudge, is_question_open
from ullage.app.change.prune import PruningPlan
from ullage.app.change.undo import plan_undo_of, undo
from ullage.app.sessions.open import open_session
from ullage.app.summary.write import ModelUse
from ullage.core.change.decision import Ask, Compact, Idle, Prune, Warn
from ullage.core.config.settings import Config, Policy
from ullage.errors import Refused
from ullage.store.files.demo import make_idle
from ullage.store.files.places import Places

WINDOW = 20_000
SCALED = Policy(
    summarize_protect_tokens=2_500,
    full_protect_tokens=1_500,
    prune_protect_tokens=1_000,
    prune_minimum_tokens=1_000,
    prune_tool_tokens=4_000,
    reserve_tokens=400,
    soft_tokens=100,
    notifies_before_auto=False,
)
"""The defaults for a window of 200,000 tokens, at a tenth or less."""


def config_of(**changes: object) -> Config:
    return Config(window_tokens=WINDOW, policy=msgspec.structs.replace(SCALED, **changes))


def session_of(path: Path, *, n_used: int, n_reads: int, n_tokens_each: int = 500) -> Path:
    """Write a session that reports so much use, with so many outputs."""
    pi = PiFile()
    for number in range(max(16, n_reads)):
        pi.user(f"Please look at file number {number} and tell me what it does.")
        if number < n_reads:
            pi.assistant(calls=[(f"c{number}", "read", {"path": f"{number}.py"})], usage=None)
            pi.result(f"c{number}", "a" * (4 * n_tokens_each), name="read")
        pi.assistant(f"File {number} does the {number}th thing. " * 20, usage=None)
    pi.assistant("That was all.", usage=n_used)
    path.write_bytes(pi.data)
    make_idle(path)
    return path


def due_in(path: Path, places: Places, config: Config) -> AutoPlan:
    return asyncio.run(plan_auto(loaded(path, places, config), config, places, ModelUse()))


@pytest.fixture
def path(tmp_path: Path, places: Places) -> Path:
    """A session of a pi that never compacts by itself: thresholds are shares of the window."""
    settings = places.home / ".pi" / "agent" / "settings.json"
    settings.parent.mkdir(parents=True)
    settings.write_text('{"compaction": {"enabled": false}}', encoding="utf-8")
    return tmp_path / "s.jsonl"


@pytest.mark.parametrize(
    ("n_used", "n_reads", "action", "planned"),
    [
        (15_900, 16, Idle, type(None)),
        (16_000, 16, Prune, PruningPlan),
        (16_000, 6, Idle, type(None)),
        (17_600, 2, Compact, Plan),
        (17_600, 16, Prune, PruningPlan),
        (19_900, 2, Compact, Plan),
    ],
)
def test_the_layer_that_is_due_is_planned(
    n_used: int, n_reads: int, action: type, planned: type, path: Path, places: Places
) -> None:
    auto = due_in(session_of(path, n_used=n_used, n_reads=n_reads), places, config_of())
    assert (type(auto.due.action), type(auto.plan)) == (action, planned)


def test_a_prune_that_frees_too_little_is_followed_by_a_summary(path: Path, places: Places) -> None:
    session_of(path, n_used=19_800, n_reads=10)
    auto = due_in(path, places, config_of(prune_protect_tokens=2_500))
    assert isinstance(auto.due.action, Prune)
    assert isinstance(auto.plan, Plan)
    assert auto.plan.n_tokens_after < 0.8 * WINDOW
    made = make_auto(auto.plan, config_of(), places)
    assert made.context.boundary is not None
    assert made.context.boundary.trigger == "auto"


def test_nothing_is_due_right_after_an_automatic_run(path: Path, places: Places) -> None:
    session_of(path, n_used=19_800, n_reads=2)
    auto = due_in(path, places, config_of())
    assert auto.plan is not None
    make_auto(auto.plan, config_of(), places)
    make_idle(path)
    again = due_in(path, places, config_of())
    assert (type(again.due.action), again.plan) == (Idle, None)


def test_after_an_undo_the_same_compaction_is_not_due_again(path: Path, places: Places) -> None:
    session_of(path, n_used=19_800, n_reads=2)
    auto = due_in(path, places, config_of())
    assert auto.plan is not None
    make_auto(auto.plan, config_of(), places)
    make_idle(path)
    undone(path, places, config_of())
    again = due_in(path, places, config_of())
    assert again.plan is None
    assert isinstance(again.due.action, Warn)
    assert "waits until" in again.due.action.reason


def test_it_is_asked_first_and_a_no_holds(path: Path, places: Places) -> None:
    config = config_of(notifies_before_auto=True)
    session_of(path, n_used=19_000, n_reads=2)
    auto = due_in(path, places, config)
    assert isinstance(auto.due.action, Ask)
    assert isinstance(auto.plan, Plan)
    decline(auto.plan.loaded, "full", places)
    assert due_in(path, places, config).plan is None


def test_a_plan_in_vain_is_not_made_again(path: Path, places: Places) -> None:
    pi = PiFile()
    pi.user("One question that fills it all. " * 200)
    pi.assistant("One answer. " * 50, usage=19_500)
    path.write_bytes(pi.data)
    make_idle(path)
    config = config_of(summarize_protect_tokens=9_000, full_protect_tokens=9_000)
    auto = due_in(path, places, config)
    assert (auto.plan, auto.due.layer is None) == (None, False)
    remember_idle(auto.due, loaded(path, places, config), places)
    again = due_in(path, places, config)
    assert (again.plan, again.due.layer) == (None, None)


def test_the_sessions_own_switch_wins(path: Path, places: Places) -> None:
    session_of(path, n_used=19_000, n_reads=2)
    session = open_session(path)
    switch(session, is_on=False, places=places)
    assert due_in(path, places, config_of()).plan is None
    report = report_auto(loaded(path, places, config_of()), places)
    assert (report.enabled, report.set_by) == (False, "session")
    switch(session, is_on=True, places=places)
    assert due_in(path, places, config_of(is_auto_enabled=False)).plan is not None


def test_after_the_last_automatic_compaction_it_is_told_once(path: Path, places: Places) -> None:
    session_of(path, n_used=19_000, n_reads=2)
    config = config_of(max_auto_compactions=0)
    auto = due_in(path, places, config)
    assert isinstance(auto.due.action, Warn)
    remember_idle(auto.due, loaded(path, places, config), places)
    assert isinstance(due_in(path, places, config).due.action, Idle)


def test_a_plan_writes_nothing(path: Path, places: Places) -> None:
    session_of(path, n_used=19_000, n_reads=2)
    before = path.read_bytes()
    assert due_in(path, places, config_of()).plan is not None
    assert path.read_bytes() == before
    assert not (places.state_folder / "context").exists()


def test_only_the_change_that_was_told_of_is_taken_back(path: Path, places: Places) -> None:
    config = config_of()
    auto = due_in(session_of(path, n_used=17_600, n_reads=16), places, config)
    assert isinstance(auto.plan, PruningPlan)
    told = make_auto(auto.plan, config, places)
    make_idle(path)
    compacted(path, places, config)
    before = path.read_bytes()
    with pytest.raises(Refused, match="only its last change"):
        plan_undo_of(made_change(told), config, places)
    assert path.read_bytes() == before
    undone(path, places, config)
    undo(plan_undo_of(made_change(told), config, places), config, places)
    make_idle(path)
    with pytest.raises(Refused):
        plan_undo_of(made_change(told), config, places)


def test_a_compaction_of_the_agents_own_is_not_taken_back_for_ours(
    path: Path, places: Places
) -> None:
    config = config_of()
    auto = due_in(session_of(path, n_used=17_600, n_reads=2), places, config)
    assert auto.plan is not None
    told = make_auto(auto.plan, config, places)
    pi = PiFile()
    pi.lines, pi.ids = [path.read_bytes()], ["of the session"] * 100
    pi.leaf = told.context.items[-1].entry_id
    first = pi.user("And the next thing, please.")
    pi.assistant("Done.", usage=5_000)
    pi.compaction("## Goal\n- The agent's own.", first)
    path.write_bytes(pi.data)
    make_idle(path)
    with pytest.raises(Refused, match="only its last change"):
        plan_undo_of(made_change(told), config, places)


def test_after_an_undo_nothing_is_said_of_the_band_it_was_in(path: Path, places: Places) -> None:
    config = config_of()
    session_of(path, n_used=19_800, n_reads=2)
    assert claim_nudge(loaded(path, places, config), places) is not None
    compacted(path, places, config)
    assert claim_nudge(loaded(path, places, config), places) is None
    undone(path, places, config)
    back = loaded(path, places, config)
    assert back.status.band == "critical"
    assert claim_nudge(back, places) is None
    assert not is_question_open(back, places)
    assert due_in(path, places, config).plan is None
