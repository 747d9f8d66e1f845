"""Codex: contexts, figures and compactions of rollouts of both generations."""

from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from codex_files import SESSION_ID, CodexFile, codex_files, message, usage_of
from pi_files import json_line
from reading import essence, read_context
from ullage.core.gauge.breakdown import list_parts
from ullage.core.gauge.gauge import Gauge, measure
from ullage.core.gauge.window import Window
from ullage.core.transcript.context import Context
from ullage.core.transcript.entries import (
    Image,
    Line,
    MemoryLines,
    ToolCall,
    ToolResult,
    plain_text,
    render,
)
from ullage.core.transcript.limits import Limit
from ullage.core.transcript.lineage import EMPTY_INDEX, Index
from ullage.formats.agents.codex.agent import CODEX
from ullage.formats.json_line import MAX_LINE_BYTES
from ullage.formats.reading import Reading

SAMPLES = Path(__file__).parents[1] / "samples" / "codex"
MODERN, LEGACY = (next(SAMPLES.glob(f"rollout-{year}*.jsonl")) for year in (2026, 2025))
COMPACTED_AT = 43
ESTIMATE_AT = 47
"""Lines of the modern sample, counted from 0: its ordinals."""


def read(data: bytes, known: Index = EMPTY_INDEX) -> Reading:
    lines = MemoryLines(data)
    header = CODEX.read_header(lines)
    assert header is not None
    return CODEX.read_context(lines, header, known)


def gauge_of(context: Context) -> Gauge:
    """Measure with one token a character."""
    return measure(context, Window(n_tokens=1_000, source="setting", detail="a test"), len)


def texts(context: Context) -> list[str]:
    return [plain_text(item.message) for item in context.items]


def sample_lines(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines(keepends=True)


# Samples


def test_the_modern_sample_gives_the_figures_that_codex_shows() -> None:
    context = read(MODERN.read_bytes()).context
    gauge = gauge_of(context)
    assert (gauge.used_tokens, gauge.used_source) == (4050, "reported")
    assert context.window_tokens == 258_400
    assert context.model == "gpt-5.5"
    assert len(context.compactions) == 1
    assert context.n_entries == 55
    assert context.problems == ()


def test_right_after_the_compaction_the_estimate_of_codex_holds() -> None:
    context = read(b"".join(sample_lines(MODERN)[: ESTIMATE_AT + 1])).context
    gauge = gauge_of(context)
    assert (gauge.used_tokens, gauge.used_source) == (6869, "estimated")
    assert context.boundary is not None
    assert context.boundary.n_tokens_after == 6869
    assert context.boundary.n_tokens_before == 251_050


def test_between_the_compaction_and_its_estimate_nothing_stale_is_shown() -> None:
    for n_lines in range(COMPACTED_AT + 1, ESTIMATE_AT + 1):
        gauge = gauge_of(read(b"".join(sample_lines(MODERN)[:n_lines])).context)
        assert gauge.used_source == "counted"


def test_the_modern_context_is_the_replacement_history_and_what_followed() -> None:
    context = read(MODERN.read_bytes()).context
    assert [(item.category, item.is_after_boundary) for item in context.items] == [
        ("user", False),
        ("system", False),
        ("system", False),
        ("user", False),
        ("summary", True),
        ("injected", True),
        ("assistant", True),
    ]
    natives = CODEX.messages(context)
    assert [native["type"] for native in natives] == ["message"] * 7
    assert natives[0]["id"] == "msg_01a1fbde-10e0-76a0-b55f-3f3f175c0533"


def test_the_legacy_sample_keeps_the_summary_and_its_own_window() -> None:
    context = read(LEGACY.read_bytes()).context
    assert texts(context) == ["Synthetic handoff summary."]
    assert [item.category for item in context.items] == ["summary"]
    assert gauge_of(context).used_source == "counted"
    assert context.window_tokens == 272_000
    assert context.model == "gpt-5-codex"
    assert len(context.compactions) == 1


def test_the_legacy_sample_before_its_compaction_counts_from_its_usage() -> None:
    context = read(b"".join(sample_lines(LEGACY)[:5])).context
    assert (gauge_of(context).used_tokens, gauge_of(context).used_source) == (9200, "reported")


@pytest.mark.parametrize("path", [MODERN, LEGACY], ids=["modern", "legacy"])
def test_a_compaction_is_read_from_its_place_as_it_stands_in_the_context(path: Path) -> None:
    lines = MemoryLines(path.read_bytes())
    context = read(lines.data).context
    assert CODEX.read_compaction(lines, context.compactions[-1]) == context.boundary
    elsewhere = msgspec.structs.replace(context.compactions[-1], offset=0)
    assert CODEX.read_compaction(lines, elsewhere) is None


@pytest.mark.parametrize("path", [MODERN, LEGACY], ids=["modern", "legacy"])
def test_any_prefix_of_a_sample_is_read_alike_with_and_without_an_index(path: Path) -> None:
    data, step = path.read_bytes(), 97
    whole = read(data)
    for size in range(0, len(data), step):
        prefix = data[:size]
        assert render(CODEX.parse(prefix)) == prefix
        if CODEX.read_header(MemoryLines(prefix)) is None:
            continue
        again = read(data, read(prefix).index)
        assert essence(again.context) == essence(whole.context)
        assert again.index == whole.index


@pytest.mark.parametrize("path", [MODERN, LEGACY], ids=["modern", "legacy"])
def test_reading_a_sample_on_line_by_line_gives_what_reading_it_anew_gives(path: Path) -> None:
    check_extensions(sample_lines(path))


def check_extensions(lines: list[bytes]) -> None:
    data = b""
    reading: Reading | None = None
    for raw in lines:
        line = Line(len(data), raw)
        data += raw
        anew = read(data)
        if reading is not None:
            longer = CODEX.extend(reading, [line], len(data))
            if longer is not None:
                assert essence(longer.context) == essence(anew.context)
                assert longer.context.window_tokens == anew.context.window_tokens
                assert longer.index == anew.index
        reading = anew


# Headers and places


def test_a_header_names_the_thread_and_its_folder() -> None:
    header = read(CodexFile().data).context.header
    assert (header.agent, header.session_id, header.cwd) == ("codex", SESSION_ID, "/work/shop")
    assert header.parent_session_id is None


@pytest.mark.parametrize(
    ("meta", "parent_id"),
    [
        ({"source": {"subagent": {"thread_spawn": {"parent_thread_id": "p1"}}}}, "p1"),
        ({"source": {"subagent": "review"}, "session_id": "p2"}, "p2"),
        ({"thread_source": "subagent", "parent_thread_id": "p3"}, "p3"),
        ({"source": {"subagent": "review"}}, ""),
        ({"source": "exec", "session_id": "p4"}, None),
    ],
)
def test_a_subagent_names_its_parent(meta: dict[str, object], parent_id: str | None) -> None:
    assert read(CodexFile(**meta).data).context.header.parent_session_id == parent_id


@pytest.mark.parametrize(
    "line",
    [b"", b"\n", b"[]\n", b"nonsense\n", b'{"type":"session"}\n', b'{"type":"session_meta"}\n'],
)
def test_what_is_no_rollout_is_not_recognized(line: bytes) -> None:
    assert CODEX.read_header(MemoryLines(line)) is None


def test_sessions_lie_below_codex_home(tmp_path: Path) -> None:
    roots = (tmp_path / ".codex" / "sessions", tmp_path / ".codex" / "archived_sessions")
    assert CODEX.session_roots({}, tmp_path) == roots
    assert CODEX.session_folders(Path("/work/shop"), {}, tmp_path) == roots
    assert CODEX.subagent_folders(Path("/s/2026/11/21/r.jsonl")) == (Path("/s/2026/11/21"),)
    chosen = CODEX.session_roots({"CODEX_HOME": "/c"}, tmp_path)
    assert chosen == (Path("/c/sessions"), Path("/c/archived_sessions"))


# Figures


def test_an_output_that_stands_before_its_usage_is_counted_on_top() -> None:
    codex = CodexFile()
    codex.user("a")
    codex.tool("12345", n_total=100)
    assert gauge_of(read(codex.data).context).used_tokens == 105


def test_the_cache_is_part_of_the_input() -> None:
    codex = CodexFile()
    codex.assistant("a")
    codex.tokens(usage_of(105, n_cached=60))
    usage = read(codex.data).context.items[0].message.usage
    assert usage is not None
    assert (usage.n_input, usage.n_cache_read, usage.n_output, usage.n_total) == (40, 60, 5, 105)


def test_figures_that_are_told_again_tell_nothing() -> None:
    codex = CodexFile()
    codex.assistant("a", n_total=100)
    codex.assistant("12345")
    codex.tokens(usage_of(100))
    assert gauge_of(read(codex.data).context).used_tokens == 105


def test_stale_figures_told_again_after_a_compaction_tell_nothing() -> None:
    codex = CodexFile()
    codex.assistant("a", n_total=9_000)
    codex.compact("123", is_legacy=True)
    codex.user("45")
    codex.tokens(usage_of(9_000))
    gauge = gauge_of(read(codex.data).context)
    assert (gauge.used_tokens, gauge.used_source) == (5, "counted")


def test_an_estimate_without_a_compaction_covers_all_that_is_there() -> None:
    codex = CodexFile()
    codex.user("a")
    codex.estimate(70)
    codex.user("123")
    assert gauge_of(read(codex.data).context).used_tokens == 73


def test_a_second_estimate_after_a_compaction_replaces_the_first() -> None:
    codex = CodexFile()
    codex.compact("s", "u")
    codex.estimate(70)
    codex.estimate(60)
    assert gauge_of(read(codex.data).context).used_tokens == 60
    check_extensions(codex.lines)


def test_model_and_window_from_above_a_compaction_still_hold() -> None:
    codex = CodexFile()
    codex.turn("o3", 190_000)
    codex.compact("s", is_legacy=True)
    context = read(codex.data).context
    assert (context.model, context.window_tokens) == ("o3", 190_000)


# Contexts


def test_each_compaction_follows_the_one_before_it() -> None:
    codex = CodexFile()
    for n in range(3):
        codex.user(f"u{n}")
        codex.compact(f"s{n}", f"u{n}")
    context = read(codex.data).context
    assert texts(context) == ["u2", "s2"]
    ids = [ref.entry_id for ref in context.compactions]
    assert [ref.previous_id for ref in context.compactions] == [None, *ids[:2]]


def test_a_rollback_takes_turns_back() -> None:
    codex = CodexFile()
    for value in "abc":
        codex.turn()
        codex.user(value)
        codex.assistant(value.upper())
    codex.roll_back(2)
    codex.user("d")
    assert texts(read(codex.data).context) == ["a", "A", "d"]


def test_a_compaction_in_a_turn_that_was_taken_back_does_not_stand() -> None:
    codex = CodexFile()
    codex.user("a")
    codex.compact("first", "a")
    codex.user("b")
    codex.compact("second", "b")
    codex.roll_back()
    context = read(codex.data).context
    assert texts(context) == ["a", "first"]
    assert len(context.compactions) == 1


def test_items_of_every_kind_keep_their_own_shape() -> None:
    image = {"type": "input_image", "image_url": "data:image/png;base64,AA"}
    items: list[dict[str, object]] = [
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}], "content": None},
        {"type": "custom_tool_call", "call_id": "p", "name": "apply_patch", "input": "*** Begin"},
        {"type": "custom_tool_call_output", "call_id": "p", "output": "Exit code: 1\nno"},
        {"type": "local_shell_call", "call_id": "l", "action": {"command": ["ls"]}},
        {"type": "web_search_call", "id": "w", "action": {"query": "x"}},
        {"type": "function_call_output", "call_id": "l", "output": [image]},
        {"type": "compaction", "encrypted_content": "c2VjcmV0"},
        {"type": "something_new", "content": [{"text": "new"}]},
    ]  # fmt: skip
    codex = CodexFile()
    for item in items:
        codex.item(item)
    codex.item({"type": "ghost_snapshot", "ghost_commit": {}})
    context = read(codex.data).context
    assert CODEX.messages(context) == items
    blocks = [block for item in context.items for block in item.message.blocks]
    calls = [block for block in blocks if isinstance(block, ToolCall)]
    assert [call.name for call in calls] == ["apply_patch", "local_shell", "web_search"]
    results = [block for block in blocks if isinstance(block, ToolResult)]
    assert [(r.name, r.is_error) for r in results] == [
        ("apply_patch", True),
        ("local_shell", False),
    ]
    assert isinstance(results[1].content[0], Image)


@pytest.mark.parametrize(
    ("output", "is_error"),
    [
        ('{"output":"x","metadata":{"exit_code":0,"duration_seconds":0.1}}', False),
        ('{"output":"x","metadata":{"exit_code":2,"duration_seconds":0.1}}', True),
        ("Chunk ID: 1\nProcess exited with code 0\nOutput:\n", False),
        ("Chunk ID: 1\nProcess exited with code 127\nOutput:\n", True),
        ("apply_patch verification failed: Failed to find expected lines in a.py:\n a = 1", True),
        ("Success. Updated the following files:\nM a.py", False),
        ({"content": "x", "success": False}, True),
    ],
)
def test_a_failed_command_is_an_error(output: object, is_error: bool) -> None:
    codex = CodexFile()
    codex.tool(output)
    result = read(codex.data).context.items[-1].message.blocks[0]
    assert isinstance(result, ToolResult)
    assert result.is_error is is_error


# Hostile content

WRONG: tuple[object, ...] = (None, True, -1, 1e300, "x", [], [[]], [None, 1, "x"], {}, {"a": {}})
FIELDS = (
    "type role content call_id name arguments output summary action info num_turns id message "
    "model model_context_window replacement_history last_token_usage timestamp payload"
).split()


@pytest.mark.parametrize("wrong", WRONG, ids=repr)
def test_wrong_types_in_any_field_are_no_exception(wrong: object) -> None:
    codex = CodexFile(cwd=wrong, source=wrong)
    codex.user("a")
    for kind in ("message", "reasoning", "function_call", "function_call_output", "new_call"):
        for field in FIELDS:
            codex.item({"type": kind, "role": "user", field: wrong})
    for kind in ("token_count", "task_started", "thread_rolled_back", "item_completed"):
        codex.event(kind, **{field: wrong for field in FIELDS if field != "type"})
        codex.tokens(wrong)
        codex.tokens(dict.fromkeys(usage_of(1), wrong))
    for kind in ("turn_context", "compacted", "response_item", "event_msg", "session_meta"):
        codex.line(kind, wrong)
        codex.line(kind, dict.fromkeys(FIELDS, wrong))
        codex.raw({"type": kind, "timestamp": wrong, "payload": wrong})
        codex.raw({"type": wrong, "payload": {"type": kind}})
    for n_lines in range(1, len(codex.lines) + 1):
        context = read(b"".join(codex.lines[:n_lines])).context
        gauge_of(context)
        CODEX.messages(context)
    check_extensions(codex.lines)
    assert render(CODEX.parse(codex.data)) == codex.data


@pytest.mark.parametrize("line", [b"\xff\xfe\n", b"null\n", b"[]\n", b"{\n", b"\0\0\n", b'{"a":\n'])
def test_a_line_that_is_no_object_is_a_problem_and_nothing_else(line: bytes) -> None:
    codex = CodexFile()
    codex.user("a")
    codex.raw(line)
    codex.user("b")
    context = read(codex.data).context
    assert texts(context) == ["a", "b"]
    assert len(context.problems) == 1


def test_a_torn_last_line_is_left_for_later() -> None:
    codex = CodexFile()
    codex.user("a")
    torn = json_line({"type": "response_item", "payload": message("user", "b")})[:-9]
    reading = read(codex.data + torn)
    assert texts(reading.context) == ["a"]
    assert reading.index.covered_bytes == len(codex.data)


def test_a_compaction_that_is_too_long_to_read_still_ends_what_stands_above_it() -> None:
    codex = CodexFile()
    codex.user("a")
    codex.compact("s" * MAX_LINE_BYTES)
    codex.user("b")
    context = read(codex.data).context
    assert texts(context) == ["b"]
    assert len(context.compactions) == len(context.problems) == 1


# Properties


@given(st.binary() | st.lists(st.binary(max_size=9)).map(b"\n".join))
def test_any_bytes_are_given_back(data: bytes) -> None:
    assert render(CODEX.parse(data)) == data


@given(codex_files(), st.floats(0, 1))
def test_an_index_of_an_earlier_reading_changes_nothing(file: CodexFile, share: float) -> None:
    prefix = file.data[: round(len(file.data) * share)]
    if CODEX.read_header(MemoryLines(prefix)) is None:
        return
    whole, again = read(file.data), read(file.data, read(prefix).index)
    assert essence(again.context) == essence(whole.context)
    assert again.context.window_tokens == whole.context.window_tokens
    assert again.index.n_entries == whole.index.n_entries


@given(codex_files())
def test_reading_on_gives_what_reading_anew_gives(file: CodexFile) -> None:
    check_extensions(file.lines)


def test_skills_count_as_skills_though_they_share_a_message_with_permissions() -> None:
    texts = ["<skills_instructions>" + "s" * 50, "<permissions instructions>" + "p" * 90]
    codex = CodexFile()
    content = [{"type": "input_text", "text": value} for value in texts]
    codex.item({"type": "message", "role": "developer", "content": content})
    (item,) = read_context(codex.data).items
    assert item.category == "system"
    assert list(list_parts([item], len)) == [("skills", len(texts[0])), ("system", len(texts[1]))]


def test_each_part_of_the_first_message_counts_as_what_codex_calls_it() -> None:
    parts = list(list_parts(read_context(MODERN.read_bytes()).items, lambda _: 1))
    assert {"skills", "system", "tools"} <= {category for category, _ in parts}


def test_an_estimate_beyond_the_window_is_none() -> None:
    codex = CodexFile()
    codex.user("one")
    codex.assistant("two")
    codex.tokens(usage_of(200_000))
    codex.estimate(940_499)
    gauge = gauge_of(read(codex.data).context)
    assert (gauge.used_tokens, gauge.used_source) == (200_000, "reported")


def test_the_limits_that_were_told_last_are_those_of_the_plan() -> None:
    codex = CodexFile()
    codex.user("Go on.")
    codex.assistant("Done.", n_total=50)
    weekly = {"used_percent": 41.4, "window_minutes": 10_080}
    broken = {"used_percent": float("1e300"), "window_minutes": 300, "resets_at": "soon"}
    backward = {"used_percent": 3, "window_minutes": -60}
    for told in (
        {"primary": weekly, "secondary": broken},
        {"primary": backward},
        {"primary": None},
        None,
        [],
        "none",
    ):
        codex.event("token_count", info=None, rate_limits=told)
    expected = (Limit(n_minutes=10_080, used_percent=41, resets_at_s=0),)
    assert read(codex.data).context.limits == expected
