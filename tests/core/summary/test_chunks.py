"""Parts and chunks: nothing lost or doubled, no call without its result, shares about equal."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from factories import assistant, numbered, summary, tool_result, user
from ullage.core.summary.chunks import (
    MeasuredMessages,
    count_reserve,
    cut_chunks,
    drop_oversized,
    format_note,
    format_omission,
    limit_chunk,
    measure_messages,
    split_by_share,
)
from ullage.core.transcript.context import ContextItem
from ullage.core.transcript.entries import ToolCall, ToolResult
from ullage.core.transcript.tokens import estimate


def sized(items: list[ContextItem], sizes: list[int]) -> MeasuredMessages:
    return MeasuredMessages(
        items=numbered(items),
        pieces=((),) * len(items),
        n_tokens=tuple(sizes),
        n_whole_tokens=tuple(sizes),
    )


@st.composite
def conversations(draw: st.DrawFn) -> MeasuredMessages:
    items: list[ContextItem] = []
    for n_step in range(draw(st.integers(1, 12))):
        ids = [f"c{n_step}-{n}" for n in range(draw(st.integers(0, 3)))]
        items.append(assistant("a", [(call_id, "bash", {}) for call_id in ids]))
        items += [tool_result("r", call_id) for call_id in draw(st.permutations(ids))]
        items += [user("u")] * draw(st.integers(0, 2))
    sizes = st.lists(st.integers(1, 100), min_size=len(items), max_size=len(items))
    return sized(items, draw(sizes))


def ids(parts: tuple[MeasuredMessages, ...]) -> list[str]:
    return [item.entry_id for part in parts for item in part.items]


def is_whole(part: MeasuredMessages) -> bool:
    blocks = [block for item in part.items for block in item.message.blocks]
    calls = {block.call_id for block in blocks if isinstance(block, ToolCall)}
    return calls == {block.call_id for block in blocks if isinstance(block, ToolResult)}


@given(conversations(), st.integers(1, 5))
def test_parts_are_the_conversation_and_part_no_call(
    messages: MeasuredMessages, n_parts: int
) -> None:
    parts = split_by_share(messages, n_parts)
    assert ids(parts) == ids((messages,))
    assert 1 <= len(parts) <= n_parts
    assert all(part.items and is_whole(part) for part in parts)


@given(conversations(), st.integers(1, 400))
def test_chunks_are_the_conversation_and_fit(messages: MeasuredMessages, max_tokens: int) -> None:
    parts = cut_chunks(messages, max_tokens)
    assert ids(parts) == ids((messages,))
    for part in parts:
        assert part.items
        assert sum(part.n_tokens) <= max_tokens or len(part.items) == 1


@given(conversations())
def test_chunks_that_are_large_enough_part_no_call(messages: MeasuredMessages) -> None:
    # 3 calls and their results beside the answer: 7 messages of at most 100 tokens.
    assert all(map(is_whole, cut_chunks(messages, 700)))


@given(st.lists(st.integers(1, 100), min_size=2, max_size=60), st.integers(2, 4))
def test_shares_are_about_equal(sizes: list[int], n_parts: int) -> None:
    parts = split_by_share(sized([user("u")] * len(sizes), sizes), n_parts)
    if len(parts) == n_parts:
        for part in parts:
            assert abs(sum(part.n_tokens) - sum(sizes) / n_parts) <= 101


def test_there_are_no_more_parts_than_places_to_split() -> None:
    items = [assistant("", [("c1", "bash", {})]), tool_result("r", "c1")]
    assert len(split_by_share(sized(items, [10, 10]), 2)) == 1
    assert len(split_by_share(sized([user("u")], [10]), 2)) == 1


def test_oversized_is_more_than_half_of_the_window_as_the_message_is() -> None:
    messages = sized([user("a"), tool_result("b"), user("c")], [500, 15_400, 501])
    messages = msgspec.structs.replace(messages, n_tokens=(1, 1, 1))
    small, notes = drop_oversized(messages, 1000)
    assert ids((small,)) == ["e1"]
    assert notes == (
        "[Large toolResult (~15K tokens) omitted from summary]",
        "[Large user (~1K tokens) omitted from summary]",
    )


def test_notes_are_worded_as_the_specification_words_them() -> None:
    assert (
        format_omission("tool", 15_000) == "[Large toolResult (~15K tokens) omitted from summary]"
    )
    assert format_note(12, 3) == (
        "Context contained 12 messages (3 oversized). Summary unavailable due to size limits."
    )


@pytest.mark.parametrize(
    ("window_tokens", "n_fixed", "expected"),
    [
        (200_000, 1000, 66_666),  # 40 % of the window, with a margin for other tokenizers
        (10_000, 3000, 3333),
        (8000, 3000, 2500),
        (4000, 3000, 0),
        (1000, 5000, 0),
    ],
)
def test_a_chunk_is_a_share_of_the_window(window_tokens: int, n_fixed: int, expected: int) -> None:
    assert limit_chunk(window_tokens, n_fixed) == expected


def test_the_reserve_is_that_of_the_specification_or_a_quarter() -> None:
    assert count_reserve(200_000) == 4000
    assert count_reserve(8192) == 2048


def test_messages_are_measured_as_they_are_and_as_they_are_shown() -> None:
    result = measure_messages([tool_result("x" * 100_000), summary("S")], (), estimate)
    assert result.n_whole_tokens[0] == 25_000
    assert 1000 < result.n_tokens[0] < 1100
