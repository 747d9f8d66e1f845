"""Two checkpoints compared: what changed is told, and nothing else."""

import msgspec
import pytest
from hypothesis import given, settings

from profiles import examples
from store.checkpoint.test_yaml_file import EXAMPLE, checkpoints
from ullage.core.checkpoint.checkpoint import Checkpoint, Decision, LastToolCall
from ullage.core.checkpoint.diff import Change, diff, has_same_figures, has_same_state, is_near
from ullage.core.facts.thread import Exchange

replace = msgspec.structs.replace


def with_tokens(n_tokens: int, *, n_compactions: int = 1) -> Checkpoint:
    usage = replace(EXAMPLE.meta.token_usage, input_tokens=n_tokens)
    meta = replace(EXAMPLE.meta, token_usage=usage, compaction_count=n_compactions)
    return replace(EXAMPLE, meta=meta)


def decided(*texts: str) -> Checkpoint:
    decisions = tuple(
        Decision(id=f"d{n}", what=text, when="2026-02-03T10:00:00Z")
        for n, text in enumerate(texts, 1)
    )
    return replace(EXAMPLE, decisions=decisions)


def told(changes: tuple[Change, ...]) -> list[tuple[str, str | None, str | None]]:
    return [(change.field, change.old, change.new) for change in changes]


def test_items_are_added_removed_and_changed() -> None:
    old = decided("Use Redis for the cache.", "Deploy on Fridays.", "Keep it.")
    new = decided("Keep it.", "Use Redis for the queue.", "Write the docs first.")
    assert [(one.kind, one.old, one.new) for one in diff(old, new)] == [
        ("changed", "Use Redis for the cache.", "Use Redis for the queue."),
        ("removed", "Deploy on Fridays.", None),
        ("added", None, "Write the docs first."),
    ]


def test_a_file_is_never_another_one_changed() -> None:
    resources = replace(EXAMPLE.resources, files_read=("a b c.py",))
    others = replace(EXAMPLE.resources, files_read=("a b d.py",))
    changes = diff(replace(EXAMPLE, resources=resources), replace(EXAMPLE, resources=others))
    assert told(changes) == [
        ("resources.files_read", "a b c.py", None),
        ("resources.files_read", None, "a b d.py"),
    ]


def test_ids_times_and_triggers_are_no_difference() -> None:
    later = replace(
        EXAMPLE.meta,
        checkpoint_id="cp_009",
        created_at="2027-01-01T00:00:00Z",
        trigger="manual",
        previous_checkpoint="cp_008",
    )
    decisions = tuple(replace(one, id="d77", when="later") for one in EXAMPLE.decisions)
    other = replace(EXAMPLE, meta=later, decisions=decisions)
    assert diff(EXAMPLE, other) == ()
    assert has_same_state(EXAMPLE, other)
    assert has_same_figures(EXAMPLE, other)


WORK = EXAMPLE.working
OTHERS = {
    "working.topic": replace(EXAMPLE, working=replace(WORK, topic="another")),
    "working.status": replace(EXAMPLE, working=replace(WORK, status="idle")),
    "working.interrupted": replace(
        EXAMPLE, working=replace(WORK, interrupted=not WORK.interrupted)
    ),
    "working.last_tool_call": replace(
        EXAMPLE,
        working=replace(WORK, last_tool_call=LastToolCall(name="edit", params_summary="x")),
    ),
    "working.next_action": replace(EXAMPLE, working=replace(WORK, next_action="rest")),
    "decisions": decided("x"),
    "open_items": replace(EXAMPLE, open_items=("x",)),
    "pins": replace(EXAMPLE, pins=("x",)),
    "learnings": replace(EXAMPLE, learnings=("x",)),
    "dead_ends": replace(EXAMPLE, dead_ends=("x",)),
    "trust_anchors": replace(EXAMPLE, trust_anchors=("x",)),
    "resources.files_read": replace(
        EXAMPLE, resources=replace(EXAMPLE.resources, files_read=("x",))
    ),
    "resources.files_modified": replace(
        EXAMPLE, resources=replace(EXAMPLE.resources, files_modified=("x",))
    ),
    "resources.tools_used": replace(
        EXAMPLE, resources=replace(EXAMPLE.resources, tools_used=("x",))
    ),
    "thread.summary": replace(EXAMPLE, thread=replace(EXAMPLE.thread, summary="x")),
    "thread.key_exchanges": replace(
        EXAMPLE,
        thread=replace(EXAMPLE.thread, key_exchanges=(Exchange(role="user", gist="x"),)),
    ),
}


def test_every_field_of_a_checkpoint_is_compared() -> None:
    parts = {name.partition(".")[0] for name in OTHERS}
    assert parts | {"schema", "schema_version", "meta"} == set(Checkpoint.__struct_fields__)


@pytest.mark.parametrize("field", OTHERS)
def test_a_difference_in_any_field_of_the_work_is_told(field: str) -> None:
    other = OTHERS[field]
    assert {change.field for change in diff(EXAMPLE, other)} == {field}
    assert not has_same_state(EXAMPLE, other)
    assert has_same_figures(EXAMPLE, other)


def test_other_figures_are_told_and_are_no_other_state() -> None:
    old, new = with_tokens(100), with_tokens(250_000, n_compactions=2)
    assert told(diff(old, new)) == [
        ("meta.compaction_count", "1", "2"),
        ("meta.token_usage.input_tokens", "100", "250,000"),
    ]
    assert has_same_state(old, new)
    assert not has_same_figures(old, new)


@pytest.mark.parametrize(
    ("n_old", "n_new", "is_skipped"),
    [
        (160_000, 160_000, True),
        (160_000, 167_999, True),
        (160_000, 168_000, False),
        (160_000, 152_001, True),
        (160_000, 152_000, False),
        (0, 0, True),
        (0, 1, False),
    ],
)
def test_tokens_are_near_below_five_percent_of_what_they_were(
    n_old: int, n_new: int, is_skipped: bool
) -> None:
    assert is_near(with_tokens(n_old), with_tokens(n_new), 5.0) == is_skipped


def test_after_a_compaction_or_in_another_file_nothing_is_near() -> None:
    old = with_tokens(160_000)
    assert not is_near(old, with_tokens(160_000, n_compactions=2), 5.0)
    moved = replace(old, meta=replace(old.meta, session_file="/elsewhere.jsonl"))
    assert not is_near(old, moved, 5.0)
    assert not is_near(old, old, 0.0)


@settings(max_examples=examples(40))
@given(checkpoints, checkpoints)
def test_a_difference_leads_from_the_old_items_to_the_new(old: Checkpoint, new: Checkpoint) -> None:
    assert diff(old, old) == ()
    assert has_same_state(old, old)
    changes = diff(old, new)
    items = {one.what for one in old.decisions}
    for change in changes:
        if change.field == "decisions":
            items -= {change.old or ""} if change.kind != "added" else set()
            items |= {change.new or ""} if change.kind != "removed" else set()
    assert items == {one.what for one in new.decisions}
    if has_same_state(old, new) and has_same_figures(old, new):
        assert changes == ()
