"""What was taken out of a Markdown text is written as it follows what was made of it since."""

import pytest

from ullage.core.text.taken_sections import write_taken_sections

TOP = "# DREAMS.md\n\nmine\n\n## Waiting\n\n"
A, B, C = (f"### [2026-11-20 Daily Log]\n\nFinding: {name}\n\n" for name in "abc")
ALL = TOP + A + B + C


@pytest.mark.parametrize(
    ("before", "after", "now", "added"),
    [
        (ALL, TOP + B + C, TOP + B + C.replace("c", "x"), A.rstrip() + "\n"),
        (ALL, TOP + B, TOP + "### [x", f"\n\n{A}{C.rstrip()}\n"),
        (ALL, TOP + B + C, f"{TOP}{B}## Notes\n", f"\n## Waiting\n\n{A.rstrip()}\n"),
        (ALL, TOP, "", f"## Waiting\n\n{A}{B}{C.rstrip()}\n"),
        (f"{ALL}## Other\n\n{A}", TOP + B + C, "x\n", f"\n## Waiting\n\n{A}## Other\n\n{A}"[:-1]),
        (f"{A}{TOP}{B}", f"{TOP}{B}", f"{TOP}x\n", f"\n{A.rstrip()}\n"),
        (f"{TOP}\n{A.rstrip()}", TOP, TOP.replace("mine", "x"), f"{A.rstrip()}\n"),
    ],
    ids=["edited", "no line end", "other heading", "gone", "two headings", "none", "whitespace"],
)
def test_sections_that_were_taken_out_are_written_below_their_heading(
    before: str, after: str, now: str, added: str
) -> None:
    assert write_taken_sections(before, after, now) == added


def test_what_was_put_back_by_hand_is_not_written_again() -> None:
    assert write_taken_sections(ALL, TOP + C, f"{TOP}x\n\n{B}{A}") == ""
    assert write_taken_sections(ALL, TOP + C, f"{TOP}x\n\n{B}") == A.rstrip() + "\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (TOP + A, TOP + A + B),
        (TOP + A, TOP + B),
        (TOP + A + B, TOP.replace("mine", "ours") + B),
        (ALL, TOP + C + B),
        (ALL, ALL),
        ("- a\n- b\n", "- a\n"),
    ],
    ids=["added", "replaced", "changed", "order", "as it was", "a line"],
)
def test_nothing_is_written_where_more_than_sections_was_changed(before: str, after: str) -> None:
    assert write_taken_sections(before, after, "x\n") is None


def test_a_note_below_a_section_that_stayed_is_none_of_it() -> None:
    before = "# D\n\n## C\n\n### [a]\n\nFinding: x\n\nmy note\n"
    after = "# D\n\n## C\n\nmy note\n"
    taken = write_taken_sections(before, after, f"- mine\n{after}")
    assert taken == "\n### [a]\n\nFinding: x\n"
    assert write_taken_sections(before, before.replace("my note\n", ""), before) is None
