"""What is written into the inbox is read back, and cutting an item leaves every other byte."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ullage.core.memory.inbox import (
    SECTION_OF,
    InboxItem,
    Section,
    cut_items,
    format_item,
    propose_item,
    read_items,
)
from ullage.core.memory.journal import Kind

HOSTILE = (
    "Finding: ",
    "Replaces: x",
    "## Candidate Memory Items (Pending Review)",
    "### [2026-01-01 Mine]",
    "# a",
    "- b",
    "]",
    "```",
    "<!--",
    "\\n",
)
words = st.lists(st.sampled_from(HOSTILE) | st.text(min_size=1), max_size=4)
one_line = words.map(lambda parts: " ".join(" ".join(parts).split()))
said = one_line.filter(bool)
items = st.builds(
    InboxItem,
    day=st.dates().map(lambda day: day.isoformat()),
    title=st.sampled_from(["Daily Log", "Session Replay", "Stored by the agent"]),
    finding=said,
    action=said,
    source=one_line,
    score=one_line,
    reason=one_line,
    replaces=st.lists(said, max_size=3).map(tuple),
)
OWN = (
    "",
    "# DREAMS.md\n\n",
    "mine\n## Mine\n### [2026-04-15 Replay]\nFinding: no item\n\n",
    "my words\n",
)


def write(own: str, waiting: list[InboxItem]) -> str:
    for item in waiting:
        own += format_item(item, own) + "\n"
    return own


@given(st.sampled_from(OWN), st.lists(items, max_size=5))
def test_what_is_written_is_read_back(own: str, waiting: list[InboxItem]) -> None:
    inbox = write(own, waiting)
    assert list(read_items(inbox)) == waiting
    assert list(read_items(inbox.replace("\n", "\r\n"))) == waiting


@given(st.sampled_from(OWN), st.lists(items, max_size=5, unique_by=lambda item: item.item_id),
       st.sets(st.integers(0, 4)))  # fmt: skip
def test_cutting_takes_the_items_and_no_other_byte(
    own: str, waiting: list[InboxItem], chosen: set[int]
) -> None:
    gone = frozenset(item.item_id for at, item in enumerate(waiting) if at in chosen)
    inbox = write(own, waiting) + "## Mine\n\nlast words, no end"
    kept = [item for item in waiting if item.item_id not in gone]
    cut = cut_items(inbox, gone)
    assert list(read_items(cut)) == kept
    if kept == waiting:
        assert cut == inbox
        return
    heading = format_item(waiting[0], own).partition("### ")[0]
    rest = "".join(format_item(item, own + heading) + "\n" for item in kept)
    assert cut == f"{own}{heading}{rest}## Mine\n\nlast words, no end"


def test_an_item_without_a_finding_or_of_another_form_is_no_item() -> None:
    begin = "## Candidate Memory Items (Pending Review)\n\n"
    for text in (
        "### [2026-04-15 Session Replay]\n\nSuggested action: add it\n",
        "### 2026-04-15 Session Replay\n\nFinding: x\n",
        "#### [2026-04-15 Session Replay]\n\nFinding: x\n",
        "### [2026-04-15 Session Replay]\n\nFinding:x\n",
        "### [2026-04-15 Session Replay]\n\n### Finding: x\n",
    ):
        assert list(read_items(begin + text)) == []
        assert cut_items(begin + text, frozenset(("x",))) == begin + text


def test_the_first_of_two_fields_counts() -> None:
    item = propose_item("fact", "a", day="2026-04-15", title="Daily Log", source="s")
    text = format_item(item, "") + "Finding: b\nSource: t\n"
    assert list(read_items(text)) == [item]


@pytest.mark.parametrize(
    ("kind", "finding", "action", "section"),
    [
        ("preference", "I dislike emoji in code comments",
         "Update the user preferences section in MEMORY.md", "preferences"),
        ("fact", "our team has an API spec document at /docs/api-spec.yaml",
         "Add this path to the project resources index in MEMORY.md", "resources"),
        ("fact", "the dashboards are at https://a.example",
         "Add this path to the project resources index in MEMORY.md", "resources"),
        ("fact", "Ada answers for payments",
         "Add this to the project facts section in MEMORY.md", "project"),
        ("decision", "we keep parcels in SQLite",
         "Add this to the decisions section in MEMORY.md", "decisions"),
        ("command", "`uv run tox` runs the tests",
         "Add this to the project resources index in MEMORY.md", "resources"),
        ("dead-end", "the cache of /tmp breaks the build",
         "Add this to the lessons section in MEMORY.md", "lessons"),
    ],
)  # fmt: skip
def test_the_suggested_action_names_the_section(
    kind: Kind, finding: str, action: str, section: Section
) -> None:
    item = propose_item(kind, finding, day="2026-04-15", title="Daily Log", source="")
    assert (item.action, item.section) == (action, section)
    assert kind in SECTION_OF


def test_who_changes_the_word_changes_the_section() -> None:
    item = propose_item("fact", "x", day="2026-04-15", title="Daily Log", source="")
    assert item.section == "project"
    for words, section in (("to Lessons, please", "lessons"), ("somewhere", "project")):
        assert msgspec.structs.replace(item, action=words).section == section
