"""Standard input of a hook becomes an event, or nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hook_inputs import SESSION_ID, claude, codex, copilot, data, tool_call
from pi_files import Json
from ullage.agent.hook_agents import hook_agent
from ullage.agent.hook_event import (
    CompactionDue,
    HookEvent,
    PromptSent,
    SessionBegun,
    SessionResumed,
    ToolUsed,
    parse_event,
)


@pytest.mark.parametrize(
    ("told", "agent", "kind"),
    [
        (claude("PreCompact", trigger="auto", custom_instructions=None), "claude-code", "ahead"),
        (codex("PreCompact", trigger="manual"), "codex", "ahead"),
        (copilot("PreCompact", trigger="auto"), "claude-code", "ahead"),
        (claude("SessionStart", source="compact"), "claude-code", "compacted"),
        (codex("SessionStart", source="compact"), "codex", "compacted"),
        (claude("SessionStart", source="resume", context_tokens=17), "claude-code", "resumed"),
        (claude("SessionStart", source="startup"), "claude-code", "begun"),
        (claude("SessionStart", source="clear"), "claude-code", "begun"),
        (codex("SessionStart", source="startup"), "codex", "begun"),
        (claude("SessionStart", source="startup", agent_id="a1"), "claude-code", None),
        (claude("SessionStart", source="fork"), "claude-code", None),
        (copilot("SessionStart", source="new"), "claude-code", None),
        (claude("UserPromptSubmit", prompt="Go on."), "claude-code", "prompted"),
        (claude("PostToolUse", **tool_call()), "claude-code", "tool"),
        (claude("PostToolUseFailure", **tool_call(error="no")), "claude-code", "tool"),
        (claude("PostToolUse"), "claude-code", None),
        (claude("SubagentStop", agent_type="", agent_id="a1"), "claude-code", None),
        (claude("SubagentStop", agent_type=""), "claude-code", None),
        (claude("Stop"), "claude-code", None),
        (claude("SomethingNew"), "claude-code", None),
        # Of a subagent; an `agent_type` alone is the main thread of `--agent`.
        (claude("PostToolUse", agent_id="a1", agent_type="x", **tool_call()), "claude-code", None),
        (codex("PreCompact", agent_id="a1", agent_type="x", trigger="auto"), "codex", None),
        (claude("SessionStart", source="compact", agent_type="x"), "claude-code", "compacted"),
    ],
)
def test_an_event_is_told_by_its_name_and_its_session(
    told: Json, agent: str, kind: str | None
) -> None:
    assert kind_of(parse_event(data(told), hook_agent(agent))) == kind


@pytest.mark.parametrize(
    ("told", "agent", "expected"),
    [
        (claude("PreCompact"), "claude-code", "claude-code"),
        (codex("PreCompact"), "codex", "codex"),
        (copilot("PreCompact"), "claude-code", "copilot"),
        # In snake_case, as its later pages have it, the timestamp is what tells.
        (claude("PreCompact", timestamp="2026-11-21T10:00:00Z"), "claude-code", "copilot"),
    ],
)
def test_the_agent_is_told_by_its_dialect(told: Json, agent: str, expected: str) -> None:
    event = parse_event(data(told), hook_agent(agent))
    assert event is not None
    assert event.origin.session_key == f"{expected}:{SESSION_ID}"


def test_a_tool_call_has_its_arguments_as_json_text() -> None:
    event = parse_event(
        data(codex("PostToolUse", **tool_call(tool_input={"cmd": "ls"}))), hook_agent("codex")
    )
    assert isinstance(event, ToolUsed)
    assert (event.call_id, event.name, event.arguments) == (
        "toolu_000000001",
        "Edit",
        '{"cmd": "ls"}',
    )
    assert not event.is_error


@pytest.mark.parametrize(
    ("told", "error"),
    [
        (claude("PostToolUseFailure", **tool_call(error="Exit 1\nno file")), "Exit 1\nno file"),
        (claude("PostToolUse", **tool_call(tool_response={"isError": True, "error": "no"})), "no"),
        (claude("PostToolUse", **tool_call(tool_response={"is_error": True})), ""),
    ],
)  # fmt: skip
def test_a_failure_is_told_by_the_event_or_by_the_answer(told: Json, error: str) -> None:
    event = parse_event(data(told), hook_agent("claude-code"))
    assert isinstance(event, ToolUsed)
    assert (event.is_error, event.error) == (True, error)


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"null",
        b"[]",
        b"42",
        b"not JSON",
        b'{"hook_event_name": "PreCompact"',
        b'{"hook_event_name": "PreCompact"}',
        b'{"hook_event_name": "PreCompact", "session_id": ""}',
        b'{"hook_event_name": "PreCompact", "session_id": null}',
        b'{"hook_event_name": "PreCompact", "session_id": 7}',
        b'{"hook_event_name": "PreCompact", "session_id": "' + b"x" * 300 + b'"}',
        b'{"hook_event_name": "PreCompact", "session_id": "\xff"}',
        b"[" * 100_000,
    ],
)
def test_what_is_no_event_is_nothing(raw: bytes) -> None:
    assert parse_event(raw, hook_agent("claude-code")) is None


@given(st.binary() | st.recursive(st.none() | st.text(), st.lists).map(repr).map(str.encode))
def test_any_bytes_are_an_event_or_nothing(raw: bytes) -> None:
    parse_event(raw, hook_agent("codex"))


def kind_of(event: HookEvent | None) -> str | None:
    match event:
        case None:
            return None
        case CompactionDue():
            return "ahead"
        case SessionResumed():
            return "compacted" if event.is_compacted else "resumed"
        case SessionBegun():
            return "begun"
        case PromptSent():
            return "prompted"
        case ToolUsed():
            return "tool"
