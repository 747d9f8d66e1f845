"""A line finds its section by the user's own headings, and nothing else of the page changes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ullage.core.dream.memory_page import add_line, is_loss_too_large, read_points, remove_point
from ullage.core.memory.inbox import SECTIONS, Section
from ullage.core.memory.origin import normalize_line

NEW = "the new line"


@pytest.mark.parametrize(
    ("page", "section", "expected"),
    [
        ("", "project", "# Memory\n\n## Project\n\n- the new line\n"),
        (" \n\n", "lessons", "# Memory\n\n## Lessons\n\n- the new line\n"),
        ("# Memory\n", "project", "# Memory\n\n## Project\n\n- the new line\n"),
        ("just words", "project", "just words\n\n## Project\n\n- the new line\n"),
        ("## Facts\n\n- a\n- b\n", "project", "## Facts\n\n- a\n- b\n- the new line\n"),
        ("## Facts\n\n* a\n", "project", "## Facts\n\n* a\n* the new line\n"),
        ("## Facts\n\n+ a\n  more\n\ntext\n", "project",
         "## Facts\n\n+ a\n  more\n\ntext\n+ the new line\n"),
        ("## Facts\n\nprose\n", "project", "## Facts\n\nprose\n\n- the new line\n"),
        ("## Facts", "project", "## Facts\n\n- the new line\n"),
        ("## Gotchas\n\n- z\n\n## About me\n\n- a\n", "preferences",
         "## Gotchas\n\n- z\n\n## About me\n\n- a\n- the new line\n"),
        ("## Gotchas\n\n- z\n\n## About me\n\n- a\n", "lessons",
         "## Gotchas\n\n- z\n- the new line\n\n## About me\n\n- a\n"),
        ("## Lessons\n\n- z\n\n## User Preferences\n\n- a\n", "project",
         "## Lessons\n\n- z\n\n## User Preferences\n\n- a\n\n## Project\n\n- the new line\n"),
        ("## User Preferences\n\n- a\n\n### Tests\n\n- b\n\n## Lessons\n\n- z\n", "project",
         "## User Preferences\n\n- a\n\n### Tests\n\n- b\n\n## Project\n\n- the new line\n\n"
         "## Lessons\n\n- z\n"),
        ("# Project memory\n\n- a\n", "project",
         "# Project memory\n\n- a\n\n## Project\n\n- the new line\n"),
        ("```\n## Facts\n```\n", "project",
         "```\n## Facts\n```\n\n## Project\n\n- the new line\n"),
        ("<!--\n## Facts\n-->\n", "project",
         "<!--\n## Facts\n-->\n\n## Project\n\n- the new line\n"),
        ("## Facts\n\n- a\n\n## Architecture\n\n- b\n", "project",
         "## Facts\n\n- a\n- the new line\n\n## Architecture\n\n- b\n"),
        ("## Facts\r\n\r\n- a\r\n", "project", "## Facts\r\n\r\n- a\r\n- the new line\r\n"),
        ("## Facts\r\n\r\n- a\n- b\r\n\r\n## Own\n\n- c\n", "project",
         "## Facts\r\n\r\n- a\n- b\r\n- the new line\r\n\r\n## Own\n\n- c\n"),
        ("## Facts\n\n- a <!-- asked\nin May -->\n- b <!-- c\n-->\nrest\n", "project",
         "## Facts\n\n- a <!-- asked\nin May -->\n- b <!-- c\n-->\nrest\n- the new line\n"),
        ("## Facts\n\n- b <!-- c\n-->\n\n## Own\n", "project",
         "## Facts\n\n- b <!-- c\n-->\n- the new line\n\n## Own\n"),
        ("\ufeff## Facts\n\n- a\n", "lessons",
         "\ufeff## Facts\n\n- a\n\n## Lessons\n\n- the new line\n"),
    ],
)  # fmt: skip
def test_a_line_goes_to_its_section(page: str, section: Section, expected: str) -> None:
    assert add_line(page, section, NEW) == expected


pieces = st.sampled_from(
    ["# Memory\n", "## Facts\n", "### Deep\n", "## Mine\r\n", "- a\n", "* b\r\n", "text\n", "\n",
     "```\n## Gotchas\n", "```\n", "<!-- x\n", "-->\n", "1. c\n", "  - d\n"]
)  # fmt: skip
pages = st.lists(pieces, max_size=12).map("".join)


@given(pages, st.sampled_from(SECTIONS))
def test_every_line_of_the_user_stays_in_its_order(page: str, section: Section) -> None:
    lines = [line for line in page.split("\n") if line.strip()]
    after = [line for line in add_line(page, section, NEW).split("\n") if line.strip()]
    assert sum(line.rstrip("\r").endswith(NEW) for line in after) == 1
    rest = iter(after)
    assert all(line in rest for line in lines)
    assert len(after) <= len(lines) + 3


@given(pages, st.sampled_from(SECTIONS))
def test_a_second_line_joins_the_first(page: str, section: Section) -> None:
    once = add_line(page, section, NEW)
    twice = add_line(once, section, "another line")
    # What is never closed hides all that comes below it.
    if "```" not in page and "<!--" not in page:
        assert twice.count("\n") == once.count("\n") + 1


@pytest.mark.parametrize("line", ["a line", "- a line", "* [ ]  A  Line", "## a line"])
def test_a_point_is_removed_however_it_is_marked(line: str) -> None:
    assert remove_point("# M\n\n- x\n- a line\r\n- y\n", line, str) == "# M\n\n- x\n- y\n"
    assert remove_point("# M\n\n- x\n", line, str) is None
    assert remove_point("# M\n\n\n", "", str) is None


PAGE = """# Memory

## Deploys on Fridays

- Deploys run
  on Thursdays,
  by Mara.
- Ports:
  - 6380 is Redis
- deploys run on Mondays

A paragraph of
two lines.

```
- in code
```
<!-- - in a comment -->

| a | b |
| 1 | 2 |

Underlined
---

- Be brief <!-- asked
in May -->
- last"""


@pytest.mark.parametrize(
    ("text", "gone"),
    [
        ("Deploys run on Thursdays, by Mara.", "- Deploys run\n  on Thursdays,\n  by Mara.\n"),
        ("6380 is Redis", "  - 6380 is Redis\n"),
        ("A paragraph of two lines.", "A paragraph of\ntwo lines.\n"),
        ("last", "- last"),
        ("Deploys run", None),
        ("Deploys on Fridays", None),
        ("Ports:", None),
        ("in code", None),
        ("in a comment", None),
        ("| a | b | | 1 | 2 |", None),
        ("Underlined ---", None),
        ("Be brief [comment]", None),
    ],
)
def test_a_point_goes_whole_and_what_is_none_stays(text: str, gone: str | None) -> None:
    after = remove_point(PAGE, text, str)
    assert after == (None if gone is None else PAGE.replace(gone, ""))


def test_a_point_that_may_be_two_stays() -> None:
    def hide(text: str) -> str:
        return text.replace("s1", "[…]").replace("s2", "[…]")

    assert remove_point("## x\n- a\n## y\n- b\n* A\n", "a", str) is None
    assert remove_point("- key s1\n- b\n", "key […]", hide) == "- b\n"
    assert remove_point("- key s1\n- key s2\n", "key […]", hide) is None


@given(pages)
def test_each_point_goes_by_what_it_says_and_no_other_line(page: str) -> None:
    points = list(read_points(page))
    for point in points:
        after = remove_point(page, point.text, str)
        n_alike = sum(normalize_line(each.text) == normalize_line(point.text) for each in points)
        assert (after is None) == (n_alike > 1)
        begin = page.rfind("\n", 0, point.start) + 1
        assert after in (None, page[:begin] + page[point.end :].partition("\n")[2])


@pytest.mark.parametrize(
    ("n_before", "n_gone", "is_too_large"),
    [(0, 0, False), (1, 1, False), (2, 1, False), (4, 1, False), (4, 2, True), (8, 2, False),
     (8, 3, True), (40, 10, False), (40, 11, True)],
)  # fmt: skip
def test_a_quarter_of_the_lines_may_go_and_one_always(
    n_before: int, n_gone: int, is_too_large: bool
) -> None:
    lines = [f"- line number {at} of them" for at in range(n_before)]
    before, after = "\n".join(lines), "\n".join(lines[n_gone:])
    assert is_loss_too_large(before, after) == is_too_large
