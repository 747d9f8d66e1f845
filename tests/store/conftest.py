"""Places that a test may write to."""

from pathlib import Path

import pytest

from ullage.store.files.places import Places


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(cwd=tmp_path, home=tmp_path, env={}, state_folder=tmp_path / "state")
