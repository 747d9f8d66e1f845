"""Gemini CLI: contexts, figures and compressions of chats, and of the documents before them."""

import hashlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_files import METADATA, SESSION_ID, GeminiFile, gemini_files, response, tool_call
from pi_files import json_line
from reading import essence
from ullage.core.gauge.gauge import Gauge, measure
from ullage.core.gauge.window import Window
from ullage.core.transcript.context import Context
from ullage.core.transcript.entries import Image, Line, MemoryLines, ToolResult, plain_text, render
from ullage.core.transcript.lineage import EMPTY_INDEX, Index
from ullage.formats.agents.gemini.agent import GEMINI
from ullage.formats.json_line import MAX_LINE_BYTES
from ullage.formats.reading import Reading

SAMPLE = next((Path(__file__).parents[1] / "samples" / "gemini").glob("*.jsonl"))
COMPRESSED_AT = 21
"""Line of the sample, counted from 0."""


def read(data: bytes, known: Index = EMPTY_INDEX) -> Reading:
    lines = MemoryLines(data)
    header = GEMINI.read_header(lines)
    assert header is not None
    return GEMINI.read_context(lines, header, known)


def gauge_of(context: Context) -> Gauge:
    """Measure with one token a character."""
    return measure(context, Window(n_tokens=1_048_576, source="setting", detail="a test"), len)


def texts(context: Context) -> list[str]:
    return [plain_text(item.message) for item in context.items]


def sample_lines() -> list[bytes]:
    return SAMPLE.read_bytes().splitlines(keepends=True)


# The sample


def test_the_sample_gives_the_prompt_tokens_of_its_last_answer() -> None:
    context = read(SAMPLE.read_bytes()).context
    gauge = gauge_of(context)
    assert (gauge.used_tokens, gauge.used_source) == (250_000, "reported")
    assert context.model == "gemini-2.5-flash"
    assert context.n_entries == 26
    assert context.problems == ()


def test_thoughts_are_part_of_the_answer_and_not_of_the_context() -> None:
    gemini = GeminiFile()
    gemini.user("hello")
    gemini.model("hi", n_input=120)
    context = read(gemini.data).context
    usage = context.items[-1].message.usage
    assert usage is not None
    assert (usage.n_sent, usage.n_output, usage.n_total) == (120, 55, 120)
    assert gauge_of(context).used_tokens == 120


def test_the_sample_is_compressed_once_although_it_was_resumed_too() -> None:
    lines = sample_lines()
    before = read(b"".join(lines[:COMPRESSED_AT])).context
    assert (before.boundary, before.compactions) == (None, ())
    context = read(b"".join(lines)).context
    assert len(context.compactions) == 1
    assert context.boundary is not None
    assert context.boundary.summary.startswith("<state_snapshot>")
    assert [(item.category, item.is_after_boundary) for item in context.items] == [
        ("system", False),
        ("summary", True),
        ("assistant", False),
        ("user", False),
        ("assistant", False),
        ("tool results", True),
        ("assistant", True),
    ]


def test_right_after_the_compression_nothing_stale_is_shown() -> None:
    context = read(b"".join(sample_lines()[: COMPRESSED_AT + 1])).context
    assert gauge_of(context).used_source == "counted"
    assert context.model == "gemini-2.5-flash"


def test_the_messages_of_the_sample_are_contents_without_thoughts() -> None:
    natives = GEMINI.messages(read(SAMPLE.read_bytes()).context)
    roles = [native["role"] for native in natives]
    assert roles == ["user", "user", "model", "user", "model", "user", "model"]
    assert natives[-1] == {"role": "model", "parts": [{"text": "Synthetic answer."}]}
    assert all(set(native) == {"role", "parts"} for native in natives)


def test_any_prefix_of_the_sample_is_read_alike_with_and_without_an_index() -> None:
    data, step = SAMPLE.read_bytes(), 41
    whole = read(data)
    for size in range(0, len(data), step):
        prefix = data[:size]
        assert render(GEMINI.parse(prefix)) == prefix
        if GEMINI.read_header(MemoryLines(prefix)) is None:
            continue
        again = read(data, read(prefix).index)
        assert essence(again.context) == essence(whole.context)
        assert again.index == whole.index


def test_reading_the_sample_on_line_by_line_gives_what_reading_it_anew_gives() -> None:
    assert check_extensions(sample_lines()) >= 20


def check_extensions(lines: list[bytes]) -> int:
    """Read on after every line; give the number of lines that needed no new reading."""
    data = b""
    reading: Reading | None = None
    n_extended = 0
    for raw in lines:
        line = Line(len(data), raw)
        data += raw
        anew = read(data)
        longer = None if reading is None else GEMINI.extend(reading, [line], len(data))
        if longer is not None:
            n_extended += 1
            assert essence(longer.context) == essence(anew.context)
            assert longer.index == anew.index
        reading = anew
    return n_extended


# Headers and places


def test_a_header_names_the_session() -> None:
    header = read(GeminiFile().data).context.header
    assert (header.agent, header.session_id, header.cwd) == ("gemini", SESSION_ID, None)
    assert header.parent_session_id is None
    assert read(GeminiFile(kind="subagent").data).context.header.parent_session_id == ""


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n",
        b"[]\n",
        b"{\n",
        b"nonsense\n",
        b'{"sessionId":"s"}\n',
        b'{"type":"user","sessionId":"s","projectHash":"h","startTime":"t"}\n',
        b'{"sessionId":1,"projectHash":"h","startTime":"t"}\n',
    ],
)
def test_what_is_no_chat_is_not_recognized(data: bytes) -> None:
    assert GEMINI.read_header(MemoryLines(data)) is None


def test_chats_lie_in_a_folder_with_the_short_name_of_the_workspace(tmp_path: Path) -> None:
    cwd = Path("/work/My  Shop!")
    folders = GEMINI.session_folders(cwd, {}, tmp_path)
    tmp = tmp_path / ".gemini" / "tmp"
    assert folders[:2] == (tmp / "my-shop" / "chats", tmp / "my-shop-1" / "chats")
    assert folders[-1] == tmp / hashlib.sha256(str(cwd).encode()).hexdigest() / "chats"
    assert GEMINI.session_roots({"GEMINI_CLI_HOME": "/g"}, tmp_path) == (Path("/g/.gemini/tmp"),)
    assert GEMINI.session_folders(Path("/"), {}, tmp_path)[0] == tmp / "project" / "chats"


# Contexts


def test_a_message_with_a_known_id_takes_the_place_of_the_earlier_one() -> None:
    gemini = GeminiFile()
    first = gemini.model("draft", n_input=10)
    gemini.user("next")
    gemini.model("final", n_input=20, message_id=first)
    context = read(gemini.data).context
    assert texts(context) == ["final", "next"]
    assert gauge_of(context).used_tokens == 24


def test_a_rewind_takes_its_target_and_what_follows() -> None:
    gemini = GeminiFile()
    gemini.user("a")
    target = gemini.user("b")
    gemini.model("c")
    gemini.rewind(target)
    assert texts(read(gemini.data).context) == ["a"]
    gemini.rewind("unknown")
    assert texts(read(gemini.data).context) == []


def test_a_result_is_sent_once_wherever_it_is_noted() -> None:
    gemini = GeminiFile()
    gemini.model(n_input=10, calls=(tool_call("c1", "one"), tool_call("c2", "two")))
    beside = read(gemini.data).context
    assert [item.message.role for item in beside.items] == ["assistant", "tool"]
    gemini.answer(("c1", "one"), ("c2", "two"))
    own = read(gemini.data).context
    assert GEMINI.messages(own) == GEMINI.messages(beside)
    assert gauge_of(own).used_tokens == 10 + len("onetwo")


def test_a_call_that_stands_in_the_content_too_is_sent_once() -> None:
    gemini = GeminiFile()
    part = {"functionCall": {"id": "c1", "name": "run_shell_command", "args": {}}}
    gemini.model([{"text": "go"}, {"text": "hm", "thought": True}, part], calls=(tool_call("c1"),))
    native = GEMINI.messages(read(gemini.data).context)[0]
    assert native["parts"] == [{"text": "go"}, part]


def test_what_is_only_shown_is_not_sent() -> None:
    gemini = GeminiFile()
    for kind in ("info", "error", "warning"):
        gemini.add(kind, "note")
    gemini.user("a")
    assert texts(read(gemini.data).context) == ["a"]


def test_texts_of_hooks_and_of_the_session_are_not_the_users() -> None:
    gemini = GeminiFile()
    gemini.user("<session_context>today</session_context>")
    gemini.user("<hook_context>one</hook_context>\n<hook_context>two</hook_context>")
    gemini.user("<hook_context>one</hook_context>\n\nhello")
    categories = [item.category for item in read(gemini.data).context.items]
    assert categories == ["system", "injected", "user"]


def test_results_with_errors_and_images_are_read() -> None:
    gemini = GeminiFile()
    said = {"id": "c1", "name": "read_file", "response": {"error": "gone"}}
    image = {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}
    gemini.add("user", [{"functionResponse": said}, image])
    blocks = read(gemini.data).context.items[0].message.blocks
    assert isinstance(blocks[0], ToolResult)
    assert blocks[0].is_error
    assert isinstance(blocks[1], Image)


# Compressions


def test_a_snapshot_that_is_written_again_is_no_new_compression() -> None:
    gemini = GeminiFile()
    gemini.user("a")
    gemini.compress("one")
    gemini.user("b")
    gemini.resume()
    context = read(gemini.data).context
    assert len(context.compactions) == 1
    assert context.compactions[0].offset == len(b"".join(gemini.lines[:2]))
    flags = [item.is_after_boundary for item in context.items]
    assert flags == [True, False, False, True]


def test_each_compression_follows_the_one_before_it() -> None:
    gemini = GeminiFile()
    for name in ("one", "two"):
        gemini.user(name)
        gemini.compress(name)
    lines = MemoryLines(gemini.data)
    context = read(gemini.data).context
    first, second = context.compactions
    assert second.previous_id == first.entry_id
    assert GEMINI.read_compaction(lines, second) == context.boundary
    found = GEMINI.read_compaction(lines, first)
    assert found is not None
    assert "one" in found.summary


def test_a_user_who_writes_about_snapshots_compresses_nothing() -> None:
    gemini = GeminiFile()
    gemini.user("what is <state_snapshot> for?")
    gemini.model("a summary")
    gemini.resume()
    assert read(gemini.data).context.compactions == ()


def test_a_history_without_the_snapshot_has_no_boundary() -> None:
    gemini = GeminiFile()
    gemini.user("a")
    gemini.compress("one", 0)
    gemini.replace({"id": "x", "type": "user", "content": "b"})
    context = read(gemini.data).context
    assert (texts(context), context.boundary, context.compactions) == (["b"], None, ())


# Documents


def test_a_document_of_an_older_version_is_read_like_a_chat() -> None:
    gemini = GeminiFile()
    gemini.user("a")
    gemini.model("b", n_input=30, calls=(tool_call("c1", "done"),))
    chat, document = read(gemini.data).context, read(gemini.document)
    assert document.context.items == chat.items
    assert document.context.header == chat.header
    assert document.context.model == "gemini-2.5-flash"
    assert document.index == EMPTY_INDEX
    assert render(GEMINI.parse(gemini.document)) == gemini.document
    assert GEMINI.extend(document, [Line(0, gemini.document)], 9) is None


def test_a_document_on_one_line_is_read_too() -> None:
    history = [{"id": "m1", "type": "user", "content": "a"}]
    assert texts(read(json_line(METADATA | {"messages": history})).context) == ["a"]


def test_any_prefix_of_a_document_is_no_exception() -> None:
    gemini = GeminiFile()
    gemini.user("a")
    for size in range(len(gemini.document)):
        prefix = gemini.document[:size]
        assert GEMINI.read_header(MemoryLines(prefix)) is None
        assert render(GEMINI.parse(prefix)) == prefix


# Hostile content

WRONG: tuple[object, ...] = (None, True, -1, 1e300, "x", [], [[]], [None, 1, "x"], {}, {"a": {}})
FIELDS = (
    "id type content toolCalls tokens model timestamp thoughts messages $set $rewindTo sessionId"
).split()
PARTS = "text functionCall functionResponse inlineData thought".split()


@pytest.mark.parametrize("wrong", WRONG, ids=repr)
def test_wrong_types_in_any_field_are_no_exception(wrong: object) -> None:
    gemini = GeminiFile(kind=wrong, lastUpdated=wrong)
    gemini.user("a")
    for kind in ("user", "gemini"):
        for n, field in enumerate(FIELDS):
            gemini.raw({"id": f"{kind}{n}", "type": kind, "content": "a", field: wrong})
        for n, field in enumerate(PARTS):
            gemini.raw({"id": f"p{kind}{n}", "type": kind, "content": [{field: wrong}]})
            inner = dict.fromkeys(("id", "name", "args", "response", "data", "parts"), wrong)
            gemini.raw({"id": f"q{kind}{n}", "type": kind, "content": [{field: inner}]})
    calls = [wrong, dict.fromkeys(("id", "name", "args", "result"), wrong)]
    gemini.raw({"id": "c", "type": "gemini", "content": wrong, "toolCalls": calls})
    gemini.raw({"id": "t", "type": "gemini", "tokens": dict.fromkeys(("input", "cached"), wrong)})
    gemini.raw({"$set": {"messages": [wrong, {"id": wrong, "type": "user", "content": wrong}]}})
    gemini.raw({"$set": wrong, "messages": wrong})
    gemini.user("b")
    gemini.raw({"$rewindTo": wrong})
    for n_lines in range(1, len(gemini.lines) + 1):
        context = read(b"".join(gemini.lines[:n_lines])).context
        gauge_of(context)
        GEMINI.messages(context)
    check_extensions(gemini.lines)
    assert render(GEMINI.parse(gemini.data)) == gemini.data


@pytest.mark.parametrize("line", [b"\xff\xfe\n", b"null\n", b"[]\n", b"{\n", b"\0\0\n", b'{"a":\n'])
def test_a_line_that_is_no_object_is_a_problem_and_nothing_else(line: bytes) -> None:
    gemini = GeminiFile()
    gemini.user("a")
    gemini.raw(line)
    gemini.user("b")
    context = read(gemini.data).context
    assert texts(context) == ["a", "b"]
    assert len(context.problems) == 1


def test_a_torn_last_line_is_left_for_later() -> None:
    gemini = GeminiFile()
    gemini.user("a")
    reading = read(gemini.data + b'{"id":"m9","type":"us')
    assert texts(reading.context) == ["a"]
    assert reading.index.covered_bytes == len(gemini.data)


def test_a_history_that_is_too_long_to_read_still_ends_what_stands_above_it() -> None:
    gemini = GeminiFile()
    gemini.user("a")
    gemini.replace({"id": "x", "type": "user", "content": "s" * MAX_LINE_BYTES})
    gemini.user("b")
    context = read(gemini.data).context
    assert texts(context) == ["b"]
    assert len(context.problems) == 1


# Properties


@given(st.binary() | st.lists(st.binary(max_size=9)).map(b"\n".join))
def test_any_bytes_are_given_back(data: bytes) -> None:
    assert render(GEMINI.parse(data)) == data
    assert render(GEMINI.parse(b"{\n" + data)) == b"{\n" + data


@given(gemini_files())
def test_the_history_is_the_one_that_the_agent_holds(file: GeminiFile) -> None:
    sent = [key for key, record in file.history.items() if record["type"] in ("user", "gemini")]
    items = read(file.data).context.items
    assert list(dict.fromkeys(item.entry_id for item in items)) == sent


@given(gemini_files(), st.floats(0, 1))
def test_an_index_of_an_earlier_reading_changes_nothing(file: GeminiFile, share: float) -> None:
    prefix = file.data[: round(len(file.data) * share)]
    if GEMINI.read_header(MemoryLines(prefix)) is None:
        return
    whole, again = read(file.data), read(file.data, read(prefix).index)
    assert essence(again.context) == essence(whole.context)
    assert again.index == whole.index


@given(gemini_files())
def test_reading_on_gives_what_reading_anew_gives(file: GeminiFile) -> None:
    check_extensions(file.lines)


def test_the_builder_writes_responses_as_the_agent_does() -> None:
    line = next(raw for raw in sample_lines() if b'"content":[{"functionResponse"' in raw)
    found = response("c", "o")["functionResponse"]
    assert isinstance(found, dict)
    assert all(f'"{key}"'.encode() in line for key in found)
