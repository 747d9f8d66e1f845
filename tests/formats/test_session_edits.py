"""Sessions that go on in a new file: nothing parted, read back as planned, and undone exactly.

Random sessions of Claude Code and Codex and random plans; what must hold is checked by the rules
of the agents' providers, apart from the code that makes the edits.
"""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from random import Random
from typing import NamedTuple, cast

import pytest

from pi_files import Json
from profiles import examples
from reading import read
from session_edit_files import (
    compacted_claude,
    compacted_codex,
    continued_claude,
    continued_codex,
    random_claude,
    random_codex,
)
from ullage.core.change.edit import CompactionEdit, NewSession, PruneEdit, Replacement, UndoEdit
from ullage.core.gauge.gauge import measure
from ullage.core.gauge.window import Window
from ullage.core.transcript.context import Context, ContextItem, list_cuts
from ullage.core.transcript.entries import Image, JsonObject, MemoryLines, ToolResult
from ullage.errors import Refused
from ullage.formats.agent_info import Editor
from ullage.formats.registry import agent_info, recognize

N_CASES = examples(7_500)
"""For each agent; together with those of pi's family over 20,000 in the long profile."""
WINDOW = Window(n_tokens=200_000, source="setting", detail="test")
AT = "2026-11-21T10:00:00.000Z"


class Family(NamedTuple):
    name: str
    session: Callable[[Random], bytes]
    continued: Callable[[Context, str], bytes]
    """Make what the agent appends when it goes on, with a usage of 777 tokens."""
    compacted: Callable[[Context, str], bytes]
    """Make what the agent appends when it compacts by itself."""
    parted: Callable[[Sequence[JsonObject]], set[str]]
    """Name the results that a provider would refuse."""


def parted_claude(natives: Sequence[JsonObject]) -> set[str]:
    """Each result answers a call of the message right before; neighbors of a role are one."""
    parted: set[str] = set()
    calls: set[str] = set()
    role = ""
    for native in natives:
        content = native["content"]
        blocks = cast(list[Json], content) if isinstance(content, list) else []
        if native["role"] == "assistant":
            calls = calls if role == "assistant" else set()
            calls |= {str(block["id"]) for block in blocks if block["type"] == "tool_use"}
        results = {str(b["tool_use_id"]) for b in blocks if b["type"] == "tool_result"}
        parted |= results - calls
        role = str(native["role"])
    return parted


def parted_codex(natives: Sequence[JsonObject]) -> set[str]:
    """Each output has its call before it."""
    calls: set[str] = set()
    parted: set[str] = set()
    for native in natives:
        kind, call_id = str(native["type"]), str(native.get("call_id"))
        if kind.endswith("_call"):
            calls.add(call_id)
        elif kind.endswith("_output") and call_id not in calls:
            parted.add(call_id)
    return parted


FAMILIES = (
    Family("claude-code", random_claude, continued_claude, compacted_claude, parted_claude),
    Family("codex", random_codex, continued_codex, compacted_codex, parted_codex),
)


@pytest.mark.simulation
@pytest.mark.parametrize("family", FAMILIES, ids=[family.name for family in FAMILIES])
def test_random_edits_are_what_was_planned_and_part_nothing(family: Family) -> None:
    done: Counter[str] = Counter()
    for seed in range(N_CASES):
        try:
            done += check(family, Random(seed))
        except BaseException as error:
            error.add_note(f"{family.name}, seed {seed}")
            raise
    assert min(done[name] for name in ("compaction", "prune", "undo")) > N_CASES / 5
    assert sum(done.values()) > N_CASES * 3 / 4


def check(family: Family, random: Random) -> Counter[str]:
    """Edit a session, let the agent go on, edit what that gave, and compare all along."""
    data = family.session(random)
    counts: Counter[str] = Counter()
    for number in range(random.choice((1, 1, 1, 2))):
        before = context_of(data)
        edit = random.choice((compacted, pruned, undone))
        after = edit(family, data, before, random, number)
        if after is None:
            continue
        counts[{compacted: "compaction", pruned: "prune", undone: "undo"}[edit]] += 1
        found = context_of(after)
        check_file(before, after)
        assert family.parted(natives(found)) <= family.parted(natives(before))
        data = after + family.continued(found, found.header.session_id)
        check_continued(found, context_of(data))
    return counts


def compacted(
    family: Family, data: bytes, context: Context, random: Random, number: int
) -> bytes | None:
    cuts = [cut for cut in list_cuts(context.items) if cut > 0]
    if not cuts:
        return None
    at = random.choice(cuts)
    details: JsonObject = {"by": "ullage", "trigger": "threshold", "layer": "full"}
    edit = CompactionEdit(
        entry_id=f"cc00000{number}",
        timestamp=AT,
        summary=f"Summary {number}: all went well.",
        first_kept_id=context.items[at].entry_id,
        n_tokens_before=900,
        n_tokens_after=120,
        details=details | {"messagesCompacted": at},
    )
    after = rendered(context, lambda: editor(context).compact(MemoryLines(data), context, edit))
    found = context_of(after)
    assert [item.category for item in found.items].count("summary") == 1
    assert edit.summary in json.dumps(found.items[0].native)
    assert essence(found.items[1:]) == essence(context.items[at:])
    boundary = found.boundary
    assert boundary is not None
    assert (boundary.summary, boundary.layer) == (edit.summary, "full")
    assert (boundary.trigger, boundary.n_messages) == ("threshold", at)
    assert (boundary.n_tokens_before, boundary.n_tokens_after) == (900, 120)
    assert found.pruned is None
    assert noted(found) == 120
    assert not family.parted(natives(found)) - family.parted(natives(context))
    with pytest.raises(Refused, match=context.header.session_id):
        editor(found).undo_compaction(
            MemoryLines(after), found, boundary, UndoEdit(entry_id="ff", timestamp=AT)
        )
    return after


def pruned(
    family: Family, data: bytes, context: Context, random: Random, number: int
) -> bytes | None:
    possible = [one for item in context.items for one in replacements(item)]
    if not possible:
        return None
    chosen = random.sample(possible, random.randint(1, len(possible)))
    edit = PruneEdit(
        entry_id=f"dd00000{number}",
        timestamp=AT,
        replacements=tuple(chosen),
        n_tokens_before=900,
        n_tokens_after=300 + number,
    )
    after = rendered(context, lambda: editor(context).prune(MemoryLines(data), context, edit))
    found = context_of(after)
    format_ = recognize(MemoryLines(data))
    assert format_ is not None
    for item, was in zip(found.items, context.items, strict=True):
        mine = [one for one in chosen if one.entry_id == was.entry_id]
        expected = format_[0].prune_message(was.native, mine)
        assert sent(item.native) == sent(expected)
        assert not item.is_after_boundary
    record = found.pruned
    assert record is not None
    assert (record.n_tokens_before, record.n_tokens_after) == (900, 300 + number)
    assert record.n_pruned >= len(chosen)
    if names_model(context):
        assert found.model == context.model
    assert (found.boundary is None) == (context.boundary is None)
    assert noted(found) == 300 + number
    del family
    return after


def undone(
    family: Family, data: bytes, context: Context, random: Random, number: int
) -> bytes | None:
    """Take back what the agent compacted by itself."""
    del random, number
    if not context.items or context.leaf_id is None:
        return None
    if not data.endswith(b"\n"):
        data += b"\n"
    before = context_of(data)
    data += family.compacted(before, before.header.session_id)
    now = context_of(data)
    boundary = now.boundary
    assert boundary is not None
    after = rendered(
        now,
        lambda: editor(now).undo_compaction(
            MemoryLines(data), now, boundary, UndoEdit(entry_id="ee000000", timestamp=AT)
        ),
    )
    found = context_of(after)
    assert json.dumps(natives(found)) == json.dumps(natives(before))
    assert essence(found.items) == essence(before.items)
    assert found.pruned == before.pruned
    if names_model(before):
        assert found.model == before.model
    assert usages(found) == usages(before)
    return after


def names_model(context: Context) -> bool:
    """Whether a copy can tell the model: an answer before a compaction does not go with it."""
    return any(item.message.model for item in context.items)


def rendered(context: Context, render: Callable[[], object]) -> bytes:
    """Render an edit; its ids and names come from it alone."""
    change = render()
    assert isinstance(change, NewSession)
    assert editor(context).makes_copies
    if change.session_id.startswith("0"):  # one in sixteen is enough
        assert change == render()
    assert change.session_id != context.header.session_id
    assert change.name.endswith(f"{change.session_id}.jsonl")
    return change.data


def check_file(before: Context, data: bytes) -> None:
    """Hold what the agents ask of a file: a header, whole lines of JSON, a chain of parents."""
    found = recognize(MemoryLines(data))
    assert found is not None
    header = found[1]
    assert (header.agent, header.cwd) == (before.header.agent, before.header.cwd)
    assert header.session_id != before.header.session_id
    assert data.endswith(b"\n")
    records = [cast(Json, json.loads(line)) for line in data.split(b"\n") if line]
    if header.agent == "codex":
        numbers = [record["ordinal"] for record in records if "ordinal" in record]
        assert numbers in ([], list(range(len(records))))
        return
    assert {record["sessionId"] for record in records} == {header.session_id}
    chained = [record for record in records if "uuid" in record]
    assert not any(record["isSidechain"] for record in chained)
    last: object = None
    for record in chained:
        is_root = record["parentUuid"] is None
        assert is_root == (last is None or record.get("subtype") == "compact_boundary")
        assert is_root or record["parentUuid"] == last
        last = record["uuid"]
    uuids = [record["uuid"] for record in chained]
    assert len(set(uuids)) == len(uuids)


def check_continued(before: Context, now: Context) -> None:
    """The agent's next turn follows what we wrote, and its usage is the one that counts."""
    assert essence(now.items[: len(before.items)]) == essence(before.items)
    assert now.items[len(before.items)].category == "user"
    assert measure(now, WINDOW, len).n_reported == 777
    assert now.pruned == before.pruned


@lru_cache(maxsize=4)
def context_of(data: bytes) -> Context:
    return read(data).context


def editor(context: Context) -> Editor:
    found = agent_info(context.header.known_agent).editor
    assert found is not None
    return found


def natives(context: Context) -> list[JsonObject]:
    return [item.native for item in context.items]


def sent(native: JsonObject) -> JsonObject:
    """Leave out the usage, which is not sent and which a prune tells anew."""
    return {key: value for key, value in native.items() if key != "usage"}


def essence(items: Sequence[ContextItem]) -> list[tuple[object, ...]]:
    return [(item.category, item.message.blocks, sent(item.native)) for item in items]


def usages(context: Context) -> list[object]:
    return [item.message.usage for item in context.items]


def noted(context: Context) -> int | None:
    gauge = measure(context, WINDOW, len)
    assert gauge.used_source == "estimated"
    assert gauge.n_counted == 0
    return gauge.used_tokens


def replacements(item: ContextItem) -> list[Replacement]:
    found: dict[Replacement, None] = {}
    for block in item.message.blocks:
        if isinstance(block, ToolResult):
            found[Replacement(entry_id=item.entry_id, what="output", call_id=block.call_id)] = None
            if any(isinstance(part, Image) for part in block.content):
                one = Replacement(entry_id=item.entry_id, what="images", call_id=block.call_id)
                found[one] = None
        elif isinstance(block, Image):
            found[Replacement(entry_id=item.entry_id, what="images", call_id=None)] = None
    return list(found)
