"""Two texts say the same where neither a value nor a negation differs."""

import random

import pytest

from ullage.core.memory.likeness import KnownTexts, Likeness

RULE = "Releases are cut by Mara, never on Mondays, after the tests."


@pytest.mark.parametrize(
    ("other", "is_said"),
    [
        (f"- {RULE.lower()}", True),
        (f"{RULE} Everybody knows.", True),
        (RULE.replace("Mondays", "Fridays"), False),
        (RULE.replace("never ", ""), False),
        (RULE.replace("after the", "after 12"), False),
        (f"Remember: {RULE.removesuffix('.')}, in CI.", True),
    ],
)
def test_another_value_or_a_negation_says_something_else(other: str, is_said: bool) -> None:
    assert Likeness(RULE).is_said_by(other) is is_said


def test_a_longer_number_is_another_value() -> None:
    assert not Likeness("The tests need port 80.").is_said_by("The tests need port 8080.")
    assert Likeness("The tests need port 80.").is_said_by("The tests need port 80. Always.")


@pytest.mark.parametrize(
    ("text", "is_known"),
    [
        (RULE, True),
        (f"* {RULE.upper()}", True),
        (RULE.replace("tests", "test"), True),
        (RULE.replace("Mara", "Maria"), False),
        (f"{RULE.removesuffix('.')}, docs alone need none.", False),
        (f"{RULE.removesuffix('.')} unless Ada agrees.", False),
        ("Releases are cut by Mara, never on Mondays", True),
        (f"As I said before, {RULE.lower()}", True),
        (f"{RULE.removesuffix('.')}, and only when Ada approved what is in them.", False),
        (f"As I said before, {RULE.replace('Mondays', 'Fridays')}", False),
        (f"It is not so that {RULE}", False),
        ("Backups are kept for 30 days.", False),
    ],
)
def test_what_repeats_a_known_text_and_adds_little_is_known(text: str, is_known: bool) -> None:
    others = [f"The service {n} is deployed by Mara, never on Mondays." for n in range(50)]
    assert KnownTexts([*others, RULE]).say(text) is is_known
    assert not KnownTexts(others).say(text)


def test_a_text_is_found_among_the_known_as_each_by_itself_would_tell() -> None:
    words = ("deploy", "never", "ada", "6380", "releases", "mondays", "the", "cut")
    texts = [" ".join(random.Random(n).choices(words, k=4 + n % 5)) for n in range(200)]
    for text in texts:
        alone = any(Likeness(text).repeats(Likeness(known)) for known in texts[:100])
        assert KnownTexts(texts[:100]).say(text) is alone


def test_only_the_same_words_are_the_same() -> None:
    assert Likeness(RULE).is_same(f"- {RULE.upper()}")
    assert not Likeness(RULE).is_same(RULE.replace("Mara", "Lena"))
