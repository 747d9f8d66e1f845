"""A line of a summary leads to the message whose words it holds, and to no other."""

from collections.abc import Iterator

import pytest

from factories import assistant, tool_result, user
from ullage.core.summary.preview import MAX_WHOLE_CHARS, find_message_line, write_before
from ullage.core.summary.sources import Sources
from ullage.core.transcript.context import ContextItem

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
        ("Constraints", "- The billing service must stay offline; 3", None),
        ("Identifiers", "- 1f33", None),
        ("Identifiers", "- Nobody wrote this; 331f337", 5),
    ],
)
def test_it_leads_to_the_message(section: str, line: str, at: int | None) -> None:
    assert Sources(ITEMS).find(line, section) == at


def test_who_comes_while_the_words_are_made_ready_finds_the_same() -> None:
    found: list[int | None] = []

    class Shared(tuple[ContextItem, ...]):
        def __iter__(self) -> Iterator[ContextItem]:
            items = super().__iter__()
            yield next(items)
            if not found:
                found.append(None)
                found[0] = sources.find("- LIMIT = 4711", "Identifiers")
            yield from items

    sources = Sources(Shared(ITEMS))
    assert (sources.find("- LIMIT = 4711", "Identifiers"), found) == (3, [3])


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
