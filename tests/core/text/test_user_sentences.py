"""What a user's sentence does."""

import pytest

from ullage.core.text.sentences import read_user_sentences


@pytest.mark.parametrize(
    "said",
    [
        "Hotel or hostel I haven't decided yet.",
        "Karte oder bar ist noch unentschieden.",
        "No he decidido el color.",
        "颜色还没决定。",
    ],
)
def test_what_a_user_leaves_undecided_is_open_and_no_decision(said: str) -> None:
    assert [sentence.kind for sentence in read_user_sentences(said, 0)] == ["open"]
