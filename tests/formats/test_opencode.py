"""opencode's context, by the rules of opencode 1.18."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from database_files import OPENCODE_SAMPLE, OPENCODE_SAMPLE_ID, OpencodeSession, tool_part
from profiles import examples
from reading import essence
from ullage.core.change.compaction import list_open_calls
from ullage.core.gauge.gauge import measure
from ullage.core.gauge.window import Window
from ullage.core.transcript.context import Context
from ullage.core.transcript.entries import (
    MemoryLines,
    Text,
    Thinking,
    ToolResult,
    plain_text,
    render,
)
from ullage.core.transcript.lineage import EMPTY_INDEX
from ullage.core.transcript.tokens import estimate
from ullage.formats.agents.opencode.agent import OPENCODE
from ullage.formats.agents.opencode.messages import CLEARED, INTERRUPTED
from ullage.formats.reading import Reading
from ullage.store.transcript.opencode_db import DatabaseLines


@pytest.fixture
def session(tmp_path: Path) -> OpencodeSession:
    return OpencodeSession(tmp_path / "opencode.db")


def read(session: OpencodeSession) -> Reading:
    lines = DatabaseLines(session.path, session.session_id)
    header = OPENCODE.read_header(lines)
    assert header is not None
    return OPENCODE.read_context(lines, header, EMPTY_INDEX)


def texts(context: Context) -> list[str]:
    return [plain_text(item.message) for item in context.items]


def used_tokens(context: Context) -> tuple[int | None, str]:
    window = Window(n_tokens=200_000, source="setting", detail="")
    gauge = measure(context, window, estimate)
    return gauge.used_tokens, gauge.used_source


def test_the_sample_has_one_compaction_and_3250_tokens() -> None:
    lines = DatabaseLines(OPENCODE_SAMPLE, OPENCODE_SAMPLE_ID)
    header = OPENCODE.read_header(lines)
    assert header is not None
    assert (header.agent, header.cwd) == ("opencode", "/home/user/proj")
    context = OPENCODE.read_context(lines, header, EMPTY_INDEX).context
    assert used_tokens(context) == (3250, "reported")
    assert len(context.compactions) == 1
    assert context.boundary is not None
    assert context.boundary.n_tokens_before == 195550
    assert context.boundary.trigger == "auto"
    assert context.model == "mock-1"
    assert context.n_entries == 11
    assert context.problems == ()
    assert [item.category for item in context.items] == [
        *("summary", "summary", "injected", "assistant", "user", "assistant")
    ]
    (ref,) = context.compactions
    found = OPENCODE.read_compaction(lines, ref)
    assert found is not None
    assert found.summary == context.boundary.summary == "Synthetic answer."


def test_a_compaction_sends_its_request_and_summary_then_its_tail_then_the_rest(
    session: OpencodeSession,
) -> None:
    session.user("old")
    session.assistant("old answer", total=900)
    tail = session.user("kept")
    session.assistant("kept answer", total=950)
    _, summary = session.compaction("what was done", tail)
    session.user("new")
    context = read(session).context
    assert texts(context) == [
        *("What did we do so far?", "what was done", "kept", "kept answer", "new")
    ]
    assert [item.is_after_boundary for item in context.items] == [True, True, False, False, True]
    assert context.boundary is not None
    assert context.boundary.entry_id == summary
    assert context.boundary.first_kept_id == tail
    assert context.boundary.n_tokens_before == 950
    assert used_tokens(context)[1] == "counted"


def test_only_the_last_of_several_compactions_counts(session: OpencodeSession) -> None:
    session.user("one")
    _, first = session.compaction("first summary")
    tail = session.user("two")
    _, second = session.compaction("second summary", tail)
    context = read(session).context
    assert texts(context) == ["What did we do so far?", "second summary", "two"]
    assert [(ref.entry_id, ref.previous_id) for ref in context.compactions] == [
        (first, None),
        (second, first),
    ]


@pytest.mark.parametrize("info", [{"finish": None}, {"error": {"name": "X"}}, {"parentID": "no"}])
def test_a_compaction_that_did_not_come_to_its_end_is_no_boundary(
    session: OpencodeSession, info: dict[str, object]
) -> None:
    session.user("old")
    session.compaction("half a summary", **info)
    context = read(session).context
    assert context.boundary is None
    assert context.compactions == ()
    assert "old" in texts(context)


def test_a_tail_that_is_gone_leaves_the_whole_session(session: OpencodeSession) -> None:
    session.user("old")
    session.compaction("summary", "msg_gone")
    assert texts(read(session).context) == ["old", "What did we do so far?", "summary"]


def test_a_call_and_its_result_are_messages_of_their_own(session: OpencodeSession) -> None:
    pruned = tool_part("call_2", "long output", compacted=3)
    session.assistant("I look", tool_part("call_1", "shop.py\n"), pruned, total=70)
    context = read(session).context
    assert [item.category for item in context.items] == [
        *("assistant", "tool results", "tool results")
    ]
    assert list_open_calls(context.items) == ()
    results = [item.message.blocks[0] for item in context.items[1:]]
    assert [one.content for one in results if isinstance(one, ToolResult)] == [
        (Text(text="shop.py\n"),),
        (Text(text=CLEARED),),
    ]
    assert len({item.entry_id for item in context.items}) == 3
    (message,) = OPENCODE.messages(context)
    assert "long output" not in json.dumps(message)
    assert "step-start" not in json.dumps(message)
    assert used_tokens(context) == (70 + 2 + 9, "reported")


def test_each_step_of_an_answer_is_sent_with_its_results(session: OpencodeSession) -> None:
    step = {"type": "step-start"}
    session.assistant(
        "one", tool_part("call_1", "a"), step, {"type": "text", "text": "two"}, total=70
    )
    context = read(session).context
    assert [item.message.role for item in context.items] == ["assistant", "tool", "assistant"]
    assert [item.message.usage is not None for item in context.items] == [False, False, True]
    assert len(OPENCODE.messages(context)) == 1


@pytest.mark.parametrize(
    ("state", "text", "is_error"),
    [
        ({"status": "error", "error": "no such file"}, "no such file", True),
        (
            {"status": "error", "error": "x", "metadata": {"interrupted": True, "output": "half"}},
            "half",
            False,
        ),
        ({"status": "running", "input": {}}, INTERRUPTED, True),
        ({"status": "pending"}, INTERRUPTED, True),
        ({}, INTERRUPTED, True),
    ],
)
def test_every_call_has_a_result(
    session: OpencodeSession, state: dict[str, object], text: str, is_error: bool
) -> None:
    session.assistant("", {"type": "tool", "tool": "bash", "callID": "c", "state": state})
    (result,) = read(session).context.items[-1].message.blocks
    assert isinstance(result, ToolResult)
    assert result.content == (Text(text=text),)
    assert result.is_error is is_error


def test_reasoning_is_kept_apart_from_text(session: OpencodeSession) -> None:
    session.assistant("said", {"type": "reasoning", "text": "thought"})
    (item,) = read(session).context.items
    assert item.message.blocks == (Text(text="said"), Thinking(text="thought"))


def test_a_failed_answer_is_not_sent_but_one_broken_off_is(session: OpencodeSession) -> None:
    session.assistant("failed", error={"name": "APIError", "data": {}})
    session.assistant("broken off", error={"name": "MessageAbortedError", "data": {}})
    assert texts(read(session).context) == ["broken off"]


def test_files_and_ignored_texts_of_a_user(session: OpencodeSession) -> None:
    session.message(
        {"role": "user"},
        {"type": "text", "text": "see"},
        {"type": "text", "text": "not sent", "ignored": True},
        {"type": "file", "mime": "text/plain", "url": "file:///a"},
        {"type": "file", "mime": "image/png", "url": "data:image/png;base64,AAAA"},
        {"type": "subtask", "prompt": "p"},
    )
    (item,) = read(session).context.items
    assert [type(block).__name__ for block in item.message.blocks] == ["Text", "Image", "Text"]
    assert item.category == "user"


def test_what_a_user_went_back_from_is_not_sent(session: OpencodeSession) -> None:
    session.user("one")
    second = session.assistant("two", {"type": "text", "text": "three"})
    session.user("four")
    session.execute("UPDATE session SET revert = ?", json.dumps({"messageID": second}))
    assert texts(read(session).context) == ["one"]
    part_id = "prt_ses_1_0004"
    revert = json.dumps({"messageID": second, "partID": part_id})
    session.execute("UPDATE session SET revert = ?", revert)
    assert texts(read(session).context) == ["one", "two"]


def test_a_subagent_names_its_parent(session: OpencodeSession) -> None:
    child = OpencodeSession(session.path, "ses_2", parent_id="ses_1")
    header = OPENCODE.read_header(DatabaseLines(child.path, "ses_2"))
    assert header is not None
    assert header.parent_session_id == "ses_1"


@pytest.mark.parametrize(
    "data", ["", "{", "[]", '"text"', "5", '{"role":5}', '{"role":"assistant","tokens":[1]}']
)
def test_a_damaged_message_hides_no_other(session: OpencodeSession, data: str) -> None:
    session.user("before")
    session.message(data, {"type": "text", "text": "part"})
    session.user("after")
    context = read(session).context
    assert [text for text in texts(context) if text != "part"] == ["before", "after"]


STEPS = st.lists(
    st.sampled_from(["user", "assistant", "tool", "compaction", "tail", "half"]), max_size=14
)


def grow(session: OpencodeSession, steps: list[str]) -> None:
    ids = ["msg_none"]
    for at, step in enumerate(steps):
        match step:
            case "user":
                ids.append(session.user(f"u{at}"))
            case "assistant":
                ids.append(session.assistant(f"a{at}", total=at + 1))
            case "tool":
                ids.append(session.assistant(f"t{at}", tool_part(f"c{at}", "out")))
            case "compaction":
                session.compaction(f"s{at}")
            case "tail":
                session.compaction(f"s{at}", ids[-1])
            case _:
                session.compaction(f"s{at}", finish=None)


@settings(max_examples=examples(40))
@given(STEPS, STEPS)
def test_an_index_of_an_earlier_reading_changes_nothing(
    tmp_path_factory: pytest.TempPathFactory, first: list[str], then: list[str]
) -> None:
    session = OpencodeSession(tmp_path_factory.mktemp("opencode") / "opencode.db")
    grow(session, first)
    known = read(session).index
    grow(session, then)
    lines = DatabaseLines(session.path, session.session_id)
    header = OPENCODE.read_header(lines)
    assert header is not None
    whole = OPENCODE.read_context(lines, header, EMPTY_INDEX)
    again = OPENCODE.read_context(lines, header, known)
    assert essence(again.context) == essence(whole.context)
    assert again.index == whole.index


@settings(max_examples=examples(40))
@given(STEPS)
def test_lines_render_to_what_they_were_parsed_from(
    tmp_path_factory: pytest.TempPathFactory, steps: list[str]
) -> None:
    session = OpencodeSession(tmp_path_factory.mktemp("opencode") / "opencode.db")
    grow(session, steps)
    data = b"".join(line.raw for line in DatabaseLines(session.path, "ses_1").forward())
    transcript = OPENCODE.parse(data)
    assert render(transcript) == data
    assert len(transcript.entries) == session.n_messages
    assert transcript.problems == ()
    assert transcript.header is not None
    from_bytes = OPENCODE.read_context(MemoryLines(data), transcript.header, EMPTY_INDEX).context
    assert from_bytes.items == read(session).context.items


@given(st.binary())
def test_any_bytes_come_back_from_a_parsed_transcript(data: bytes) -> None:
    assert render(OPENCODE.parse(data)) == data


def test_databases_stand_in_the_folder_for_data(tmp_path: Path) -> None:
    patterns_in = OPENCODE.database_patterns
    default = tmp_path / ".local" / "share" / "opencode"
    assert patterns_in({}, tmp_path)[0] == (default, "opencode.db")
    assert patterns_in({"XDG_DATA_HOME": "/data"}, tmp_path)[1] == (
        Path("/data/opencode"),
        "opencode-*.db",
    )
    assert patterns_in({"OPENCODE_DB": "/x/y.db"}, tmp_path) == ((Path("/x"), "y.db"),)
    assert patterns_in({"OPENCODE_DB": "y.db"}, tmp_path) == ((default, "y.db"),)
