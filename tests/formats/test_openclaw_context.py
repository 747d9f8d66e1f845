"""The context of a pi session, rule by rule."""

import pytest

from pi_files import PiFile
from reading import read_context, read_messages


def texts_of(pi: PiFile) -> list[object]:
    return [message.get("content", message.get("summary")) for message in read_messages(pi.data)]


def test_a_compaction_shows_its_summary_then_what_it_kept_then_what_came_after() -> None:
    pi = PiFile()
    pi.user("one")
    kept = pi.user("two")
    pi.compaction("S", kept)
    pi.user("three")
    assert texts_of(pi) == ["S", "two", "three"]
    items = read_context(pi.data).items
    assert [item.is_after_boundary for item in items] == [True, False, True]


@pytest.mark.parametrize("first_kept", ["deadbeef", "", None, 7], ids=repr)
def test_a_first_kept_entry_that_is_not_on_the_path_keeps_nothing(first_kept: object) -> None:
    pi = PiFile()
    pi.user("one")
    pi.compaction("S", first_kept)
    pi.user("two")
    assert texts_of(pi) == ["S", "two"]


def test_an_older_compaction_inside_the_kept_part_gives_no_message() -> None:
    pi = PiFile()
    pi.user("one")
    first = pi.user("two")
    pi.compaction("earlier summary", first)
    pi.user("three")
    pi.compaction("later summary", first)
    assert texts_of(pi) == ["later summary", "two", "three"]
    assert len(read_context(pi.data).compactions) == 2


def test_only_the_branch_that_ends_in_the_last_line_is_sent() -> None:
    pi = PiFile()
    root = pi.user("root")
    pi.user("left")
    pi.compaction("left summary", root)
    pi.leaf = root
    pi.user("right")
    assert texts_of(pi) == ["root", "right"]
    assert read_context(pi.data).compactions == ()


def test_a_leaf_that_is_no_message_still_ends_the_path() -> None:
    pi = PiFile()
    root = pi.user("root")
    pi.user("left")
    pi.leaf = root
    label = pi.entry("label", targetId=root, label="here")
    assert texts_of(pi) == ["root"]
    assert read_context(pi.data).leaf_id == label


def test_the_latest_edit_of_a_message_counts() -> None:
    pi = PiFile()
    first, second = pi.user("one"), pi.user("two")
    pi.context_edit(first, {"content": "uno"})
    pi.context_edit(first, {"content": "eins"})
    pi.context_edit(second, None)
    assert texts_of(pi) == ["eins"]


def test_an_edit_that_stands_before_the_kept_part_does_not_count() -> None:
    pi = PiFile()
    first = pi.user("one")
    pi.context_edit(first, {"content": "uno"})
    kept = pi.user("two")
    pi.compaction("S", kept)
    assert texts_of(pi) == ["S", "two"]


def test_a_text_that_replaces_an_answer_becomes_a_block() -> None:
    pi = PiFile()
    pi.user("one")
    answer = pi.assistant("long answer")
    pi.context_edit(answer, {"content": "short"})
    assert texts_of(pi) == ["one", [{"type": "text", "text": "short"}]]


def test_system_messages_of_the_kept_part_are_dropped() -> None:
    pi = PiFile()
    kept = pi.message("system", content="old rules")
    pi.user("one")
    pi.compaction("S", kept, systemMessage={"role": "system", "content": "rules", "timestamp": 1})
    pi.message("system", content="new rules")
    assert texts_of(pi) == ["rules", "S", "one", "new rules"]


@pytest.mark.parametrize("role", ["user", "assistant", "toolResult"])
def test_a_message_without_content_gets_an_empty_list(role: str) -> None:
    pi = PiFile()
    pi.message(role, content=None)
    assert texts_of(pi) == [[]]


def test_an_empty_branch_summary_is_not_sent() -> None:
    pi = PiFile()
    pi.user("one")
    pi.branch_summary("")
    pi.branch_summary("what happened there")
    assert texts_of(pi) == ["one", "what happened there"]


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"output": "hi"}, "Ran `ls`\n```\nhi\n```"),
        ({"output": ""}, "Ran `ls`\n(no output)"),
        ({"output": "", "exitCode": 2}, "Ran `ls`\n(no output)\n\nCommand exited with code 2"),
        ({"output": "", "exitCode": 0}, "Ran `ls`\n(no output)"),
        ({"cancelled": True, "exitCode": 2}, "Ran `ls`\n(no output)\n\n(command cancelled)"),
        (
            {"output": "x", "truncated": True, "fullOutputPath": "/tmp/o"},
            "Ran `ls`\n```\nx\n```\n\n[Output truncated. Full output: /tmp/o]",
        ),
    ],
    ids=["output", "none", "failed", "succeeded", "cancelled", "truncated"],
)  # fmt: skip
def test_a_command_of_the_user_is_told_in_the_words_of_pi(fields: dict, text: str) -> None:
    pi = PiFile()
    pi.message("bashExecution", command="ls", **fields)
    (item,) = read_context(pi.data).items
    assert [block.text for block in item.message.blocks] == [text]


def test_a_command_that_the_user_excluded_costs_nothing() -> None:
    pi = PiFile()
    pi.message("bashExecution", command="ls", output="x", excludeFromContext=True)
    (item,) = read_context(pi.data).items
    assert item.message.blocks == ()


def test_the_model_is_that_of_the_last_answer_or_of_a_later_change() -> None:
    pi = PiFile()
    pi.assistant("one", model="gpt-5")
    assert read_context(pi.data).model == "gpt-5"
    pi.entry("model_change", provider="openai", modelId="o3")
    assert read_context(pi.data).model == "o3"


def test_the_model_is_known_though_only_the_dropped_part_names_it() -> None:
    pi = PiFile()
    pi.assistant("one", model="gpt-5")
    kept = pi.user("two")
    pi.compaction("S", kept)
    assert read_context(pi.data).model == "gpt-5"


def test_entries_of_version_1_are_chained_and_their_compactions_count_lines() -> None:
    pi = PiFile(version=1)
    pi.user("one")
    pi.user("two")
    pi.compaction("S", 2)  # the header is line 0
    pi.message("hookMessage", customType="h", content="hook", display=True)
    assert texts_of(pi) == ["S", "two", "hook"]
    assert read_messages(pi.data)[-1]["role"] == "custom"


def test_what_the_writer_of_a_compaction_noted_is_read() -> None:
    pi = PiFile()
    kept = pi.user("one")
    pi.compaction("S", kept, details={"tokensAfter": 55, "modifiedFiles": ["a.py"]})
    boundary = read_context(pi.data).boundary
    assert boundary is not None
    assert (boundary.summary, boundary.first_kept_id) == ("S", kept)
    assert (boundary.n_tokens_before, boundary.n_tokens_after) == (900, 55)
    assert boundary.details["modifiedFiles"] == ["a.py"]
