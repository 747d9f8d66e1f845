"""Messages in memory give the context that the same messages give in a transcript."""

import json
from typing import get_args

import pytest
from hypothesis import given

from claude_files import ClaudeFile, call, result, text
from codex_files import CodexFile
from pi_files import Json, PiFile, pi_files
from reading import read_context, read_messages
from ullage.core.transcript.context import Context
from ullage.core.transcript.entries import (
    Header,
    Image,
    MessageFormat,
    Speech,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from ullage.formats.in_memory import SessionFacts, context_of_messages
from ullage.formats.registry import message_shape


def held(
    agent: MessageFormat, messages: list[Json], entry_ids: list[str] | None = None, **known: object
) -> Context:
    header = Header(agent=None, session_id="s", version=0, cwd=None)
    said = SessionFacts(header=header, n_compactions=0, **known)
    return context_of_messages(message_shape(agent), messages, said, entry_ids)


@given(pi_files(versions=(3,)))
def test_pis_messages_read_as_its_file_does(pi: PiFile) -> None:
    context = read_context(pi.data)
    found = held("openclaw", read_messages(pi.data))
    assert [item.message for item in found.items] == [item.message for item in context.items]
    for item, original in zip(found.items, context.items, strict=True):
        assert item.native == original.native
        is_injected = original.category == "injected"
        assert item.category == original.category or is_injected
    summary = None if found.boundary is None else found.boundary.summary
    assert summary == (None if context.boundary is None else context.boundary.summary)


def test_claude_codes_messages_read_as_its_file_does() -> None:
    claude = ClaudeFile()
    claude.user("Look at it.")
    claude.assistant(call("toolu_1", command="ls"), usage=100)
    claude.user([result("toolu_1", "a.py", is_error=True)])
    claude.assistant(text("There is one file."), usage=200)
    context = read_context(claude.data)
    found = held("claude-code", [item.native for item in context.items])
    assert [(i.message, i.category) for i in found.items] == [
        (i.message, i.category) for i in context.items
    ]


def test_codexs_items_read_as_its_rollout_does() -> None:
    codex = CodexFile()
    codex.user("Look at it.")
    codex.assistant("I look.")
    context = read_context(codex.data)
    found = held("codex", [item.native for item in context.items])
    assert [(i.message, i.category) for i in found.items] == [
        (i.message, i.category) for i in context.items
    ]


def test_chat_messages_read_as_what_they_are() -> None:
    line = "[Context: 81% | 162k/200k tokens]"
    url = "data:image/png;base64,iVBORw0KGgo="
    function = {"name": "read", "arguments": '{"path": "a.py"}'}
    messages: list[Json] = [
        {"role": "system", "content": "Be brief."},
        {"role": "developer", "content": [{"type": "text", "text": "Be kind."}]},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Look."},
                {"type": "image_url", "image_url": {"url": url}},
                {"type": "later", "more": 1},
            ],
        },
        {
            "role": "assistant",
            "content": None,
            "reasoning_content": "I look.",
            "tool_calls": [{"id": "c1", "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "x = 1"},
        {"role": "assistant", "content": None, "refusal": "No."},
        {"role": "user", "content": line},
    ]
    context = held("openai-chat", messages)
    assert [(item.category, item.message.role, item.message.blocks) for item in context.items] == [
        ("system", "system", (Text(text="Be brief."),)),
        ("system", "system", (Text(text="Be kind."),)),
        (
            "user",
            "user",
            (
                Text(text="Look."),
                Image(media_type="image/png", size_bytes=len(url)),
                Text(text='{"more":1,"type":"later"}'),
            ),
        ),
        (
            "assistant",
            "assistant",
            (
                Thinking(text="I look."),
                ToolCall(call_id="c1", name="read", arguments='{"path": "a.py"}'),
            ),
        ),
        (
            "tool results",
            "tool",
            (ToolResult(call_id="c1", name="read", content=(Text(text="x = 1"),), is_error=False),),
        ),
        ("assistant", "assistant", (Text(text="No."),)),
        ("injected", "user", (Text(text=line, speech=(Speech(speaker="harness", text=line),)),)),
    ]


@pytest.mark.parametrize("agent", get_args(MessageFormat))
def test_each_message_has_an_item(agent: MessageFormat) -> None:
    strange: list[Json] = [{"role": ""}, {"type": "ghost_snapshot"}, {"role": "x", "content": [{}]}]
    assert len(held(agent, strange).items) == len(strange)


def test_ids_are_made_of_the_content_and_stay_as_the_session_grows() -> None:
    user: Json = {"role": "user", "content": "yes"}
    other: Json = {"content": "yes", "role": "user"}
    one = held("claude-code", [user, other])
    more = held("claude-code", [user, other, {"role": "assistant", "content": "Fine."}])
    ids = [item.entry_id for item in one.items]
    assert [item.entry_id for item in more.items][:2] == ids
    assert len(set(ids)) == 2
    again = held("claude-code", [json.loads(json.dumps(other)), user])
    assert [item.entry_id for item in again.items] == ids


def test_a_result_knows_its_tool() -> None:
    messages: list[Json] = [
        {"role": "assistant", "content": [call("toolu_1", "Bash", command="ls")]},
        {"role": "user", "content": [result("toolu_1", "a.py")]},
    ]
    first, second = held("claude-code", messages).items
    assert isinstance(first.message.blocks[0], ToolCall)
    block = second.message.blocks[0]
    assert isinstance(block, ToolResult)
    assert block.name == "Bash"


def test_what_is_reported_belongs_to_the_last_message() -> None:
    messages: list[Json] = [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]
    first, last = held("claude-code", messages, used_tokens=1234).items
    assert first.message.usage is None
    assert last.message.usage is not None
    assert last.message.usage.n_total == 1234


@pytest.mark.parametrize("agent", get_args(MessageFormat))
def test_a_summary_is_read_back_from_its_message(agent: MessageFormat) -> None:
    message = message_shape(agent).make_summary("We looked.", 9, 1)
    context = held(agent, [message, {"role": "user", "content": "Go on."}])
    assert [item.category for item in context.items] == ["summary", "user"]
    assert context.boundary is not None
    assert context.boundary.summary == "We looked."


@pytest.mark.parametrize("shape", get_args(MessageFormat))
def test_the_summary_of_an_assembled_history_is_known_in_every_shape(shape: MessageFormat) -> None:
    summary = {"role": "system", "content": "[Prior conversation summary]\nWe built the mill."}
    found = held(shape, [summary])
    assert found.boundary is not None
    assert found.boundary.summary == "We built the mill."
    assert found.items[0].category == "summary"
