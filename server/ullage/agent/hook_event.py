"""What an agent writes to a hook's standard input: bytes in, an event out.

Three programs run the same command. Claude Code and Codex write snake_case. VS Code's Copilot
reads Claude Code's settings and runs the hooks that it finds there with input of its own:
camelCase for the event and the session, and a timestamp, which the others do not give.
"""

from typing import TypeAlias

import msgspec

from ullage.agent.hook_agents import HookAgent

MAX_ERROR_CHARS = 2000
"""What is kept of a tool's error; whoever stores it cuts again (chosen)."""
_MAX_ID_CHARS = 200
"""An id is a UUID in all three; a longer one is no name for a folder (chosen)."""


class HookSession(msgspec.Struct, frozen=True, kw_only=True):
    """The session that an event is of."""

    agent: HookAgent
    session_id: str
    transcript: str | None
    cwd: str | None

    @property
    def session_key(self) -> str:
        return f"{self.agent.name}:{self.session_id}"

    @property
    def has_transcript(self) -> bool:
        """Whether the agent has transcripts that we read."""
        return self.agent.transcripts is not None


class CompactionDue(msgspec.Struct, frozen=True, kw_only=True):
    """The agent is about to compact; it may yet decide not to."""

    origin: HookSession


class SessionResumed(msgspec.Struct, frozen=True, kw_only=True):
    """A session goes on: it was just compacted, or was opened again."""

    origin: HookSession
    is_compacted: bool


class SessionBegun(msgspec.Struct, frozen=True, kw_only=True):
    """A session began without a past: a new one, or one after a `/clear`."""

    origin: HookSession


class PromptSent(msgspec.Struct, frozen=True, kw_only=True):
    """The user sent a message."""

    origin: HookSession
    prompt: str


class ToolUsed(msgspec.Struct, frozen=True, kw_only=True):
    """A tool of the session itself ran, not one of a subagent."""

    origin: HookSession
    call_id: str
    name: str
    arguments: str
    """JSON text."""
    is_error: bool
    error: str


HookEvent: TypeAlias = CompactionDue | SessionResumed | SessionBegun | PromptSent | ToolUsed


class _Input(msgspec.Struct, kw_only=True):
    """The fields that we use, in every spelling; others are passed over unread."""

    hook_event_name: str | None = None
    hook_event_name_in_camel: str | None = msgspec.field(name="hookEventName", default=None)
    session_id: str | None = None
    session_id_in_camel: str | None = msgspec.field(name="sessionId", default=None)
    transcript_path: str | None = None
    cwd: str | None = None
    timestamp: msgspec.Raw = msgspec.Raw()
    agent_id: str | None = None
    source: str | None = None
    prompt: str | None = None
    tool_name: str | None = None
    tool_use_id: str | None = None
    tool_input: msgspec.Raw = msgspec.Raw()
    tool_response: msgspec.Raw = msgspec.Raw()
    error: str | None = None


class _Response(msgspec.Struct, kw_only=True):
    """How a tool's answer says that it failed: in MCP's camelCase, and the agents' own."""

    is_error: bool | None = None
    is_error_in_camel: bool | None = msgspec.field(name="isError", default=None)
    error: str | None = None


_decode = msgspec.json.Decoder(_Input).decode
_decode_response = msgspec.json.Decoder(_Response).decode


def parse_event(data: bytes, registered_for: HookAgent) -> HookEvent | None:
    """Read what stands on standard input; None for what is no event that we act on.

    What a subagent does comes with an `agent_id` and is no event of the session; an `agent_type`
    alone is the main thread of a session that was begun as an agent.
    """
    try:
        fields = _decode(data)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    origin = _origin(fields, registered_for)
    if origin is None or fields.agent_id:
        return None
    match fields.hook_event_name or fields.hook_event_name_in_camel:
        case "PreCompact":
            return CompactionDue(origin=origin)
        case "SessionStart":
            return _session_started(fields.source, origin)
        case "UserPromptSubmit":
            return PromptSent(origin=origin, prompt=fields.prompt or "")
        case "PostToolUse" | "PostToolUseFailure" as name:
            return _tool_used(fields, origin, has_failed=name == "PostToolUseFailure")
        case _:
            return None


def _origin(fields: _Input, registered_for: HookAgent) -> HookSession | None:
    session_id = fields.session_id or fields.session_id_in_camel
    if not session_id or len(session_id) > _MAX_ID_CHARS:
        return None
    is_dialect = bool(
        fields.session_id_in_camel or fields.hook_event_name_in_camel or bytes(fields.timestamp)
    )
    return HookSession(
        agent=(registered_for.dialect if is_dialect else None) or registered_for,
        session_id=session_id,
        transcript=fields.transcript_path or None,
        cwd=fields.cwd or None,
    )


def _session_started(
    source: str | None, origin: HookSession
) -> SessionResumed | SessionBegun | None:
    """Tell how a session started; a fork begins with all of its origin's past."""
    match source:
        case "compact" | "resume":
            return SessionResumed(origin=origin, is_compacted=source == "compact")
        case "startup" | "clear":
            return SessionBegun(origin=origin)
        case _:
            return None


def _tool_used(fields: _Input, origin: HookSession, *, has_failed: bool) -> ToolUsed | None:
    if not fields.tool_name:
        return None
    error = fields.error or ""
    try:
        response = _decode_response(bytes(fields.tool_response) or b"{}")
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        # Text, or a shape that says nothing of a failure.
        response = _Response()
    if response.is_error or response.is_error_in_camel:
        has_failed, error = True, error or response.error or ""
    return ToolUsed(
        origin=origin,
        call_id=fields.tool_use_id or "",
        name=fields.tool_name,
        arguments=bytes(fields.tool_input).decode("utf-8", "replace") or "{}",
        is_error=has_failed,
        error=error[:MAX_ERROR_CHARS] if has_failed else "",
    )
