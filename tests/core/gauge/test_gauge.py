"""The gauge: which figure it takes, and what it counts on top."""

import msgspec
import pytest

from claude_files import ClaudeFile, call, result, text
from pi_files import PiFile, usage_of
from reading import read_context
from ullage.core.gauge.gauge import (
    Gauge,
    UsedSource,
    Window,
    gauge_line,
    gauge_text,
    measure,
    short_tokens,
)

WINDOW = Window(n_tokens=1000, source="setting", detail="your setting")


def gauge(session: PiFile | ClaudeFile) -> Gauge:
    """Measure a session; a character counts as a token."""
    return measure(read_context(session.data), WINDOW, len)


def figures(session: PiFile | ClaudeFile) -> tuple[str, int, int]:
    found = gauge(session)
    assert found.used_tokens == found.n_reported + found.n_noted + found.n_counted
    assert found.utilization == found.used_tokens / 1000
    return found.used_source, found.n_reported + found.n_noted, found.n_counted


def test_the_last_answer_reports_and_what_follows_is_counted() -> None:
    pi = PiFile()
    pi.user("x" * 70)
    pi.assistant("answer", usage=300)
    pi.user("12345")
    assert figures(pi) == ("reported", 300, 5)


def test_nothing_reported_means_everything_is_counted() -> None:
    pi = PiFile()
    pi.user("12345")
    pi.assistant("123", usage=None)
    assert figures(pi) == ("counted", 0, 8)


def test_an_empty_session_is_counted_as_nothing() -> None:
    assert figures(PiFile()) == ("counted", 0, 0)


@pytest.mark.parametrize(
    "skipped",
    [
        {"usage": 900, "stop": "error"},
        {"usage": 900, "stop": "aborted"},
        {"usage": 0},
        {"usage": None},
        {"usage": {"totalTokens": 0, "input": 0, "output": 0}},
        {"usage": {"totalTokens": "900"}},
        {"usage": {"totalTokens": True}},
        {"usage": {"totalTokens": -900}},
        {"usage": {"input": -900, "output": 1}},
        {"usage": {}},
    ],
    ids=repr,
)
def test_an_answer_that_reports_nothing_is_skipped(skipped: dict) -> None:
    pi = PiFile()
    pi.assistant("first", usage=300)
    pi.assistant("12345", **skipped)
    assert figures(pi) == ("reported", 300, 5)


def test_without_a_total_the_parts_are_added() -> None:
    pi = PiFile()
    pi.assistant("a", usage={"input": 1, "output": 20, "cacheRead": 300, "cacheWrite": 4000})
    assert figures(pi) == ("reported", 4321, 0)


def test_caches_are_never_added_up_over_turns() -> None:
    pi = PiFile()
    for _ in range(5):
        pi.user("")
        pi.assistant("", usage=usage_of(100) | {"cacheRead": 90})
    assert gauge(pi).used_tokens == 100


def test_usage_from_before_a_compaction_is_never_used() -> None:
    pi = PiFile()
    kept = pi.user("12345")
    pi.assistant("123", usage=900)
    pi.compaction("S", kept)
    source, n_reported, n_counted = figures(pi)
    assert (source, n_reported) == ("counted", 0)
    assert n_counted == len(read_context(pi.data).items[0].message.blocks[0].text) + 8


def test_an_answer_after_the_compaction_reports_again() -> None:
    pi = PiFile()
    kept = pi.user("one")
    pi.assistant("two", usage=900)
    pi.compaction("S", kept)
    pi.user("three")
    pi.assistant("four", usage=120)
    pi.user("12")
    assert figures(pi) == ("reported", 120, 2)


def test_a_failed_answer_after_the_compaction_leaves_the_old_usage_unused() -> None:
    pi = PiFile()
    kept = pi.user("12345")
    pi.assistant("123", usage=900)
    pi.compaction("S", kept)
    pi.assistant("", usage=900, stop="error")
    assert gauge(pi).n_reported == 0


def test_a_size_that_the_compaction_noted_is_an_estimate() -> None:
    pi = PiFile()
    kept = pi.user("one")
    pi.assistant("two", usage=900)
    pi.compaction("S", kept, details={"tokensAfter": 60})
    assert figures(pi) == ("estimated", 60, 0)
    pi.user("12345")
    assert figures(pi) == ("estimated", 60, 5)


def test_of_a_claude_compaction_the_noted_size_and_what_came_after_count() -> None:
    claude = ClaudeFile()
    kept = claude.user("one")
    claude.assistant(text("two"), usage=900)
    claude.boundary(preserved=[kept], n_after=60)
    claude.summary("S")
    claude.attachment("a reminder that the agent adds by itself")
    assert figures(claude) == ("estimated", 60, 0)
    claude.user("12345")
    assert figures(claude) == ("estimated", 60, 5)
    claude.assistant(text("three"), usage=120)
    assert figures(claude) == ("reported", 120, 0)


def test_a_claude_compaction_without_a_noted_size_is_counted() -> None:
    claude = ClaudeFile()
    claude.user("one")
    claude.assistant(text("two"), usage=900)
    claude.boundary(n_after=None)
    claude.summary("12345")
    assert figures(claude) == ("counted", 0, 5)


def beginning(claude: ClaudeFile) -> tuple[str, int, int, int]:
    """Measure with the messages from before the last compaction as the session's beginning."""
    context = read_context(claude.data)
    earlier = claude.data.partition(b'"compact_boundary"')[0].rpartition(b"\n")[0]
    found = measure(context, WINDOW, len, read_beginning=lambda: read_context(earlier).items)
    assert found.used_tokens is not None
    assert found.used_tokens == (
        found.n_reported + found.n_noted + found.n_counted + found.n_outside
    )
    return found.used_source, found.n_noted, found.n_counted, found.n_outside


def test_after_a_compaction_what_the_first_request_held_beyond_its_messages_is_added() -> None:
    claude = ClaudeFile()
    claude.user("x" * 40)
    # 500 sent and an answer of 7: the system prompt and the tools are all but the message.
    claude.assistant(text("first"), call("c1"), usage=507, answer_id="msg_a")
    claude.user([result("c1", "y" * 100)])
    claude.assistant(text("later"), usage=990)
    claude.boundary(n_after=None)
    claude.summary("12345")
    assert beginning(claude) == ("estimated", 0, 5, 460)
    claude.user("123")
    assert beginning(claude) == ("estimated", 0, 8, 460)
    claude.assistant(text("after"), usage=600)
    assert beginning(claude) == ("reported", 0, 0, 0)


def test_a_size_that_claude_code_notes_is_of_the_messages_alone() -> None:
    claude = ClaudeFile()
    claude.user("x" * 40)
    claude.assistant(text("first"), usage=507)
    claude.boundary(n_after=60)
    claude.summary("12345")
    assert beginning(claude) == ("estimated", 60, 0, 460)


def test_the_size_after_a_prune_behind_that_holds_all() -> None:
    claude = ClaudeFile()
    claude.user("x" * 40)
    claude.assistant(text("first"), usage=507)
    earlier = read_context(claude.data).items
    claude.boundary(n_after=60)
    claude.summary("12345")
    note = {"tokensBefore": 900, "tokensAfter": 500, "nPruned": 1}
    claude.note("ullage-prune", id="p1", **note)
    found = measure(read_context(claude.data), WINDOW, len, read_beginning=lambda: earlier)
    assert (found.used_source, found.used_tokens, found.n_outside) == ("estimated", 500, 0)


def test_a_first_request_that_held_no_more_than_was_counted_adds_nothing() -> None:
    claude = ClaudeFile()
    claude.user("x" * 600)
    claude.assistant(text("first"), usage=507)
    claude.boundary(n_after=None)
    claude.summary("12345")
    assert beginning(claude) == ("counted", 0, 5, 0)


def test_a_size_that_ullage_noted_holds_all() -> None:
    pi = PiFile()
    kept = pi.user("x" * 40)
    pi.assistant("two", usage={"input": 500, "output": 7, "totalTokens": 507})
    items = read_context(pi.data).items
    pi.compaction("S", kept, details={"tokensAfter": 400})
    found = measure(read_context(pi.data), WINDOW, len, read_beginning=lambda: items)
    assert (found.used_tokens, found.n_outside) == (400, 0)


def test_an_answer_on_several_lines_is_counted_once() -> None:
    claude = ClaudeFile()
    claude.user("go")
    claude.assistant(text("x" * 50), text("y" * 50), call("t1"), usage=300)
    assert figures(claude) == ("reported", 300, 0)


def test_results_that_follow_the_lines_of_an_answer_are_counted() -> None:
    claude = ClaudeFile()
    claude.user("go")
    first = claude.assistant(call("t1"), answer_id="msg_1", usage=300)
    second = claude.assistant(call("t2"), answer_id="msg_1", usage=300)
    claude.user([result("t1", "12345")], parent=first)
    claude.user([result("t2", "123")], parent=second)
    assert figures(claude) == ("reported", 300, 8)


def test_a_result_that_stands_between_the_lines_of_an_answer_is_counted_too() -> None:
    claude = ClaudeFile()
    claude.user("go")
    first = claude.assistant(call("t1"), answer_id="msg_1", usage=300)
    claude.user([result("t1", "12345")], parent=first)
    claude.leaf = first
    second = claude.assistant(call("t2"), answer_id="msg_1", usage=300)
    claude.user([result("t2", "123")], parent=second)
    assert figures(claude) == ("reported", 300, 8)


def test_side_chains_have_gauges_of_their_own() -> None:
    claude = ClaudeFile()
    claude.user("go")
    claude.assistant(text("two"), usage=300)
    message = {"role": "assistant", "id": "m", "content": [text("x")], "usage": {"input_tokens": 9}}
    claude.record("assistant", sidechain=True, message=message)
    assert figures(claude) == ("reported", 300, 0)


def test_answers_that_claude_code_made_itself_are_skipped() -> None:
    claude = ClaudeFile()
    claude.user("go")
    claude.assistant(text("two"), usage=300)
    claude.assistant(text("12345"), model="<synthetic>", usage=7)
    claude.assistant(text("123"), isApiErrorMessage=True, usage=7)
    assert figures(claude) == ("reported", 300, 8)


def test_images_calls_thinking_and_results_are_counted() -> None:
    pi = PiFile()
    pi.user([{"type": "image", "data": "x" * 99, "mimeType": "image/png"}])
    assert gauge(pi).used_tokens == 1200
    pi.assistant(calls=[("c1", "bash", {"a": 1})], usage=None)
    assert gauge(pi).used_tokens == 1200 + len("bash") + len('{"a":1}')
    pi.result("c1", "12345")
    assert gauge(pi).used_tokens == 1200 + 11 + 5


def test_an_overflowing_context_is_more_than_all_of_the_window() -> None:
    pi = PiFile()
    pi.assistant("", usage=1500)
    assert gauge(pi).utilization == 1.5
    assert gauge_text(gauge(pi)) == "150%"


def pruned(pi: PiFile, n_tokens_after: int | None) -> str:
    data = {"tokensBefore": 900, "tokensAfter": n_tokens_after, "pruned": 1}
    return pi.entry("custom", customType="ullage.prune", data=data)


def test_a_usage_from_before_a_prune_says_nothing_and_the_noted_figure_serves() -> None:
    pi = PiFile()
    pi.assistant("before", usage=900)
    pruned(pi, 300)
    assert figures(pi) == ("estimated", 300, 0)
    pi.user("12345")
    pi.custom_message("123")
    assert figures(pi) == ("estimated", 300, 8)
    pi.assistant("later", usage=400)
    assert figures(pi) == ("reported", 400, 0)


def test_the_later_one_of_a_prune_and_a_compaction_counts() -> None:
    pi = PiFile()
    kept = pi.user("12345")
    pruned(pi, 300)
    pi.compaction("sum", kept, details={"tokensAfter": 200})
    assert figures(pi) == ("estimated", 200, 0)
    pi.user("1234")
    pruned(pi, 150)
    assert figures(pi) == ("estimated", 150, 0)


def test_a_prune_without_a_figure_means_everything_is_counted() -> None:
    pi = PiFile()
    kept = pi.user("12345")
    pi.compaction("sum", kept, details={"tokensAfter": 200})
    pi.assistant("abc", usage=300)
    n_items = sum(len(item.message.blocks) for item in read_context(pi.data).items)
    pruned(pi, None)
    assert n_items == 3
    source, n_noted, n_counted = figures(pi)
    assert (source, n_noted) == ("counted", 0)
    assert n_counted > len("12345" + "abc" + "sum")


def made(used: int | None, source: UsedSource = "reported", window: int = 200_000) -> Gauge:
    return Gauge(
        used_tokens=used,
        used_source=source,
        n_reported=used or 0,
        n_noted=0,
        n_counted=0,
        window=Window(n_tokens=window, source="model table", detail=""),
        utilization=None if used is None else used / window,
    )


@pytest.mark.parametrize(
    ("used", "source", "shown"),
    [
        (84_000, "reported", "42%"),
        (84_000, "counted", "~42%"),
        (84_000, "estimated", "~42%"),
        (None, "unknown", "?"),
        (0, "counted", "~0%"),
    ],
)
def test_the_gauge_in_a_few_characters(used: int | None, source: UsedSource, shown: str) -> None:
    assert gauge_text(made(used, source)) == shown


def test_a_share_of_a_window_that_nobody_named_is_an_estimate() -> None:
    doubtful = Window(n_tokens=200_000, source="default", detail="")
    gauge = msgspec.structs.replace(made(84_000), window=doubtful)
    assert gauge_text(gauge) == "~42%"


def test_the_line_for_the_agent_is_worded_as_specified() -> None:
    saved = gauge_line(made(162_000), is_checkpoint_saved=True)
    assert saved == "[Context: 81% | 162k/200k tokens | Checkpoint saved]"
    assert gauge_line(made(162_000), is_checkpoint_saved=False) == (
        "[Context: 81% | 162k/200k tokens]"
    )
    assert gauge_line(made(None), is_checkpoint_saved=False) == "[Context: ? | ?/200k tokens]"


@pytest.mark.parametrize(
    ("n_tokens", "shown"),
    [
        (0, "0"),
        (999, "999"),
        (1000, "1k"),
        (1499, "1k"),
        (162_000, "162k"),
        (999_499, "999k"),
        (999_500, "1.0M"),
        (1_048_576, "1.0M"),
        (2_000_000, "2.0M"),
    ],
)
def test_tokens_in_short(n_tokens: int, shown: str) -> None:
    assert short_tokens(n_tokens) == shown
