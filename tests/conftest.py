"""A home, a project and a state folder of its own for every test that runs the program."""

import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from profiles import choose_profile
from running import Place, idle

choose_profile()
# A shell has what it runs in the background ignore Ctrl+C, and every child inherits that.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Run the whole suite on all processors; what is named is run here, unless `-n` is given."""
    is_whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS
    is_worker = hasattr(config, "workerinput")
    can_share = config.pluginmanager.hasplugin("xdist") and not is_worker
    if is_whole and can_share and config.option.numprocesses is None:
        config.option.numprocesses, config.option.dist = "auto", "worksteal"


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    place = Place(tmp_path)
    yield place
    assert list(place.temporary.iterdir()) == []


@pytest.fixture
def make_idle() -> Callable[[Path], Path]:
    return idle
