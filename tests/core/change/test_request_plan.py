"""The plan of one request: what is pruned again, and what a reported usage does not know yet."""

from msgspec.structs import replace

from factories import assistant, numbered, tool_result, user
from sized import count
from ullage.core.change.decision import Cascade, Idle
from ullage.core.change.edit import PRUNED_OUTPUT
from ullage.core.change.prune import apply_prunes
from ullage.core.change.request_plan import (
    MemoryPrune,
    find_prunes_to_repeat,
    plan_request,
    subtract_unreported,
)
from ullage.core.gauge.gauge import Policy
from ullage.core.transcript.context import ContextItem
from ullage.core.transcript.entries import Usage


def talk(n_outputs: int = 1) -> tuple[ContextItem, ...]:
    items = [user("Look at them.")]
    for number in range(n_outputs):
        call_id = f"c{number}"
        items.append(assistant("", calls=[(call_id, "read", {"path": f"{number}.py"})]))
        items.append(tool_result("20000", call_id, "read"))
    return numbered([*items, assistant("Done."), user("Go on."), user("And?")])


def prune(entry_id: str = "e3", call_id: str = "c0", *, is_unreported: bool = True) -> MemoryPrune:
    return MemoryPrune(
        entry_id=entry_id,
        what="output",
        call_id=call_id,
        n_tokens=100,
        n_freed=90,
        is_unreported=is_unreported,
    )


def reported(items: tuple[ContextItem, ...], at: int, n_total: int) -> tuple[ContextItem, ...]:
    usage = Usage(n_input=0, n_output=0, n_cache_read=0, n_cache_write=0, n_total=n_total)
    item = replace(items[at], message=replace(items[at].message, usage=usage))
    return (*items[:at], item, *items[at + 1 :])


def test_what_is_there_in_full_again_is_pruned_again() -> None:
    items = talk()
    assert find_prunes_to_repeat(items, [prune(), prune("e9"), prune("e3", "c9")]) == (prune(),)
    assert find_prunes_to_repeat(apply_prunes(items, [prune()]), [prune()]) == ()


def test_only_what_no_answer_has_reported_is_taken_from_the_figure() -> None:
    items = reported(talk(), 3, 1_000)
    for prunes, n_total in (
        ([], 1_000),
        ([prune()], 910),
        ([prune(is_unreported=False)], 1_000),
        ([prune("e5")], 1_000),
    ):
        usage = subtract_unreported(items, prunes)[3].message.usage
        assert usage is not None
        assert usage.n_total == n_total
    assert subtract_unreported(talk(), [prune()]) == talk()


def test_a_plan_adds_to_what_was_pruned_before() -> None:
    items = talk(8)
    cascade = Cascade(
        occasion="threshold",
        used_tokens=165_000,
        window_tokens=200_000,
        tool_tokens=160_000,
        n_compactions=0,
        is_in_memory=True,
    )
    earlier = (prune(is_unreported=False),)
    plan = plan_request(apply_prunes(items, earlier), earlier, cascade, Policy(), count, 0)
    assert plan.prunes[:1] == earlier
    assert all(item.is_unreported for item in plan.prunes[1:])
    assert plan.used_tokens == 165_000 - sum(item.n_freed for item in plan.prunes[1:])
    assert isinstance(plan.action, Idle)
    outputs = [item for item in apply_prunes(items, plan.prunes) if item.message.role == "tool"]
    texts = [str(item.message.blocks) for item in outputs]
    assert sum(PRUNED_OUTPUT in text for text in texts) == len(plan.prunes) > 1
