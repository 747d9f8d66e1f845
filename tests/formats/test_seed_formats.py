"""Event files and flat files (docs/design/sessions.md): linear events, flat entries."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_files import Json, PiFile, json_line
from reading import essence, read, read_context, read_messages
from ullage.core.gauge.status import last_compaction_ms
from ullage.core.transcript.entries import Line, MemoryLines, ToolResult, plain_text, render
from ullage.core.transcript.lineage import EMPTY_INDEX
from ullage.core.transcript.speech import read_speech
from ullage.formats.agents.openclaw.agent import OPENCLAW
from ullage.formats.json_line import ms_of

EVENT_SAMPLE = (
    b'{"id":"msg-001","type":"message","role":"user","content":"Help me refactor...",'
    b'"timestamp":1707820000}\n'
    b'{"id":"msg-002","type":"message","role":"assistant","content":"I\'ll help...",'
    b'"timestamp":1707820001}\n'
    b'{"id":"compact-001","type":"compaction","summary":"Session covered refactoring...",'
    b'"messagesCompacted":142,"tokensBeforeCompaction":187450,"tokensAfterCompaction":48320,'
    b'"trigger":"auto","layer":"summarize","boundaryMessageId":"msg-142","timestamp":1707825600}\n'
    b'{"id":"msg-143","type":"message","role":"user","content":"Now let\'s add tests",'
    b'"timestamp":1707825700}\n'
)
"""The boundary names a message that is not there (docs/design/sessions.md, "Event files")."""


def event_file(*events: Json) -> bytes:
    return b"".join(json_line(event) for event in events)


def message(entry_id: str, content: str, **fields: object) -> Json:
    return {"id": entry_id, "type": "message", "role": "user", "content": content, **fields}


def compaction(entry_id: str, summary: str, **fields: object) -> Json:
    return {"id": entry_id, "type": "compaction", "summary": summary, **fields}


def test_in_event_files_the_example_of_the_specification() -> None:
    context = read_context(EVENT_SAMPLE)
    assert context.header.dialect == "events"
    assert context.header.session_id == ""
    boundary = context.boundary
    assert boundary is not None
    assert boundary.summary == "Session covered refactoring..."
    assert (boundary.n_tokens_before, boundary.n_tokens_after) == (187450, 48320)
    assert (boundary.trigger, boundary.layer, boundary.n_messages) == ("auto", "summarize", 142)
    assert boundary.at_ms == 1707825600_000
    assert read_messages(EVENT_SAMPLE) == [
        {
            "role": "user",
            "content": "[Previous Context Summary]\nSession covered refactoring...",
            "timestamp": 1707825600,
        },
        {"role": "user", "content": "Now let's add tests", "timestamp": 1707825700},
    ]
    assert [item.category for item in context.items] == ["summary", "user"]


def test_in_event_files_loads_full_history_when_no_compaction_exists() -> None:
    context = read_context(
        event_file(message("msg-1", "Hello"), message("msg-2", "Hi") | {"role": "assistant"})
    )
    assert context.boundary is None
    assert [item.entry_id for item in context.items] == ["msg-1", "msg-2"]
    assert context.compactions == ()


def test_in_event_files_loads_only_messages_after_boundary_when_compaction_exists() -> None:
    context = read_context(
        event_file(
            message("msg-1", "Old msg"),
            message("msg-2", "Old reply") | {"role": "assistant"},
            compaction(
                *("compact-1", "Previous context summary..."),
                boundaryMessageId="msg-2",
                timestamp=1790000000000,
            ),
            message("msg-3", "New msg"),
        )
    )
    assert context.boundary is not None
    assert context.boundary.summary == "Previous context summary..."
    assert context.boundary.at_ms == 1790000000000
    assert [item.entry_id for item in context.items[1:]] == ["msg-3"]
    assert len(context.compactions) == 1


def test_in_event_files_handles_multiple_compactions_correctly() -> None:
    events: list[Json] = [
        {"id": "msg-1", "type": "message", "content": "Very old"},
        compaction("compact-1", "First summary"),
        {"id": "msg-2", "type": "message", "content": "Old"},
        compaction("compact-2", "Second summary"),
        {"id": "msg-3", "type": "message", "content": "Recent"},
    ]
    context = read_context(event_file(*events))
    assert context.boundary is not None
    assert context.boundary.summary == "Second summary"
    assert [plain_text(item.message) for item in context.items[1:]] == ["Recent"]
    assert [ref.entry_id for ref in context.compactions] == ["compact-1", "compact-2"]


def test_in_event_files_messages_after_the_boundary_message_are_preserved() -> None:
    context = read_context(
        event_file(
            message("msg-1", "old"),
            message("msg-2", "kept"),
            compaction("compact-1", "s", boundaryMessageId="msg-1"),
            message("msg-3", "new"),
        )
    )
    assert [item.entry_id for item in context.items] == ["compact-1", "msg-2", "msg-3"]
    assert [item.is_after_boundary for item in context.items] == [True, False, True]
    assert context.boundary is not None
    assert context.boundary.first_kept_id == "msg-2"


def test_in_event_files_ids_need_not_be_unique_or_there_at_all() -> None:
    context = read_context(
        event_file(
            message("m", "one"),
            compaction("c", "first"),
            compaction("c", "second"),
            {"type": "message", "role": "user", "content": "two"},
        )
    )
    assert len(context.compactions) == 2
    assert [plain_text(item.message) for item in context.items][1:] == ["two"]
    assert context.items[1].entry_id


def test_in_event_files_a_compaction_is_found_again_by_its_place() -> None:
    lines = MemoryLines(EVENT_SAMPLE)
    (ref,) = read_context(EVENT_SAMPLE).compactions
    found = OPENCLAW.read_compaction(lines, ref)
    assert found is not None
    assert (found.n_tokens_before, found.layer) == (187450, "summarize")


@pytest.mark.parametrize(
    "line",
    [
        {"type": "message", "id": 5, "role": "user", "content": "x"},
        {"type": "message", "id": "a", "message": {"role": "user"}},
        {"type": "message", "id": "a", "parentId": None, "role": "user", "content": "x"},
        {"type": "user", "id": "a", "role": "user", "content": "x"},
        {"type": "message", "role": "user", "content": "x"},
        {"type": "summary", "summary": "x", "leafUuid": "a"},
    ],
)
def test_what_only_resembles_events_is_not_taken_for_it(line: Json) -> None:
    assert OPENCLAW.read_header(MemoryLines(json_line(line))) is None


FLAT_HEADER: Json = {
    "type": "session",
    "version": 2,
    "id": "6c5d1c5e",
    "timestamp": "2026-01-22T10:00:00.000Z",
    "cwd": "/path/to/workspace",
}


def flat_file(*entries: Json) -> bytes:
    """Chain entries; an entry may name another parent."""
    lines: list[Json] = [FLAT_HEADER]
    parent: object = None
    for entry in entries:
        lines.append({"parentId": parent, **entry})
        parent = entry["id"]
    return b"".join(json_line(line) for line in lines)


def flat_answer(entry_id: str, *content: Json) -> Json:
    usage = {"input": 90, "output": 10, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 100}
    fields = {"role": "assistant", "content": list(content), "model": "claude-opus-4"}
    return {"type": "message", "id": entry_id, "usage": usage, "stopReason": "stop", **fields}


def text(value: str) -> Json:
    return {"type": "text", "text": value}


def test_in_flat_files_flat_entries_make_a_context() -> None:
    data = flat_file(
        {"type": "message", "id": "a", "role": "user", "content": [text("hello")]},
        flat_answer("b", {"type": "toolCall", "id": "call", "name": "bash", "arguments": {}}),
        {
            "type": "message",
            "id": "c",
            "role": "tool",
            "toolCallId": "call",
            "content": [text("out")],
        },
        {"type": "custom", "id": "d", "name": "state", "data": {"role": "x"}},
        {"type": "custom_message", "id": "e", "role": "user", "content": [text("note")]},
        flat_answer("f", text("done")),
    )
    context = read_context(data)
    assert context.header.dialect == "flat"
    assert [(item.entry_id, item.category) for item in context.items] == [
        ("a", "user"),
        ("b", "assistant"),
        ("c", "tool results"),
        ("e", "injected"),
        ("f", "assistant"),
    ]
    assert context.model == "claude-opus-4"
    assert context.items[-1].message.usage is not None
    assert context.items[-1].message.usage.n_total == 100
    result = context.items[2].message.blocks[0]
    assert isinstance(result, ToolResult)
    assert result.call_id == "call"
    assert read_messages(data)[0] == {"role": "user", "content": [text("hello")]}


def test_in_flat_files_a_compaction_is_a_system_message_and_what_it_kept() -> None:
    data = flat_file(
        {"type": "message", "id": "a", "role": "user", "content": [text("old")]},
        {"type": "message", "id": "b", "role": "user", "content": [text("kept")]},
        {
            "type": "compaction",
            "id": "c",
            "summary": "This conversation covered",
            "firstKeptEntryId": "b",
            "tokensBefore": 50000,
            "details": {"provider": "p"},
        },
        {"type": "message", "id": "d", "role": "user", "content": [text("new")]},
    )
    context = read_context(data)
    assert read_messages(data)[0] == {
        "role": "system",
        "content": "[Prior conversation summary]\nThis conversation covered",
    }
    assert [(item.entry_id, item.category) for item in context.items] == [
        ("c", "summary"),
        ("b", "user"),
        ("d", "user"),
    ]
    assert context.boundary is not None
    assert context.boundary.n_tokens_before == 50000


def test_in_flat_files_a_kept_entry_that_is_not_there_keeps_nothing() -> None:
    data = flat_file(
        {"type": "message", "id": "a", "role": "user", "content": [text("old")]},
        {"type": "compaction", "id": "c", "summary": "s", "firstKeptEntryId": "zz"},
        {"type": "message", "id": "d", "role": "user", "content": [text("new")]},
    )
    assert [item.entry_id for item in read_context(data).items] == ["c", "d"]


def test_in_flat_files_branches_are_told_by_their_parents() -> None:
    data = flat_file(
        {"type": "message", "id": "a", "role": "user", "content": [text("one")]},
        {"type": "message", "id": "b", "role": "user", "content": [text("abandoned")]},
        {"type": "branch_summary", "id": "c", "summary": "tried b", "parentId": "a"},
        {"type": "message", "id": "d", "role": "user", "content": [text("two")]},
    )
    assert [item.entry_id for item in read_context(data).items] == ["a", "c", "d"]


def test_pi_files_of_version_2_stay_pi_files() -> None:
    pi = PiFile(version=2)
    pi.user("hello")
    pi.assistant("hi")
    pi.message("hookMessage", content="note", customType="x", display=True)
    context = read_context(pi.data)
    assert context.header.dialect == ""
    assert [item.category for item in context.items] == ["user", "assistant", "injected"]
    kinds = [entry.native["message"] for entry in OPENCLAW.parse(pi.data).entries]
    assert [one["role"] for one in kinds if isinstance(one, dict)][-1] == "custom"


ids = st.sampled_from(["m1", "m2", "m3", "m4", "c1", "c2", "nowhere"])
contents = st.text(max_size=6) | st.just([{"type": "text", "text": "x"}]) | st.none()
event_lines = st.one_of(
    st.builds(
        lambda i, c, r: {"id": i, "type": "message", "role": r, "content": c},
        *(ids, contents, st.sampled_from(["user", "assistant", "tool", "system", 5])),
    ),
    st.builds(
        lambda i, b, t: compaction(i, "s", boundaryMessageId=b, timestamp=t),
        *(ids, ids | st.none(), st.integers(0, 2**45) | st.just("soon")),
    ),
    st.sampled_from([{"type": "tool_event"}, {"id": "x"}, {"type": "message"}]),
)
event_files = st.lists(event_lines, max_size=10).map(
    lambda events: event_file(message("m0", "start"), *events)
)
flat_files = st.lists(
    st.tuples(st.sampled_from(["user", "tool", "custom_message", "compaction"]), ids)
)


def _flat_file_of(steps: list[tuple[str, str]]) -> bytes:
    entries: list[Json] = [{"type": "message", "id": "m0", "role": "user", "content": "start"}]
    for at, (kind, other) in enumerate(steps):
        entry: Json = {"type": "message", "id": f"m{at + 1}", "role": kind, "content": [text("x")]}
        if kind == "compaction":
            entry = compaction(f"m{at + 1}", "s", firstKeptEntryId=other)
        elif kind == "custom_message":
            entry |= {"type": kind, "role": "user"}
        entries.append(entry)
    return flat_file(*entries)


seed_files = event_files | flat_files.map(_flat_file_of)


@given(seed_files)
def test_a_seed_file_renders_to_what_it_was_parsed_from(data: bytes) -> None:
    transcript = OPENCLAW.parse(data)
    assert render(transcript) == data
    assert transcript.problems == ()


@given(seed_files, st.floats(0, 1))
def test_every_prefix_of_a_seed_file_reads_and_its_index_changes_nothing(
    data: bytes, share: float
) -> None:
    prefix = data[: round(len(data) * share)]
    header = OPENCLAW.read_header(MemoryLines(prefix))
    if header is None:
        return
    known = OPENCLAW.read_context(MemoryLines(prefix), header, EMPTY_INDEX).index
    whole, again = read(data), read(data, known)
    assert essence(again.context) == essence(whole.context)
    assert again.index.n_entries == whole.index.n_entries
    assert set(again.index.compactions) == set(whole.index.compactions)


@given(seed_files, st.floats(0, 1))
def test_reading_on_gives_what_reading_anew_gives(data: bytes, share: float) -> None:
    whole = data.splitlines(keepends=True)
    n_lines = max(2, round(len(whole) * share))
    prefix = b"".join(whole[:n_lines])
    rest = MemoryLines(data[len(prefix) :])
    appended = [Line(len(prefix) + line.offset, line.raw) for line in rest.forward()]
    after = OPENCLAW.extend(read(prefix), appended, len(data))
    if after is not None:
        assert essence(after.context) == essence(read_context(data))


def test_plain_messages_of_event_files_are_read_on_without_a_new_reading() -> None:
    more = event_file(message("msg-144", "more"))
    lines = [Line(len(EVENT_SAMPLE), more)]
    after = OPENCLAW.extend(read(EVENT_SAMPLE), lines, len(EVENT_SAMPLE) + len(more))
    assert after is not None
    assert essence(after.context) == essence(read_context(EVENT_SAMPLE + more))


def test_a_compaction_whose_time_stands_in_its_details_has_a_time() -> None:
    data = event_file(
        {"type": "session", "version": 2, "id": "s", "timestamp": "2024-01-23T08:00:00Z"},
        {"type": "message", "id": "a", "parentId": None, "role": "user", "content": "Hello"},
        {
            "type": "compaction",
            "id": "b",
            "parentId": "a",
            "summary": "S",
            "details": {"timestamp": 1_706_000_000_000},
        },
    )
    context = read_context(data)
    assert context.header.dialect == "flat"
    assert last_compaction_ms(context) == 1_706_000_000_000


@pytest.mark.parametrize(
    "moment", [1_706_000_000, 1_706_000_000_000, "2024-01-23T08:53:20Z", 1_706_000_000.0]
)
def test_a_time_is_the_same_in_seconds_milliseconds_and_words(moment: object) -> None:
    assert ms_of({"timestamp": moment}) == 1_706_000_000_000


@pytest.mark.parametrize("unit", [1, 1000])
def test_in_event_files_all_messages_have_their_time_in_one_unit(unit: int) -> None:
    """The summary too, whose event stands in the file's unit."""
    data = event_file(
        message("msg-1", "Old", timestamp=1_707_820_000 * unit),
        compaction("c", "S", timestamp=1_707_825_600 * unit),
        message("msg-2", "New", timestamp=1_707_825_700 * unit),
    )
    assert [sent["timestamp"] for sent in read_messages(data)] == [
        1_707_825_600 * unit, 1_707_825_700 * unit,
    ]  # fmt: skip
    context = read_context(data)
    assert [item.at_ms for item in context.items] == [1_707_825_600_000, 1_707_825_700_000]
    assert last_compaction_ms(context) == 1_707_825_600_000


@pytest.mark.parametrize(
    ("of_compaction", "of_message", "shown"),
    [(1707825600000, 1707825700, 1707825600), (1707825600, 1707825700000, 1707825600000)],
)
def test_in_event_files_a_summary_has_its_time_in_the_unit_of_the_messages(
    of_compaction: int, of_message: int, shown: int
) -> None:
    data = event_file(
        compaction("c", "s", timestamp=of_compaction), message("m", "x", timestamp=of_message)
    )
    assert [m["timestamp"] for m in read_messages(data)] == [shown, of_message]


def test_a_flat_file_of_the_first_version_is_read_like_one_of_the_second() -> None:
    data = flat_file(message("a", "x"), compaction("c", "s"), message("b", "y"))
    first = data.replace(b'"version":2', b'"version":1')
    assert first != data
    assert read_messages(first) == read_messages(data)
    assert len(read_messages(first)) == 2


def test_in_flat_files_what_is_hidden_is_sent_and_is_no_persons_word() -> None:
    hidden = {"id": "h", "type": "custom_message", "role": "user", "content": "x", "hidden": True}
    (item,) = read_context(flat_file(message("m", "y"), hidden)).items[1:]
    assert (item.category, plain_text(item.message)) == ("injected", "x")
    assert read_speech(item, "typed") == ""
