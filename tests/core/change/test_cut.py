"""Cuts: a call stays with its result, the recent share stays, the summary always goes."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from factories import assistant, numbered, summary, tool_result, user
from ullage.core.change.compaction import find_cut, list_open_calls
from ullage.core.transcript.context import ContextItem, list_cuts
from ullage.core.transcript.entries import Thinking, ToolCall, ToolResult


def reminder() -> ContextItem:
    """What an agent adds by itself, even between a call and its result."""
    return msgspec.structs.replace(user("reminder"), category="injected")


@st.composite
def conversations(draw: st.DrawFn, *, is_finished: bool = True) -> list[ContextItem]:
    """Draw a conversation as an agent has it: turns of answers and calls, some in parallel."""
    items = [summary("S")] if draw(st.booleans()) else []
    n_calls = 0
    for _ in range(draw(st.integers(0, 6))):
        items.append(user("u"))
        for _ in range(draw(st.integers(0, 3))):
            ids = [f"c{n_calls + n}" for n in range(draw(st.integers(0, 3)))]
            n_calls += len(ids)
            calls = [(call_id, "bash", {}) for call_id in ids]
            if draw(st.booleans()):
                items.append(assistant("a", calls))
            else:  # Claude Code: an answer has a line for each of its blocks
                items += [assistant("", [call]) for call in calls]
            answered = draw(st.permutations(ids))
            if not is_finished and ids and draw(st.booleans()):
                answered = answered[:-1]
            for call_id in answered:
                items += [reminder()] * draw(st.integers(0, 1))
                items.append(tool_result("r", call_id))
    return list(numbered(items))


def call_ids(items: list[ContextItem]) -> set[str]:
    return {b.call_id for item in items for b in item.message.blocks if isinstance(b, ToolCall)}


def result_ids(items: list[ContextItem]) -> set[str]:
    return {b.call_id for item in items for b in item.message.blocks if isinstance(b, ToolResult)}


@given(conversations(), st.data())
def test_no_cut_separates_a_call_from_its_result(items: list[ContextItem], data) -> None:
    sizes = data.draw(st.lists(st.integers(0, 50), min_size=len(items), max_size=len(items)))
    cut = find_cut(items, sizes, data.draw(st.integers(0, 300)))
    for at in {*list_cuts(items), *([cut.first_kept] if cut else [])}:
        assert call_ids(items[:at]) == result_ids(items[:at])
        assert call_ids(items[at:]) == result_ids(items[at:])


@given(conversations(is_finished=False), st.data())
def test_no_cut_makes_an_unfinished_conversation_worse(items: list[ContextItem], data) -> None:
    sizes = [10] * len(items)
    cut = find_cut(items, sizes, data.draw(st.integers(0, 100)))
    if cut is not None:
        replaced, kept = items[: cut.first_kept], items[cut.first_kept :]
        assert not result_ids(kept) - call_ids(kept)
        assert not result_ids(replaced) - call_ids(replaced)


@given(conversations(), st.data())
def test_what_is_kept_fits_the_protected_share_unless_its_last_part_alone_is_larger(
    items: list[ContextItem], data
) -> None:
    sizes = data.draw(st.lists(st.integers(1, 50), min_size=len(items), max_size=len(items)))
    protect = data.draw(st.integers(0, 300))
    cut = find_cut(items, sizes, protect)
    if cut is None:
        return
    assert cut.n_tokens_kept == sum(sizes[cut.first_kept :])
    assert cut.n_tokens_replaced == sum(sizes[: cut.first_kept])
    assert cut.n_tokens_kept <= protect or cut.first_kept == list_cuts(items)[-1]
    better = [at for at in list_cuts(items) if at < cut.first_kept and sum(sizes[at:]) <= protect]
    assert not better


@given(conversations(), st.data())
def test_a_summary_is_always_replaced_and_never_alone(items: list[ContextItem], data) -> None:
    sizes = [10] * len(items)
    cut = find_cut(items, sizes, data.draw(st.integers(0, 300)))
    if cut is not None:
        assert all(item.category != "summary" for item in items[cut.first_kept :])
        assert any(item.category != "summary" for item in items[: cut.first_kept])


@given(conversations())
def test_something_is_always_kept(items: list[ContextItem]) -> None:
    cut = find_cut(items, [10] * len(items), 0)
    assert cut is None or cut.first_kept < len(items)


@pytest.mark.parametrize(
    ("items", "protect", "first_kept"),
    [
        ([], 100, None),
        ([user("a")], 0, None),
        ([user("a"), assistant("b")], 0, 1),
        ([user("a"), assistant("b")], 10, 1),
        ([user("a"), assistant("b")], 20, None),
        ([summary("S"), user("a")], 0, None),
        ([summary("S"), user("a"), assistant("b")], 10, 2),
        ([user("a"), assistant("b", [("c1", "bash", {})]), tool_result("r")], 10, 1),
        (
            [user("a"), assistant("b", [("c1", "bash", {})]), tool_result("r"), user("c")],
            20,
            3,
        ),
    ],
    ids=["nothing", "one", "two", "split turn", "all fits", "summary alone", "summary goes",
         "pair at the end", "pair before the share"],
)  # fmt: skip
def test_cuts_by_example(items: list[ContextItem], protect: int, first_kept: int | None) -> None:
    cut = find_cut(items, [10] * len(items), protect)
    assert (None if cut is None else cut.first_kept) == first_kept


def test_a_last_message_larger_than_the_share_is_kept_alone() -> None:
    cut = find_cut([user("a"), user("b"), user("c")], [10, 10, 500], 100)
    assert cut is not None
    assert (cut.first_kept, cut.n_tokens_kept) == (2, 500)


def test_open_calls_are_those_without_a_result() -> None:
    items = [
        assistant("", [("c1", "bash", {}), ("c2", "read", {})]),
        tool_result("r", "c1"),
    ]
    assert [call.name for call in list_open_calls(items)] == ["read"]
    assert list_open_calls([*items, tool_result("r", "c2")]) == ()


def test_a_call_that_was_never_answered_blocks_no_later_cut() -> None:
    items = [
        user("a"),
        assistant("b", [("c1", "bash", {})]),  # the agent was killed here
        user("go on"),
        assistant("done"),
        user("next"),
    ]
    assert 2 in list_cuts(items)
    assert 4 in list_cuts(items)


def test_ids_that_an_agent_uses_again_part_no_pair_and_block_no_cut() -> None:
    first = [assistant("b", [("call_0", "bash", {})]), tool_result("r", "call_0")]
    items = [user("a"), *first, user("c"), *first, user("d")]
    assert list_cuts(items) == (0, 1, 3, 4, 6)
    killed = [*items, assistant("e", [("call_0", "bash", {})])]
    assert list_cuts([*killed, user("f"), assistant("g")]) == (0, 1, 3, 4, 6, 7, 8, 9)
    assert [call.name for call in list_open_calls(killed)] == ["bash"]


def test_no_cut_separates_the_blocks_of_one_answer() -> None:
    def block(text: str, answer_id: str | None) -> ContextItem:
        item = assistant(text)
        message = msgspec.structs.replace(item.message, answer_id=answer_id)
        return msgspec.structs.replace(item, message=message)

    items = [user("a"), block("b", "msg_1"), block("c", "msg_1"), block("d", "msg_2")]
    assert list_cuts(items) == (0, 1, 3)
    items = [user("a"), block("b", None), block("c", None)]
    assert list_cuts(items) == (0, 1, 2)


def test_no_cut_separates_a_thought_from_what_it_led_to() -> None:
    thought = assistant("")
    blocks = (Thinking(text="hm"),)
    message = msgspec.structs.replace(thought.message, blocks=blocks)
    thought = msgspec.structs.replace(thought, message=message)
    assert list_cuts([user("a"), thought, assistant("b"), user("c")]) == (0, 1, 3)
    assert list_cuts([user("a"), thought, user("c")]) == (0, 1, 2)
