"""Edits of every agent's files: what was planned is what is read back, and undo gives it back.

Random sessions, random plans, several edits in a row, the agent going on in between. A family
joins by its line in `FAMILIES`.
"""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from random import Random
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edits import applied
from pi_edit_sessions import (
    continued_events,
    continued_flat,
    continued_pi,
    random_events,
    random_flat,
    random_pi,
)
from profiles import examples
from reading import essence, read
from ullage.core.change.edit import (
    CompactionEdit,
    FileChange,
    LineChange,
    NewSession,
    PruneEdit,
    Replacement,
    Rewrite,
    UndoEdit,
)
from ullage.core.gauge.gauge import measure
from ullage.core.gauge.window import Window
from ullage.core.transcript.context import Compaction, Context, ContextItem, list_cuts
from ullage.core.transcript.entries import (
    Image,
    JsonObject,
    Line,
    MemoryLines,
    ToolCall,
    ToolResult,
)
from ullage.formats.agent_info import Editor
from ullage.formats.agents.openclaw.messages import prune_message as prune_pi
from ullage.formats.registry import agent_info, recognize


class Family(NamedTuple):
    name: str
    session: Callable[[Random], bytes]
    """Make a session, a tree with every kind of entry that its agent writes."""
    continued: Callable[[Context], bytes]
    """Make what the agent appends when it goes on: a question, and an answer with its usage."""
    prune_message: Callable[[JsonObject, Sequence[Replacement]], JsonObject]
    n_cases: int


FAMILIES = (
    Family("pi", random_pi, continued_pi, prune_pi, examples(3200)),
    Family("events", random_events, continued_events, prune_pi, examples(1000)),
    Family("flat", random_flat, continued_flat, prune_pi, examples(1000)),
)
WINDOW = Window(n_tokens=200_000, source="setting", detail="test")


@pytest.mark.simulation
@pytest.mark.parametrize("family", FAMILIES, ids=[family.name for family in FAMILIES])
def test_random_edits_are_what_was_planned_and_can_be_undone(family: Family) -> None:
    done: Counter[str] = Counter()
    for seed in range(family.n_cases):
        try:
            done += check(family, Random(seed))
        except Exception as error:
            error.add_note(f"{family.name}, seed {seed}")
            raise
    assert done["compaction"] > family.n_cases / 2
    assert done["prune"] > family.n_cases / 2


@pytest.mark.parametrize("family", FAMILIES, ids=[family.name for family in FAMILIES])
@settings(max_examples=examples(50))
@given(random=st.randoms(use_true_random=False))
def test_edits_hold_for_what_hypothesis_makes(family: Family, random: Random) -> None:
    check(family, random)


class Done(NamedTuple):
    """An edit that was made, and what is needed to take it back."""

    before: bytes
    change: FileChange
    after: bytes


def check(family: Family, random: Random) -> Counter[str]:
    """Edit a session several times, take the edits back in turn, and compare all along."""
    data = family.session(random)
    stack: list[Done] = []
    counts: Counter[str] = Counter()
    for number in range(random.randint(1, 3)):
        edit = random.choice([_compacted, _pruned])
        done = edit(family, data, random, number)
        if done is None or isinstance(done.change, NewSession):
            continue
        counts["prune" if edit is _pruned else "compaction"] += 1
        stack.append(done)
        data = done.after
        _check_undo_after_more(family, done)
    for done in reversed(stack):
        data = _undone(done, data)
        assert natives(context_of(data)) == natives(context_of(done.before))
    return counts


def context_of(data: bytes) -> Context:
    return read(data).context


def natives(context: Context) -> list[JsonObject]:
    return [item.native for item in context.items]


def editor_of(context: Context) -> Editor:
    editor = agent_info(context.header.known_agent).editor
    assert editor is not None
    return editor


def timestamp(number: int) -> str:
    return f"2026-02-04T10:{number:02}:00.000Z"


def _compacted(family: Family, data: bytes, random: Random, number: int) -> Done | None:
    context = context_of(data)
    cuts = [cut for cut in list_cuts(context.items) if cut > 0]
    if not cuts:
        return None
    cut = random.choice(cuts)
    edit = CompactionEdit(
        entry_id=f"cc00000{number}",
        timestamp=timestamp(number),
        summary=f"Summary {number}: all went well.",
        first_kept_id=context.items[cut].entry_id,
        n_tokens_before=900,
        n_tokens_after=120,
        details={"by": "ullage", "trigger": "manual", "layer": "full", "messagesCompacted": cut},
    )
    change = editor_of(context).compact(MemoryLines(data), context, edit)
    after = applied(data, change)
    found = context_of(after)
    head = [item for item in found.items if item.entry_id == found.items[0].entry_id]
    assert head[-1].category == "summary"
    assert edit.summary in str(head[-1].native)
    kept = [item for item in context.items[cut:] if item.category != "system"]
    assert contents(found.items[len(head) :]) == contents(kept)
    assert found.boundary is not None
    boundary = found.boundary
    assert boundary.summary == edit.summary
    assert (boundary.n_tokens_before, boundary.n_tokens_after) == (900, 120)
    assert (boundary.trigger, boundary.layer, boundary.n_messages) == ("manual", "full", cut)
    assert found.pruned is None
    _check_pairs(context.items, found.items)
    _check_bytes(data, change, after)
    del family
    return Done(data, change, after)


def _pruned(family: Family, data: bytes, random: Random, number: int) -> Done | None:
    context = context_of(data)
    possible = [one for item in context.items for one in _replacements(item)]
    if not possible:
        return None
    chosen = random.sample(possible, random.randint(1, len(possible)))
    edit = PruneEdit(
        entry_id=f"dd00000{number}",
        timestamp=timestamp(number),
        replacements=tuple(chosen),
        n_tokens_before=900,
        n_tokens_after=300 + number,
    )
    change = editor_of(context).prune(MemoryLines(data), context, edit)
    after = applied(data, change)
    found = context_of(after)
    assert [item.entry_id for item in found.items] == [item.entry_id for item in context.items]
    for item, was in zip(found.items, context.items, strict=True):
        mine = [one for one in chosen if one.entry_id == was.entry_id]
        assert item.native == family.prune_message(was.native, mine)
        assert not any(one in _replacements(item) for one in mine if one.what == "images")
        assert not item.is_after_boundary
    assert found.pruned is not None
    assert found.pruned.n_pruned >= len(chosen)
    assert found.pruned.n_tokens_after == 300 + number
    assert found.pruned.at_ms is not None
    assert (found.boundary, found.model) == (context.boundary, context.model)
    gauge = measure(found, WINDOW, len)
    assert (gauge.used_tokens, gauge.used_source) == (300 + number, "estimated")
    _check_pairs(context.items, found.items)
    _check_bytes(data, change, after)
    return Done(data, change, after)


def _replacements(item: ContextItem) -> list[Replacement]:
    """List what could be pruned of an item."""
    found: list[Replacement] = []
    for block in item.message.blocks:
        if isinstance(block, ToolResult):
            found.append(_replacement(item, "output", block.call_id))
            if any(isinstance(part, Image) for part in block.content):
                found.append(_replacement(item, "images", block.call_id))
        elif isinstance(block, Image):
            found.append(_replacement(item, "images", None))
    return [one for at, one in enumerate(found) if one not in found[:at]]


def _replacement(item: ContextItem, what: str, call_id: str | None) -> Replacement:
    return Replacement(
        entry_id=item.entry_id, what="images" if what == "images" else "output", call_id=call_id
    )


def contents(items: Sequence[ContextItem]) -> list[tuple[object, ...]]:
    return [(item.entry_id, item.message, item.category, item.native) for item in items]


def _check_pairs(before: Sequence[ContextItem], after: Sequence[ContextItem]) -> None:
    """A call and its result that stood together stand together or are both gone."""
    calls_before, results_before = _ids(before)
    calls, results = _ids(after)
    for call_id in calls_before.keys() & results_before.keys():
        if calls_before[call_id] == results_before[call_id] == 1:
            assert calls[call_id] == results[call_id]


def _ids(items: Sequence[ContextItem]) -> tuple[Counter[str], Counter[str]]:
    blocks = [block for item in items for block in item.message.blocks]
    return (
        Counter(block.call_id for block in blocks if isinstance(block, ToolCall)),
        Counter(block.call_id for block in blocks if isinstance(block, ToolResult)),
    )


def _check_bytes(data: bytes, change: FileChange, after: bytes) -> None:
    """Every line that a change does not name is where it was, to the byte."""
    changed = {one.offset for one in change.changes} if isinstance(change, Rewrite) else set[int]()
    old = [line.raw for line in MemoryLines(data).forward() if line.offset not in changed]
    if isinstance(change, Rewrite):
        assert all(one.old != one.new for one in change.changes)
        assert all(_is_json(one.new) >= _is_json(one.old) for one in change.changes if one.new)
    new = Counter(line.raw for line in MemoryLines(after).forward())
    last = old.pop() if old else b""
    assert not Counter(old) - new
    assert new[last] or new[last + b"\n"] or not last


def _is_json(line: bytes) -> bool:
    try:
        return json.loads(line) is not None
    except ValueError:
        return False


def _check_undo_after_more(family: Family, done: Done) -> None:
    """The agent goes on; what it wrote is read at once, and outlives the undo."""
    context = context_of(done.after)
    more = family.continued(context)
    data = done.after + more
    whole = read(data)
    lines = MemoryLines(more).forward()
    appended = [Line(len(done.after) + line.offset, line.raw) for line in lines]
    found = recognize(MemoryLines(data))
    assert found is not None
    extended = found[0].extend(read(done.after), appended, len(data))
    assert extended is not None
    assert essence(extended.context) == essence(whole.context)
    assert extended.context.pruned == whole.context.pruned
    gauge = measure(whole.context, WINDOW, len)
    assert gauge.used_source == "reported", "the usage of a later answer counts again"
    is_in_place = isinstance(done.change, Rewrite) or bool(whole.context.header.dialect)
    if not is_in_place:
        return  # pi's own tree goes on from before its compaction, without what followed
    undone = context_of(_undone(done, data))
    before = natives(context_of(done.before))
    assert natives(undone)[: len(before)] == before
    n_more = len(undone.items) - len(before)
    assert natives(undone)[len(before) :] == natives(whole.context)[-n_more:]
    assert n_more == len(whole.context.items) - len(context.items)
    earlier = context_of(done.before).pruned
    assert (undone.pruned and undone.pruned.entry_id) == (earlier and earlier.entry_id)
    # The later answer's usage is of the shorter context; those from before it hold again.
    assert fresh_usages(undone) == fresh_usages(context_of(done.before))


def fresh_usages(context: Context) -> list[int]:
    """Give the places of the answers whose usage still says something."""
    return [
        at
        for at, item in enumerate(context.items)
        if item.is_after_boundary and item.message.usage is not None
    ]


def _undone(done: Done, data: bytes) -> bytes:
    lines = MemoryLines(data)
    context = context_of(data)
    editor = editor_of(context)
    if isinstance(done.change, Rewrite):
        change = editor.undo_prune(lines, done.change.changes)
        assert change is not None
        undone = applied(data, change)
        if data == done.after:
            assert undone == done.before, "nothing was written since"
        return undone
    compaction = context.boundary
    assert isinstance(compaction, Compaction)
    change = editor.undo_compaction(
        lines, context, compaction, UndoEdit(entry_id=f"ee{len(data):06x}", timestamp=timestamp(59))
    )
    undone = applied(data, change)
    _check_bytes(data, change, undone)
    if data == done.after and isinstance(change, Rewrite):
        assert undone.rstrip() == done.before.rstrip(), "nothing was written since"
    return undone


def test_a_prune_whose_lines_are_not_there_any_more_cannot_be_undone() -> None:
    change = LineChange(offset=0, old=b'{"a":1}\n', new=b'{"b":1}\n')
    data = random_pi(Random(1))
    editor = editor_of(context_of(data))
    assert editor.undo_prune(MemoryLines(data), [change]) is None
