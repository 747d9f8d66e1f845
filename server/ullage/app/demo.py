"""The demonstration: every step of the main job on a bundled synthetic session."""

import asyncio
import textwrap
from collections.abc import Iterator
from itertools import dropwhile
from pathlib import Path

import msgspec

from ullage.app.change.compact import Request, compact, plan_compaction
from ullage.app.change.compact_report import compacted_lines, done_text, plan_lines, preview_text
from ullage.app.change.undo import plan_undo, undo
from ullage.app.checkpoint.write import write_checkpoint
from ullage.app.gauge.due import find_due
from ullage.app.gauge.status_text import (
    ROW_CHARS,
    bar,
    due_text,
    own_text,
    row,
    status_text,
    total_text,
)
from ullage.app.sessions.load import Loaded, load
from ullage.app.sessions.open import open_session
from ullage.app.summary.write import ModelUse
from ullage.core.change.compaction import NoCompaction
from ullage.core.config.settings import Config
from ullage.core.gauge.gauge import gauge_line
from ullage.store.files.demo import make_idle, scratch_session
from ullage.store.files.places import Places

N_SUMMARY_LINES = 10
"""Shown of the summary, so that the whole story stands on one screen of 40 lines (chosen)."""


class DemoStep(msgspec.Struct, frozen=True, kw_only=True):
    """One step: the command that does the same on a user's own session, and its output."""

    command: str
    output: str
    brief: str = ""
    """What of it tells the story on one screen; empty where nothing does."""


def run_demo() -> Iterator[DemoStep]:
    """Run each step when its output is asked for; the scratch folder goes at the end."""
    with scratch_session() as (path, places):
        yield from _steps(path, places)


def _steps(path: Path, places: Places) -> Iterator[DemoStep]:
    config = Config()
    loaded = _load_idle(path, places)
    yield DemoStep(
        command="ullage context status", output=status_text(loaded), brief=_brief_status(loaded)
    )
    written = write_checkpoint(loaded, config.checkpoint, places, trigger="manual")
    line = gauge_line(loaded.status.gauge, is_checkpoint_saved=True)
    yield DemoStep(
        command="ullage checkpoint write",
        output=f"✓ Checkpoint {written.checkpoint.meta.checkpoint_id}\n"
        f"  what the agent would be told: {line}\n\n{written.path.read_text('utf-8').rstrip()}",
    )
    plan = asyncio.run(plan_compaction(loaded, Request(), config, places, ModelUse()))
    if isinstance(plan, NoCompaction):
        raise AssertionError(plan.reason)
    yield DemoStep(
        command="ullage compact --dry-run",
        output=preview_text(plan),
        brief="\n".join((*plan_lines(plan), "", _brief_summary(plan.summary.text))),
    )
    yield DemoStep(
        command="ullage compact --yes",
        output=done_text(plan, compact(plan, config, places)),
        brief="\n".join(compacted_lines(plan)),
    )
    yield DemoStep(command="ullage context status", output=status_text(_load_idle(path, places)))
    make_idle(path)
    undone = undo(plan_undo(open_session(path), config, places), config, places).after
    is_same = undone.context.items == loaded.context.items
    outcome = (
        "✓ Undone: the context is the same as before, message for message"
        if is_same
        else "✗ Undone, but the context differs from the one before"
    )
    yield DemoStep(command="ullage undo", output=outcome, brief=outcome)
    yield DemoStep(command="ullage context status", output=status_text(undone))


def _load_idle(path: Path, places: Places) -> Loaded:
    make_idle(path)
    return load(open_session(path), Config(), places)


def _brief_status(loaded: Loaded) -> str:
    gauge = loaded.status.gauge
    return "\n".join(
        (
            row("Total Tokens", total_text(gauge)),
            row("", bar(gauge.utilization or 0)),
            row("Agent Compacts", own_text(gauge)),
            row("Due Now", due_text(find_due(loaded))),
        )
    )


def _brief_summary(summary: str) -> str:
    """Give what a compaction must not forget, in whole points of the summary."""
    lines = summary.split("\n")
    shown: list[str] = []
    for line in filter(None, dropwhile(lambda line: line != "## Constraints", lines)):
        wrapped = textwrap.wrap(line, ROW_CHARS - 2, subsequent_indent="  ")
        if len(shown) + len(wrapped) > N_SUMMARY_LINES:
            break
        shown += wrapped
    return "\n".join(
        (
            f"What must not be forgotten, of the {len(lines)} lines of the summary:",
            *(f"  {line}" for line in shown),
        )
    )
