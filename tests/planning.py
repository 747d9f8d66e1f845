"""Sessions compacted and taken back in this process, as the commands do it."""

import asyncio
from pathlib import Path

from ullage.app.change import Made
from ullage.app.compact import Plan, Request, compact, plan_compaction
from ullage.app.load import Loaded, Settings, load
from ullage.app.sessions import open_session
from ullage.app.summaries import ModelUse
from ullage.app.undo import Undone, plan_undo, undo
from ullage.core.compaction import Unneeded
from ullage.core.policy import Policy
from ullage.core.tokens import estimate
from ullage.store.demo import make_idle
from ullage.store.places import Places

SMALL = Settings(policy=Policy(summarize_protect_tokens=200))


def count(text: str, encoding: str) -> int:
    return estimate(f"{encoding[:1]}{text}")


def loaded(path: Path, places: Places, settings: Settings = SMALL) -> Loaded:
    return load(open_session(path), settings, places, count)


def planned_or_not(
    path: Path,
    places: Places,
    settings: Settings = SMALL,
    request: Request | None = None,
    model: ModelUse | None = None,
) -> Plan | Unneeded:
    return asyncio.run(
        plan_compaction(
            loaded(path, places, settings),
            request or Request(),
            settings,
            places,
            model or ModelUse(),
        )
    )


def planned(
    path: Path,
    places: Places,
    settings: Settings = SMALL,
    request: Request | None = None,
    model: ModelUse | None = None,
) -> Plan:
    plan = planned_or_not(path, places, settings, request, model)
    assert isinstance(plan, Plan), plan
    return plan


def compacted(
    path: Path, places: Places, settings: Settings = SMALL, request: Request | None = None
) -> tuple[Plan, Made]:
    plan = planned(path, places, settings, request)
    made = compact(plan, settings, places)
    make_idle(made.loaded.path)
    return plan, made


def undone(path: Path, places: Places, settings: Settings = SMALL) -> Undone:
    done = undo(plan_undo(open_session(path), settings, places), settings, places)
    make_idle(done.after.path)
    return done
