"""The six rules of docs/design/prune.md as a table each, and what holds for every plan."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from factories import assistant, numbered, summary, tool_result, user
from sized import PLACEHOLDER_TOKENS, count, recent_turns, step, turn, with_image
from ullage.core.change.edit import PRUNED_IMAGE, PRUNED_OUTPUT
from ullage.core.change.prune import (
    ALL_REASONS,
    PrunePlan,
    apply_prunes,
    plan_prune,
    plan_rescue,
    plan_rounds,
)
from ullage.core.change.tool_outputs import count_tool_output_tokens, find_prunable
from ullage.core.config.settings import Policy
from ullage.core.transcript.context import ContextItem, list_rounds
from ullage.core.transcript.entries import Image, Text, ToolCall, ToolResult, result_text
from ullage.core.transcript.tokens import IMAGE_TOKENS, count_items

POLICY = Policy()
EAGER = Policy(prune_protect_tokens=0, prune_minimum_tokens=0)


def plan_of(items: list[ContextItem], policy: Policy = POLICY, **options) -> PrunePlan:
    return plan_prune(numbered(items), policy, count, **options)


def pruned_calls(plan: PrunePlan) -> list[str | None]:
    return [replacement.call_id for replacement in plan.replacements]


def old_turn(*sizes: int) -> list[ContextItem]:
    """Make a turn whose outputs c1, c2, … have these sizes, oldest first."""
    return turn(*(step(size, f"c{n}") for n, size in enumerate(sizes, 1)))


def test_what_is_pinned_never_goes() -> None:
    items = list(numbered([*old_turn(100_000, 90_000), *turn() * 3]))
    at = next(n for n, item in enumerate(items) if item.category == "tool results")
    items[at] = msgspec.structs.replace(with_image(items[at]), is_pinned=True)
    pinned = items[at].entry_id
    plans = [
        plan_prune(items, EAGER, count, reasons=ALL_REASONS),
        plan_rounds(items, Policy(prune_after_rounds=1), count),
        plan_rescue(items, POLICY, count, room_tokens=0),
    ]
    for plan in plans:
        assert plan.items
        assert pinned not in [item.replacement.entry_id for item in plan.items]


# Rule 1


@pytest.mark.parametrize(
    ("n_later_messages", "expected"),
    [(0, []), (1, []), (2, ["c1"]), (3, ["c1"])],
    ids=["in the last turn", "in the last but one", "outside", "well outside"],
)
def test_outputs_of_the_last_two_user_turns_are_never_touched(
    n_later_messages: int, expected: list[str]
) -> None:
    items = old_turn(100_000) + turn() * n_later_messages
    assert pruned_calls(plan_of(items)) == expected


def test_what_an_agent_injects_begins_no_turn() -> None:
    reminder = msgspec.structs.replace(user("reminder"), category="injected")
    assert pruned_calls(plan_of([*old_turn(100_000), *turn(), reminder, reminder])) == []


def calls(first: int, last: int) -> list[str]:
    return [f"c{n}" for n in range(first, last + 1)]


@pytest.mark.parametrize(
    ("sizes", "rounds", "expected"),
    [
        ([2_000] * 60, None, calls(1, 30)),
        ([2_000] * 60, 1, calls(1, 39)),
        ([2_000] * 60, 30, calls(1, 10)),
        ([2_000] * 60, 31, []),
        ([1_000] * 60, None, []),
        ([2_000] * 39, None, []),
        ([2_000] * 40, None, calls(1, 10)),
        ([20_000] * 60, None, calls(1, 48)),
        ([90_000] * 10, None, []),
        ([90_000] * 11, None, ["c1"]),
    ],
)
def test_a_turn_protects_its_last_ten_rounds_and_the_share_before_them(
    sizes: list[int], rounds: int | None, expected: list[str]
) -> None:
    policy = Policy(prune_after_rounds=rounds)
    assert pruned_calls(plan_of(old_turn(*sizes), policy)) == expected


@pytest.mark.parametrize("n_user_messages", [0, 1, 2])
def test_each_of_the_last_turns_protects_rounds_of_its_own(n_user_messages: int) -> None:
    """A summary cuts a turn as well, and what is left of it protects rounds like any other."""
    before, after = old_turn(*[5_000] * 15), old_turn(*[5_000] * 12)
    items = [summary("S"), *before[1:], *after[1:]]
    if n_user_messages:
        items = [summary("S"), *before[2 - n_user_messages :], *after]
    within = find_prunable(numbered(items), 2, 10)
    n_unprotected = count_tool_output_tokens([items[at] for at in within], count)
    assert n_unprotected == 5_000 * (17 if n_user_messages == 0 else 5 + 2)


def test_a_round_is_one_answer_whatever_it_stands_on() -> None:
    said = assistant("I look at both.", [])
    first, second = assistant("", [("a", "read", {})]), assistant("", [("b", "read", {})])
    outputs = [tool_result("10", "a"), tool_result("10", "b")]
    assert list_rounds([user("u"), said, first, second, *outputs, said]) == (1, 6)
    first, second = (
        msgspec.structs.replace(
            item, message=msgspec.structs.replace(item.message, answer_id="msg_1")
        )
        for item in (first, second)
    )
    later = msgspec.structs.replace(
        said, message=msgspec.structs.replace(said.message, answer_id="msg_2")
    )
    assert list_rounds([user("u"), first, outputs[0], second, outputs[1], later]) == (1, 5)
    assert list_rounds([user("u"), first, later]) == (1, 2)


# Rule 2


def test_nothing_before_a_summary_is_touched() -> None:
    before, after = turn(step(90_000, "before")), turn(step(90_000, "after"))
    items = [*before, summary("S"), *after, *recent_turns()]
    assert pruned_calls(plan_of(items)) == ["after"]


def test_only_the_last_of_several_summaries_is_the_boundary() -> None:
    items = [summary("first"), *turn(step(90_000, "a")), summary("second"), *recent_turns()]
    assert plan_of(items).items == ()


def test_what_a_compaction_kept_stands_after_its_summary_and_may_go() -> None:
    items = [summary("S"), *turn(step(90_000, "kept")), *recent_turns()]
    assert pruned_calls(plan_of(items)) == ["kept"]


# Rules 3 and 4


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ([30_000, 40_000], ["c1"]),
        ([30_000, 39_999], ["c1"]),
        ([30_000, 40_001], ["c1", "c2"]),
        ([20_000, 10_000, 10_000, 10_000, 10_000], ["c1"]),
        ([20_000, 10_000, 10_000, 10_000, 10_001], ["c1", "c2"]),
        ([25_000, 25_000, 25_000], ["c1", "c2"]),
        ([500, 90_000, 500], ["c1", "c2"]),
        ([40_000], []),
        ([40_001], ["c1"]),
    ],
)
def test_the_last_40000_tokens_of_output_outside_the_two_turns_stay(
    sizes: list[int], expected: list[str]
) -> None:
    assert pruned_calls(plan_of(old_turn(*sizes) + recent_turns())) == expected


def test_output_within_the_two_turns_takes_nothing_of_the_protected_share() -> None:
    busy = turn(step(60_000, "busy"))
    plan = plan_of([*old_turn(30_000, 40_000), *busy, *turn()])
    assert pruned_calls(plan) == ["c1"]


def test_the_placeholder_is_the_seed_s() -> None:
    items = numbered(old_turn(90_000) + recent_turns())
    after = apply_prunes(items, plan_prune(items, POLICY, count).replacements)
    results = [b for item in after for b in item.message.blocks if isinstance(b, ToolResult)]
    assert [result_text(result) for result in results] == ["[output pruned for context]"]


def test_what_is_no_longer_than_the_placeholder_stays() -> None:
    items = old_turn(PLACEHOLDER_TOKENS, PLACEHOLDER_TOKENS + 1) + recent_turns()
    plan = plan_of(items, EAGER)
    assert [(item.replacement.call_id, item.n_freed) for item in plan.items] == [("c2", 1)]


@pytest.mark.parametrize("text", [PRUNED_OUTPUT, "[Old tool result content cleared]"])
def test_what_was_pruned_before_is_not_pruned_again(text: str) -> None:
    items = [*turn([assistant("", [("c1", "bash", {})]), tool_result(text, "c1")])]
    plan = plan_prune(numbered(items + recent_turns()), EAGER, len)
    assert plan.items == ()


# Rule 5


@pytest.mark.parametrize(
    ("name", "is_pruned"),
    [
        ("skill", False),
        ("Skill", False),
        ("memory_search", False),
        ("mcp__ullage__memory_get", False),
        ("mcp__notes__memory_search", False),
        ("notes__memory_search", False),
        ("ullage__memory_get", False),
        ("notes.memory_search", False),
        ("MemorySearch", False),
        ("memory-search", False),
        ("gandiva_recall", False),
        ("my_custom_tool", False),
        ("My_Custom_Tool", False),
        ("mcp__docs__search", False),
        ("mcp__web__search", True),
        ("search", True),
        ("skills", True),
        ("memory_search_all", True),
        ("bash", True),
        ("", True),
    ],
)
def test_protected_tools_by_whatever_name_their_agent_calls_them(
    name: str, *, is_pruned: bool
) -> None:
    policy = Policy(protected_tools=("my_custom_tool", "mcp__docs__search"))
    plan = plan_of(turn(step(90_000, "c1", name)) + recent_turns(), policy)
    assert bool(plan.replacements) is is_pruned


def test_protected_tools_are_known_by_their_call_where_the_result_has_no_name() -> None:
    items = turn([assistant("", [("c1", "Skill", {})]), tool_result("90000", "c1", name="")])
    assert plan_of(items + recent_turns()).items == ()


def test_protected_output_takes_nothing_of_the_protected_share() -> None:
    items = turn(step(30_000, "old"), step(40_000, "new"), step(50_000, "skill", "skill"))
    assert pruned_calls(plan_of(items + recent_turns())) == ["old"]


def test_configured_tools_come_beside_the_built_in_ones() -> None:
    items = turn(step(90_000, "c1", "skill"), step(90_000, "c2", "mine"))
    plan = plan_of(items + recent_turns(), Policy(protected_tools=("mine",)))
    assert plan.items == ()


# Rule 6


@pytest.mark.parametrize(("n_old", "is_pruned"), [(19_999, False), (20_000, True), (20_001, True)])
def test_fewer_than_20000_tokens_are_not_worth_a_prune(n_old: int, *, is_pruned: bool) -> None:
    plan = plan_of(old_turn(n_old, 40_000) + recent_turns())
    assert bool(plan.replacements) is is_pruned
    assert [item.is_chosen for item in plan.items] == [is_pruned]
    if not is_pruned:
        assert plan.n_freed == 0
        assert f"{plan.items[0].n_freed:,} tokens, fewer than the minimum of 20,000" in (
            plan.refusal or ""
        )


@pytest.mark.parametrize(
    ("items", "reason"),
    [
        (turn(), "the context holds no output of a tool"),
        ([*turn([assistant("", [("c1", "bash", {})]), tool_result(PRUNED_OUTPUT, "c1")])],
         "all output of tools was pruned before"),
        (old_turn(12_000, 300) + recent_turns(),
         "all 12,300 tokens of tool output are among the recent 40,000"),
        (old_turn(60_000),
         "all 60,000 tokens of tool output are in the last 10 requests of the last 2 turns"),
        ([*turn(step(60_000, "c1", "skill")), *recent_turns()],
         "all 60,000 tokens of tool output are of protected tools"),
        ([*turn(step(60_000, "c1")), summary("S"), *recent_turns()],
         "all 60,000 tokens of tool output are before the last summary"),
        ([*old_turn(20_000), *turn(step(30_000, "c2")), *turn(step(9_000, "c3", "skill"))],
         "of 59,000 tokens of tool output, 30,000 are in the last 10 requests of the last 2 turns,"
         " 20,000 are among the recent 40,000 and 9,000 are of protected tools"),
        (old_turn(7, 7, 39_999) + recent_turns(),
         "of 40,013 tokens of tool output, 39,999 are among the recent 40,000 and 14 are in outputs"
         " as short as a placeholder"),
    ],
)  # fmt: skip
def test_where_nothing_can_go_the_rules_that_keep_it_are_named(
    items: list[ContextItem], reason: str
) -> None:
    assert plan_of(items).refusal == reason


def test_pruning_may_be_turned_off() -> None:
    plan = plan_of(old_turn(90_000) + recent_turns(), Policy(is_prune_enabled=False))
    assert plan.replacements == ()
    assert "turned off" in (plan.refusal or "")


# Plans


def test_an_item_says_what_it_was_and_what_it_frees() -> None:
    items = turn(step(90_000, "c1", "Read", {"file_path": "src/cart.py"})) + recent_turns()
    [item] = plan_of(items).items
    assert (item.tool, item.label.text, item.reason) == ("Read", "src/cart.py", "old output")
    assert (item.n_tokens, item.n_freed) == (90_000, 90_000 - PLACEHOLDER_TOKENS)
    assert item.item_id == "e3/c1"


def test_a_choice_is_taken_without_minimum_and_what_it_does_not_know_is_told() -> None:
    items = old_turn(500, 600, 40_000) + recent_turns()
    offered = plan_of(items).items
    plan = plan_of(items, chosen=[offered[1].item_id, "e99/c1"])
    assert pruned_calls(plan) == ["c2"]
    assert plan.n_freed == 600 - PLACEHOLDER_TOKENS
    assert plan.unknown_ids == ("e99/c1",)
    assert plan_of(items, chosen=[]).refusal == "nothing was chosen"


def test_a_choice_may_be_made_where_pruning_by_itself_is_off() -> None:
    items = old_turn(90_000) + recent_turns()
    policy = Policy(is_prune_enabled=False)
    assert pruned_calls(plan_of(items, policy, chosen=["e3/c1"])) == ["c1"]


def test_other_reasons_are_offered_and_chosen_only_when_named() -> None:
    shown = {"file_path": "a.py"}
    items = turn(step(9_000, "c1", "read", shown), step(9_000, "c2", "read", shown))
    items = [with_image(items[0], 2), *items[1:], *recent_turns()]
    plan = plan_of(items)
    assert [item.reason for item in plan.items] == ["old image", "duplicate"]
    assert plan.replacements == ()
    policy = Policy(prune_minimum_tokens=9_000)
    assert pruned_calls(plan_of(items, policy, reasons=["duplicate"])) == ["c1"]
    assert pruned_calls(plan_of(items, policy, reasons=ALL_REASONS)) == [None, "c1"]


def test_images_of_recent_results_and_of_messages_become_placeholders() -> None:
    items = turn(step(100, "c1"))
    items = numbered([with_image(items[0]), items[1], with_image(items[2], 2), *recent_turns()])
    policy = Policy(prune_minimum_tokens=0)
    plan = plan_prune(items, policy, count, reasons=["old image"])
    assert [(item.label.text, item.n_tokens) for item in plan.items] == [
        ("1 image", IMAGE_TOKENS),
        ("2 images", 2 * IMAGE_TOKENS),
    ]
    after = apply_prunes(items, plan.replacements)
    assert after[0].message.blocks[-1] == Text(text=PRUNED_IMAGE)
    result = after[2].message.blocks[0]
    assert isinstance(result, ToolResult)
    assert [part.text for part in result.content if isinstance(part, Text)] == [
        "100", PRUNED_IMAGE, PRUNED_IMAGE,
    ]  # fmt: skip


def test_results_that_share_an_entry_and_an_id_are_left_alone() -> None:
    items = old_turn(90_000) + recent_turns()
    result = items[2].message.blocks[0]
    twice = msgspec.structs.replace(items[2].message, blocks=(result, result))
    items[2] = msgspec.structs.replace(items[2], message=twice)
    assert plan_of(items).items == ()


def test_an_id_that_is_used_again_names_the_last_call_before_the_result() -> None:
    items = turn(
        step(30_000, "c0", "skill"), step(30_000, "c0", "bash"), step(30_000, "c0", "bash")
    )
    for at, item in enumerate(items):  # these agents' results have no name
        if isinstance(result := item.message.blocks[0], ToolResult):
            bare = msgspec.structs.replace(result, name="")
            message = msgspec.structs.replace(item.message, blocks=(bare,))
            items[at] = msgspec.structs.replace(item, message=message)
    plan = plan_of(items + recent_turns())
    assert [item.item_id for item in plan.items] == ["e5/c0"]


# Read-only mode and rescue


@pytest.mark.parametrize(
    ("rounds", "expected"),
    [
        (None, calls(1, 9)),
        (1, calls(1, 11)),
        (12, []),
        (11, ["c1"]),
    ],
    ids=["3 by default", "one", "all", "all but one"],
)
def test_read_only_mode_leaves_out_results_older_than_so_many_turns(
    rounds: int | None, expected: list[str]
) -> None:
    items = [item for n in range(1, 13) for item in turn(step(100, f"c{n}"))]
    policy = Policy(prune_after_rounds=rounds, is_read_only=True)
    assert pruned_calls(plan_rounds(numbered(items), policy, count)) == expected


@pytest.mark.parametrize(("rounds", "expected"), [(None, calls(1, 50)), (3, calls(1, 57))])
def test_read_only_mode_leaves_out_the_older_rounds_of_a_long_turn(
    rounds: int | None, expected: list[str]
) -> None:
    policy = Policy(prune_after_rounds=rounds, is_read_only=True)
    assert pruned_calls(plan_rounds(numbered(old_turn(*[100] * 60)), policy, count)) == expected


def test_read_only_mode_spares_protected_tools_and_stops_at_the_summary() -> None:
    items = [
        *turn(step(100, "before")),
        summary("S"),
        *turn(step(100, "skill", "Skill"), step(100, "after")),
        *recent_turns(),
        *turn(),
    ]
    plan = plan_rounds(numbered(items), Policy(is_read_only=True), count)
    assert pruned_calls(plan) == ["after"]


def test_a_rescue_takes_the_fewest_outputs_that_make_room() -> None:
    items = numbered(
        turn(step(50, "c1"), step(900, "c2"), step(400, "c3"), step(800, "s", "skill"))
    )
    plan = plan_rescue(items, POLICY, count, room_tokens=1_500)
    assert pruned_calls(plan) == ["c2"]
    assert count_items(apply_prunes(items, plan.replacements), count) <= 1_500
    assert pruned_calls(plan_rescue(items, POLICY, count, room_tokens=3_000)) == []
    assert pruned_calls(plan_rescue(items, POLICY, count, room_tokens=0)) == ["c1", "c2", "c3"]


# What holds for every plan

TOOLS = ("bash", "read", "Skill", "mcp__x__memory_search", "write")


@st.composite
def sessions(draw: st.DrawFn) -> tuple[ContextItem, ...]:
    """Draw a session with calls, some in parallel, some unanswered, ids used again, images."""
    items = [summary("S")] if draw(st.booleans()) else []
    for _ in range(draw(st.integers(0, 6))):
        items.append(with_image(user("u"), draw(st.integers(0, 2))))
        for _ in range(draw(st.integers(0, 3))):
            ids = draw(st.lists(st.sampled_from("abcdef"), max_size=3, unique=True))
            tools = [draw(st.sampled_from(TOOLS)) for _ in ids]
            paths = [draw(st.sampled_from(("a.py", "b.py"))) for _ in ids]
            calls = [(i, t, {"path": p}) for i, t, p in zip(ids, tools, paths, strict=True)]
            items.append(assistant("", calls))
            for call_id, name in zip(ids, tools, strict=True):
                if draw(st.integers(0, 9)):
                    text = str(draw(st.integers(0, 60)))
                    kept_name = name if draw(st.booleans()) else ""
                    result = tool_result(text, call_id, kept_name)
                    items.append(with_image(result, draw(st.integers(0, 1))))
    if draw(st.integers(0, 4)) == 0:
        items.insert(draw(st.integers(0, len(items))), summary("of all"))
    return numbered(items)


policies = st.builds(
    Policy,
    prune_protect_tokens=st.integers(0, 150),
    prune_minimum_tokens=st.integers(0, 100),
    prune_after_rounds=st.sampled_from([None, 1, 2]),
    protected_tools=st.sampled_from([(), ("bash",), ("READ", "write")]),
)
reasons_drawn = st.lists(st.sampled_from(ALL_REASONS), unique=True)


def shape(items: tuple[ContextItem, ...]) -> list[object]:
    """List all that a prune must not change: every block but the content of results."""
    return [
        (item.entry_id, item.category, item.native, item.message.role, [
            (block.call_id, block.name, block.is_error) if isinstance(block, ToolResult)
            else None if isinstance(block, Image) or block == Text(text=PRUNED_IMAGE) else block
            for block in item.message.blocks
        ])
        for item in items
    ]  # fmt: skip


@given(sessions(), policies, reasons_drawn)
def test_a_prune_changes_contents_alone_and_frees_what_it_says(
    items: tuple[ContextItem, ...], policy: Policy, reasons
) -> None:
    plan = plan_prune(items, policy, count, reasons=reasons)
    after = apply_prunes(items, plan.replacements)
    assert shape(after) == shape(items)
    assert count_items(items, count) - count_items(after, count) == plan.n_freed
    assert plan.n_freed == sum(item.n_freed for item in plan.items if item.is_chosen)
    assert all(item.n_freed > 0 for item in plan.items)
    assert (plan.refusal is None) is bool(plan.replacements)
    assert count_tool_output_tokens(after, count) <= count_tool_output_tokens(items, count)


@given(sessions(), policies, reasons_drawn)
def test_what_is_protected_is_never_touched(
    items: tuple[ContextItem, ...], policy: Policy, reasons
) -> None:
    plan = plan_prune(items, policy, count, reasons=reasons)
    after = apply_prunes(items, plan.replacements)
    within = find_prunable(items, 2, policy.prune_after_rounds or 10)
    names: dict[str, str] = {}
    for at, item in enumerate(items):
        if at not in within:
            assert after[at] is item
        for n, block in enumerate(item.message.blocks):
            if isinstance(block, ToolCall):
                names[block.call_id] = block.name
            elif isinstance(block, ToolResult):
                name = (block.name or names.get(block.call_id, "")).lower()
                kept = ("skill", "mcp__x__memory_search", *map(str.lower, policy.protected_tools))
                if name in kept:
                    assert after[at].message.blocks[n] == block


@given(sessions(), policies)
def test_by_rule_the_recent_share_stays(items: tuple[ContextItem, ...], policy: Policy) -> None:
    plan = plan_prune(items, policy, count)
    gone = {(one.entry_id, one.call_id) for one in plan.replacements}
    assert {item.reason for item in plan.items if item.is_chosen} <= {"old output"}
    newest_gone = max((at for at, i in enumerate(items) if i.entry_id in dict(gone)), default=None)
    if newest_gone is not None:
        first = min(at for at, i in enumerate(items) if i.entry_id in dict(gone))
        within = find_prunable(items, 2, policy.prune_after_rounds or 10)
        assert min(within) <= first
        share = [items[at] for at in sorted(within) if at >= newest_gone]
        assert count_tool_output_tokens(share, count) > policy.prune_protect_tokens
        n_removed = sum(item.n_tokens for item in plan.items if item.is_chosen)
        assert n_removed >= policy.prune_minimum_tokens


@given(sessions(), policies, reasons_drawn)
def test_a_second_plan_finds_nothing_of_the_first(
    items: tuple[ContextItem, ...], policy: Policy, reasons
) -> None:
    plan = plan_prune(items, policy, count, reasons=reasons)
    again = plan_prune(apply_prunes(items, plan.replacements), policy, count, reasons=reasons)
    done = {item.item_id for item in plan.items if item.is_chosen}
    assert done.isdisjoint(
        item.item_id for item in again.items if item.replacement.what == "output"
    )
    assert not plan.replacements or not again.replacements or set(reasons) != {"old output"}


@given(sessions(), st.data())
def test_the_more_is_chosen_the_more_is_freed(items: tuple[ContextItem, ...], data) -> None:
    ids = [item.item_id for item in plan_prune(items, EAGER, count).items]
    assert len(set(ids)) == len(ids)
    chosen = data.draw(st.lists(st.sampled_from(ids), unique=True)) if ids else []
    some = plan_prune(items, EAGER, count, chosen=chosen)
    assert some.n_freed <= plan_prune(items, EAGER, count, chosen=ids).n_freed
    assert len(some.replacements) == len(chosen)
    n_after = count_items(apply_prunes(items, some.replacements), count)
    assert n_after == count_items(items, count) - some.n_freed


@given(sessions(), policies, st.integers(0, 100))
def test_a_larger_protected_share_never_prunes_more(
    items: tuple[ContextItem, ...], policy: Policy, n_more: int
) -> None:
    larger = msgspec.structs.replace(
        policy, prune_protect_tokens=policy.prune_protect_tokens + n_more
    )
    some, fewer = plan_prune(items, policy, count), plan_prune(items, larger, count)
    assert set(fewer.replacements) <= set(some.replacements)
