"""What a compaction would replace, and when there is nothing to do."""

import msgspec
import pytest

from factories import assistant, context_of, tool_result, user
from pi_files import conversation
from reading import read_context
from ullage.core.change.compaction import (
    MAX_SUMMARY_TOKENS,
    MIN_SUMMARY_TOKENS,
    NoCompaction,
    Selection,
    refuse_summary,
    select,
)
from ullage.core.change.prune import apply_prunes, plan_rescue
from ullage.core.config.settings import Policy
from ullage.core.gauge.gauge import measure
from ullage.core.gauge.window import Window
from ullage.core.transcript.context import Context, ContextItem
from ullage.core.transcript.tokens import count_items

WINDOW = Window(n_tokens=200_000, source="default", detail="")


def selected(
    context: Context, layer="summarize", window: Window = WINDOW
) -> Selection | NoCompaction:
    return select(context, measure(context, window, len), layer, Policy(), len)


def test_the_parts_add_up() -> None:
    found = selected(read_context(conversation(30, chars=3000).data))
    assert isinstance(found, Selection)
    n_before = found.cut.n_tokens_replaced + found.cut.n_tokens_kept
    assert found.n_tokens_before == n_before + found.n_tokens_hidden
    assert found.cut.n_tokens_kept <= 25_000
    assert len(found.replaced) == found.cut.first_kept
    assert found.kept[0].entry_id != found.replaced[-1].entry_id


def test_what_the_agent_adds_unseen_is_known_from_the_reported_usage() -> None:
    context = read_context(conversation(30, chars=3000, usage=250_000).data)
    found = selected(context)
    assert isinstance(found, Selection)
    assert found.n_tokens_before == 250_000
    assert found.n_tokens_hidden > 0


def test_without_reported_usage_nothing_is_hidden() -> None:
    items = [user("x" * 9000), assistant("y" * 9000)] * 5
    found = selected(context_of(items))
    assert isinstance(found, Selection)
    assert found.n_tokens_hidden == 0


@pytest.mark.parametrize(("layer", "protect"), [("summarize", 25_000), ("full", 15_000)])
def test_a_layer_keeps_its_share(layer, protect: int) -> None:
    found = selected(context_of([user("x" * 1000)] * 60), layer)
    assert isinstance(found, Selection)
    assert found.cut.n_tokens_kept == protect


@pytest.mark.parametrize("n_messages", [0, 1, 25])
def test_what_fits_the_share_is_left_alone(n_messages: int) -> None:
    found = selected(context_of([user("x" * 1000)] * n_messages))
    assert isinstance(found, NoCompaction)
    assert "is smaller than the 25,000 tokens that stay" in found.reason


def test_what_an_encrypted_compaction_holds_is_not_summarized_away() -> None:
    sealed = msgspec.structs.replace(user(""), category="summary")
    sealed = msgspec.structs.replace(
        sealed, message=msgspec.structs.replace(sealed.message, blocks=())
    )
    refused = selected(context_of([sealed, *[user("x" * 1000)] * 60]))
    assert isinstance(refused, NoCompaction)
    assert "encrypted" in refused.reason


def test_an_open_call_is_waited_for() -> None:
    items = [user("x" * 30_000), assistant("b", [("c1", "bash", {})])]
    found = selected(context_of(items))
    assert isinstance(found, NoCompaction)
    assert "bash" in found.reason


def test_a_call_that_was_never_answered_is_not_waited_for_once_the_user_went_on() -> None:
    items = [
        user("x" * 30_000),
        assistant("b", [("c1", "bash", {})]),  # the agent was killed here
        user("go on"),
        assistant("done", [("c2", "bash", {})]),
        tool_result("r", "c2"),
        user("y" * 24_000),
        assistant("finished"),
    ]
    assert isinstance(selected(context_of(items)), Selection)


def test_the_summary_may_take_an_eighth_within_limits() -> None:
    few = selected(context_of([user("x" * 1000)] * 26))
    many = selected(context_of([user("x" * 1000)] * 150))
    assert isinstance(few, Selection)
    assert isinstance(many, Selection)
    assert few.summary_budget_tokens == MIN_SUMMARY_TOKENS
    assert many.summary_budget_tokens == MAX_SUMMARY_TOKENS


@pytest.mark.parametrize(
    ("n_tokens", "summary", "is_refused"),
    [
        (0, "", True),
        (1, " \n", True),
        (5_000, "S", False),
        (5_001, "S", True),
        (10_000, "S", True),
    ],
)
def test_a_summary_must_say_something_in_less_than_half(
    n_tokens: int, summary: str, is_refused: bool
) -> None:
    found = selected(context_of([user("x" * 1000)] * 35))
    assert isinstance(found, Selection)
    assert found.cut.n_tokens_replaced == 10_000
    assert (refuse_summary(found, n_tokens, summary) is not None) is is_refused


FIVE_WINDOWS = 1_000_000


@pytest.mark.parametrize("layer", ["summarize", "full"])
@pytest.mark.parametrize(
    "items",
    [
        [user("x" * 5_000)] * 200,
        [user("go"), *[assistant("y" * 5_000)] * 200],
        [user("x" * 990_000), assistant("y" * 10_000)],
        [
            user("go"),
            *(
                item
                for n in range(100)
                for item in (
                    assistant("", [(f"c{n}", "bash", {})]),
                    tool_result("z" * 10_000, f"c{n}"),
                )
            ),
        ],
    ],
    ids=["many turns", "one turn", "one message", "one turn of calls"],
)
def test_a_session_of_five_windows_is_brought_into_one(layer, items: list[ContextItem]) -> None:
    found = selected(context_of(items), layer)
    assert isinstance(found, Selection)
    assert found.cut.n_tokens_kept <= (25_000 if layer == "summarize" else 15_000)
    n_after = found.cut.n_tokens_kept + found.summary_budget_tokens
    assert n_after < WINDOW.n_tokens // 4


def test_a_last_step_of_five_windows_is_brought_into_one_by_cut_and_rescue() -> None:
    calls = [(f"c{n}", "bash", {}) for n in range(5)]
    results = [tool_result("z" * 200_000, call_id) for call_id, _, _ in calls]
    items = [user("x" * 50_000), assistant("y" * 30_000), assistant("", calls), *results]
    found = selected(context_of(items), "full")
    assert isinstance(found, Selection)
    assert found.cut.first_kept == 2
    plan = plan_rescue(found.kept, Policy(), len, room_tokens=150_000)
    assert len(plan.replacements) == len(results)
    assert count_items(apply_prunes(found.kept, plan.replacements), len) < 1_000


def test_a_single_message_that_fills_the_window_is_named_as_the_obstacle() -> None:
    found = selected(context_of([user("x" * FIVE_WINDOWS)]), "full")
    assert isinstance(found, NoCompaction)
    assert "the last message alone takes most of the 1,000,000 tokens" in found.reason
