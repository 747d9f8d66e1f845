"""What a call leaves behind for the next one: each transition by itself."""

import msgspec
import pytest
from msgspec.structs import replace

from factories import assistant, context_of, summary, tool_result, user
from ullage.app.runtime.progress import (
    Notices,
    OverflowAttempts,
    PendingSummary,
    Prunes,
    Restore,
    SeenMessages,
    SessionProgress,
    add_summary,
    begin_epoch,
    count_compactions,
    is_applied,
    progress_of,
    see_messages,
    state_of,
)
from ullage.core.change.decision import Step
from ullage.core.change.request_plan import MemoryPrune
from ullage.core.transcript.context import Compaction, Context
from ullage.store.state.runtime_state import RuntimeState

TALK = context_of(
    [
        user("Look at a.py."),
        assistant("", calls=[("c1", "read", {"path": "a.py"})]),
        tool_result("x = 1"),
        assistant("Done."),
        user("Go on."),
    ]
)
NEW = SessionProgress(n_compactions=0)
TRIED = OverflowAttempts(tried=(Step(what="full"),), answer_ids=frozenset({"e2", "e4"}))


def prune(entry_id: str = "e3", *, is_unreported: bool = True) -> MemoryPrune:
    return MemoryPrune(
        entry_id=entry_id,
        what="output",
        call_id="c1",
        n_tokens=100,
        n_freed=90,
        is_unreported=is_unreported,
    )


def compacted(text: str = "We looked at files.") -> Context:
    """Give a context whose first message is a summary."""
    context = context_of([summary(text), user("Go on.")])
    boundary = Compaction(
        entry_id="e1",
        parent_id=None,
        at_ms=None,
        summary=text,
        first_kept_id=None,
        n_tokens_before=None,
        n_tokens_after=None,
        trigger=None,
        layer=None,
        n_messages=None,
        details={},
    )
    return replace(context, boundary=boundary)


@pytest.mark.parametrize(
    ("progress", "context", "by_runtime", "expected"),
    [
        (NEW, TALK, None, 0),
        (NEW, TALK, 7, 7),
        (NEW, compacted(), None, 1),
        (SessionProgress(n_compactions=4), compacted(), None, 4),
        (see_messages(NEW, TALK), compacted(), None, 1),
        (see_messages(NEW, compacted()), compacted(), None, 0),
    ],
)
def test_compactions_are_counted_by_the_runtime_else_by_what_is_seen(
    progress: SessionProgress, context: Context, by_runtime: int | None, expected: int
) -> None:
    assert count_compactions(progress, context, by_runtime) == expected


def test_a_summary_is_applied_when_its_words_are_there_or_what_it_replaces_is_gone() -> None:
    written = PendingSummary(replaced_id="e1", text=" We looked at files.\n")
    assert not is_applied(None, compacted())
    assert not is_applied(written, TALK)
    assert is_applied(written, compacted())
    assert not is_applied(written, compacted("In other words."))
    assert is_applied(replace(written, replaced_id="e9"), compacted("In other words."))
    assert not is_applied(replace(written, replaced_id="e9"), context_of([]))


def test_an_epoch_ends_all_but_an_overflow() -> None:
    progress = SessionProgress(
        n_compactions=1,
        n_tokens_after=500,
        seen=SeenMessages(is_known=True, last=TALK, used_tokens=9, summary_id="e0"),
        prunes=Prunes(items=(prune(),)),
        overflow=TRIED,
        notices=Notices(checkpoint_tokens=9, is_advised=True, is_flush_tried=True),
    )
    assert begin_epoch(progress, compacted(), 2) == SessionProgress(
        n_compactions=2,
        seen=SeenMessages(last=TALK, kept_ids=frozenset({"e1", "e2"})),
        overflow=TRIED,
        restore=Restore(is_due=True),
    )


def test_what_a_summary_leaves_is_known_where_it_is_ours() -> None:
    known_ids = frozenset({"e2", "e3"})
    written = PendingSummary(replaced_id="e1", known_ids=known_ids, text="We looked at files.")
    progress = add_summary(NEW, TALK, written, 500)
    applied = begin_epoch(progress, compacted(), 1)
    assert (applied.n_tokens_after, applied.seen.kept_ids) == (500, {"e2"})
    assert begin_epoch(progress, compacted("In other words."), 1).n_tokens_after is None


@pytest.mark.parametrize(("is_known", "is_fetched"), [(False, False), (True, True)])
def test_no_state_is_given_back_to_a_new_session_or_one_that_fetched_it(
    *, is_known: bool, is_fetched: bool
) -> None:
    progress = replace(
        NEW, seen=SeenMessages(is_known=is_known), restore=Restore(is_fetched=is_fetched)
    )
    assert begin_epoch(progress, compacted(), 1).restore == Restore()


def test_a_new_answer_has_reported_what_was_pruned_and_ends_an_overflow() -> None:
    before = see_messages(replace(NEW, overflow=TRIED), TALK)
    pruned = replace(before, prunes=replace(before.prunes, items=(prune(),)))
    same = see_messages(pruned, TALK)
    assert same.prunes == Prunes(items=(prune(),), answer_id="e4")
    assert same.overflow == TRIED
    answered = context_of([*TALK.items, assistant("And b.py.")])
    after = see_messages(same, answered)
    assert after.prunes == Prunes(items=(prune(is_unreported=False),), answer_id="e6")
    assert after.overflow == OverflowAttempts(answer_ids=TRIED.answer_ids)


def test_what_is_gone_needs_no_placeholder() -> None:
    gone = Prunes(items=(prune("e9"), prune()), answer_id="e4")
    assert see_messages(replace(NEW, prunes=gone), TALK).prunes == Prunes(
        items=(prune(),), answer_id="e4"
    )


def test_a_written_summary_makes_the_state_due_again() -> None:
    written = PendingSummary(replaced_id="e1")
    progress = add_summary(replace(NEW, restore=Restore(is_fetched=True)), TALK, written, 500)
    assert progress.pending == written
    assert progress.seen.last == TALK
    assert progress.overflow.answer_ids == {"e2", "e4"}
    assert not progress.restore.is_fetched


def test_what_outlives_the_process_comes_back() -> None:
    kept = SeenMessages(is_known=True, kept_ids=frozenset({"e1", "e2"}))
    pending = PendingSummary(replaced_id="e1", known_ids=frozenset({"e2", "e3"}), is_recorded=True)
    progress = replace(
        add_summary(replace(see_messages(NEW, TALK), seen=kept), TALK, pending, 500),
        prunes=Prunes(items=(prune(is_unreported=False), prune("e5")), answer_id="e4"),
        restore=Restore(is_due=True),
    )
    state = state_of(progress)
    assert state is not None
    again = progress_of(msgspec.json.decode(msgspec.json.encode(state), type=RuntimeState), None)
    assert again == replace(progress, seen=kept, overflow=OverflowAttempts())
    assert state_of(NEW) is None


@pytest.mark.parametrize(
    ("by_runtime", "replaced_id", "is_due"), [(2, "e1", True), (2, None, False), (0, "e1", False)]
)
def test_a_session_that_was_compacted_meanwhile_is_begun_anew(
    *, by_runtime: int, replaced_id: str | None, is_due: bool
) -> None:
    state = RuntimeState(
        n_compactions=1,
        summary_id="e0",
        replaced_id=replaced_id,
        n_tokens_after=500,
        is_restore_due=False,
        pruned=(),
        answer_id=None,
    )
    assert progress_of(state, by_runtime) == SessionProgress(
        n_compactions=by_runtime, restore=Restore(is_due=is_due)
    )
