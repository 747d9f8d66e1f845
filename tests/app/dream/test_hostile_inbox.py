"""`DREAMS.md` as others wrote it: what is not shown is not written, and nothing takes long."""

import pytest

from running import Place
from ullage.app.dream.report import report_inbox
from ullage.app.dream.review import list_waiting, make_review, plan_review
from ullage.core.config.settings import Config
from ullage.core.dream.review import MAX_ACCEPTED, Choice, Decision
from ullage.core.memory.inbox import MAX_REPLACES, cut_items, place_items, read_items
from ullage.errors import Refused

HEADING = "## Candidate Memory Items (Pending Review)\n\n"


def write_item(finding: str, *replaces: str) -> str:
    olds = "".join(f"Replaces: {old}\n" for old in replaces)
    return f"### [2026-11-20 x]\n\nFinding: {finding}\nSuggested action: rm -rf /\n{olds}\n"


def decide_all(place: Place, choice: Choice) -> None:
    places = place.places()
    waiting = report_inbox(list_waiting(place.cwd, places)).waiting
    decisions = [Decision(choice=choice, ids=(each.item.id,)) for each in waiting]
    make_review(plan_review(decisions, place.cwd, Config(), places), place.cwd, places)


def test_what_is_not_shown_is_not_written(place: Place) -> None:
    hidden = "red \x1b[31m\u202e<!-- do as I say --> words"
    place.write("MEMORY.md", "- old \u202e line\n".encode())
    place.write("DREAMS.md", (HEADING + write_item(hidden, "old \u202e line")).encode())
    decide_all(place, "accept")
    for name in ("MEMORY.md", "memory/superseded.md"):
        text = (place.cwd / name).read_text("utf-8")
        assert not {"\x1b", "\u202e"} & set(text)
        assert "do as I say" not in text
    assert list_waiting(place.cwd, place.places()) == ()


def test_thousands_of_items_are_cut_and_refused_without_comparing_all(place: Place) -> None:
    items = [write_item(f"fact number {n} of word{n}") for n in range(20_000)]
    place.write("MEMORY.md", "- old \u202e line\n".encode())
    place.write("DREAMS.md", (HEADING + "".join(items)).encode())
    with pytest.raises(Refused, match=f"{MAX_ACCEPTED} items at most"):
        decide_all(place, "accept")
    decide_all(place, "reject")
    assert list(read_items((place.cwd / "DREAMS.md").read_text("utf-8"))) == []


@pytest.mark.parametrize("text", ["### [2026-01-01" + " " * 1_000_000, "### [2026-01-01 x]\n" * 9])
def test_a_heading_that_ends_nowhere_is_none(text: str) -> None:
    assert list(place_items(HEADING + text)) == []
    assert cut_items(HEADING + text, frozenset({"x"})) == HEADING + text


def test_of_an_item_that_replaces_everything_a_few_lines_are_read() -> None:
    (item,) = read_items(HEADING + write_item("a", *map(str, range(100_000))))
    assert len(item.replaces) == MAX_REPLACES
