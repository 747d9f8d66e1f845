"""New sessions for Claude Code, rule by rule; random ones are in `test_session_edits.py`."""

import json
from pathlib import Path
from typing import cast

import pytest

from claude_files import SESSION_ID, ClaudeFile, call, result, text
from pi_files import Json
from reading import read, read_context
from ullage.core.change.edit import (
    PRUNED_IMAGE,
    CompactionEdit,
    NewSession,
    PruneEdit,
    Replacement,
    UndoEdit,
)
from ullage.core.transcript.context import Context
from ullage.core.transcript.entries import MemoryLines
from ullage.errors import Refused
from ullage.formats.agents.claude_code.edit import EDITOR

AT = "2026-11-21T10:00:00.000Z"
SAMPLES = Path(__file__).parents[1] / "samples" / "claude-code/projects/-home-user-my-proj-v1"
MAIN = SAMPLES / "11111111-2222-4333-8444-555555555555.jsonl"
PIXEL: Json = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}


def compaction(first_kept_id: str, n_after: int | None = 50) -> CompactionEdit:
    return CompactionEdit(
        entry_id="cc000000",
        timestamp=AT,
        summary="All went well.",
        first_kept_id=first_kept_id,
        n_tokens_before=900,
        n_tokens_after=n_after,
        details={"by": "ullage"},
    )


def prune(*replacements: Replacement, n_after: int | None = 40) -> PruneEdit:
    return PruneEdit(
        entry_id="dd000000",
        timestamp=AT,
        replacements=replacements,
        n_tokens_before=900,
        n_tokens_after=n_after,
    )


def pruned(claude: ClaudeFile, *replacements: Replacement, n_after: int | None = 40) -> NewSession:
    context = read_context(claude.data)
    return EDITOR.prune(MemoryLines(claude.data), context, prune(*replacements, n_after=n_after))


def records(data: bytes) -> list[Json]:
    return [cast(Json, json.loads(line)) for line in data.split(b"\n") if line]


def undone(data: bytes, context: Context) -> NewSession:
    assert context.boundary is not None
    return EDITOR.undo_compaction(
        MemoryLines(data), context, context.boundary, UndoEdit(entry_id="ee000000", timestamp=AT)
    )


def test_a_compacted_session_has_the_boundary_that_claude_code_writes() -> None:
    claude = ClaudeFile()
    claude.user("one")
    kept = claude.user("two")
    answer = claude.assistant(text("three"), usage=160_000)
    context = read_context(claude.data)
    change = EDITOR.compact(MemoryLines(claude.data), context, compaction(kept))
    assert change.name == f"{change.session_id}.jsonl"
    first, _, boundary, summary = records(change.data)
    assert first["uuid"] == kept
    assert (boundary["subtype"], boundary["parentUuid"]) == ("compact_boundary", None)
    assert boundary["logicalParentUuid"] == answer
    assert boundary["version"] == "2.1.329"
    metadata = cast(Json, boundary["compactMetadata"])
    assert (metadata["trigger"], metadata["preTokens"], metadata["postTokens"]) == (
        "manual",
        900,
        50,
    )
    preserved = {"anchorUuid": summary["uuid"], "uuids": [kept, answer], "allUuids": [kept, answer]}
    assert metadata["preservedMessages"] == preserved
    assert metadata["ullage"] == {"by": "ullage", "fromSession": SESSION_ID}
    assert summary["parentUuid"] == boundary["uuid"]
    assert summary["isCompactSummary"] is True


def test_a_draft_and_the_final_rendering_differ_in_the_noted_size_alone() -> None:
    claude = ClaudeFile()
    claude.user("one")
    kept = claude.user("two")
    context = read_context(claude.data)
    lines = MemoryLines(claude.data)
    draft = EDITOR.compact(lines, context, compaction(kept, None))
    final = EDITOR.compact(lines, context, compaction(kept, 50))
    assert (draft.session_id, draft.name) == (final.session_id, final.name)
    assert final.data.replace(b'"postTokens":50,', b"") == draft.data


def test_a_resumed_session_goes_on_from_what_its_boundary_preserved() -> None:
    claude = ClaudeFile()
    claude.user("one")
    kept = claude.user("two")
    tail = claude.assistant(text("three"))
    change = EDITOR.compact(MemoryLines(claude.data), read_context(claude.data), compaction(kept))
    resumed = ClaudeFile(session_id=change.session_id)
    resumed.uuids = ["earlier"] * 50
    resumed.leaf = tail
    resumed.user("four")
    texts = [str(i.native["content"]) for i in read_context(change.data + resumed.data).items]
    assert len(texts) == 4
    assert texts[0].endswith("All went well.")
    assert (texts[1], texts[3]) == ("two", "four")


def test_a_user_who_went_back_into_the_preserved_records_leaves_the_later_ones() -> None:
    claude = ClaudeFile()
    claude.user("one")
    kept = claude.user("two")
    claude.assistant(text("three"))
    change = EDITOR.compact(MemoryLines(claude.data), read_context(claude.data), compaction(kept))
    resumed = ClaudeFile(session_id=change.session_id)
    resumed.uuids = ["earlier"] * 50
    resumed.leaf = kept
    resumed.user("four")
    items = read_context(change.data + resumed.data).items
    assert [item.native["content"] for item in items[1:]] == ["two", "four"]


def test_the_last_answer_of_a_pruned_session_reports_what_is_left() -> None:
    claude = ClaudeFile()
    claude.user("one")
    claude.assistant(text("earlier"), usage=150_000)
    claude.assistant(text("look"), call("t1"), usage=160_000, answer_id="msg_last")
    entry = claude.user([result("t1", "long")])
    claude.assistant(text("error"), model="<synthetic>")
    one = Replacement(entry_id=entry, what="output", call_id="t1")
    change = pruned(claude, one)
    messages = [cast(Json, record.get("message") or {}) for record in records(change.data)]
    usages = [cast(Json, m["usage"])["input_tokens"] for m in messages if "usage" in m]
    assert usages[1:3] == [40, 40]
    assert usages[0] not in (0, 40)


def test_what_took_the_place_of_an_output_does_not_come_back_over_its_placeholder() -> None:
    claude = ClaudeFile()
    claude.assistant(call("t1"), call("t2"))
    entry = claude.user([result("t1", "long")])
    claude.user([result("t2", "kept")])
    replaced = [{"toolUseId": "t1", "replacement": "a"}, {"toolUseId": "t2", "replacement": "b"}]
    claude.note("content-replacement", replacements=replaced)
    change = pruned(claude, Replacement(entry_id=entry, what="output", call_id="t1"))
    found = next(r for r in records(change.data) if r["type"] == "content-replacement")
    assert found["replacements"] == replaced[1:]


def test_an_attachment_whose_images_are_pruned_becomes_a_message() -> None:
    claude = ClaudeFile()
    claude.user("one")
    image: Json = {"type": "image", "source": PIXEL}
    entry = claude.record(
        "attachment", attachment={"type": "file"}, rendered=[{"content": [image]}]
    )
    change = pruned(claude, Replacement(entry_id=entry, what="images", call_id=None))
    item = read_context(change.data).items[-1]
    assert item.native["content"] == [{"type": "text", "text": PRUNED_IMAGE}]
    assert item.category == "injected"


def test_titles_and_modes_go_on_and_the_log_of_requests_does_not() -> None:
    claude = ClaudeFile()
    entry = claude.user([{"type": "image", "source": PIXEL}])
    claude.note("custom-title", customTitle="old")
    claude.note("custom-title", customTitle="new")
    claude.note("mode", mode="plan")
    claude.note("last-prompt", leafUuid=entry)
    claude.note("api-request-blob", message={})
    change = pruned(claude, Replacement(entry_id=entry, what="images", call_id=None))
    kinds = [record["type"] for record in records(change.data)]
    assert kinds == ["user", "custom-title", "mode", "ullage-prune"]
    assert records(change.data)[1]["customTitle"] == "new"


def test_undoing_the_real_compaction_gives_what_the_real_session_had_before() -> None:
    data = MAIN.read_bytes()
    context = read_context(data)
    change = undone(data, context)
    boundary = data.index(b'"subtype":"compact_boundary"')
    before = read_context(data[: data.rindex(b"\n", 0, boundary) + 1])
    found = read(change.data).context
    assert [i.native for i in found.items] == [i.native for i in before.items]
    assert found.boundary is None
    assert found.header.session_id == change.session_id


def test_undo_goes_back_to_the_record_that_the_boundary_names() -> None:
    claude = ClaudeFile()
    root = claude.user("root")
    claude.user("taken back")
    claude.leaf = root
    claude.boundary()
    claude.summary("S")
    items = read_context(undone(claude.data, read_context(claude.data)).data).items
    assert [item.native["content"] for item in items] == ["root"]


def test_our_own_compaction_is_taken_back_by_going_on_in_the_old_session() -> None:
    claude = ClaudeFile()
    claude.user("one")
    kept = claude.user("two")
    data = EDITOR.compact(
        MemoryLines(claude.data), read_context(claude.data), compaction(kept)
    ).data
    with pytest.raises(Refused, match=f"claude --resume {SESSION_ID}"):
        undone(data, read_context(data))


def test_a_compaction_whose_past_is_gone_from_the_file_cannot_be_undone() -> None:
    claude = ClaudeFile()
    claude.leaf = "gone"
    claude.boundary()
    claude.summary("S")
    with pytest.raises(Refused, match="not in this session's file any more"):
        undone(claude.data, read_context(claude.data))


def test_a_subagent_is_not_edited_and_its_session_named() -> None:
    claude = ClaudeFile(agent_id="a1")
    claude.user("look")
    refusal = EDITOR.refuse(read_context(claude.data).header)
    assert refusal is not None
    assert SESSION_ID in refusal
    assert EDITOR.refuse(read_context(MAIN.read_bytes()).header) is None
