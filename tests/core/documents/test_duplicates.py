"""What is said twice is found; what only resembles it is not."""

from hypothesis import given
from hypothesis import strategies as st

from ullage.core.documents.duplicates import find_duplicates, read_statements

RULE = "Run the whole test suite before you commit anything to the main branch."
LONG = (
    "When a request fails because the token has expired, the client asks for a new one once and"
    " repeats the request with it; if that fails too, the user is asked to sign in again, and"
    " nothing that was typed so far is lost while this happens in the background."
)


def found_in(own: str, *others: str) -> list[tuple[int, str, bool]]:
    made = find_duplicates(read_statements(own), [read_statements(other) for other in others])
    return [
        (one.source, own[one.statement.part.start : one.statement.part.end], one.is_exact)
        for one in made
    ]


def test_the_second_of_two_in_a_file_is_told() -> None:
    text = f"# A\n\n{RULE}\n\n# B\n\n- **{RULE.upper()}**\n"
    assert found_in(text) == [(0, f"- **{RULE.upper()}**", True)]


def test_another_file_that_says_the_same_is_told() -> None:
    assert found_in(f"- {RULE}", "nothing here", f"{RULE}\n") == [(2, f"- {RULE}", True)]


def test_a_long_statement_with_one_other_word_is_nearly_the_same() -> None:
    assert found_in(LONG.replace("typed", "written"), LONG)[0][2] is False


def test_a_negation_or_a_number_makes_another_statement() -> None:
    assert found_in(LONG.replace("is lost", "is not lost"), LONG) == []
    numbered = LONG.replace("once", "3 times")
    assert found_in(numbered, LONG.replace("once", "2 times")) == []


def test_short_ones_and_code_and_headings_may_stand_twice() -> None:
    assert found_in("- Run the tests.\n- Run the tests.") == []
    block = f"```\n{RULE}\n```\n"
    assert found_in(block + block) == []
    assert found_in(f"## {RULE}\n\n## {RULE}\n") == []


def test_different_rules_of_one_pattern_are_no_duplicates() -> None:
    text = "\n".join(
        f"- When you change the {name} module, run its own tests and look at its page."
        for name in ("gauge", "prune", "window", "secrets")
    )
    assert found_in(text) == []


def test_the_same_words_with_other_children_are_no_duplicate() -> None:
    text = (
        f"## Frontend\n- {RULE}\n  - pnpm lint\n  - pnpm test\n"
        f"## Backend\n- {RULE}\n  - cargo clippy\n  - cargo test\n"
    )
    assert found_in(text) == []
    assert found_in(f"{RULE}:\n\n```sh\nmake a\n```\n\n{RULE}:\n\n```sh\nmake b\n```\n") == []


def test_an_item_below_another_line_is_no_duplicate() -> None:
    assert found_in(f"Always:\n\n- {RULE}\n\nNever:\n\n- {RULE}\n") == []
    assert found_in(f"- Frontend\n  - {RULE}\n- Backend\n  - {RULE}\n") == []


def test_an_item_with_the_same_children_is_one_and_ends_after_them() -> None:
    item = f"- {RULE}\n  - pnpm lint\n\n    and more"
    (one,) = find_duplicates(read_statements(f"{item}\n\n# B\n\n{item}\n- other"), [])
    assert (one.statement.part.start, one.statement.end) == (len(item) + 7, 2 * len(item) + 7)


@given(st.lists(st.sampled_from([RULE, LONG, "## A", "short", "", "```"]), max_size=12))
def test_nothing_is_told_twice_and_nothing_unique_is_told(parts: list[str]) -> None:
    text = "\n\n".join(parts)
    made = read_statements(text)
    n_distinct = len({one.words for one in made})
    assert len(find_duplicates(made, [])) == len(made) - n_distinct
