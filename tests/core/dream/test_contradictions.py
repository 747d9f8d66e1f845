"""Lines of memory that contradict each other are found, and quietly."""

import pytest

from ullage.core.dream.contradictions import MAX_OF_ONE, find_contradictions


def list_pairs(*lines: str, heading: str = "## Decisions") -> list[tuple[str, str]]:
    page = f"# Memory\n\n{heading}\n\n" + "".join(f"- {line}\n" for line in lines)
    return [
        (page[each.first.start + 2 : each.first.end], page[each.second.start + 2 : each.second.end])
        for each in find_contradictions(page)
    ]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Releases go out on Thursdays.", "Releases go out on Tuesdays, as support is there."),
        ("Indent with 2 spaces.", "Indent with 4 spaces."),
        ("Always commit the lock file.", "Never commit the lock file."),
        ("The API listens at https://a.example", "The API listens at https://b.example."),
        ("Backups are kept for 30 days.", "Backups are kept for ninety days, in the cloud."),
        ("Tests need a database.", "Tests do not need a database."),
    ],
)
def test_two_lines_of_which_one_can_hold_are_a_pair(first: str, second: str) -> None:
    assert list_pairs(first, "Ada answers for payments.", second) == [(first, second)]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Releases go out on Thursdays.", "Releases go out on Thursdays, never on holidays."),
        ("Releases go out on Thursdays.", "The team meets on Tuesdays."),
        ("Use tabs in Go.", "Never use tabs in Python."),
        ("`uv sync` takes 30 seconds here.", "`uv sync --all` takes 45 seconds here."),
        ("CI run 8867 takes 8 minutes.", "CI run 8899 takes 13 minutes."),
        ("When to use this pattern:", "When not to use this pattern:"),
        ("Indent with 2 spaces.", "Indent with 2 spaces, or 4 spaces in old files."),
    ],
)
def test_what_can_both_hold_is_no_pair(first: str, second: str) -> None:
    assert list_pairs(first, second) == []


def test_what_stands_under_another_heading_is_of_another_thing() -> None:
    page = "## Go\n\n- Indent with 8 columns.\n\n## YAML\n\n- Indent with 2 columns.\n"
    assert find_contradictions(page) == ()


def test_a_list_of_things_with_a_value_each_contradicts_nothing() -> None:
    rows = [f"A worker of this pool keeps {n} jobs." for n in range(2, MAX_OF_ONE + 4)]
    assert list_pairs(*rows) == []
    assert len(list_pairs(*rows[: MAX_OF_ONE + 1])) == 3


@pytest.mark.parametrize("piece", ["1,", "a1.", "a"])
def test_a_long_line_is_read_once(piece: str) -> None:
    # A search that began anew at each digit would take minutes.
    assert list_pairs(piece * 60_000, f"{piece * 60_000} days") == []
