"""New threads for Codex, rule by rule; random ones are in `test_session_edits.py`."""

import json
from pathlib import Path
from typing import cast

import pytest

from codex_files import SESSION_ID, CodexFile, message
from pi_files import Json
from reading import read_context
from ullage.core.change.edit import CompactionEdit, NewSession, PruneEdit, Replacement, UndoEdit
from ullage.core.transcript.context import Context
from ullage.core.transcript.entries import MemoryLines, ToolResult
from ullage.errors import Refused
from ullage.formats.agents.codex.edit import EDITOR

AT = "2026-11-21T10:00:00.000Z"
SAMPLES = Path(__file__).parents[1] / "samples" / "codex"
MAIN = next(SAMPLES.glob("rollout-2026-*.jsonl"))


def compacted(data: bytes, first_kept: int, at: str = AT) -> NewSession:
    context = read_context(data)
    edit = CompactionEdit(
        entry_id="cc000000",
        timestamp=at,
        summary="All went well.",
        first_kept_id=context.items[first_kept].entry_id,
        n_tokens_before=900,
        n_tokens_after=50,
        details={"by": "ullage"},
    )
    return EDITOR.compact(MemoryLines(data), context, edit)


def records(data: bytes) -> list[Json]:
    return [cast(Json, json.loads(line)) for line in data.split(b"\n") if line]


def undone(data: bytes, context: Context) -> NewSession:
    assert context.boundary is not None
    return EDITOR.undo_compaction(
        MemoryLines(data), context, context.boundary, UndoEdit(entry_id="ee000000", timestamp=AT)
    )


def test_a_compacted_thread_has_the_lines_that_codex_writes() -> None:
    codex = CodexFile(session_id=SESSION_ID)
    codex.turn("o3", window=1_000)
    codex.user("one")
    codex.user("two")
    codex.assistant("three", n_total=160_000)
    change = compacted(codex.data, 1)
    assert change.name.startswith("rollout-2026-11-2")
    assert change.name.endswith(f"-{change.session_id}.jsonl")
    meta, settings, boundary, told = records(change.data)
    payload = cast(Json, meta["payload"])
    assert payload["id"] == payload["session_id"] == change.session_id
    assert settings["type"] == "turn_context"
    payload = cast(Json, boundary["payload"])
    history = cast(list[Json], payload["replacement_history"])
    assert history[1:] == [message("user", "two"), message("assistant", "three")]
    assert payload["ullage"] == {"by": "ullage", "tokensBefore": 900, "fromSession": SESSION_ID}
    info = cast(Json, cast(Json, told["payload"])["info"])
    assert cast(Json, info["last_token_usage"])["total_tokens"] == 50
    context = read_context(change.data)
    assert (context.model, context.window_tokens) == ("o3", 258_400)


def test_a_thread_is_named_alike_whenever_it_is_made() -> None:
    """A preview names the file that is made later: by the time of the last message."""
    codex = CodexFile()
    codex.user("one")
    codex.user("two")
    first, later = (compacted(codex.data, 1, at) for at in (AT, "2026-11-29T12:00:00.000Z"))
    assert first.name == later.name
    assert first.data != later.data


def test_items_of_a_boundary_can_be_told_apart() -> None:
    codex = CodexFile()
    for n in range(4):
        codex.user(f"message {n}")
    first = compacted(codex.data, 1)
    ids = [item.entry_id for item in read_context(first.data).items]
    assert len(set(ids)) == 4
    second = compacted(first.data, 2)
    kept = [item.native for item in read_context(second.data).items[1:]]
    assert kept == [message("user", "message 2"), message("user", "message 3")]


def test_results_that_stand_in_a_boundary_keep_the_names_of_their_tools() -> None:
    codex = CodexFile()
    codex.user("one")
    codex.tool("output")
    items = read_context(compacted(codex.data, 1).data).items
    block = items[-1].message.blocks[0]
    assert isinstance(block, ToolResult)
    assert block.name == "exec_command"


def test_an_encrypted_compaction_is_undone() -> None:
    codex = CodexFile()
    codex.user("one")
    history = [{"type": "compaction", "encrypted_content": "c2Vj"}]
    codex.line("compacted", {"message": "", "replacement_history": history})
    codex.user("two")
    before = read_context(undone(codex.data, read_context(codex.data)).data)
    assert [item.native for item in before.items] == [message("user", "one")]


def test_undoing_the_real_compaction_leaves_out_the_answer_it_was_taken_from() -> None:
    data = MAIN.read_bytes()
    found = read_context(undone(data, read_context(data)).data)
    assert found.boundary is None
    assert found.items[-1].category == "tool results"
    lines = data.split(b"\n")
    before = read_context(b"\n".join(lines[:40]) + b"\n")
    assert [i.native for i in found.items] == [i.native for i in before.items]
    assert found.model == before.model


def test_our_own_compaction_is_taken_back_by_going_on_in_the_old_thread() -> None:
    codex = CodexFile()
    codex.user("one")
    codex.user("two")
    data = compacted(codex.data, 1).data
    with pytest.raises(Refused, match=f"codex resume {SESSION_ID}"):
        undone(data, read_context(data))


def test_a_pruned_real_thread_is_numbered_anew_and_names_itself() -> None:
    data = MAIN.read_bytes()
    context = read_context(data)
    edit = PruneEdit(
        entry_id="dd000000",
        timestamp=AT,
        replacements=(
            Replacement(entry_id=context.items[0].entry_id, what="images", call_id=None),
        ),
        n_tokens_before=900,
        n_tokens_after=40,
    )
    change = EDITOR.prune(MemoryLines(data), context, edit)
    found = records(change.data)
    assert [record["ordinal"] for record in found] == list(range(len(found)))
    ids = {cast(Json, record["payload"]).get("thread_id") for record in found}
    assert ids == {None, change.session_id}
    assert [i.native for i in read_context(change.data).items] == [i.native for i in context.items]


def test_a_subagent_is_not_edited() -> None:
    codex = CodexFile(source={"subagent": {"thread_spawn": {"parent_thread_id": "p1"}}})
    codex.user("look")
    refusal = EDITOR.refuse(read_context(codex.data).header)
    assert refusal is not None
    assert "p1" in refusal


def test_a_figure_from_before_a_prune_that_is_told_again_says_nothing() -> None:
    codex = CodexFile()
    codex.user("one")
    codex.tool("long", n_total=160_000)
    context = read_context(codex.data)
    edit = PruneEdit(
        entry_id="dd000000",
        timestamp=AT,
        replacements=(
            Replacement(entry_id=context.items[2].entry_id, what="output", call_id="call_1"),
        ),
        n_tokens_before=160_000,
        n_tokens_after=40,
    )
    data = EDITOR.prune(MemoryLines(codex.data), context, edit).data
    pruned = read_context(data)
    again = read_context(data + codex.lines[-1])
    assert again.items == pruned.items
    assert again.pruned == pruned.pruned
