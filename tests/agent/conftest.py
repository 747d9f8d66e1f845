"""A workspace, a state folder, and the service in this process."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from running import Place
from service import Service
from ullage.agent.sessions import Sessions
from ullage.core.transcript.tokens import estimate
from ullage.store.files.places import Places

ASKS_NOBODY = {"ULLAGE_COMPACTION_NOTIFY_BEFORE_AUTO": "false"}


@pytest.fixture
def places(tmp_path: Path) -> Places:
    cwd = tmp_path / "work"
    cwd.mkdir()
    return Places(cwd=cwd, home=tmp_path, env=dict(ASKS_NOBODY), state_folder=tmp_path / "state")


@pytest.fixture
def service(places: Places) -> Iterator[Service]:
    sessions = Sessions(places, lambda text, _: estimate(text))
    yield Service(sessions)
    sessions.close_memories()


@pytest.fixture
def hook_place(place: Place, monkeypatch: pytest.MonkeyPatch) -> Place:
    """A place whose home and state folder are those of this process, as of a hook."""
    monkeypatch.setenv("HOME", str(place.home))
    monkeypatch.setenv("USERPROFILE", str(place.home))
    monkeypatch.setenv("ULLAGE_STATE_DIR", str(place.state))
    monkeypatch.delenv("CLAUDE_PROJECT_DIR", raising=False)
    return place
