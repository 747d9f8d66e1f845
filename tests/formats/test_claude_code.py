"""Claude Code's transcripts: a real one, and each rule by itself."""

from pathlib import Path

import pytest

from claude_files import ClaudeFile, call, result, text, thinking
from reading import read_context, read_messages
from ullage.core.transcript.entries import MemoryLines, ToolCall, ToolResult
from ullage.formats.agents.claude_code.agent import CLAUDE_CODE

PROJECT = Path(__file__).parents[1] / "samples" / "claude-code/projects/-home-user-my-proj-v1"
MAIN = PROJECT / "11111111-2222-4333-8444-555555555555.jsonl"
SUBAGENT = PROJECT / MAIN.stem / "subagents" / "agent-aa3cce0eb387d140d.jsonl"


def entry_ids(claude: ClaudeFile) -> list[str]:
    return [item.entry_id for item in read_context(claude.data).items]


def test_the_real_session_has_the_figures_that_claude_code_showed() -> None:
    context = read_context(MAIN.read_bytes())
    assert context.n_entries == 129
    assert context.problems == ()
    assert len(context.compactions) == 1
    assert context.model == "claude-sonnet-4-5"
    boundary = context.boundary
    assert boundary is not None
    assert (boundary.n_tokens_before, boundary.n_tokens_after) == (17554, 2713)
    assert boundary.summary.endswith("[synthetic summary]")
    assert context.header.session_id == MAIN.stem
    assert context.header.parent_session_id is None


def test_the_real_session_sends_the_summary_then_the_preserved_messages() -> None:
    items = read_context(MAIN.read_bytes()).items
    assert items[0].category == "summary"
    assert items[1].entry_id == "27567c2a-ce40-4a45-bc8e-89e17767fd71"
    assert not items[1].is_after_boundary
    assert all(item.is_after_boundary for item in (items[0], *items[2:]))
    assert items[-1].message.usage is not None
    assert items[-1].message.usage.n_total == 17554


def test_the_real_session_gives_each_answer_once() -> None:
    messages = read_messages(MAIN.read_bytes())
    answers = [message for message in messages if message["role"] == "assistant"]
    assert [[block["type"] for block in answer["content"]] for answer in answers] == [
        ["text"],
        ["text", "tool_use"],
        ["text"],
    ]


def test_a_subagent_has_a_header_and_a_context_of_its_own() -> None:
    context = read_context(SUBAGENT.read_bytes())
    assert context.header.session_id == "aa3cce0eb387d140d"
    assert context.header.parent_session_id == MAIN.stem
    assert context.n_entries == 23
    assert context.items[0].message.blocks[0].text == "say hello from subagent"


def test_a_report_of_progress_that_hangs_on_nothing_hides_no_message() -> None:
    claude = ClaudeFile()
    question = claude.user("one")
    answer = claude.assistant(text("two"))
    claude.record("progress", parent="no record", data={"type": "hook_progress"})
    assert entry_ids(claude) == [question, answer]


def test_side_chains_in_the_main_file_are_not_sent() -> None:
    claude = ClaudeFile()
    claude.user("one")
    aside = claude.record("user", sidechain=True, message={"role": "user", "content": "aside"})
    answer = claude.assistant(text("two"))
    claude.record("user", parent=aside, sidechain=True, message={"role": "user", "content": "x"})
    assert entry_ids(claude) == [claude.uuids[0], answer]
    assert read_context(claude.data).leaf_id == answer


def test_the_results_of_parallel_calls_are_all_sent() -> None:
    claude = ClaudeFile()
    claude.user("go")
    first = claude.assistant(call("t1"), answer_id="msg_1")
    second = claude.assistant(call("t2"), answer_id="msg_1")
    one = claude.user([result("t1", "one")], parent=first)
    two = claude.user([result("t2", "two")], parent=second)
    done = claude.assistant(text("done"))
    assert entry_ids(claude) == [claude.uuids[0], first, second, one, two, done]


@pytest.mark.parametrize("last", [0, 1, 2])
def test_parallel_results_are_sent_whichever_of_them_the_thread_goes_on_from(last: int) -> None:
    claude = ClaudeFile()
    claude.user("go")
    lines = [claude.assistant(call(f"t{n}"), answer_id="msg_1") for n in range(3)]
    results = [claude.user([result(f"t{n}", "r")], parent=lines[n]) for n in range(3)]
    claude.leaf = results[last]
    claude.assistant(text("done"))
    items = read_context(claude.data).items
    blocks = [block for item in items for block in item.message.blocks]
    calls = {block.call_id for block in blocks if isinstance(block, ToolCall)}
    answered = {block.call_id for block in blocks if isinstance(block, ToolResult)}
    assert calls == answered == {"t0", "t1", "t2"}


def test_a_result_is_given_the_name_of_its_tool() -> None:
    claude = ClaudeFile()
    claude.assistant(call("t1", "Read", file_path="a.py"))
    claude.user([result("t1", [text("content")], is_error=True)])
    block = read_context(claude.data).items[-1].message.blocks[0]
    assert isinstance(block, ToolResult)
    assert (block.name, block.is_error, block.content[0].text) == ("Read", True, "content")


def test_the_blocks_of_one_answer_become_one_message() -> None:
    claude = ClaudeFile()
    claude.user("go")
    claude.assistant(thinking("hm"), text("yes"), call("t1"))
    messages = read_messages(claude.data)
    assert len(messages) == 2
    assert [block["type"] for block in messages[1]["content"]] == ["thinking", "text", "tool_use"]


def test_preserved_records_stand_between_summary_and_rest_in_the_order_named() -> None:
    claude = ClaudeFile()
    claude.user("dropped")
    first = claude.user("first")
    second = claude.assistant(text("second"))
    claude.boundary(preserved=[second, first])
    summary = claude.summary("S")
    after = claude.user("after")
    assert entry_ids(claude) == [summary, second, first, after]


def test_a_preserved_record_that_is_missing_is_passed_over() -> None:
    claude = ClaudeFile()
    kept = claude.user("kept")
    claude.boundary(preserved=["no-such-record", kept])
    summary = claude.summary("S")
    assert entry_ids(claude) == [summary, kept]


def test_the_abandoned_branch_of_a_rewind_is_not_sent() -> None:
    claude = ClaudeFile()
    root = claude.user("root")
    claude.assistant(text("left"))
    claude.leaf = root
    right = claude.assistant(text("right"))
    assert entry_ids(claude) == [root, right]


def test_answers_that_claude_code_made_itself_report_no_usage() -> None:
    claude = ClaudeFile()
    claude.user("one")
    claude.assistant(text("API error"), model="<synthetic>", usage=0)
    claude.assistant(text("Prompt is too long"), isApiErrorMessage=True, usage=5)
    answers = [i.message for i in read_context(claude.data).items if i.category == "assistant"]
    assert [(answer.usage, answer.model) for answer in answers] == [(None, None), (None, None)]


def test_the_last_iteration_of_an_answer_tells_its_usage() -> None:
    claude = ClaudeFile()
    claude.user("one")
    usage = {
        "input_tokens": 100,
        "output_tokens": 9,
        "iterations": [
            {"input_tokens": 40, "output_tokens": 4},
            {"input_tokens": 60, "cache_read_input_tokens": 7, "output_tokens": 5},
        ],
    }
    claude.assistant(text("two"), usage=usage)
    found = read_context(claude.data).items[-1].message.usage
    assert found is not None
    assert found.n_total == 72


def test_notes_without_an_id_are_counted_and_not_sent() -> None:
    claude = ClaudeFile()
    claude.note("queue-operation", content="synthetic")
    claude.user("one")
    claude.note("last-prompt", lastPrompt="one")
    context = read_context(claude.data)
    assert context.n_entries == 3
    assert len(context.items) == 1


def test_a_summary_is_sent_though_only_the_transcript_shows_it() -> None:
    claude = ClaudeFile()
    claude.user("seen in the transcript only", isVisibleInTranscriptOnly=True)
    claude.boundary()
    summary = claude.summary("S")
    assert entry_ids(claude) == [summary]


def test_nul_padding_that_a_crash_left_is_no_problem() -> None:
    claude = ClaudeFile()
    claude.user("one")
    claude.raw(b"\0" * 4096 + b"\n")
    claude.user("two")
    context = read_context(claude.data)
    assert context.problems == ()
    assert len(context.items) == 2


def test_a_summary_is_found_behind_the_attachments_that_follow_its_boundary() -> None:
    """As 2.1.329 writes after a compaction of its own."""
    claude = ClaudeFile()
    claude.user("before")
    claude.boundary()
    claude.attachment("session context")
    claude.attachment("date")
    claude.summary("What was done.")
    claude.boundary()
    claude.summary("What was done later.")
    context = read_context(claude.data)
    read = [
        CLAUDE_CODE.read_compaction(MemoryLines(claude.data), ref) for ref in context.compactions
    ]
    assert [found.summary for found in read if found] == ["What was done.", "What was done later."]
