"""What runtimes and `ullage agent` say to each other of a whole request."""

from typing import Literal

from ullage.agent.wire import Messages, Method, Wire
from ullage.core.assembly.bootstrap import FileKind
from ullage.core.assembly.budget import TokenBudget
from ullage.core.assembly.event import EventMessage
from ullage.core.assembly.prompt_parameters import PromptParameters, SubagentParameters, Tool
from ullage.core.assembly.system_prompt import SectionName
from ullage.core.assembly.tool_policy import ToolPolicy
from ullage.core.transcript.entries import JsonObject


class Assemble(Wire, frozen=True, kw_only=True):
    """Build a whole request: system prompt, messages and tools, each part counted."""

    session: str
    mode: Literal["full", "minimal", "subagent"] = "full"
    """`minimal` leaves out identity, memory and heartbeats; `subagent` adds what a subagent is
    told to that."""
    is_primary: bool = True
    """Whether it is the user's own session, which is given MEMORY.md."""
    parameters: PromptParameters = PromptParameters()
    """Of the system prompt. What is left out comes from the workspace, the machine and the
    session; `contextFiles` come behind the workspace's own, `promptMode` follows `mode`."""
    subagent: SubagentParameters = SubagentParameters()
    tool_policy: ToolPolicy = ToolPolicy()
    skill_filter: list[str] | None = None
    """Names of the skills that it gets; null for all that are eligible."""
    messages: Messages | None = None
    """The history, in the runtime's own shape; null for what is in its `sessionFile`."""
    event: EventMessage | None = None
    """What the user says now; it becomes the last message."""


class Section(Wire, frozen=True, kw_only=True):
    """A section of the system prompt."""

    name: SectionName
    n_tokens: int


class SourceFile(Wire, frozen=True, kw_only=True):
    """A file of the workspace, given or not."""

    path: str
    kind: FileKind
    n_chars: int
    """Of the whole file, in UTF-16 units."""
    n_tokens: int
    """Of what is given."""
    cut: str
    """What is left out, and why; empty where it is whole."""


class NamedSkill(Wire, frozen=True, kw_only=True):
    name: str
    path: str
    """Of its `SKILL.md`, for the model to read it."""
    primary_env: str | None
    """The variable that holds its key."""


class Skills(Wire, frozen=True, kw_only=True):
    """The skills of a session as they are now."""

    prompt: str
    skills: list[NamedSkill]
    version: int
    """Another one once one of them changes."""


class Assembled(Wire, frozen=True, kw_only=True):
    system: str
    sections: list[Section]
    files: list[SourceFile]
    skills: Skills
    messages: list[JsonObject]
    """The latest summary as a message of the system, what it kept, and the event."""
    tools: list[Tool]
    """Those that the policy lets through."""
    budget: TokenBudget
    warnings: list[str]


ASSEMBLE = Method(name="context/assemble", params=Assemble, result=Assembled)
