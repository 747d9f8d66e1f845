"""Assemble a request as the reference builds it: files, skills, prompt, history, tools, event.

docs/design/assembly.md, "Order".
"""

import platform
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Literal, TypeAlias, cast

import msgspec
from msgspec.structs import replace

from ullage.app.assembly.bootstrap_files import BootstrapReader
from ullage.app.assembly.skill_folders import find_workspace_skills
from ullage.app.assembly.source import AssemblySource
from ullage.core.assembly.bootstrap import (
    BootstrapFile,
    ContextFile,
    FileKind,
    build_bootstrap_files,
)
from ullage.core.assembly.budget import TokenBudget, build_token_budget
from ullage.core.assembly.eligible_skills import LeftOutSkill, WorkspaceSkills
from ullage.core.assembly.event import EventMessage, make_event_message, write_event_text
from ullage.core.assembly.history import build_session_history
from ullage.core.assembly.prompt_parameters import PromptParameters, SubagentParameters, Tool
from ullage.core.assembly.skills import MAX_PROMPT_CHARS, SkillSnapshot, build_skill_snapshot
from ullage.core.assembly.system_prompt import (
    SectionName,
    build_subagent_prompt,
    build_system_prompt,
    join_sections,
    write_context_file,
)
from ullage.core.assembly.tool_policy import ToolPolicy, apply_tool_policy, find_idle_rules
from ullage.core.secrets.scan import mask_value
from ullage.core.text.prose import gist
from ullage.core.transcript.entries import JsonObject
from ullage.core.transcript.tokens import Count
from ullage.errors import BadRequest
from ullage.store.files.local_time import local_now

AssemblyMode: TypeAlias = Literal["full", "minimal", "subagent"]
"""`subagent` is `minimal` with the text that tells a subagent what it is."""
_MAX_TOLD = 20
"""Unknown names that are told one by one; more tell nobody more (chosen)."""
_MAX_NAME_CHARS = 64
"""Of a skill, where it is told (chosen)."""
_MEMORY_KINDS: tuple[FileKind, ...] = ("memory", "daily log")


class AssemblyWish(msgspec.Struct, frozen=True, kw_only=True):
    """What a request is to be; what it leaves out comes from the workspace and this machine."""

    mode: AssemblyMode = "full"
    is_primary: bool = True
    """Whether it is the user's own session, which is given MEMORY.md."""
    parameters: PromptParameters = PromptParameters()
    subagent: SubagentParameters = SubagentParameters()
    tool_policy: ToolPolicy = ToolPolicy()
    skill_filter: Sequence[str] | None = None
    event: EventMessage | None = None


class AssembledSection(msgspec.Struct, frozen=True, kw_only=True):
    name: SectionName
    text: str
    n_tokens: int


class AssembledFile(msgspec.Struct, frozen=True, kw_only=True):
    """A bootstrap file, given or not."""

    path: str
    kind: FileKind
    n_chars: int
    """Of the whole file, in UTF-16 units."""
    n_tokens: int
    """Of what is given, its heading included."""
    cut: str
    """What is left out, and why; empty where it is whole."""


class AssembledRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `ullage context assemble --json`."""

    mode: AssemblyMode
    workspace: str
    session: str
    """Whose history it has; empty where it has none."""
    system: str
    sections: tuple[AssembledSection, ...]
    files: tuple[AssembledFile, ...]
    skills: SkillSnapshot
    left_out_skills: tuple[LeftOutSkill, ...]
    """Skills that cannot be used here, and why."""
    messages: tuple[JsonObject, ...]
    """The history, then the event message."""
    tools: tuple[Tool, ...]
    budget: TokenBudget
    warnings: tuple[str, ...]


def assemble(wish: AssemblyWish, source: AssemblySource) -> AssembledRequest:
    """Go through the steps of the reference; nothing is written but counts of tokens.

    Raises:
        BadRequest: the event says nothing.
    """
    if wish.event is not None and not write_event_text(wish.event):
        raise BadRequest("the event has neither a text nor media: leave it out, or say something")
    warnings: list[str] = []
    files = _read_files(wish, source, warnings)
    found = find_workspace_skills(source.workspace, source.places)
    skills = build_skill_snapshot(found.skills, wanted=wish.skill_filter)
    warnings += _list_skill_warnings(found, skills, wish.skill_filter)
    tools = apply_tool_policy(wish.parameters.tools, wish.tool_policy)
    idle = find_idle_rules(wish.parameters.tools, wish.tool_policy)
    warnings += _tell_unknown("tool policy", idle, "tool")
    prompt = build_system_prompt(_complete(wish, source, files, skills.prompt, tools))
    sections = tuple(
        AssembledSection(name=part.name, text=part.text, n_tokens=source.count(part.text))
        for part in prompt
    )
    measured = tuple(_measure_file(file, source.count) for file in files)
    history = (
        None
        if source.context is None
        else build_session_history(source.context, source.begin_history)
    )
    messages = () if history is None else history.messages(source.list_messages)
    event = () if wish.event is None else (make_event_message(wish.event),)
    budget = _build_budget(
        source,
        sections,
        measured,
        tools,
        history=0 if history is None else history.count_tokens(source.count),
        event=0 if wish.event is None else source.count(write_event_text(wish.event)),
    )
    if budget.over:
        warnings.append(
            f"the request has {budget.over:,} tokens more than the {budget.available:,} that are"
            " available: compact the session, or leave something out"
        )
    source.count.save()
    return AssembledRequest(
        mode=wish.mode,
        workspace=str(source.workspace),
        session=source.session,
        system=join_sections(prompt),
        sections=sections,
        files=measured,
        skills=skills,
        left_out_skills=found.left_out,
        messages=(*messages, *event),
        tools=tools,
        budget=budget,
        warnings=tuple(warnings),
    )


def mask_assembled(assembled: AssembledRequest, known_secrets: tuple[str, ...]) -> AssembledRequest:
    """Mask the secrets of a request that is shown; one that is sent has them as its files do."""
    masked = mask_value(cast(object, msgspec.to_builtins(assembled)), known_secrets)
    return msgspec.convert(masked, AssembledRequest)


def _list_skill_warnings(
    found: WorkspaceSkills, skills: SkillSnapshot, wanted: Sequence[str] | None
) -> Iterator[str]:
    names = {skill.name for skill in found.skills}
    unknown = (name for name in wanted or () if name.strip() not in names)
    yield from _tell_unknown("skill filter", unknown, "skill that can be used here")
    if skills.untold:
        told = ", ".join(gist(name, _MAX_NAME_CHARS) for name in skills.untold[:_MAX_TOLD])
        yield (
            f"the prompt has no room for {len(skills.untold):,} of the skills, as it has at most"
            f" {MAX_PROMPT_CHARS:,} characters for them: {told}"
        )


def _tell_unknown(what: str, names: Iterable[str], kind: str) -> Iterator[str]:
    unknown = iter(names)
    for name in islice(unknown, _MAX_TOLD):
        yield f"the {what} names {name}, which is no {kind}"
    if next(unknown, None) is not None:
        yield f"the {what} names more that is no {kind}"


def _read_files(
    wish: AssemblyWish, source: AssemblySource, warnings: list[str]
) -> tuple[BootstrapFile, ...]:
    reader = BootstrapReader(source.workspace)
    settings = source.config.bootstrap
    given = wish.parameters.context_files
    files = build_bootstrap_files(
        reader.read(settings.files, given, local_now().date()),
        settings.max_chars,
        is_minimal=wish.mode != "full",
        is_primary=wish.is_primary,
    )
    cut = (file.warning for file in files if file.trimmed.is_truncated and file.trimmed.content)
    warnings += (*reader.warnings, *cut)
    return files


def _complete(
    wish: AssemblyWish,
    source: AssemblySource,
    files: Iterable[BootstrapFile],
    skills_prompt: str,
    tools: tuple[Tool, ...],
) -> PromptParameters:
    """Add what the wish leaves out; what it says counts.

    Not the time: a prompt that changes with each request is cached by no provider.
    """
    given, machine = wish.parameters, platform.uname()
    runtime = given.runtime_info
    extra = [given.extra_system_prompt or ""]
    if wish.mode == "subagent":
        extra.insert(0, build_subagent_prompt(wish.subagent))
    return replace(
        given,
        prompt_mode="full" if wish.mode == "full" else "minimal",
        workspace_dir=given.workspace_dir or str(source.workspace),
        skills_prompt=skills_prompt if given.skills_prompt is None else given.skills_prompt,
        tools=tools,
        user_timezone=given.user_timezone or local_now().astimezone().tzname(),
        extra_system_prompt="\n".join(part for part in extra if part),
        context_files=tuple(_to_context_file(file) for file in files if file.trimmed.content),
        runtime_info=replace(
            runtime,
            host=runtime.host or machine.node,
            os=runtime.os or f"{machine.system} {machine.release}",
            arch=runtime.arch or machine.machine,
            model=runtime.model or source.model,
        ),
    )


def _to_context_file(file: BootstrapFile) -> ContextFile:
    return ContextFile(path=file.path, content=file.trimmed.content)


def _measure_file(file: BootstrapFile, count: Count) -> AssembledFile:
    is_given = bool(file.trimmed.content)
    return AssembledFile(
        path=file.path,
        kind=file.kind,
        n_chars=file.trimmed.original_length,
        n_tokens=count(write_context_file(_to_context_file(file))) if is_given else 0,
        cut=file.cut,
    )


def _build_budget(
    source: AssemblySource,
    sections: Iterable[AssembledSection],
    files: Iterable[AssembledFile],
    tools: Iterable[Tool],
    *,
    history: int,
    event: int,
) -> TokenBudget:
    """Give each section to the part that it is of; what is no file of an identity is the prompt."""
    of_section = {section.name: section.n_tokens for section in sections}
    of_kind = Counter[bool]()
    for file in files:
        of_kind[file.kind in _MEMORY_KINDS] += file.n_tokens
    skills, listed = of_section.get("Skills", 0), of_section.get("Tools Available", 0)
    definitions = sum(source.count(msgspec.json.encode(tool).decode()) for tool in tools)
    rest = sum(of_section.values()) - skills - listed - of_kind.total()
    return build_token_budget(
        source.window_tokens,
        system_prompt=max(0, rest),
        bootstrap=of_kind[False],
        skills=skills,
        tools=listed + definitions,
        memory=of_kind[True],
        history=history,
        event=event,
    )
