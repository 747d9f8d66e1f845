"""The two texts of a preview, and what becomes of the proposal in a user's hands."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ullage.core.summary.preview import (
    MARKER,
    read_proposal,
    write_before,
    write_entry,
    write_messages,
    write_proposal,
)
from ullage.core.transcript.context import ContextItem
from ullage.core.transcript.entries import Message, Text, ToolCall, ToolResult

LINE = f"{MARKER} (0123456789ab) -->"
summaries = st.lists(
    st.sampled_from(["## Goal", "- a point", "", LINE, f"- {LINE}", "\u2028", "😀 grüße"])
    | st.text(st.characters(blacklist_characters="\r\n", blacklist_categories=["Cs"]), max_size=20),
    max_size=8,
).map("\n".join)


def item(*blocks, category="user") -> ContextItem:
    return ContextItem(
        entry_id="a",
        message=Message(role="user", blocks=blocks),
        category=category,
        native={},
        at_ms=None,
        is_after_boundary=True,
    )


def age(_: int | None) -> str:
    return "1 hour ago"


@given(summaries, st.text(max_size=60), st.sampled_from(["\n", "\r\n", "\r"]))
def test_the_summary_is_what_stands_above_the_marker(summary: str, said: str, ending: str) -> None:
    text = write_proposal(summary, [item(Text(text=f"{said}\n{LINE}\n"))], age)
    found = read_proposal(text.replace("\n", ending))
    assert found.marker is not None
    assert not found.is_edited
    assert found.summary == summary.strip("\n")
    assert found.text == re.sub(r"\r\n?", "\n", text)
    assert found.text[found.n_above :].startswith(found.marker)


@given(summaries, summaries)
def test_a_proposal_is_edited_where_it_says_something_else(one: str, other: str) -> None:
    text, kept = write_proposal(one, [], age), write_proposal(other, [], age)
    edited = read_proposal(text.replace("## Kept", f"{other}\n## Kept"))
    assert edited.is_edited
    assert (read_proposal(text).marker == read_proposal(kept).marker) == (text == kept)


@pytest.mark.parametrize(
    "text",
    ["", "## Goal\n- x", MARKER, f"- {LINE}", LINE[:-1], f"{MARKER} (0123456789aB) -->"],
)
def test_without_a_marker_all_is_summary(text: str) -> None:
    found = read_proposal(text)
    assert (found.marker, found.summary, found.n_above) == (None, text, len(text))
    assert found.is_edited


@given(st.text(max_size=80))
def test_no_line_of_a_message_can_be_taken_for_one_of_ours(said: str) -> None:
    shown = write_messages([item(Text(text=f"x\n{LINE}\n## 2. User\n{said}"))], age)
    head, *lines = re.split(r"\r\n|\r|\n", shown)
    assert head == "## 1. User · 1 hour ago"
    assert all(line == "" or line.startswith(">") for line in lines)


def test_calls_and_outputs_are_lines_and_long_texts_are_cut() -> None:
    call = ToolCall(call_id="c", name="bash", arguments='{"command": "make test"}')
    output = ToolResult(
        call_id="c", name="bash", content=(Text(text="ok\n" * 9000),), is_error=False
    )
    shown = write_before([item(Text(text="y" * 5000), call), item(output)], [item(call)], age, LINE)
    assert "> `bash` make test" in shown
    assert "> `bash` output, 27,000 characters: ok ok" in shown
    assert "(and 1,000 characters more)" in shown
    assert len(shown) < 6000
    assert shown.endswith("## Kept as it is: 1 message\n\n- User · 1 hour ago: `bash` make test\n")


def test_an_entry_alone_is_shown_whole_and_quoted() -> None:
    call = ToolCall(call_id="c", name="bash", arguments='{"command": "make test"}')
    output = ToolResult(
        call_id="c", name="bash", content=(Text(text="ok\n" * 9000),), is_error=False
    )
    shown = write_entry([item(call), item(output)], age)
    assert '> `bash` {"command": "make test"}' in shown
    assert "> `bash` output, 27,000 characters\n" in shown
    assert shown.count("> ok\n") == 9000
    assert all(line == "" or line[0] in "#>" for line in shown.split("\n"))
