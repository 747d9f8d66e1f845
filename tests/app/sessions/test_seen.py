"""Which of several sessions the gauge shows."""

from pathlib import Path

import pytest

from pi_files import conversation
from running import Place
from ullage.app.sessions.find import SeenSession, to_show
from ullage.app.sessions.open import open_session


def seen(place: Place, name: str, *, age_s: float, is_live: bool = True) -> SeenSession:
    path = place.write(name, conversation(1).data, age_s=age_s)
    session = open_session(path)
    return SeenSession(session=session, written_ns=session.lines.written_ns, is_live=is_live)


def test_of_two_sessions_that_are_written_to_in_turn_the_shown_one_stays(place: Place) -> None:
    one, other = seen(place, "one", age_s=9), seen(place, "other", age_s=8)
    assert to_show((other, one), one.path) == one.path
    one = seen(place, "one", age_s=1)
    assert to_show((one, other), one.path) == one.path
    assert to_show((one, other), other.path) == other.path


@pytest.mark.parametrize(("age_s", "is_live"), [(90, True), (9, False)])
def test_a_session_that_does_not_go_on_gives_way_to_one_that_does(
    place: Place, age_s: float, is_live: bool
) -> None:
    one, other = seen(place, "one", age_s=age_s, is_live=is_live), seen(place, "other", age_s=1)
    assert to_show((other, one), one.path) == other.path


def test_the_first_is_shown_where_none_was_or_it_is_gone(place: Place) -> None:
    one, other = seen(place, "one", age_s=1), seen(place, "other", age_s=2)
    assert to_show((one, other), None) == one.path
    assert to_show((one, other), Path("gone")) == one.path
    assert to_show((), one.path) is None
