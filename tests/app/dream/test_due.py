"""Whether a dream is due is seen by the logs, the last dream and the sessions of a folder."""

import asyncio
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from pi_files import PiFile
from running import Place
from ullage.app.dream.dream import dream
from ullage.app.dream.due import find_due, find_last_activity
from ullage.app.summary.write import ModelUse
from ullage.core.config.memory_settings import DreamingSettings, MemorySettings
from ullage.core.config.settings import Config, Policy
from ullage.core.dream.triggers import Trigger
from ullage.formats.agents.openclaw.agent import OPENCLAW
from ullage.store.files.places import Places

NOW = datetime(2026, 11, 21, 12, 0).astimezone()


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    workspace = tmp_path / "ws"
    (workspace / "memory").mkdir(parents=True)
    (workspace / "memory" / "2026-11-20.md").write_text("- something was said\n", "utf-8")
    return workspace


def due(
    workspace: Path,
    places: Places,
    config: Config | None = None,
    *,
    now: datetime = NOW,
    last_active: datetime | None = None,
) -> Trigger | None:
    return find_due(workspace, config or Config(), places, now=now, last_active=last_active)


def test_the_schedule_asks_for_one_dream_of_what_changed(workspace: Path, places: Places) -> None:
    assert due(workspace, places) == "schedule"
    asyncio.run(dream(workspace, Config(), places, ModelUse(), now=NOW))
    tomorrow = NOW + timedelta(days=1)
    assert due(workspace, places, now=tomorrow) is None
    (workspace / "memory" / "2026-11-21.md").write_text("- something new\n", "utf-8")
    assert due(workspace, places) is None
    assert due(workspace, places, now=tomorrow) == "schedule"


@pytest.mark.parametrize(
    ("age_minutes", "trigger"), [(None, None), (29, None), (30, "session_idle")]
)
def test_a_pause_asks_for_one(
    workspace: Path, places: Places, age_minutes: int | None, trigger: Trigger | None
) -> None:
    config = Config(dreaming=DreamingSettings(cron=None))
    active = None if age_minutes is None else NOW - timedelta(minutes=age_minutes)
    assert due(workspace, places, config, last_active=active) == trigger


@pytest.mark.parametrize(("n_bytes", "trigger"), [(51_199, None), (51_200, "daily_log_size")])
def test_the_size_of_todays_log_asks_for_one(
    workspace: Path, places: Places, n_bytes: int, trigger: Trigger | None
) -> None:
    (workspace / "memory" / "2026-11-21.md").write_bytes(b"x" * n_bytes)
    assert due(workspace, places, Config(dreaming=DreamingSettings(cron=None))) == trigger


@pytest.mark.parametrize(
    "config",
    [Config(memory=MemorySettings(is_enabled=False)), Config(policy=Policy(is_read_only=True))],
)
def test_where_no_dream_may_be_none_is_due(workspace: Path, places: Places, config: Config) -> None:
    assert due(workspace, places, config) is None


def test_without_logs_none_is_due_and_looking_writes_nothing(
    tmp_path: Path, places: Places
) -> None:
    assert due(tmp_path / "nowhere", places) is None
    (tmp_path / "ws" / "memory").mkdir(parents=True)
    assert due(tmp_path / "ws", places) is None
    assert not places.state_folder.exists()


def test_the_last_activity_is_that_of_the_newest_session(place: Place) -> None:
    assert find_last_activity(place.cwd, place.places()) is None
    for name, age_s in (("a", 900), ("b", 300)):
        pi = PiFile(cwd=str(place.cwd), session_id=f"{name}1111111")
        pi.user("Hello there")
        pi.assistant("Hello")
        folder = OPENCLAW.workspace_folders(place.cwd, {}, place.home)[0]
        place.write(str(folder / f"{name}.jsonl"), pi.data, age_s=age_s)
    active = find_last_activity(place.cwd, place.places())
    assert active is not None
    assert 290 < (datetime.now().astimezone() - active).total_seconds() < 800
