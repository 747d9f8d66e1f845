"""A home, a project and a state folder of its own for every test that runs the program."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from profiles import choose_profile
from running import Place, idle

choose_profile()


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    place = Place(tmp_path)
    yield place
    assert list(place.temporary.iterdir()) == []


@pytest.fixture
def make_idle() -> Callable[[Path], Path]:
    return idle
