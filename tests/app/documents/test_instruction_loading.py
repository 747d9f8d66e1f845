"""What an agent has loaded: imports are followed to their depth, each file once."""

from pathlib import Path

import pytest

from ullage.app.documents.check import Surroundings
from ullage.app.documents.instruction_loading import LOADERS, list_loaded
from ullage.core.config.settings import Config
from ullage.store.files.places import Places

(CLAUDE,) = (loader for loader in LOADERS if loader.reader == "Claude Code")


@pytest.fixture
def around(places: Places) -> Surroundings:
    (places.cwd / ".git").mkdir()
    return Surroundings(config=Config(), places=places, workspaces=(places.cwd,), texts={})


def write(folder: Path, **imports: str) -> None:
    for name, targets in imports.items():
        (folder / f"{name}.md").write_text(" ".join(f"@{t}.md" for t in targets.split()) or "End.")


def loaded(around: Surroundings) -> list[str]:
    return [path.stem for path in list_loaded(CLAUDE, around.places.cwd, around)]


def test_files_that_all_import_each_other_are_loaded_once_whatever_their_number(
    around: Surroundings,
) -> None:
    names = [f"a{number}" for number in range(100)]
    write(around.places.cwd, **dict.fromkeys(("CLAUDE", *names), " ".join(names)))
    assert sorted(loaded(around)) == sorted(("CLAUDE", *names))


def test_what_was_met_too_deep_to_be_followed_is_followed_from_above(around: Surroundings) -> None:
    write(around.places.cwd, CLAUDE="b1 last", b1="b2", b2="b3", b3="last", last="below", below="")
    assert loaded(around) == ["CLAUDE", "b1", "b2", "b3", "last", "below"]
    write(around.places.cwd, CLAUDE="b1")
    assert loaded(around) == ["CLAUDE", "b1", "b2", "b3", "last"]
