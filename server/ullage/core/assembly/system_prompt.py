"""The system prompt: six sections, in full or for a subagent.

docs/design/assembly.md, "System prompt" and "Subagent prompt".
"""

import json
from collections.abc import Iterable, Iterator
from typing import Literal, TypeAlias

import msgspec

from ullage.core.assembly.bootstrap import ContextFile, is_for_subagents
from ullage.core.assembly.prompt_parameters import (
    PromptParameters,
    RuntimeFacts,
    SandboxFacts,
    SubagentParameters,
    Tool,
)
from ullage.core.text.quoting import visible_line

SectionName: TypeAlias = Literal[
    "Runtime Context",
    "Agent Identity",
    "Skills",
    "Tools Available",
    "Behavioral Hints",
    "Extra System Prompt",
]
HEARTBEAT_ANSWER = "HEARTBEAT_OK"
"""What OpenClaw takes for the answer that nothing is due (its source, `tokens.ts`)."""
_REASONING_TAGS = (
    "Put all reasoning between <think> and </think>, and what the user is to read between <final>"
    " and </final>: nothing else is shown."
)
_SUBAGENT = """\
# Subagent Context

You are a **subagent** spawned by the main agent for a specific task.

## Your Role
- You were created to handle: {task}
- Complete this task. That's your entire purpose.
- You are NOT the main agent. Don't try to be.

## Rules
1. **Stay focused** - Do your assigned task, nothing else
2. **Complete the task** - Your final message will be automatically reported
3. **Don't initiate** - No heartbeats, no proactive actions, no side quests
4. **Be ephemeral** - You may be terminated after task completion

## What You DON'T Do
- NO user conversations (main agent's job)
- NO external messages unless explicitly tasked
- NO cron jobs or persistent state
- NO pretending to be the main agent
- NO using the `message` tool directly
"""
_UNNAMED_TASK = "the task that your first message gives you"


class PromptSection(msgspec.Struct, frozen=True, kw_only=True):
    """A section of the system prompt, its heading included."""

    name: SectionName
    text: str


def build_system_prompt(parameters: PromptParameters) -> tuple[PromptSection, ...]:
    """Write the sections in their order, but for those that have nothing to say."""
    is_minimal = parameters.prompt_mode == "minimal"
    lines: tuple[tuple[SectionName, Iterable[str]], ...] = (
        ("Runtime Context", _list_runtime(parameters)),
        ("Agent Identity", _list_files(parameters.context_files, is_minimal=is_minimal)),
        ("Skills", _list_texts(parameters.skills_prompt)),
        ("Tools Available", map(_describe_tool, parameters.tools)),
        ("Behavioral Hints", _list_hints(parameters, is_minimal=is_minimal)),
        ("Extra System Prompt", _list_texts(parameters.extra_system_prompt)),
    )
    return tuple(
        PromptSection(name=name, text=f"# {name}\n\n{body}\n")
        for name, parts in lines
        if (body := "\n".join(parts))
    )


def join_sections(sections: Iterable[PromptSection]) -> str:
    return "\n".join(section.text for section in sections)


def build_subagent_prompt(parameters: SubagentParameters) -> str:
    """Write what a subagent is told; its sessions follow, where a runtime names them."""
    task = visible_line(parameters.task or parameters.label or _UNNAMED_TASK)
    origin = parameters.requester_origin
    named = (
        ("Label", parameters.label),
        ("Requester session", parameters.requester_session_key),
        ("Requester origin", None if origin is None else json.dumps(origin, ensure_ascii=False)),
        ("Your session", parameters.child_session_key),
    )
    lines = [f"- {name}: {visible_line(value)}" for name, value in named if value]
    context = "\n".join(("", "## Session", *lines, "")) if lines else ""
    return _SUBAGENT.format(task=task) + context


def write_context_file(file: ContextFile) -> str:
    """Write a file as the prompt holds it, below its path."""
    return f"## {visible_line(file.path)}\n\n{file.content.rstrip()}\n"


def _list_runtime(parameters: PromptParameters) -> Iterator[str]:
    runtime = parameters.runtime_info
    yield from _list_rows(
        ("Agent", runtime.agent_id),
        ("Host", runtime.host),
        ("Operating system", runtime.os),
        ("Architecture", runtime.arch),
        ("Node", runtime.node),
        ("Model", runtime.model),
        ("Provider", runtime.provider),
        ("Time", parameters.user_time),
        ("Time zone", parameters.user_timezone),
        ("Channel", runtime.channel),
        ("Capabilities", ", ".join(runtime.capabilities)),
        ("Workspace", parameters.workspace_dir),
        ("Documentation", parameters.docs_path),
        ("The user writes from", ", ".join(parameters.owner_numbers)),
    )
    yield from _list_sandbox(parameters.sandbox_info)
    yield from (f"- {visible_line(note)}" for note in parameters.workspace_notes)


def _list_sandbox(sandbox: SandboxFacts | None) -> Iterator[str]:
    if sandbox is None or not sandbox.enabled:
        return
    yield "- Tools run in a sandbox: what they need may be missing there"
    yield from _list_rows(
        ("Sandbox workspace", sandbox.workspace_dir),
        ("Sandbox access to the workspace", sandbox.workspace_access),
    )


def _list_files(files: Iterable[ContextFile], *, is_minimal: bool) -> Iterator[str]:
    for file in files:
        if not is_minimal or is_for_subagents(file.path):
            yield write_context_file(file)


def _describe_tool(tool: Tool) -> str:
    description = visible_line(tool.description)
    return f"- {visible_line(tool.name)}{': ' if description else ''}{description}"


def _list_hints(parameters: PromptParameters, *, is_minimal: bool) -> Iterator[str]:
    yield from _list_rows(
        ("Thinking level", parameters.default_think_level),
        ("Reasoning shown to the user", parameters.reasoning_level),
    )
    if parameters.reasoning_tag_hint:
        yield f"- {_REASONING_TAGS}"
    yield from _list_rows(("Speech", parameters.tts_hint))
    if not is_minimal:
        yield from _list_proactive_hints(parameters.heartbeat_prompt, parameters.runtime_info)


def _list_proactive_hints(heartbeat_prompt: str | None, runtime: RuntimeFacts) -> Iterator[str]:
    """Say what may be done unasked, which a subagent never does."""
    if runtime.channel_actions:
        actions = ", ".join(map(visible_line, runtime.channel_actions))
        yield f"- Where it helps the user, act in the channel unasked: {actions}"
    if heartbeat_prompt and heartbeat_prompt.strip():
        yield (
            f"- A message {json.dumps(visible_line(heartbeat_prompt), ensure_ascii=False)} is a"
            " heartbeat: see whether anything is due and do it unasked; if nothing is, answer"
            f" {HEARTBEAT_ANSWER} and nothing else"
        )


def _list_rows(*rows: tuple[str, str | None]) -> Iterator[str]:
    for name, value in rows:
        if value and value.strip():
            yield f"- {name}: {visible_line(value)}"


def _list_texts(text: str | None) -> Iterator[str]:
    if text and text.strip():
        yield text.strip()
