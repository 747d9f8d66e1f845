"""A truncated flat file gives the context that the compaction alone would, and all comes back."""

from random import Random

import msgspec

from edits import applied
from pi_edit_sessions import random_flat
from profiles import examples
from reading import read_context
from seed_files import flat_file
from ullage.core.change.edit import CompactionEdit, Rewrite, RewrittenLines, put_back
from ullage.core.transcript.entries import JsonObject, MemoryLines
from ullage.formats.agents.openclaw.agent import OPENCLAW
from ullage.formats.agents.openclaw.edit import EDITOR
from ullage.formats.agents.openclaw.truncate import truncate

TIME = "2030-01-01T00:00:00.000Z"


def edit_before(first_kept_id: str) -> CompactionEdit:
    return CompactionEdit(
        entry_id="ours0001",
        timestamp=TIME,
        summary="The summary",
        first_kept_id=first_kept_id,
        n_tokens_before=100,
        n_tokens_after=50,
        details={"summarizer": "openrouter/google/gemini-2.0"},
    )


def truncated(data: bytes, first_kept_id: str) -> Rewrite:
    return truncate(MemoryLines(data), read_context(data), edit_before(first_kept_id))


def messages_of(data: bytes) -> list[JsonObject]:
    return OPENCLAW.messages(read_context(data))


def test_the_header_the_compaction_and_what_it_keeps_are_left() -> None:
    data = flat_file(n_steps=4)
    lines = data.splitlines(keepends=True)
    kept = read_context(data).items[9].entry_id
    after = applied(data, truncated(data, kept)).splitlines(keepends=True)
    at = next(n for n, line in enumerate(lines) if f'"id":"{kept}"'.encode() in line)
    assert after[0] == lines[0]
    compaction = msgspec.json.decode(after[1])
    assert (compaction["type"], compaction["parentId"]) == ("compaction", None)
    assert compaction["firstKeptEntryId"] == kept
    assert (compaction["details"]["provider"], compaction["details"]["model"]) == (
        "openrouter",
        "google/gemini-2.0",
    )
    first = msgspec.json.decode(after[2])
    assert first == msgspec.json.decode(lines[at]) | {"parentId": "ours0001"}
    assert after[3:] == lines[at + 1 :]


def test_a_usage_from_before_the_truncation_says_nothing() -> None:
    data = flat_file(n_steps=4)
    items = read_context(data).items
    context = read_context(applied(data, truncated(data, items[9].entry_id)))
    assert [item.is_after_boundary for item in context.items] == [True] + [False] * len(items[9:])
    assert [item.native for item in context.items[1:]] == [item.native for item in items[9:]]


def test_what_is_added_later_follows_what_was_kept() -> None:
    data = flat_file(n_steps=4)
    before = read_context(data)
    after = applied(data, truncated(data, before.items[9].entry_id))
    context = read_context(after)
    assert context.leaf_id == before.leaf_id
    again = applied(after, EDITOR.compact(MemoryLines(after), context, edit_before("e0012")))
    assert msgspec.json.decode(again.splitlines()[-1])["parentId"] == before.leaf_id


def test_an_earlier_compaction_among_what_is_kept_goes() -> None:
    data = flat_file(1, n_steps=6)
    context = read_context(data)
    kept = context.items[1].entry_id  # above the compaction that stands in the file
    after = applied(data, truncated(data, kept))
    again = read_context(after)
    assert again.boundary is not None
    assert (again.boundary.entry_id, len(again.compactions)) == ("ours0001", 1)
    assert [i.native for i in again.items[1:]] == [i.native for i in context.items[1:]]


def test_metadata_stays_wherever_it_stands() -> None:
    meta = b'{"type":"meta","memoryFlushCompactionCount":3}\n'
    data = flat_file(n_steps=4)
    cut = data.index(b"\n", data.index(b"\n") + 1) + 1
    with_meta = data[:cut] + meta + data[cut:]
    kept = read_context(data).items[9].entry_id
    assert applied(with_meta, truncated(with_meta, kept)).count(meta) == 1


def test_random_files_are_truncated_to_the_same_context_and_come_back_to_the_byte() -> None:
    n_done = 0
    for seed in range(examples(200)):
        data = random_flat(Random(seed))
        context = read_context(data)
        for item in context.items[1:]:
            if item.category == "summary" or context.header.dialect != "flat":
                continue
            edit = edit_before(item.entry_id)
            change = truncate(MemoryLines(data), context, edit)
            after = applied(data, change)
            beside = applied(data, EDITOR.compact(MemoryLines(data), context, edit))
            assert messages_of(after) == messages_of(beside)
            back = put_back(MemoryLines(after), change.changes)
            assert isinstance(back, Rewrite)
            assert applied(after, back) == data
            more = b'{"type":"message","id":"late","parentId":null,"role":"user","content":"x"}\n'
            assert applied(after + more, back) == data + more
            lines = RewrittenLines(MemoryLines(after), back.changes)
            whole = MemoryLines(data)
            assert list(lines.forward()) == list(whole.forward())
            assert list(lines.backward()) == list(whole.backward())
            for line in whole.forward():
                assert next(lines.forward(line.offset)) == line
            n_done += 1
    assert n_done > examples(200)


def test_what_was_changed_since_is_not_put_back_over() -> None:
    data = flat_file(n_steps=4)
    change = truncated(data, read_context(data).items[9].entry_id)
    after = applied(data, change).replace(b"The summary", b"Another one")
    assert put_back(MemoryLines(after), change.changes) is None
