"""Sessions compacted and taken back in this process, as the commands do it."""

import asyncio
from pathlib import Path

import msgspec

from ullage.app.change.compact import Plan, Request, compact, plan_compaction
from ullage.app.change.make import ChangeResult
from ullage.app.change.restore import RestorePlan, Target, plan_restore, restore
from ullage.app.change.undo import UndoResult, plan_undo, undo
from ullage.app.checkpoint.write import write_checkpoint
from ullage.app.sessions.load import Loaded, load
from ullage.app.sessions.open import open_session
from ullage.app.summary.write import ModelUse
from ullage.core.change.compaction import NoCompaction
from ullage.core.config.settings import Config, Policy
from ullage.core.transcript.tokens import estimate
from ullage.store.files.demo import make_idle
from ullage.store.files.places import Places

SMALL = Config(policy=Policy(summarize_protect_tokens=200))


def count(text: str, encoding: str) -> int:
    return estimate(f"{encoding[:1]}{text}")


def loaded(path: Path, places: Places, config: Config = SMALL) -> Loaded:
    return load(open_session(path), config, places, count)


def planned_or_not(
    path: Path,
    places: Places,
    config: Config = SMALL,
    request: Request | None = None,
    model: ModelUse | None = None,
) -> Plan | NoCompaction:
    return asyncio.run(
        plan_compaction(
            loaded(path, places, config),
            request or Request(),
            config,
            places,
            model or ModelUse(),
        )
    )


def planned(
    path: Path,
    places: Places,
    config: Config = SMALL,
    request: Request | None = None,
    model: ModelUse | None = None,
) -> Plan:
    plan = planned_or_not(path, places, config, request, model)
    assert isinstance(plan, Plan), plan
    return plan


def compacted(
    path: Path, places: Places, config: Config = SMALL, request: Request | None = None
) -> tuple[Plan, ChangeResult]:
    plan = planned(path, places, config, request)
    made = compact(plan, config, places)
    make_idle(made.session.path)
    return plan, made


def restored(
    path: Path, places: Places, into: Target, config: Config = SMALL, text: str = ""
) -> RestorePlan:
    """Write a checkpoint of a session, or one with another topic, and restore it."""
    found = loaded(path, places, config)
    written = write_checkpoint(found, config.checkpoint, places, trigger="manual").checkpoint
    if text:
        working = msgspec.structs.replace(written.working, topic=text)
        written = msgspec.structs.replace(written, working=working)
    plan = plan_restore(found, written, into, config)
    restore(plan, config, places)
    make_idle(plan.path_after)
    return plan


def undone(path: Path, places: Places, config: Config = SMALL) -> UndoResult:
    done = undo(plan_undo(open_session(path), config, places), config, places)
    make_idle(done.after.path)
    return done
