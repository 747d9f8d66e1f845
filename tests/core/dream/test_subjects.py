"""Two statements on one subject share rare words, or fewer and a value of one sort."""

import pytest

from ullage.core.dream.subjects import Subjects

OTHERS = (
    "Ada answers for payments.",
    "Never commit generated files.",
    "The tests need Redis on port 6380.",
    "We keep parcels in SQLite.",
    "Logs are written as JSON lines.",
)


@pytest.mark.parametrize(
    ("first", "second", "are_same"),
    [
        ("Releases go out on Thursdays.", "Releases go out on Tuesdays now.", True),
        ("Lines are at most 80 characters long.", "Lines are at most 100 characters long.", True),
        ("Staging lives at https://a.example", "Staging moved to https://b.example", True),
        ("Always squash commits of a branch.", "Never squash commits, rebase a branch.", True),
        ("Releases go out on Thursdays.", "The team meets on Tuesdays.", False),
        ("Ada answers for payments.", "Parcels are weighed by Bo.", False),
        ("", "Releases go out on Thursdays.", False),
        ("", "", False),
    ],
)
def test_one_subject_is_told_by_what_both_name(first: str, second: str, are_same: bool) -> None:
    subjects = Subjects((*OTHERS, first, second))
    assert subjects.are_same(first, second) == are_same
    assert subjects.are_same(second, first) == are_same


def test_a_word_that_all_have_makes_no_subject() -> None:
    many = tuple(f"The service {name} calls the gateway" for name in ("ada", "bo", "cy", "dee"))
    rare = Subjects(("The gateway calls ada twice.", "The gateway calls ada once.", *OTHERS))
    common = Subjects(many)
    assert common.compare(many[0], many[1]) < rare.compare(
        "The gateway calls ada twice.", "The gateway calls ada once."
    )


def test_texts_that_were_not_given_are_compared_too() -> None:
    subjects = Subjects(OTHERS)
    assert subjects.are_same("Releases go out on Thursdays.", "Releases go out on Tuesdays.")


def test_a_weekday_is_no_subject() -> None:
    first, second = "Never run migrations on Fridays.", "Releases are cut on Fridays by Jonas."
    subjects = Subjects((*OTHERS, first, second))
    assert not subjects.are_same(first, second)
