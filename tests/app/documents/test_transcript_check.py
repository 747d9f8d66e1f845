"""A transcript is examined no oftener than it can have changed, and a large one once."""

import pytest

from pi_files import conversation
from running import Place
from ullage.app.documents.check import Surroundings
from ullage.app.documents.transcript_check import MAX_FOLLOWED_BYTES, check_transcript
from ullage.core.config.settings import Config


@pytest.fixture
def around(place: Place) -> Surroundings:
    places = place.places()
    return Surroundings(config=Config(), places=places, workspaces=(), texts={})


def test_what_was_found_stands_until_the_file_is_another(
    place: Place, around: Surroundings
) -> None:
    path = place.write("s.jsonl", conversation(1).data)
    first = check_transcript(path, around, None)
    assert check_transcript(path, around, first) is first
    with path.open("ab") as file:
        file.write(b"{\n")
    again = check_transcript(path, around, first)
    assert again is not None
    assert [one.code for one in again.findings] == ["torn-line"]


def test_a_large_transcript_is_examined_once_however_it_grows(
    place: Place, around: Surroundings
) -> None:
    path = place.write("s.jsonl", conversation(2, chars=MAX_FOLLOWED_BYTES // 2).data)
    first = check_transcript(path, around, None)
    assert first is not None
    with path.open("ab") as file:
        file.write(b"{\n")
    assert check_transcript(path, around, first) is first
    replaced = path.with_suffix(".new")
    replaced.write_bytes(path.read_bytes())
    replaced.replace(path)
    again = check_transcript(path, around, first)
    assert again is not None
    assert len(again.findings) == 1


def test_nothing_is_found_where_there_is_no_transcript(place: Place, around: Surroundings) -> None:
    assert check_transcript(place.cwd / "gone.jsonl", around, None) is None
