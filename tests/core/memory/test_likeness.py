"""Two texts say the same where neither a value nor a negation differs."""

import pytest

from ullage.core.memory.likeness import Likeness

RULE = "Releases are cut by Mara, never on Mondays, after the tests."


@pytest.mark.parametrize(
    ("other", "is_said"),
    [
        (f"- {RULE.lower()}", True),
        (f"{RULE} Everybody knows.", True),
        (RULE.replace("Mondays", "Fridays"), False),
        (RULE.replace("never ", ""), False),
        (RULE.replace("after the", "after 12"), False),
    ],
)
def test_another_value_or_a_negation_says_something_else(other: str, is_said: bool) -> None:
    assert Likeness(RULE).is_said_by(other) is is_said


def test_only_the_same_words_are_the_same() -> None:
    assert Likeness(RULE).is_same(f"- {RULE.upper()}")
    assert not Likeness(RULE).is_same(RULE.replace("Mara", "Lena"))
