"""The system prompt: six sections in order, a parameter for each thing that it may say."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from ullage.core.assembly.bootstrap import ContextFile
from ullage.core.assembly.prompt_parameters import (
    PromptParameters,
    RuntimeFacts,
    SandboxFacts,
    SubagentParameters,
    Tool,
)
from ullage.core.assembly.system_prompt import (
    build_subagent_prompt,
    build_system_prompt,
    join_sections,
)

FILES = (
    ContextFile(path="AGENTS.md", content="Run the tests.\n"),
    ContextFile(path="SOUL.md", content="Be warm."),
)
RUNTIME = RuntimeFacts(
    agent_id="main",
    host="mill",
    os="Linux 6.8",
    arch="x64",
    node="v22.1.0",
    model="claude-sonnet-4-5",
    provider="anthropic",
    capabilities=("inlineButtons",),
    channel="telegram",
    channel_actions=("react", "edit"),
)
SANDBOX = SandboxFacts(enabled=True, workspace_dir="/box", workspace_access="ro")
ALL = PromptParameters(
    workspace_dir="/work/mill",
    default_think_level="high",
    reasoning_level="stream",
    extra_system_prompt="Answer in verse.",
    owner_numbers=("+15550100",),
    reasoning_tag_hint=True,
    heartbeat_prompt="HEARTBEAT: look around",
    skills_prompt="## Available Skills\n\n### git\nCommits.",
    docs_path="/usr/share/doc/agent",
    tts_hint="Write numbers as words.",
    workspace_notes=("The build takes an hour.",),
    runtime_info=RUNTIME,
    sandbox_info=SANDBOX,
    tools=(Tool(name="read", description="Read a file."),),
    user_timezone="Europe/Vienna",
    user_time="2026-11-24 10:15",
    context_files=FILES,
)
TITLES = (
    "Runtime Context",
    "Agent Identity",
    "Skills",
    "Tools Available",
    "Behavioral Hints",
    "Extra System Prompt",
)


def text_of(parameters: PromptParameters) -> str:
    return join_sections(build_system_prompt(parameters))


def test_every_parameter_of_the_reference_is_there_by_its_name() -> None:
    assert {field.encode_name for field in msgspec.structs.fields(PromptParameters)} == set(
        "workspaceDir defaultThinkLevel reasoningLevel extraSystemPrompt ownerNumbers"
        " reasoningTagHint heartbeatPrompt skillsPrompt docsPath ttsHint workspaceNotes promptMode"
        " runtimeInfo sandboxInfo tools userTimezone userTime contextFiles".split()
    )
    assert {field.encode_name for field in msgspec.structs.fields(RuntimeFacts)} == set(
        "agentId host os arch node model provider capabilities channel channelActions".split()
    )


@pytest.mark.parametrize("name", [field.name for field in msgspec.structs.fields(PromptParameters)])
def test_every_parameter_changes_the_prompt(name: str) -> None:
    other = "minimal" if name == "prompt_mode" else getattr(PromptParameters(), name)
    assert text_of(replace(ALL, **{name: other})) != text_of(ALL)


@pytest.mark.parametrize("name", [field.name for field in msgspec.structs.fields(RuntimeFacts)])
def test_every_fact_of_the_runtime_changes_the_prompt(name: str) -> None:
    empty = () if isinstance(getattr(RUNTIME, name), tuple) else None
    assert text_of(replace(ALL, runtime_info=replace(RUNTIME, **{name: empty}))) != text_of(ALL)


def test_every_fact_of_the_sandbox_changes_the_prompt() -> None:
    for changed in ({"enabled": False}, {"workspace_dir": None}, {"workspace_access": None}):
        assert text_of(replace(ALL, sandbox_info=replace(SANDBOX, **changed))) != text_of(ALL)


def test_the_sections_come_in_the_order_of_the_reference() -> None:
    sections = build_system_prompt(ALL)
    assert tuple(section.name for section in sections) == TITLES
    for section in sections:
        assert section.text.startswith(f"# {section.name}\n\n")


def test_a_section_that_has_nothing_to_say_is_left_out() -> None:
    assert build_system_prompt(PromptParameters()) == ()
    (section,) = build_system_prompt(PromptParameters(extra_system_prompt="Answer in verse."))
    assert section.text == "# Extra System Prompt\n\nAnswer in verse.\n"


def test_a_tool_is_named_with_its_description() -> None:
    tools = (Tool(name="read", description="Read\na file."), Tool(name="ls"))
    (section,) = build_system_prompt(PromptParameters(tools=tools))
    assert section.text == "# Tools Available\n\n- read: Read a file.\n- ls\n"


def test_a_file_stands_below_its_path() -> None:
    (section,) = build_system_prompt(PromptParameters(context_files=FILES))
    assert section.text == (
        "# Agent Identity\n\n## AGENTS.md\n\nRun the tests.\n\n## SOUL.md\n\nBe warm.\n\n"
    )


def test_minimal_leaves_out_identity_heartbeat_and_what_is_done_unasked() -> None:
    minimal = text_of(replace(ALL, prompt_mode="minimal"))
    for left_out in ("SOUL.md", "Be warm", "HEARTBEAT", "unasked", "react"):
        assert left_out in text_of(ALL)
        assert left_out not in minimal
    for kept in ("Run the tests", "### git", "read: Read a file", "Thinking level: high", "verse"):
        assert kept in minimal


WORDS = st.text(alphabet=st.sampled_from("ab \n#-"), max_size=12)
PARAMETERS = st.builds(
    PromptParameters,
    workspace_dir=WORDS,
    extra_system_prompt=WORDS,
    heartbeat_prompt=WORDS,
    skills_prompt=WORDS,
    tts_hint=WORDS,
    owner_numbers=st.tuples(WORDS),
    reasoning_tag_hint=st.booleans(),
    workspace_notes=st.tuples(WORDS),
    runtime_info=st.builds(RuntimeFacts, host=WORDS, channel_actions=st.tuples(WORDS)),
    tools=st.tuples(st.builds(Tool, name=WORDS, description=WORDS)),
    context_files=st.tuples(
        st.builds(ContextFile, path=st.sampled_from(("AGENTS.md", "SOUL.md")), content=WORDS)
    ),
)


@given(PARAMETERS)
def test_what_minimal_says_stands_in_full_in_the_same_order(parameters: PromptParameters) -> None:
    full = {section.name: section.text for section in build_system_prompt(parameters)}
    for section in build_system_prompt(replace(parameters, prompt_mode="minimal")):
        rest = iter(full[section.name].splitlines())
        assert all(line in rest for line in section.text.splitlines())


def test_the_subagent_is_told_the_words_of_the_reference() -> None:
    assert build_subagent_prompt(SubagentParameters(task="Count the\ntests.")) == (
        "# Subagent Context\n"
        "\n"
        "You are a **subagent** spawned by the main agent for a specific task.\n"
        "\n"
        "## Your Role\n"
        "- You were created to handle: Count the tests.\n"
        "- Complete this task. That's your entire purpose.\n"
        "- You are NOT the main agent. Don't try to be.\n"
        "\n"
        "## Rules\n"
        "1. **Stay focused** - Do your assigned task, nothing else\n"
        "2. **Complete the task** - Your final message will be automatically reported\n"
        "3. **Don't initiate** - No heartbeats, no proactive actions, no side quests\n"
        "4. **Be ephemeral** - You may be terminated after task completion\n"
        "\n"
        "## What You DON'T Do\n"
        "- NO user conversations (main agent's job)\n"
        "- NO external messages unless explicitly tasked\n"
        "- NO cron jobs or persistent state\n"
        "- NO pretending to be the main agent\n"
        "- NO using the `message` tool directly\n"
    )


@pytest.mark.parametrize(
    "given_one",
    [
        {"label": "counter"},
        {"requester_session_key": "agent:main:main"},
        {"requester_origin": {"channel": "telegram"}},
        {"child_session_key": "agent:main:subagent:1"},
        {"task": "Count."},
    ],
    ids=lambda given_one: next(iter(given_one)),
)
def test_every_parameter_changes_what_a_subagent_is_told(given_one: dict[str, object]) -> None:
    told = build_subagent_prompt(SubagentParameters(**given_one))
    assert told != build_subagent_prompt(SubagentParameters())
