"""By `sandbox.readOnly` nothing is written, whatever command would."""

from pathlib import Path

import pytest

from pi_files import conversation
from running import Place

WINDOW = ("--window", "60000")
WRITERS = (
    ("compact", "--yes", *WINDOW),
    ("compact", "--layer", "prune", "--yes", *WINDOW),
    ("prune", "--rescue", "--yes", *WINDOW),
    ("undo", "--yes"),
    ("autocompact", "off"),
    ("checkpoint", "write"),
    ("checkpoint", "restore", "--into", "session", "--yes"),
    ("checkpoint", "restore", "--into", "new", "--yes"),
    ("pin", "Never touch production."),
    ("pin", "--remove", "1"),
    ("memory", "flush", "--yes"),
    ("context", "branch"),
)
READERS = (
    ("context", "status"),
    ("context", "branch", "--dry-run"),
    ("autocompact", "status"),
    ("checkpoint", "list"),
    ("checkpoint", "restore"),
    ("pin", "--list"),
)


@pytest.fixture
def session(place: Place) -> Path:
    path = place.write(
        "s.jsonl", conversation(40, chars=4000, cwd=str(place.cwd), usage=50_000).data
    )
    for args in (("checkpoint", "write"), ("pin", "Always ask first."), ("compact", "--yes")):
        done = place.run(*args, "--session", path)
        assert done.returncode == 0, done.stderr
    return path


def set_read_only(place: Place) -> None:
    settings = place.home / ".openclaw" / "config.yaml"
    settings.parent.mkdir(exist_ok=True)
    settings.write_bytes(b"sandbox:\n  readOnly: true\n")


@pytest.mark.parametrize("args", WRITERS, ids=" ".join)
def test_what_writes_ends_with_4_and_one_line(
    place: Place, session: Path, args: tuple[str, ...]
) -> None:
    set_read_only(place)
    before = place.files()
    done = place.run(*args, "--session", session)
    assert done.returncode == 4, done.stdout
    assert done.stderr.count("\n") == 1
    assert "`sandbox.readOnly`" in done.stderr
    assert place.files() == before


def test_an_import_writes_no_session(place: Place, session: Path) -> None:
    out = place.cwd / "bundle.json"
    # A file that the user names is written all the same.
    set_read_only(place)
    assert place.run("context", "export", out, "--session", session).returncode == 0
    before = place.files()
    done = place.run("context", "import", out)
    assert (done.returncode, done.stderr.count("\n")) == (4, 1)
    assert place.files() == before


@pytest.mark.parametrize("args", READERS, ids=" ".join)
def test_what_reads_works_and_writes_nothing(
    place: Place, session: Path, args: tuple[str, ...]
) -> None:
    set_read_only(place)
    before = place.files()
    assert place.run(*args, "--session", session).returncode == 0
    assert place.files() == before
