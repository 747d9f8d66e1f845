"""Edits of pi's sessions and of the specifications' formats, line by line."""

import json
from pathlib import Path
from typing import cast

import pytest

from edits import applied
from pi_files import Json, PiFile, json_line
from reading import read, read_context
from ullage.core.change.edit import (
    PRUNED_IMAGE,
    PRUNED_OUTPUT,
    CompactionEdit,
    PruneEdit,
    Replacement,
    Rewrite,
    UndoEdit,
)
from ullage.core.transcript.entries import Header, Line, MemoryLines
from ullage.errors import Refused
from ullage.formats.agents.openclaw.agent import OPENCLAW
from ullage.formats.agents.openclaw.edit import EDITOR
from ullage.formats.agents.openclaw.messages import prune_message
from ullage.formats.json_line import with_value

AT = "2026-02-04T10:00:00.500Z"
AT_MS = 1770199200500


def compaction_of(first_kept_id: str, **details: object) -> CompactionEdit:
    return CompactionEdit(
        entry_id="cc000000",
        timestamp=AT,
        summary="all went well",
        first_kept_id=first_kept_id,
        n_tokens_before=900,
        n_tokens_after=120,
        details=details,
    )


def output(entry_id: str, call_id: str) -> Replacement:
    return Replacement(entry_id=entry_id, what="output", call_id=call_id)


def images(entry_id: str, call_id: str | None = None) -> Replacement:
    return Replacement(entry_id=entry_id, what="images", call_id=call_id)


def pruned(data: bytes, *replacements: Replacement, note_id: str = "dd000000") -> Rewrite:
    edit = PruneEdit(
        entry_id=note_id,
        timestamp=AT,
        replacements=replacements,
        n_tokens_before=900,
        n_tokens_after=300,
    )
    change = EDITOR.prune(MemoryLines(data), read_context(data), edit)
    assert isinstance(change, Rewrite)
    return change


def compacted(data: bytes, edit: CompactionEdit) -> bytes:
    return EDITOR.compact(MemoryLines(data), read_context(data), edit).data


def undo_compaction(data: bytes) -> bytes:
    context = read_context(data)
    assert context.boundary is not None
    change = EDITOR.undo_compaction(
        MemoryLines(data), context, context.boundary, UndoEdit(entry_id="ee000000", timestamp=AT)
    )
    return applied(data, change)


def undo_prune(data: bytes, change: Rewrite) -> bytes:
    back = EDITOR.undo_prune(MemoryLines(data), change.changes)
    assert back is not None
    return applied(data, back)


def decoded(line: bytes) -> Json:
    return cast(Json, json.loads(line))


def pi_with_output() -> tuple[PiFile, str]:
    pi = PiFile()
    pi.user("read it")
    pi.assistant(calls=[("c1", "read", {"path": "a.py"})], stop="toolUse")
    result_id = pi.result("c1", "x = 1\n" * 20, name="read")
    pi.assistant("done", usage=5000)
    return pi, result_id


def test_a_compaction_of_pi_follows_the_leaf_and_tells_that_it_is_not_pis_own() -> None:
    pi, _ = pi_with_output()
    line = compacted(pi.data, compaction_of(pi.ids[3], trigger="manual"))
    assert decoded(line) == {
        "type": "compaction",
        "id": "cc000000",
        "parentId": pi.ids[3],
        "timestamp": AT,
        "summary": "all went well",
        "firstKeptEntryId": pi.ids[3],
        "tokensBefore": 900,
        "details": {
            "readFiles": ["a.py"],
            "modifiedFiles": [],
            "trigger": "manual",
            "tokensAfter": 120,
        },
        "fromHook": True,
    }


def test_what_is_appended_begins_with_a_line_end_where_the_last_line_has_none() -> None:
    pi, _ = pi_with_output()
    edit = compaction_of(pi.ids[3])
    assert compacted(pi.data[:-1], edit) == b"\n" + compacted(pi.data, edit)


EVENT_LINES: list[Json] = [
    {"id": "m1", "type": "message", "role": "user", "content": "old", "timestamp": 1707820000},
    {"id": "m2", "type": "message", "role": "tool", "toolCallId": "c", "content": "out"},
    {"id": "m3", "type": "message", "role": "user", "content": "new", "timestamp": 1707820002},
]


def file_of(*lines: Json) -> bytes:
    return b"".join(json_line(line) for line in lines)


@pytest.mark.parametrize(("unit", "at"), [(1, AT_MS // 1000), (1000, AT_MS)])
def test_in_event_files_a_compaction_event_has_all_its_fields_and_the_files_unit_of_time(
    unit: int, at: int
) -> None:
    lines = [
        line | {"timestamp": cast(int, line["timestamp"]) * unit} if "timestamp" in line else line
        for line in EVENT_LINES
    ]
    details: Json = {"trigger": "auto", "layer": "full", "customInstruction": "the names"}
    line = compacted(file_of(*lines), compaction_of("m3", **details, by="ullage"))
    assert decoded(line) == {
        "id": f"compact-{AT_MS}",
        "type": "compaction",
        "version": 1,
        "timestamp": at,
        "summary": "all went well",
        "messagesCompacted": 2,
        "tokensBeforeCompaction": 900,
        "tokensAfterCompaction": 120,
        "trigger": "auto",
        "layer": "full",
        "customInstruction": "the names",
        "boundaryMessageId": "m2",
        "details": {"by": "ullage"},
    }


def test_in_event_files_the_boundary_is_whatever_stands_before_the_first_kept_message() -> None:
    data = file_of(*EVENT_LINES[:2], {"id": "e", "type": "tool_event"}, EVENT_LINES[2])
    assert decoded(compacted(data, compaction_of("m3")))["boundaryMessageId"] == "e"


FLAT_DATA = file_of(
    {"type": "session", "version": 2, "id": "6c5d1c5e", "cwd": "/work"},
    {"type": "message", "id": "a", "parentId": None, "role": "user", "content": "old"},
    {"type": "message", "id": "b", "parentId": "a", "role": "user", "content": "new"},
)


def test_in_flat_files_a_compaction_entry_has_the_fields_of_the_specification() -> None:
    line = compacted(FLAT_DATA, compaction_of("b", by="ullage"))
    assert decoded(line) == {
        "type": "compaction",
        "id": "cc000000",
        "parentId": "b",
        "summary": "all went well",
        "firstKeptEntryId": "b",
        "tokensBefore": 900,
        "details": {"by": "ullage", "timestamp": AT_MS, "tokensAfter": 120},
    }
    boundary = read_context(FLAT_DATA + line).boundary
    assert boundary is not None
    assert boundary.at_ms == AT_MS


def test_an_undone_flat_compaction_that_something_hangs_below_becomes_a_note_in_its_place() -> None:
    data = FLAT_DATA + compacted(FLAT_DATA, compaction_of("b"))
    more = file_of(
        {"type": "message", "id": "d", "parentId": "cc000000", "role": "user", "content": ""}
    )
    assert undo_compaction(data) == FLAT_DATA
    undone = undo_compaction(data + more)
    assert [item.entry_id for item in read_context(undone).items] == ["a", "b", "d"]
    assert undone.startswith(FLAT_DATA)
    assert undone.endswith(more)
    assert decoded(undone[len(FLAT_DATA) : -len(more)]) == {
        "type": "custom",
        "id": "cc000000",
        "parentId": "b",
        "name": "ullage.undo",
        "data": {
            "by": "ullage",
            "version": 1,
            "undone": {"compaction": "cc000000"},
            "until": "d",
            "timestamp": AT_MS,
        },
    }


def test_a_pruned_line_keeps_all_but_its_content_byte_for_byte() -> None:
    pi, _ = pi_with_output()
    line = (
        b'{"type":"message","id":"ffff0001","parentId":"000000a3","big":12345678901234567890123,'
        b'"huge":1e999,"float":1.0,"timestamp":"2026-02-03T11:00:00.000Z","message":{"zeta":[1.50],'
        b'"role":"toolResult","toolCallId":"c9","content":[{"type":"text","text":"long"}],'
        b'"details":{"truncation":{"content":"long"}}},"after":"\\u00e9"}\r\n'
    )
    change = pruned(pi.data + line, output("ffff0001", "c9"))
    (one,) = change.changes
    content = b'[{"type":"text","text":"long"}]'
    placeholder = b'[{"type":"text","text":"%s"}]' % PRUNED_OUTPUT.encode()
    assert one.old == line
    assert one.new == line.replace(content, placeholder)


def test_a_line_with_a_lone_surrogate_is_pruned_as_well() -> None:
    line = b'{"a":{"b":"\\ud83d","n":1e999,"c":"old"},"d":"gr\xc3\xbc\xc3\x9fe"}\n'
    new = decoded(with_value(line, ("a", "c"), "new"))
    assert new == {"a": {"b": "\ud83d", "n": None, "c": "new"}, "d": "grüße"}


def test_images_become_text_blocks_and_the_text_beside_them_stays() -> None:
    pi = PiFile()
    image = {"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"}
    user_id = pi.user([{"type": "text", "text": "look"}, image, image])
    note_id = pi.custom_message([image])
    change = pruned(pi.data, images(user_id), images(note_id))
    placeholder = {"type": "text", "text": PRUNED_IMAGE}
    context = read_context(applied(pi.data, change))
    assert context.items[0].native["content"] == [
        {"type": "text", "text": "look"},
        placeholder,
        placeholder,
    ]
    assert context.items[1].native["content"] == [placeholder]
    assert context.pruned is not None
    assert context.pruned.n_pruned == 3


def test_an_output_that_an_edit_replaced_is_pruned_in_both_places() -> None:
    pi, result_id = pi_with_output()
    pi.context_edit(result_id, {"content": "shorter, but still long"})
    change = pruned(pi.data, output(result_id, "c1"))
    assert len(change.changes) == 2
    after = applied(pi.data, change)
    assert b"x = 1" not in after
    assert b"still long" not in after


def test_pi_the_note_of_a_prune_follows_the_leaf() -> None:
    pi, result_id = pi_with_output()
    change = pruned(pi.data, output(result_id, "c1"))
    assert decoded(change.appended) == {
        "type": "custom",
        "customType": "ullage.prune",
        "data": {
            "by": "ullage",
            "version": 1,
            "tokensBefore": 900,
            "tokensAfter": 300,
            "pruned": 1,
            "offsets": [len(b"".join(pi.lines[:3]))],
        },
        "id": "dd000000",
        "parentId": pi.leaf,
        "timestamp": AT,
    }


def test_a_note_of_a_prune_changes_what_stands_before_it_and_is_not_just_added() -> None:
    pi, result_id = pi_with_output()
    change = pruned(pi.data, output(result_id, "c1"))
    data = applied(pi.data, change)
    n_before = len(data) - len(change.appended)
    note = Line(n_before, change.appended)
    assert OPENCLAW.extend(read(data[:n_before]), [note], len(data)) is None


def test_in_event_files_the_note_of_a_prune_is_an_event_of_a_type_of_its_own() -> None:
    change = pruned(file_of(*EVENT_LINES), output("m2", "c"))
    note = decoded(change.appended)
    assert (note["id"], note["type"]) == (f"note-{AT_MS}", "ullage.prune")
    assert note["timestamp"] == AT_MS // 1000
    assert "parentId" not in note
    context = read_context(applied(file_of(*EVENT_LINES), change))
    assert context.items[1].native["content"] == PRUNED_OUTPUT
    assert context.pruned is not None
    assert context.pruned.at_ms == AT_MS // 1000 * 1000


def test_a_prune_is_undone_to_the_byte_also_where_the_last_line_had_no_end() -> None:
    pi, result_id = pi_with_output()
    for data in (pi.data, pi.data[:-1], b"".join(pi.lines[:4])[:-1]):
        change = pruned(data, output(result_id, "c1"))
        assert undo_prune(applied(data, change), change) == data


def test_a_prune_is_undone_after_another_one_moved_its_lines() -> None:
    pi, first_id = pi_with_output()
    pi.assistant(calls=[("c2", "bash", {})], stop="toolUse")
    second_id = pi.result("c2", "y = 2\n" * 30)
    late = pruned(pi.data, output(second_id, "c2"))
    data = applied(pi.data, late)
    early = pruned(data, output(first_id, "c1"), note_id="dd000001")
    both = applied(data, early)
    context = read_context(undo_prune(both, late))
    assert "y = 2" in str(context.items[-1].native)
    assert PRUNED_OUTPUT in str(context.items[2].native)
    assert context.pruned is not None
    assert context.pruned.n_tokens_after is None, "the later prune's figure is too small now"


def test_an_undone_prune_that_the_agent_went_on_after_keeps_its_note_as_a_parent() -> None:
    pi, result_id = pi_with_output()
    change = pruned(pi.data, output(result_id, "c1"))
    more = PiFile(header=False)
    more.ids = [""] * 99
    more.leaf = "dd000000"
    last_id = more.user("and now?")
    undone = undo_prune(applied(pi.data, change) + more.data, change)
    assert undone.startswith(pi.data)
    note = decoded(undone[len(pi.data) : -len(more.data)])
    assert (note["customType"], note["id"], note["parentId"]) == (
        "ullage.undo",
        "dd000000",
        pi.leaf,
    )
    assert cast(Json, note["data"])["until"] == last_id
    assert [item.entry_id for item in read_context(undone).items] == [*pi.ids, last_id]


def test_pi_compactions_are_undone_one_after_the_other() -> None:
    pi, _ = pi_with_output()
    once = pi.data + compacted(pi.data, compaction_of(pi.ids[1]))
    twice = once + compacted(once, compaction_of(pi.ids[3])).replace(b"cc000000", b"cc000001", 1)
    undone = undo_compaction(twice)
    assert read_context(undone).items == read_context(once).items
    assert read_context(undo_compaction(undone)).items == read_context(pi.data).items


def test_pi_a_compaction_that_messages_follow_is_not_undone_for_it_would_hide_them() -> None:
    pi, _ = pi_with_output()
    data = pi.data + compacted(pi.data, compaction_of(pi.ids[3]))
    more = PiFile(header=False)
    more.ids = [""] * 99
    more.leaf = "cc000000"
    more.user("and now?")
    with pytest.raises(Refused, match="/tree"):
        undo_compaction(data + more.data)


def test_a_compaction_leaves_the_prune_before_it_behind() -> None:
    pi, result_id = pi_with_output()
    data = applied(pi.data, pruned(pi.data, output(result_id, "c1")))
    data += compacted(data, compaction_of(pi.ids[3]))
    assert read_context(data).pruned is None
    assert read_context(undo_compaction(data)).pruned is not None


@pytest.mark.parametrize(
    ("version", "dialect", "reason"),
    [
        (1, "", "open it once in pi"),
        (2, "", "open it once in pi"),
        (4, "", "compact there with /compact"),
    ],
)
def test_sessions_of_other_versions_are_refused_with_the_way_out(
    version: int, dialect: str, reason: str
) -> None:
    header = Header(agent="openclaw", session_id="s", version=version, cwd=None, dialect=dialect)
    refusal = EDITOR.refuse(header)
    assert refusal is not None
    assert reason in refusal


@pytest.mark.parametrize(
    "data", [PiFile().data, file_of(*EVENT_LINES), FLAT_DATA], ids=["pi", "events", "flat"]
)
def test_sessions_of_pi_and_of_the_specifications_can_be_edited(data: bytes) -> None:
    assert EDITOR.refuse(read_context(data).header) is None


def test_the_command_to_go_on_quotes_the_path() -> None:
    header = read_context(PiFile().data).header
    path = Path("a b") / "s.jsonl"
    assert OPENCLAW.resume_command(header, path) == f'pi --session "{path}"'


@pytest.mark.parametrize(
    "folder",
    # The terminal ends the line at a Ctrl-C, and what follows is a command.
    ["$(calc)", "a”; calc; “b", "a\\\\b", "%PATH%", "a\x03calc\r"],
)
def test_a_path_that_a_shell_or_a_terminal_reads_otherwise_is_in_no_command(folder: str) -> None:
    header = read_context(PiFile().data).header
    assert OPENCLAW.resume_command(header, Path(folder) / "s.jsonl") is None


TEXT = {"type": "text", "text": "a"}
IMAGE = {"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"}
NO_TEXT = {"type": "text", "text": PRUNED_OUTPUT}
NO_IMAGE = {"type": "text", "text": PRUNED_IMAGE}
RESULT: Json = {"role": "toolResult", "toolCallId": "c1", "content": [TEXT, IMAGE], "isError": True}
QUESTION: Json = {"role": "user", "content": [IMAGE, TEXT]}


@pytest.mark.parametrize(
    ("message", "replacement", "content"),
    [
        (RESULT, output("e", "c1"), [NO_TEXT]),
        (RESULT, output("e", "c2"), [TEXT, IMAGE]),
        (RESULT, images("e", "c1"), [TEXT, NO_IMAGE]),
        (RESULT, images("e"), [TEXT, IMAGE]),
        (RESULT | {"content": "text"}, output("e", "c1"), PRUNED_OUTPUT),
        (RESULT | {"content": "text"}, images("e", "c1"), "text"),
        (QUESTION, images("e"), [NO_IMAGE, TEXT]),
        (QUESTION, images("e", "c1"), [IMAGE, TEXT]),
        (QUESTION, Replacement(entry_id="e", what="output", call_id=None), [IMAGE, TEXT]),
    ],
)
def test_a_placeholder_stands_for_what_is_meant_and_nothing_else(
    message: Json, replacement: Replacement, content: object
) -> None:
    assert prune_message(message, [replacement]) == message | {"content": content}


def test_in_event_files_equal_lines_without_ids_are_each_put_back() -> None:
    tool: Json = {"type": "message", "role": "tool", "toolCallId": "c", "content": "out " * 9}
    data = file_of(EVENT_LINES[0], tool, EVENT_LINES[2], tool)
    first, second = (item.entry_id for item in read_context(data).items if item.category != "user")
    change = pruned(data, output(first, "c"), output(second, "c"))
    assert undo_prune(applied(data, change), change) == data
    only_second = pruned(data, output(second, "c"))
    assert undo_prune(applied(data, only_second), only_second) == data


def test_in_event_files_one_of_two_equal_lines_does_not_stand_for_both() -> None:
    tool: Json = {"type": "message", "role": "tool", "toolCallId": "c", "content": "out " * 9}
    data = file_of(EVENT_LINES[0], tool, tool)
    context = read_context(data)
    change = pruned(data, *(output(item.entry_id, "c") for item in context.items[1:]))
    lines = [line.raw for line in MemoryLines(applied(data, change)).forward()]
    shorter = b"".join([lines[0], *lines[2:]])
    assert EDITOR.undo_prune(MemoryLines(shorter), change.changes) is None
