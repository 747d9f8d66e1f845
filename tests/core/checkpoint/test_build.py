"""What a compaction hid stays in the next checkpoint, word for word."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from factories import assistant, meta, numbered, summary, tool_result, user
from factories import context_of as context_numbered
from ullage.core.checkpoint.build import PriorState, build
from ullage.core.checkpoint.checkpoint import Checkpoint
from ullage.core.checkpoint.working_state import (
    CapturedDecision,
    CapturedError,
    CapturedResources,
    CapturedThread,
    Decisions,
    LastUse,
    WorkingState,
)
from ullage.core.transcript.context import RESTORE_OPENING, Context, ContextItem

BEGIN_MS = 1_770_000_000_000
LATER_MS = BEGIN_MS + 3_600_000


def context_of(*items: ContextItem, at_ms: int = BEGIN_MS) -> Context:
    """Make a context whose messages are a minute apart from a time on."""
    timed = [
        msgspec.structs.replace(item, at_ms=at_ms + 60_000 * n)
        for n, item in enumerate(numbered(items))
    ]
    return msgspec.structs.replace(context_numbered(()), items=tuple(timed))


def built(
    context: Context, previous: Checkpoint | None = None, state: WorkingState | None = None
) -> Checkpoint:
    return build(
        context,
        meta("cp_002"),
        past=PriorState(previous=previous, state=state or WorkingState()),
    )


def whats(found: Checkpoint) -> dict[str, str]:
    return {one.id: one.what for one in found.decisions}


FIRST = built(
    context_of(
        user("Never touch the table users. Build the exporter."),
        assistant("", [("c1", "edit", {"path": "src/export.py"})]),
        tool_result("ok", "c1", "edit"),
        assistant("I decided to use streaming. Still to do: document the flag."),
        user("Use port 8080 for the exporter."),
        assistant("Port it is."),
    )
)


def test_decisions_of_before_keep_their_ids_and_times() -> None:
    second = built(
        context_of(summary("The exporter was built."), user("Always log in JSON."), at_ms=LATER_MS),
        FIRST,
    )
    before = FIRST.decisions
    assert len(before) == 3
    assert second.decisions[:3] == before
    assert whats(second)["d4"] == "Always log in JSON."


def test_they_survive_any_number_of_compactions() -> None:
    found = FIRST
    for n in range(5):
        at_ms = LATER_MS * (n + 2)
        found = built(context_of(summary("So far so good."), user("Go on."), at_ms=at_ms), found)
    assert found.decisions == FIRST.decisions
    assert found.resources.files_modified == ("src/export.py",)
    assert found.resources.tools_used == ("edit",)
    assert found.thread.summary.startswith("Never touch the table users.")


def test_a_decision_stands_beside_the_one_that_may_replace_it() -> None:
    second = built(
        context_of(
            summary("Built."),
            user("Use port 9443 instead of 8080 for the exporter."),
            at_ms=LATER_MS,
        ),
        FIRST,
    )
    assert second.decisions[:3] == FIRST.decisions
    assert whats(second)["d4"] == "Use port 9443 instead of 8080 for the exporter."


def test_what_the_context_still_shows_keeps_its_id() -> None:
    messages = (
        user("Never touch the table users."),
        assistant("Fine."),
        user("Always log in JSON."),
    )
    first = built(context_of(*messages))
    again = built(context_of(*messages, assistant("Yes."), user("Never use eval.")), first)
    assert whats(again) == {**whats(first), "d3": "Never use eval."}


def test_a_decision_of_a_branch_that_was_left_does_not_come_back() -> None:
    first = built(context_of(user("Build it."), assistant("Ok."), user("Always log in JSON.")))
    left = built(context_of(user("Build it."), assistant("Ok."), user("Thank you.")), first)
    assert left.decisions == ()


def test_open_items_stay_until_they_are_done() -> None:
    item = "Still to do: document the flag."
    assert item in FIRST.open_items
    talk = [summary("Built."), user("Go on.")]
    assert item in built(context_of(*talk, at_ms=LATER_MS), FIRST).open_items
    done = context_of(*talk, assistant("I documented the flag; done."), at_ms=LATER_MS)
    assert item not in built(done, FIRST).open_items


def test_a_check_that_passes_now_is_not_failing_any_more() -> None:
    call = assistant("", [("c1", "bash", {"command": "pytest tests"})])
    failed = tool_result("FAILED tests/a.py\n1 failed", "c1", is_error=True)
    first = built(context_of(user("Fix it."), call, failed))
    assert any("pytest" in item for item in first.open_items)
    hidden = context_of(summary("Tests fail."), user("Go on."), at_ms=LATER_MS)
    assert any("pytest" in item for item in built(hidden, first).open_items)
    passed = context_of(
        summary("Tests fail."), user("Go on."), call, tool_result("3 passed"), at_ms=LATER_MS
    )
    assert not any("pytest" in item for item in built(passed, first).open_items)


def test_what_was_captured_and_is_out_of_sight_is_taken_over() -> None:
    state = WorkingState(
        decisions=Decisions(
            made=(CapturedDecision(what="the small one", at_ms=BEGIN_MS, message_id="m1"),)
        ),
        thread=CapturedThread(
            topic="Plan the trip",
            errors=(CapturedError(text="bash make: no rule", at_ms=BEGIN_MS, call="c1"),),
        ),
        resources=CapturedResources(
            read=(LastUse(name="a.md", at_ms=1),),
            modified=(LastUse(name="b.md", at_ms=1),),
            tools=(LastUse(name="web", at_ms=1),),
        ),
    )
    found = built(context_of(summary("Planned."), at_ms=LATER_MS), None, state)
    assert [one.what for one in found.decisions] == ["the small one"]
    assert found.working.topic == "Plan the trip"
    assert found.resources.files_read == ("a.md",)
    assert found.resources.files_modified == ("b.md",)
    assert found.resources.tools_used == ("web",)
    assert found.dead_ends == ("failed: bash make: no rule",)


def test_a_captured_reply_that_the_context_shows_counts_once() -> None:
    talk = (user("Plan it."), assistant("Plan. " * 100 + "Which plan?"), user("the small one"))
    at_ms = BEGIN_MS + 120_000
    state = WorkingState(
        decisions=Decisions(
            made=(CapturedDecision(what="the small one", at_ms=at_ms, message_id="m"),)
        )
    )
    assert [one.what for one in built(context_of(*talk), None, state).decisions] == [
        "the small one (in reply to: Which plan?)"
    ]


def timed(item: ContextItem, at_ms: int) -> ContextItem:
    return msgspec.structs.replace(item, at_ms=at_ms)


SUMMARY = summary("## Constraints\n- Never touch the table users.\n## Next\n- The exporter.")


def test_what_a_summary_tells_survives_the_next_ones_though_older_messages_are_kept() -> None:
    kept = [timed(user("Go on."), BEGIN_MS), timed(assistant("Ok."), BEGIN_MS + 100)]
    found: Checkpoint | None = None
    for n in range(1, 4):
        told = SUMMARY if n == 1 else summary("So far so good.")
        items = (timed(told, LATER_MS * n), *kept)
        found = built(msgspec.structs.replace(context_numbered(()), items=items), found)
        assert whats(found) == {"d1": "Never touch the table users."}
        assert found.decisions[0].when == "2026-02-02T02:40:00Z"


def test_a_decision_of_the_second_in_which_the_context_begins_stays_and_stands_once() -> None:
    rules = [
        timed(user("Never touch the table users."), BEGIN_MS + 100),
        timed(user("Always log in JSON."), BEGIN_MS + 800),
    ]
    first = built(msgspec.structs.replace(context_numbered(()), items=tuple(rules)))
    items = (timed(summary("So far so good."), LATER_MS), rules[1])
    later = built(msgspec.structs.replace(context_numbered(()), items=items), first)
    assert later.decisions == first.decisions


def test_words_of_a_branch_that_was_left_do_not_come_before_those_of_the_new_one() -> None:
    first = built(context_of(user("Build the wrong one."), assistant("Ok.")))
    left = built(context_of(user("Build the right one."), assistant("Ok."), at_ms=LATER_MS), first)
    assert left.thread.summary == "Build the right one."
    assert [one.gist for one in left.thread.key_exchanges] == ["Build the right one.", "Ok."]


def test_the_thread_goes_on_in_a_session_that_began_with_a_checkpoint() -> None:
    restored = msgspec.structs.replace(user(RESTORE_OPENING), category="injected")
    found = built(context_of(restored, user("Go on."), at_ms=LATER_MS), FIRST)
    assert found.thread.summary == "Never touch the table users. Build the exporter. ... Go on."


def test_an_answer_that_was_given_again_stands_again() -> None:
    talk = [user("Build it."), assistant("Shall I?"), user("yes"), assistant("And the tests?")]
    first = built(context_of(*talk, user("yes"), assistant("Done.")))
    later = built(context_of(summary("Built."), user("Now the docs."), at_ms=LATER_MS), first)
    assert [one.gist for one in later.thread.key_exchanges].count("yes") == 2


def test_a_rule_that_is_said_again_is_as_new_as_that() -> None:
    again = "Never touch table number_0."
    others = [f"Never touch table number_{n}." for n in range(1, 50)]
    first = built(context_of(*map(user, [again, *others]), at_ms=LATER_MS))
    talk = [user(text) for text in (again, "Never touch table number_50.")]
    later = built(context_of(summary("Before."), *talk, at_ms=2 * LATER_MS), first)
    assert whats(later)["d1"] == again
    assert len(later.decisions) == 50
    assert others[0] not in whats(later).values()


rounds = st.lists(
    st.lists(st.integers(0, 400).map(lambda n: f"Never touch table number_{n}."), max_size=30),
    max_size=6,
)


@given(rounds)
def test_caps_hold_and_ids_are_never_given_twice(texts: list[list[str]]) -> None:
    found: Checkpoint | None = None
    ids: dict[str, str] = {}
    for n, rules in enumerate(texts):
        context = context_of(summary("Before."), *map(user, rules), at_ms=LATER_MS * (n + 1))
        found = built(context, found)
        now = whats(found)
        assert len(now) == len(found.decisions) <= 50
        assert all(ids.get(key, what) == what for key, what in now.items())
        assert set(rules[-50:]) <= set(now.values())
        ids |= now
