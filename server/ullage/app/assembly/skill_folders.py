"""The skills of a workspace: those of OpenClaw that are eligible, and what agents list."""

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import cast

import msgspec

from ullage.app.assembly.skill_files import read_skill_files
from ullage.app.sessions.load import Loaded
from ullage.core.assembly.listed_skills import ListedSkill, SkillRequest
from ullage.core.assembly.skill_frontmatter import read_skill
from ullage.core.assembly.skills import Eligibility, Skill, list_obstacles, merge_skills
from ullage.core.config.agent_settings import AgentSettings, value_at
from ullage.core.gauge.window import Window
from ullage.core.text.quoting import visible_line
from ullage.core.text.short_paths import shorten_paths
from ullage.core.transcript.entries import JsonObject
from ullage.formats.agent_info import AgentInfo, SkillFolder, SkillLoader, find_loader
from ullage.formats.agents.openclaw.skills import OPENCLAW_SKILLS, write_entry
from ullage.store.config.agent_settings import read_settings_files
from ullage.store.files.places import Places
from ullage.store.files.programs import find_program
from ullage.store.files.text_files import exists
from ullage.store.files.work_tree import list_folders_up

_MAX_DEPTH = 6
"""OpenClaw's (docs/design/assembly.md, "Skills")."""
_OWN_SCOPES = ("managed", "personal")
"""Which the user alone writes to: links may lead out of them."""


class LeftOutSkill(msgspec.Struct, frozen=True, kw_only=True):
    """A skill that is not used."""

    name: str
    path: str
    reasons: tuple[str, ...]
    """Each ends a sentence whose subject is the skill."""


class WorkspaceSkills(msgspec.Struct, frozen=True, kw_only=True):
    """What is eligible on this machine, and what is not."""

    skills: tuple[Skill, ...]
    left_out: tuple[LeftOutSkill, ...]


def find_workspace_skills(workspace: Path, places: Places) -> WorkspaceSkills:
    """Find the skills of a workspace, of which a later place wins (docs/design/assembly.md,
    "Skills").

    Programs are looked for, none is run.
    """
    chosen = places.env.get("OPENCLAW_STATE_DIR")
    own = Path(chosen).expanduser() if chosen else places.home / ".openclaw"
    settings = read_settings_files([own / "openclaw.json"])
    configuration = settings[0].content if settings else {}
    folders = (
        *(_folder(path, "extra") for path in _list_extra(configuration)),
        *(_folder(path, "bundled") for path in _list_bundled(places, workspace)),
        _folder(own / "skills", "managed"),
        _folder(places.home / ".agents" / "skills", "personal"),
        _folder(workspace / ".agents" / "skills", "project"),
        _folder(workspace / "skills", "workspace"),
    )
    left_out: list[LeftOutSkill] = []
    found: list[Skill] = []
    for file in read_skill_files(folders):
        skill = None if file.fault else read_skill(file)
        if skill is not None:
            found.append(skill)
        else:
            reason = file.fault or "has no description"
            left_out.append(
                LeftOutSkill(name=visible_line(file.name), path=file.path, reasons=(reason,))
            )
    skills = merge_skills(found)
    eligibility = _find_eligibility(skills, configuration, places, workspace)
    obstacles = {skill.name: list_obstacles(skill, eligibility) for skill in skills}
    left_out += (
        LeftOutSkill(name=skill.name, path=skill.path, reasons=obstacles[skill.name])
        for skill in skills
        if obstacles[skill.name]
    )
    return WorkspaceSkills(
        skills=tuple(skill for skill in skills if not obstacles[skill.name]),
        left_out=tuple(left_out),
    )


def list_session_skills(loaded: Loaded) -> tuple[ListedSkill, ...]:
    """List what the agent of a session would tell now of skills where the session works."""
    session = loaded.session
    agent, cwd = session.agent_info, session.header.cwd
    loader = None if agent is None else find_loader(agent.skills, session.path)
    if agent is None or loader is None or cwd is None:
        return ()
    window, model = loaded.status.gauge.window, loaded.context.model
    return list_agent_skills(agent, loader, Path(cwd), loaded.secrets.places, window, model=model)


def list_agent_skills(
    agent: AgentInfo,
    loader: SkillLoader,
    workspace: Path,
    places: Places,
    window: Window,
    *,
    model: str | None = None,
    now_ms: int = 0,
) -> tuple[ListedSkill, ...]:
    """List an agent's skills in the order of its request, also those that it does not tell of.

    What comes with an agent and lies in no folder is not in the list.
    """
    if loader == OPENCLAW_SKILLS:
        return tuple(_list_openclaws(workspace, places))
    paths = (
        *agent.setting_files(workspace, workspace, places.env, places.home),
        *loader.list_files(places.env, places.home),
    )
    settings = AgentSettings(sources=read_settings_files(paths), env=places.env)
    upward = list_folders_up(workspace)
    if loader.goes_on_up and not exists(upward[-1] / ".git"):
        upward = (workspace, *workspace.parents)
    files = read_skill_files(loader.list_folders(upward, places.env, places.home, settings))
    request = SkillRequest(window=window, model=model, settings=settings, now_ms=now_ms)
    return loader.list_skills(files, request)


def _list_openclaws(workspace: Path, places: Places) -> Iterator[ListedSkill]:
    """List what OpenClaw tells of; a path below the home folder begins with `~`, but for those
    that lie in its own."""
    found = find_workspace_skills(workspace, places)
    for skill in found.skills:
        is_own = skill.source == "managed"
        location = skill.path if is_own else shorten_paths(skill.path, None, str(places.home))
        is_told = skill.invocation.is_model_invocable
        yield ListedSkill(
            name=skill.name,
            path=skill.path,
            description=skill.description if is_told else "",
            text=write_entry(skill.name, skill.description, location) if is_told else "",
            reason="" if is_told else "is for the user alone (disable-model-invocation)",
        )
    for skill in found.left_out:
        reason = " and ".join(skill.reasons)
        yield ListedSkill(name=skill.name, path=skill.path, description="", text="", reason=reason)


def _folder(path: Path, scope: str) -> SkillFolder:
    is_contained = scope not in _OWN_SCOPES
    return SkillFolder(path=path, scope=scope, max_depth=_MAX_DEPTH, is_contained=is_contained)


def _list_extra(configuration: JsonObject) -> Iterable[Path]:
    listed = value_at(configuration, ("skills", "load", "extraDirs"))
    texts = cast(list[object], listed) if isinstance(listed, list) else []
    return (Path(text).expanduser() for text in texts if isinstance(text, str) and text)


def _list_bundled(places: Places, workspace: Path) -> Iterable[Path]:
    """Find what comes with OpenClaw: a variable names it, or it lies beside its program."""
    if chosen := places.env.get("OPENCLAW_BUNDLED_SKILLS_DIR"):
        return (Path(chosen).expanduser(),)
    program = find_program("openclaw", places, folder=workspace)
    above = () if program is None else program.resolve().parents[:2]
    return (path / "skills" for path in above if exists(path / "package.json"))


def _find_eligibility(
    skills: Iterable[Skill], configuration: JsonObject, places: Places, workspace: Path
) -> Eligibility:
    needs = [skill.metadata for skill in skills]
    names = {name for need in needs for name in (*need.binaries, *need.any_binaries)}
    return Eligibility(
        platform=sys.platform,
        binaries={name for name in names if find_program(name, places, folder=workspace)},
        variables={name for name, value in places.env.items() if value},
        configuration=configuration,
    )
