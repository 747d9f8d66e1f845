"""What a session says of itself, and how far that counts."""

import pytest

from pi_files import conversation
from running import Place
from ullage.app.sessions.open import open_session


@pytest.mark.parametrize(
    ("folder", "named", "expected"),
    [
        ("work/shop", "work/other", False),
        ("work/shop", "work", False),
        ("work/shop/sessions", "work/other", False),
        ("work/shop", "work/other\0", False),
        ("work/other", "work/other", True),
        ("work/other", "work/shop", True),
        ("home/.pi/agent/sessions/--x--", "work/other", True),
    ],
)
def test_a_file_that_names_another_folder_is_not_believed(
    place: Place, folder: str, named: str, expected: bool
) -> None:
    data = conversation(1, cwd=str(place.root / named)).data
    session = open_session(place.write(str(place.root / folder / "s.jsonl"), data))
    assert session.is_believed(place.places()) == expected
