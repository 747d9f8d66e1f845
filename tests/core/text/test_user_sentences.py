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


def test_a_request_beside_a_rule_is_no_rule() -> None:
    said = "Please move the logic in auth, it has grown over the years. Never touch the old one."
    assert [sentence.kind for sentence in read_user_sentences(said, 0)] == ["statement", "rule"]


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("Every new function should get JSDoc comments.", "rule"),
        ("Jede neue Funktion sollte einen Kommentar haben.", "rule"),
        ("All tests pass in the branch.", "statement"),
        ("The button should be blue.", "statement"),
    ],
)
def test_a_wish_for_all_of_a_kind_is_a_rule(said: str, kind: str) -> None:
    assert [sentence.kind for sentence in read_user_sentences(said, 0)] == [kind]
