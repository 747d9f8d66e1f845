"""pi and OpenClaw: where skills lie, and what a model is told of them (0.87.1, 2026.9.6)."""

import re
from collections.abc import Iterator, Sequence, Set
from fnmatch import fnmatchcase
from html import escape
from pathlib import Path, PurePath

from ullage.core.assembly.eligible_skills import WorkspaceSkills, find_eligible_skills
from ullage.core.assembly.listed_skills import ListedSkill, SkillRequest, leave_out
from ullage.core.assembly.skill_frontmatter import SkillFile
from ullage.core.config.agent_settings import AgentSettings, value_at
from ullage.core.text.short_paths import shorten_paths
from ullage.core.transcript.entries import JsonObject
from ullage.formats.agent_info import Env, LooseFiles, SkillFolder, SkillLoader
from ullage.formats.agents.openclaw.settings import HOME, STATE_HOME
from ullage.formats.json_line import as_object, texts_of

_MAX_DEPTH = 64
"""pi knows no limit."""
_SKILL_NAME = "SKILL.md"
_SETTINGS = {"project": ".pi/settings.json", "user": "agent/settings.json"}
_TRUST = "agent/trust.json"
_OPENCLAW_MAX_DEPTH = 6
_OWN_SCOPES = ("managed", "personal")
"""Which the user alone writes to: links may lead out of them."""
_OFF = ("-", "!")
_USES = (b'"toolCall"', b'<skill name=\\"')
_USE = re.compile(rb'<skill name=\\"([^"\\<]+)\\"|"path":"([^"]*)\.md"')
_SLASHES = re.compile(rb"[/\\]+")


def _list_files(env: Env, home: Path) -> tuple[Path, ...]:
    return (HOME.root(env, home) / "trust.json",)


def _list_folders(
    upward: Sequence[Path], env: Env, home: Path, settings: AgentSettings
) -> tuple[SkillFolder, ...]:
    """List pi's places in the order of its list; a project's only where nobody distrusts it."""
    users = home / ".agents" / "skills"
    own = (
        _folder(HOME.root(env, home) / "skills", "user", "top"),
        _folder(users, "user", "below"),
    )
    if not _is_trusted(upward[0], settings):
        return own
    others = (folder / ".agents" / "skills" for folder in upward)
    return (
        _folder(upward[0] / ".pi" / "skills", "project", "top"),
        *(_folder(path, "project", "below") for path in others if path != users),
        *own,
    )


def _folder(path: Path, scope: str, loose: LooseFiles) -> SkillFolder:
    return SkillFolder(path=path, scope=scope, max_depth=_MAX_DEPTH, loose_files=loose)


def _is_trusted(folder: Path, settings: AgentSettings) -> bool:
    """Tell what the user decided of a folder or the next one above it; before 0.87 nobody asks."""
    files = [file.content for file in settings.sources if file.name == _TRUST]
    decisions = (file.get(str(each)) for each in (folder, *folder.parents) for file in files)
    return next((each for each in decisions if isinstance(each, bool)), True)


def _list_skills(files: Sequence[SkillFile], request: SkillRequest) -> tuple[ListedSkill, ...]:
    """Tell all, in the order of places and in each by path."""
    roots = {root: at for at, root in enumerate(dict.fromkeys(file.root for file in files))}
    seen: set[str] = set()
    skills: list[ListedSkill] = []
    for file in sorted(files, key=lambda file: (roots[file.root], PurePath(file.path).parts)):
        name, description = _raw(file, "name") or file.name, _raw(file, "description")
        is_loose = not file.path.endswith(_SKILL_NAME)
        if is_loose and not file.fault and not description.strip():
            continue
        if reason := _find_reason(file, name, description, seen, request.settings):
            skills.append(leave_out(file, name, reason))
        else:
            seen.add(name)
            text = _write_entry(name, description, file.path)
            skills.append(
                ListedSkill(name=name, path=file.path, description=description, text=text)
            )
    return tuple(skills)


def _find_reason(
    file: SkillFile, name: str, description: str, seen: Set[str], settings: AgentSettings
) -> str:
    if file.fault:
        return file.fault
    if not file.is_yaml:
        return "has fields that are no YAML"
    if not description.strip():
        return "has no description"
    if _is_off(file, settings):
        return f"is switched off (skills in {_SETTINGS[file.scope]})"
    if name in seen:
        return "has the name of one that comes before it"
    is_users = file.fields.get("disable-model-invocation") is True
    return "is for the user alone (disable-model-invocation)" if is_users else ""


def _raw(file: SkillFile, key: str) -> str:
    value = file.fields.get(key)
    return value if isinstance(value, str) else ""


def _is_off(file: SkillFile, settings: AgentSettings) -> bool:
    """Whether the settings of its place leave a skill out, by its path or a pattern of that."""
    told = (
        texts_of(s.content, "skills") for s in settings.sources if s.name == _SETTINGS[file.scope]
    )
    patterns = [text[1:].removeprefix("./") for texts in told for text in texts if text[:1] in _OFF]
    path = PurePath(file.path)
    paths = [path, path.parent] if path.name == _SKILL_NAME else [path]
    base = PurePath(file.root).parent
    names = [name for each in paths for name in (each, each.relative_to(base), PurePath(each.name))]
    return any(fnmatchcase(name.as_posix(), pattern) for name in names for pattern in patterns)


def _write_entry(name: str, description: str, location: str) -> str:
    """Write a skill as it stands in the list."""
    fields = (("name", name), ("description", description), ("location", location))
    lines = (f"    <{tag}>{_escape(value)}</{tag}>" for tag, value in fields)
    return "\n".join(("  <skill>", *lines, "  </skill>"))


def _escape(text: str) -> str:
    return escape(text).replace("&#x27;", "&apos;")


def _list_uses(line: bytes) -> Iterator[str]:
    """List what the model read, and what the user called by its name."""
    # A system message names the files of all.
    for use in _USE.finditer(line) if any(mark in line for mark in _USES) else ():
        *above, name = _SLASHES.split(use[2] or b"")
        if name == b"SKILL":
            name = above[-1] if above else b""
        if used := use[1] or name:
            yield used.decode("utf-8", "replace")


def _list_openclaws_files(env: Env, home: Path) -> tuple[Path, ...]:
    return (STATE_HOME.root(env, home) / "openclaw.json",)


def _list_openclaws_folders(
    upward: Sequence[Path], env: Env, home: Path, settings: AgentSettings
) -> tuple[SkillFolder, ...]:
    """List OpenClaw's places, the weakest first (docs/design/assembly.md, "Skills")."""
    bundled = env.get("OPENCLAW_BUNDLED_SKILLS_DIR")
    return (
        *(_place(path, "extra") for path in _list_extra(settings)),
        _place(Path(bundled).expanduser(), "bundled")
        if bundled
        else _place(Path("skills"), "bundled", program="openclaw"),
        _place(STATE_HOME.root(env, home) / "skills", "managed"),
        _place(home / ".agents" / "skills", "personal"),
        _place(upward[0] / ".agents" / "skills", "project"),
        _place(upward[0] / "skills", "workspace"),
    )


def _place(path: Path, scope: str, *, program: str = "") -> SkillFolder:
    return SkillFolder(
        path=path,
        program=program,
        scope=scope,
        max_depth=_OPENCLAW_MAX_DEPTH,
        is_contained=scope not in _OWN_SCOPES,
    )


def _list_extra(settings: AgentSettings) -> Iterator[Path]:
    load = as_object(value_at(_find_configuration(settings), ("skills", "load"))) or {}
    return (Path(text).expanduser() for text in texts_of(load, "extraDirs") if text)


def _find_configuration(settings: AgentSettings) -> JsonObject:
    """Give OpenClaw's own configuration; empty where there is none."""
    for file in settings.sources:
        if file.name.endswith("/openclaw.json"):
            return file.content
    return {}


def _find_eligible(files: Sequence[SkillFile], request: SkillRequest) -> WorkspaceSkills:
    return find_eligible_skills(files, request, _find_configuration(request.settings))


def _list_openclaws(files: Sequence[SkillFile], request: SkillRequest) -> tuple[ListedSkill, ...]:
    """List what OpenClaw tells of; a path below the home folder begins with `~`, but for those
    that lie in its own."""
    found = _find_eligible(files, request)
    skills: list[ListedSkill] = []
    for skill in found.skills:
        is_own = skill.source == "managed"
        location = skill.path if is_own else shorten_paths(skill.path, None, request.home)
        is_told = skill.invocation.is_model_invocable
        told = ListedSkill(
            name=skill.name,
            path=skill.path,
            description=skill.description if is_told else "",
            text=_write_entry(skill.name, skill.description, location) if is_told else "",
            reason="" if is_told else "is for the user alone (disable-model-invocation)",
        )
        skills.append(told)
    for skill in found.left_out:
        reason = " and ".join(skill.reasons)
        skills.append(
            ListedSkill(name=skill.name, path=skill.path, description="", text="", reason=reason)
        )
    return tuple(skills)


PI_SKILLS = SkillLoader(
    folder=".pi",
    list_files=_list_files,
    list_folders=_list_folders,
    list_skills=_list_skills,
    list_uses=_list_uses,
    goes_on_up=True,
    off_file=_SKILL_NAME,
    off_line="disable-model-invocation: true",
)
OPENCLAW_SKILLS = SkillLoader(
    folder=".openclaw",
    list_files=_list_openclaws_files,
    list_folders=_list_openclaws_folders,
    list_skills=_list_openclaws,
    find_eligible=_find_eligible,
    list_uses=_list_uses,
    off_file=_SKILL_NAME,
    off_line="disable-model-invocation: true",
)
