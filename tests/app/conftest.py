"""Places that a test may write to."""

from pathlib import Path

import pytest

from ullage.store.files.places import Places


@pytest.fixture
def places(tmp_path: Path) -> Places:
    home = tmp_path / "home"
    home.mkdir()
    return Places(cwd=home, home=home, env={}, state_folder=tmp_path / "state")
