"""Claude Code: where its skills lie, and what its model is told of them (2.1.330)."""

import math
import re
from collections.abc import Iterator, Sequence, Set
from pathlib import Path

import msgspec

from ullage.core.assembly.listed_skills import ListedSkill, SkillRequest, leave_out
from ullage.core.assembly.skill_frontmatter import SkillFile
from ullage.core.config.agent_settings import AgentSettings, leading_number, number_at
from ullage.core.gauge.window import strip_model
from ullage.core.text.positions import utf16_length, utf16_offset
from ullage.core.transcript.entries import JsonObject
from ullage.formats.agent_info import Env, SkillFolder, SkillLoader
from ullage.formats.agents.claude_code.places import HOME
from ullage.formats.json_line import as_object, objects_of, text_of

MAX_DESCRIPTION_CHARS = 1_536
BUDGET_FRACTION = 0.01
"""Of the window, in characters; both figures can be set (its settings' own descriptions)."""
_BUDGET = "SLASH_COMMAND_TOOL_CHAR_BUDGET"
_FOUR_CHARS_A_TOKEN = frozenset(
    [
        *("claude-3-opus", "claude-3-sonnet", "claude-3-haiku", "claude-3-5-sonnet"),
        *("claude-3-5-haiku", "claude-3-7-sonnet", "claude-opus-4-0", "claude-opus-4-1"),
        *("claude-opus-4-5", "claude-opus-4-6", "claude-sonnet-4-0", "claude-sonnet-4-5"),
        *("claude-sonnet-4-6", "claude-haiku-4-5"),
    ]
)
"""What it takes for the characters of a token; of all other models three (2.1.330, read)."""
_BUILT_IN = (13, 6_198, 6_064)
"""Its own skills, last in the list: how many, and their characters with all descriptions, and
without those that may be left out (2.1.330, counted in requests)."""
_DAY_MS = 86_400_000
_HALF_LIFE_DAYS = 7
_MIN_WEIGHT = 0.1
"""Of a use that is long past, by which the most used keep their descriptions."""
_PLUGIN = "plugin"
_SHOWN_NAME = re.compile(r"[\w:.-]+")
_USES = (b'"name":"Skill","input":', b"<command-name>/")
_USE = re.compile(rb'(?:"name":"Skill","input":\{"(?:skill|command)":"|<command-name>)/?([^"<\\]+)')
_NOT_TOLD = {
    "user-invocable-only": "is for the user alone (skillOverrides)",
    "off": "is switched off (skillOverrides)",
}


def _list_files(env: Env, home: Path) -> tuple[Path, ...]:
    return (HOME.root(env, home) / "plugins" / "installed_plugins.json",)


def _list_folders(
    upward: Sequence[Path], env: Env, home: Path, settings: AgentSettings
) -> tuple[SkillFolder, ...]:
    own = HOME.root(env, home)
    above = [folder / ".claude" for folder in upward]
    return (
        SkillFolder(path=own / "skills", scope="user", has_hidden=True),
        *(SkillFolder(path=at / "skills", scope="project", has_hidden=True) for at in above),
        *(SkillFolder(path=at / "commands", scope="project", is_commands=True) for at in above),
        SkillFolder(path=own / "commands", scope="user", is_commands=True),
        *_list_plugins(upward, settings),
    )


def _list_plugins(upward: Sequence[Path], settings: AgentSettings) -> Iterator[SkillFolder]:
    """List the folders of plug-ins that are installed for this project and enabled."""
    for plugin, installs in _find_object(settings, "plugins").items():
        is_enabled = settings.find_flag("enabledPlugins", plugin)
        here = (
            install
            for install in objects_of({"installs": installs}, "installs")
            if install.get("scope") == "user"
            or Path(text_of(install, "projectPath") or ".") in upward
        )
        path = next((text_of(install, "installPath") for install in here), None)
        if is_enabled and path:
            prefix = f"{plugin.partition('@')[0]}:"
            for name in ("commands", "skills"):
                yield SkillFolder(
                    path=Path(path) / name,
                    scope=_PLUGIN,
                    prefix=prefix,
                    is_commands=name == "commands",
                    has_hidden=True,
                )


def _list_skills(files: Sequence[SkillFile], request: SkillRequest) -> tuple[ListedSkill, ...]:
    """Tell all with their descriptions where they fit, else as many as do."""
    overrides = _find_object(request.settings, "skillOverrides")
    seen: set[str] = set()
    skills: list[ListedSkill] = []
    for file in files:
        mode = overrides.get(file.name)
        if reason := _find_reason(file, mode, seen):
            skills.append(leave_out(file, file.name, reason))
        else:
            seen.add(file.name)
            skills.append(_tell(file, request, is_name_only=mode == "name-only"))
    return _fit(skills, request)


def _find_reason(file: SkillFile, mode: object, seen: Set[str]) -> str:
    if file.fault:
        return file.fault
    if file.name in seen:
        return "has the name of one that comes before it"
    if file.flag("disable-model-invocation", default=False):
        return "is for the user alone (disable-model-invocation)"
    if file.fields.get("paths"):
        return "is told once a file is read that its paths match"
    return _NOT_TOLD.get(mode, "") if isinstance(mode, str) else ""


def _tell(file: SkillFile, request: SkillRequest, *, is_name_only: bool) -> ListedSkill:
    shown = file.text("name")
    if shown and file.scope == _PLUGIN:
        shown = f"{file.name.partition(':')[0]}:{shown}"
    is_other = shown not in ("", file.name) and _SHOWN_NAME.fullmatch(shown)
    line = f"- {file.name} ({shown})" if is_other else f"- {file.name}"
    whole = file.text("description") or file.first_line
    if when := file.text("when_to_use"):
        whole = f"{whole} - {when}"
    limit = request.settings.find_number("skillListingMaxDescChars")
    max_chars = MAX_DESCRIPTION_CHARS if limit is None else round(limit.value)
    description, cut = ("" if is_name_only else whole), ""
    if utf16_length(description) > max_chars:
        description = description[: utf16_offset(description, max_chars - 1)] + "…"
        cut = f"all after {max_chars - 1:,} characters (Claude Code tells {max_chars:,} of one)"
    return ListedSkill(
        name=file.name,
        path=file.path,
        description=description,
        text=line if is_name_only else f"{line}: {description}",
        cut=cut,
    )


def _fit(skills: Sequence[ListedSkill], request: SkillRequest) -> tuple[ListedSkill, ...]:
    """Leave out descriptions where the list is too long: those of the least used, first fit."""
    told = [at for at, skill in enumerate(skills) if skill.is_listed]
    is_without = request.settings.find_flag("disableBundledSkills")
    n_own, n_all, n_least = (0, 0, 0) if is_without else _BUILT_IN
    n_breaks = len(told) + n_own - 1
    budget = _find_budget(request)
    if sum(utf16_length(skills[at].text) for at in told) + n_all + n_breaks <= budget:
        return tuple(skills)
    names = {at: skills[at].text.removesuffix(f": {skills[at].description}") for at in told}
    left = budget - sum(map(utf16_length, names.values())) - n_least - n_breaks
    fitted = list(skills)
    for at in sorted(told, key=lambda at: -_weigh(skills[at].name, request)):
        n_chars = utf16_length(skills[at].text) - utf16_length(names[at])
        if n_chars <= left:
            left -= n_chars
            continue
        cut = f"its description (Claude Code tells {budget:,} characters of all skills)"
        fitted[at] = msgspec.structs.replace(skills[at], text=names[at], description="", cut=cut)
    return tuple(fitted)


def _find_budget(request: SkillRequest) -> int:
    if chosen := leading_number(request.settings.env.get(_BUDGET, "")):
        return int(chosen)
    fraction = request.settings.find_number("skillListingBudgetFraction")
    share = BUDGET_FRACTION if fraction is None else fraction.value
    is_four = strip_model(request.model or "claude-sonnet-4-5") in _FOUR_CHARS_A_TOKEN
    return max(1, int(request.window.n_tokens * (4 if is_four else 3) * share))


def _weigh(name: str, request: SkillRequest) -> float:
    """Weigh how often a skill was used, and how long ago, as `.claude.json` counts it."""
    usage = as_object(_find_object(request.settings, "skillUsage").get(name)) or {}
    n_uses, last_ms = number_at(usage, ("usageCount",)), number_at(usage, ("lastUsedAt",))
    n_days = max(request.now_ms - (last_ms or 0), 0) / _DAY_MS
    return (n_uses or 0) * max(math.exp2(-n_days / _HALF_LIFE_DAYS), _MIN_WEIGHT)


def _find_object(settings: AgentSettings, key: str) -> JsonObject:
    for file in settings.sources:
        if found := as_object(file.content.get(key)):
            return found
    return {}


def _list_uses(line: bytes) -> Iterator[str]:
    """List what its tool was called for, and what the user called by its name."""
    # Twice as fast as the expression alone.
    uses = _USE.finditer(line) if any(mark in line for mark in _USES) else ()
    return (use[1].decode("utf-8", "replace") for use in uses)


SKILLS = SkillLoader(
    folder=".claude",
    list_files=_list_files,
    list_folders=_list_folders,
    list_skills=_list_skills,
    list_uses=_list_uses,
    off_file="SKILL.md",
    off_line="disable-model-invocation: true",
)
