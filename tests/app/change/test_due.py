"""What a status says is due is what an automatic run works out, at every size of a session."""

import asyncio
import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pi_files import PiFile
from planning import loaded
from ullage.app.change.auto import plan_auto, switch
from ullage.app.change.compact import Plan
from ullage.app.change.prune import PruningPlan
from ullage.app.checkpoint.write import is_due as is_due_by_itself
from ullage.app.gauge.due import find_due
from ullage.app.gauge.status_report import report_due
from ullage.app.gauge.status_text import due_text
from ullage.app.summary.write import ModelUse
from ullage.core.config.settings import Config, Policy
from ullage.store.files.demo import make_idle, scratch_session
from ullage.store.files.places import Places

CONFIG = Config(
    window_tokens=20_000,
    policy=Policy(
        summarize_protect_tokens=2_500,
        full_protect_tokens=1_500,
        prune_protect_tokens=1_000,
        prune_minimum_tokens=1_000,
        prune_tool_tokens=4_000,
        reserve_tokens=400,
        soft_tokens=100,
    ),
)
"""The defaults for a window of 200,000 tokens, at a tenth or less."""


def session_of(path: Path, n_used: int, n_turns: int, n_tokens_each: int) -> Path:
    """Write a session of so many turns, each with one output of a tool of so many tokens."""
    pi = PiFile()
    for number in range(n_turns):
        pi.user(f"Please look at file number {number} and tell me what it does.")
        pi.assistant(calls=[(f"c{number}", "read", {"path": f"{number}.py"})], usage=None)
        pi.result(f"c{number}", "a" * (4 * n_tokens_each), name="read")
        pi.assistant(f"File {number} does the {number}th thing. " * 20, usage=None)
    pi.assistant("That was all.", usage=n_used)
    path.write_bytes(pi.data)
    make_idle(path)
    return path


def let_pi_compact(places: Places, reserve: int | None) -> None:
    """Have pi compact by itself that far before its window ends, or never."""
    compaction = {"enabled": reserve is not None, "reserveTokens": reserve}
    file = places.home / ".pi" / "agent" / "settings.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"compaction": compaction}), encoding="utf-8")


def layer_made(path: Path, places: Places, config: Config) -> str | None:
    """Name the layer of the change that an automatic run would make."""
    plan = asyncio.run(plan_auto(loaded(path, places, config), config, places, ModelUse())).plan
    match plan:
        case PruningPlan():
            return "prune"
        case Plan():
            return plan.selection.layer
        case None:
            return None


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    n_used=st.integers(10_000, 21_000),
    n_turns=st.integers(1, 24),
    n_tokens_each=st.sampled_from((20, 300, 900)),
    reserve=st.sampled_from((None, 400, 6_000, 12_000)),
)
def test_a_status_says_what_an_automatic_run_would_do(
    tmp_path: Path,
    places: Places,
    n_used: int,
    n_turns: int,
    n_tokens_each: int,
    reserve: int | None,
) -> None:
    path = session_of(tmp_path / "s.jsonl", n_used, n_turns, n_tokens_each)
    let_pi_compact(places, reserve)
    report = report_due(find_due(loaded(path, places, CONFIG)))
    assert report.layer == layer_made(path, places, CONFIG)
    assert (report.layer is None) == (report.frees_tokens is None)
    summarize_at = 0.88 * (20_000 - (reserve or 0) if (reserve or 0) > 1_000 else 20_000)
    if n_used >= summarize_at and report.layer is None:
        assert report.refusal
        assert report.refusal in report.text


@pytest.mark.parametrize(
    ("reserve", "n_used", "is_due"),
    [(None, 15_999, False), (None, 16_000, True), (6_000, 11_199, False), (6_000, 11_200, True)],
)
def test_a_checkpoint_is_due_before_the_agent_compacts(
    tmp_path: Path, places: Places, reserve: int | None, n_used: int, *, is_due: bool
) -> None:
    path = session_of(tmp_path / "s.jsonl", n_used, 3, 20)
    let_pi_compact(places, reserve)
    session = loaded(path, places, CONFIG)
    assert find_due(session).is_checkpoint_due == is_due
    assert is_due_by_itself(session, None, CONFIG.checkpoint) == is_due


def test_what_is_switched_off_says_so(tmp_path: Path, places: Places) -> None:
    path = session_of(tmp_path / "s.jsonl", 17_000, 16, 500)
    let_pi_compact(places, None)
    before = find_due(loaded(path, places, CONFIG))
    assert due_text(before).startswith("save a checkpoint; prune old tool output (frees ")
    switch(loaded(path, places, CONFIG).session, is_on=False, places=places)
    after = find_due(loaded(path, places, CONFIG))
    assert due_text(after) == "save a checkpoint; nothing more, as automatic compaction is off"


def test_in_a_window_that_nobody_names_a_checkpoint_alone_is_due(
    tmp_path: Path, places: Places
) -> None:
    path = session_of(tmp_path / "s.jsonl", 195_000, 16, 5_000)
    path.write_bytes(path.read_bytes().replace(b"claude-sonnet-4-5", b"nobody-knows-it"))
    make_idle(path)
    report = report_due(find_due(loaded(path, places, Config())))
    assert report.text == (
        "save a checkpoint; nothing more, as how large the window is, is not known"
    )
    assert layer_made(path, places, Config()) is None


def test_the_bundled_session_is_pruned_as_its_status_says() -> None:
    with scratch_session() as (path, places):
        make_idle(path)
        report = report_due(find_due(loaded(path, places, Config())))
        assert report.layer == layer_made(path, places, Config()) == "prune"
        assert report.text.startswith("save a checkpoint; prune old tool output (frees ")
