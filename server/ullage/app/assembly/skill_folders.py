"""The skills of a workspace: those of OpenClaw that are eligible, and what agents list."""

import sys
from collections.abc import Iterable
from pathlib import Path

import msgspec

from ullage.app.assembly.skill_files import read_skill_files
from ullage.app.sessions.load import Loaded
from ullage.core.assembly.eligible_skills import WorkspaceSkills
from ullage.core.assembly.listed_skills import ListedSkill, SkillRequest
from ullage.core.assembly.skill_frontmatter import SkillFile
from ullage.core.config.agent_settings import AgentSettings
from ullage.core.gauge.window import DEFAULT_WINDOW, Window
from ullage.formats.agent_info import AgentInfo, SkillFolder, SkillLoader, find_loader
from ullage.formats.registry import agent_info
from ullage.store.config.agent_settings import read_settings_files
from ullage.store.files.places import Places
from ullage.store.files.programs import find_program
from ullage.store.files.text_files import exists
from ullage.store.files.work_tree import list_folders_up


def find_workspace_skills(workspace: Path, places: Places) -> WorkspaceSkills:
    """Find the skills of a workspace that a runtime is given, as OpenClaw would."""
    agent = agent_info("openclaw")
    ways = ((loader, loader.find_eligible) for loader in agent.skills)
    loader, find_eligible = next((loader, way) for loader, way in ways if way is not None)
    return find_eligible(*_read_skills(agent, loader, workspace, places))


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
    files, request = _read_skills(agent, loader, workspace, places)
    request = msgspec.structs.replace(request, window=window, model=model, now_ms=now_ms)
    return loader.list_skills(files, request)


def _read_skills(
    agent: AgentInfo, loader: SkillLoader, workspace: Path, places: Places
) -> tuple[tuple[SkillFile, ...], SkillRequest]:
    """Read what a loader would; programs are looked for, none is run."""
    paths = (
        *agent.setting_files(workspace, workspace, places.env, places.home),
        *loader.list_files(places.env, places.home),
    )
    settings = AgentSettings(sources=read_settings_files(paths), env=places.env)
    upward = list_folders_up(workspace)
    if loader.goes_on_up and not exists(upward[-1] / ".git"):
        upward = (workspace, *workspace.parents)
    folders = [
        found
        for folder in loader.list_folders(upward, places.env, places.home, settings)
        for found in _find_folders(folder, workspace, places)
    ]
    request = SkillRequest(
        window=DEFAULT_WINDOW,
        settings=settings,
        home=str(places.home),
        platform=sys.platform,
        has_program=lambda name: find_program(name, places, folder=workspace) is not None,
    )
    return read_skill_files(folders), request


def _find_folders(folder: SkillFolder, workspace: Path, places: Places) -> Iterable[SkillFolder]:
    """Give a folder; one of a package where the program lies that belongs to that."""
    if not folder.program:
        return (folder,)
    program = find_program(folder.program, places, folder=workspace)
    above = () if program is None else program.resolve().parents[:2]
    packages = (path for path in above if exists(path / "package.json"))
    return (msgspec.structs.replace(folder, path=path / folder.path) for path in packages)
