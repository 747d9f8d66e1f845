"""A line of a summary leads to the message whose words it holds, and to no other."""

import pytest

from factories import assistant, tool_result, user
from ullage.core.summary.preview import MAX_WHOLE_CHARS, find_message_line, write_before
from ullage.core.summary.sources import Sources

ITEMS = (
    user("Please keep the *public* API as it is. Rename the parcels table."),
    assistant("I keep the public API as it is.", [("c1", "bash", {"command": "pytest -q tests"})]),
    tool_result("E   ImportError: no module named parcels\n3 failed", "c1", "bash"),
    assistant("", [("c2", "edit", {"path": "src/parcels.py", "newText": "LIMIT = 4711"})]),
    tool_result("ok", "c2", "edit"),
    assistant("The table is renamed; commit 331f337 holds it."),
)


@pytest.mark.parametrize(
    ("section", "line", "at"),
    [
        ("Constraints", "- Please keep the `public` API as it is", 0),
        ("Work completed", "- I keep the public API as it is.", 1),
        ("Goal", "- asked: Rename the parcels table.", 0),
        ("Goal", "- open request: Rename the parcels…", 0),
        ("Commands", "- failed: pytest -q tests", 1),
        ("Errors and cures", "- ImportError: no module named parcels → passed later", 2),
        ("Files", "- modified src/parcels.py", 3),
        ("Identifiers", "- LIMIT = 4711", 3),
        ("Work completed", "- the table is renamed; commit 331f337 holds it", 5),
        ("Work completed", "- Somebody renamed the customers table.", None),
        ("Next step", "- (none)", None),
    ],
)
def test_it_leads_to_the_message(section: str, line: str, at: int | None) -> None:
    assert Sources(ITEMS).find(line, section) == at


def test_nothing_comes_from_no_messages() -> None:
    assert Sources(()).find("- Please keep the public API as it is", "Goal") is None


def test_messages_are_found_among_very_many_too() -> None:
    items = [user(f"{number} is the number. " + "word " * 1_000) for number in range(1, 200)]
    before = write_before(items, items[-2:], lambda _: "now", "<!-- marker -->")
    assert len(before) > MAX_WHOLE_CHARS
    lines = before.split("\n")
    for number in (1, 2, 80, 120, 199):
        at = find_message_line(before, number)
        said = lines[at] if lines[at].startswith("- ") else lines[at + 2]
        assert f" {number} is the number." in said
