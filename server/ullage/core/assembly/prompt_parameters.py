"""What a system prompt is made of: the parameters by the names that runtimes send.

They are those of OpenClaw's `buildEmbeddedSystemPrompt` (docs/design/assembly.md, "System
prompt"); a runtime leaves out what it does not have.
"""

from typing import Literal, TypeAlias

import msgspec

from ullage.core.assembly.bootstrap import ContextFile
from ullage.core.transcript.entries import JsonObject

PromptMode: TypeAlias = Literal["full", "minimal"]
ThinkLevel: TypeAlias = Literal[
    "off", "minimal", "low", "medium", "high", "xhigh", "adaptive", "max", "ultra"
]
ReasoningLevel: TypeAlias = Literal["off", "on", "stream"]
"""Both as OpenClaw has them (its source, `thinking.ts`)."""


class _Parameters(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Base of what runtimes send in camelCase."""


class RuntimeFacts(_Parameters, frozen=True, kw_only=True):
    """What an agent runs on, and where its user talks to it."""

    agent_id: str | None = None
    host: str | None = None
    os: str | None = None
    arch: str | None = None
    node: str | None = None
    model: str | None = None
    provider: str | None = None
    capabilities: tuple[str, ...] = ()
    channel: str | None = None
    channel_actions: tuple[str, ...] = ()
    """What may be done in the channel beside answering, such as `react`."""


class SandboxFacts(_Parameters, frozen=True, kw_only=True):
    """Where tools run, if not on the machine itself."""

    enabled: bool
    workspace_dir: str | None = None
    workspace_access: Literal["none", "ro", "rw"] | None = None


class Tool(_Parameters, frozen=True, kw_only=True):
    """A tool that the model may call."""

    name: str
    description: str = ""
    parameters: JsonObject | None = None
    """JSON Schema of its arguments."""


class PromptParameters(_Parameters, frozen=True, kw_only=True):
    """All that a system prompt may say."""

    workspace_dir: str = ""
    default_think_level: ThinkLevel | None = None
    reasoning_level: ReasoningLevel | None = None
    extra_system_prompt: str | None = None
    owner_numbers: tuple[str, ...] = ()
    """Numbers of the people whose messages are the user's."""
    reasoning_tag_hint: bool = False
    """Whether the model is to mark its reasoning by tags, as it has no field for it."""
    heartbeat_prompt: str | None = None
    skills_prompt: str | None = None
    docs_path: str | None = None
    tts_hint: str | None = None
    """How to write what is read aloud, where it is."""
    workspace_notes: tuple[str, ...] = ()
    prompt_mode: PromptMode = "full"
    """`minimal` is for subagents."""
    runtime_info: RuntimeFacts = RuntimeFacts()
    sandbox_info: SandboxFacts | None = None
    tools: tuple[Tool, ...] = ()
    user_timezone: str | None = None
    user_time: str | None = None
    context_files: tuple[ContextFile, ...] = ()


class SubagentParameters(_Parameters, frozen=True, kw_only=True):
    """What a subagent is told of itself."""

    requester_session_key: str | None = None
    requester_origin: JsonObject | None = None
    """Where the answer goes in the end, such as `{"channel": "telegram"}`."""
    child_session_key: str | None = None
    label: str | None = None
    task: str | None = None
