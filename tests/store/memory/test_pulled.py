"""Git is asked for what was committed, and nothing that a repository says is run."""

import shutil

import msgspec
import pytest

from running import Place
from siege.hostile_repository import make_repository
from ullage.store.memory import pulled
from ullage.store.memory.pulled import read_committed

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="there is no git")


@pytest.mark.parametrize("unknown", ["GIT_NO_LAZY_FETCH", "GIT_ALLOW_PROTOCOL", ""])
def test_a_file_that_is_not_there_is_not_fetched(
    place: Place, monkeypatch: pytest.MonkeyPatch, unknown: str
) -> None:
    """Each way alone keeps git from the repository's own command; older ones know one of them."""
    monkeypatch.delitem(pulled._ENVIRONMENT, unknown, raising=False)
    outside = place.root / "outside"
    make_repository(place.cwd, outside, "http://127.0.0.1:1")
    places = msgspec.structs.replace(place.places(), env=place.env())
    found = read_committed(place.cwd, ["AGENTS.md", "MEMORY.md"], places)
    assert found.keys() == {"AGENTS.md"}
    assert list((outside / "ran").iterdir()) == []
