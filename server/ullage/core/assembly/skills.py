"""Skills as OpenClaw has them: who may use one, which are eligible, and what the model is told.

docs/design/assembly.md, "Skills".
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence, Set
from typing import cast

import msgspec

from ullage.core.config.agent_settings import value_at
from ullage.core.text.positions import utf16_length
from ullage.core.text.quoting import visible_line
from ullage.core.transcript.entries import JsonObject

_HEADING = "## Available Skills"
_TRUE_BY_DEFAULT = ("browser.enabled", "browser.evaluateEnabled")
"""What OpenClaw's configuration means where it says nothing (its source, `config.ts`)."""
MAX_PROMPT_CHARS = 20_000
"""Of all skills, in UTF-16 units: as many as of one bootstrap file (chosen)."""
_VERSION_DIGITS = 12
"""Hexadecimal, of a SHA-256: 48 bits, which JavaScript holds exactly as a number."""


class SkillInvocation(msgspec.Struct, frozen=True, kw_only=True):
    """Who may use a skill; a user always."""

    is_model_invocable: bool = True
    """Else the prompt does not name it."""


class SkillMetadata(msgspec.Struct, frozen=True, kw_only=True):
    """What a skill needs: `metadata.openclaw` of its frontmatter."""

    skill_key: str | None = None
    """Under which the configuration knows it; its name where it has none."""
    is_always: bool = False
    """Whether it is eligible on its platforms whatever else it needs."""
    platforms: tuple[str, ...] = ()
    """As Node names them: `darwin`, `linux`, `win32`; all where it names none."""
    binaries: tuple[str, ...] = ()
    any_binaries: tuple[str, ...] = ()
    """One of these is enough."""
    variables: tuple[str, ...] = ()
    config_paths: tuple[str, ...] = ()
    """Which the configuration must hold something at, as `browser.enabled`."""


class Skill(msgspec.Struct, frozen=True, kw_only=True):
    """One skill: a `SKILL.md` and what lies beside it."""

    name: str
    description: str
    path: str
    """Of its `SKILL.md`."""
    source: str
    """Which kind of place it comes from, as `workspace`."""
    digest: str
    """SHA-256 of the file, in hexadecimal."""
    metadata: SkillMetadata = SkillMetadata()
    invocation: SkillInvocation = SkillInvocation()
    primary_env: str | None = None
    """The variable that holds its key, which the configuration may hold instead."""


class NamedSkill(msgspec.Struct, frozen=True, kw_only=True):
    """A skill as a snapshot lists it."""

    name: str
    path: str
    """Of its `SKILL.md`."""
    primary_env: str | None = None


class SkillSnapshot(msgspec.Struct, frozen=True, kw_only=True):
    """The skills of a session, as they were when it began."""

    prompt: str
    """Empty where there is nothing to tell."""
    skills: tuple[NamedSkill, ...]
    """Also those that only a user may call."""
    resolved_skills: tuple[Skill, ...]
    """Those that the prompt names."""
    untold: tuple[str, ...]
    """Names of those that the prompt has no room for."""
    version: int
    """The same for the same files, in any process; another one once one of them changes."""


class Eligibility(msgspec.Struct, frozen=True, kw_only=True):
    """What a machine has of what skills need."""

    platform: str
    """As Node names it."""
    binaries: Set[str] = frozenset()
    variables: Set[str] = frozenset()
    """Those that are set, and not to nothing."""
    configuration: JsonObject = {}
    """OpenClaw's own."""


def merge_skills(skills: Iterable[Skill]) -> tuple[Skill, ...]:
    """Join skills by name, of several places in their order: the later place wins."""
    by_name = {skill.name: skill for skill in skills}
    return tuple(sorted(by_name.values(), key=lambda skill: (skill.name.casefold(), skill.name)))


def list_obstacles(skill: Skill, eligibility: Eligibility) -> tuple[str, ...]:
    """Say in words why a skill is left out; nothing where it is eligible."""
    metadata = skill.metadata
    obstacles = [*_list_refusals(skill, eligibility.configuration)]
    if metadata.platforms and eligibility.platform not in metadata.platforms:
        obstacles.append(f"is for {' or '.join(metadata.platforms)}, not {eligibility.platform}")
    if not metadata.is_always:
        obstacles += _list_missing(skill, eligibility)
    return tuple(obstacles)


def build_skill_snapshot(
    skills: Sequence[Skill], *, wanted: Sequence[str] | None = None
) -> SkillSnapshot:
    """Build what a session is given of the skills that are eligible.

    `wanted` are the names that a filter lets through: all where it is None, none where it is
    empty.
    """
    if wanted is not None:
        names = {name.strip() for name in wanted}
        skills = [skill for skill in skills if skill.name in names]
    tellable = [skill for skill in skills if skill.invocation.is_model_invocable]
    told = tuple(_list_fitting(tellable))
    told_names = {skill.name for skill in told}
    return SkillSnapshot(
        prompt=write_skills_prompt(told),
        skills=tuple(
            NamedSkill(name=skill.name, path=skill.path, primary_env=skill.primary_env)
            for skill in skills
        ),
        resolved_skills=told,
        untold=tuple(skill.name for skill in tellable if skill.name not in told_names),
        version=_version(skills),
    )


def write_skills_prompt(skills: Sequence[Skill]) -> str:
    """Write what the model is told of skills; empty where there are none.

    A description is one line: none can fake the heading of another skill.
    """
    if not skills:
        return ""
    return "\n\n".join((_HEADING, *map(_write_skill, skills)))


def _write_skill(skill: Skill) -> str:
    return f"### {visible_line(skill.name)}\n{visible_line(skill.description)}"


def _list_fitting(skills: Iterable[Skill]) -> Iterator[Skill]:
    """List the skills that the prompt has room for: a long one keeps no other out."""
    room = MAX_PROMPT_CHARS - len(_HEADING)
    for skill in skills:
        n_chars = len("\n\n") + utf16_length(_write_skill(skill))
        if n_chars <= room:
            room -= n_chars
            yield skill


def _version(skills: Iterable[Skill]) -> int:
    digest = hashlib.sha256()
    for skill in skills:
        digest.update(f"{skill.name}\0{skill.digest}\0".encode("utf-8", "surrogatepass"))
    return int(digest.hexdigest()[:_VERSION_DIGITS], 16)


def _key(skill: Skill) -> str:
    return skill.metadata.skill_key or skill.name


def _list_refusals(skill: Skill, configuration: JsonObject) -> Iterator[str]:
    key = _key(skill)
    if value_at(configuration, ("skills", "entries", key, "enabled")) is False:
        yield f"skills.entries.{key}.enabled is false"
    allowed = value_at(configuration, ("skills", "allowBundled"))
    if skill.source == "bundled" and isinstance(allowed, list) and allowed:
        names = cast(list[object], allowed)
        if key not in names and skill.name not in names:
            yield "skills.allowBundled does not name it"


def _list_missing(skill: Skill, eligibility: Eligibility) -> Iterator[str]:
    metadata = skill.metadata
    for name in metadata.binaries:
        if name not in eligibility.binaries:
            yield f"the program {name} is not on PATH"
    if metadata.any_binaries and not eligibility.binaries & set(metadata.any_binaries):
        yield f"none of the programs {', '.join(metadata.any_binaries)} is on PATH"
    for name in metadata.variables:
        if name not in eligibility.variables and not _is_configured(name, skill, eligibility):
            yield f"the variable {name} is not set"
    for path in metadata.config_paths:
        if not _is_true_at(path, eligibility.configuration):
            yield f"the configuration has nothing at {path}"


def _is_configured(variable: str, skill: Skill, eligibility: Eligibility) -> bool:
    """Tell whether OpenClaw would set a variable for this skill from its configuration."""
    entry = ("skills", "entries", _key(skill))
    if value_at(eligibility.configuration, (*entry, "env", variable)):
        return True
    api_key = value_at(eligibility.configuration, (*entry, "apiKey"))
    return variable == skill.primary_env and bool(api_key)


def _is_true_at(path: str, configuration: JsonObject) -> bool:
    keys = [key for key in path.split(".") if key]
    value = value_at(configuration, keys) if keys else None
    if value is None:
        return path in _TRUE_BY_DEFAULT
    return bool(value.strip()) if isinstance(value, str) else value is not False and value != 0
