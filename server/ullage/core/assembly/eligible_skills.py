"""Which skills OpenClaw can use on this machine, and why not the others."""

from collections.abc import Iterable

import msgspec

from ullage.core.assembly.listed_skills import SkillRequest
from ullage.core.assembly.skill_frontmatter import SkillFile, read_skill
from ullage.core.assembly.skills import Eligibility, Skill, list_obstacles, merge_skills
from ullage.core.text.quoting import visible_line
from ullage.core.transcript.entries import JsonObject


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


def find_eligible_skills(
    files: Iterable[SkillFile], request: SkillRequest, configuration: JsonObject
) -> WorkspaceSkills:
    """Find what can be used of the skills of a workspace, of which a later place wins
    (docs/design/assembly.md, "Skills").

    Args:
        configuration: OpenClaw's own; empty where there is none.
    """
    left_out: list[LeftOutSkill] = []
    found: list[Skill] = []
    for file in files:
        skill = None if file.fault else read_skill(file)
        if skill is not None:
            found.append(skill)
        else:
            reason = file.fault or "has no description"
            left_out.append(
                LeftOutSkill(name=visible_line(file.name), path=file.path, reasons=(reason,))
            )
    skills = merge_skills(found)
    eligibility = _find_eligibility(skills, request, configuration)
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


def _find_eligibility(
    skills: Iterable[Skill], request: SkillRequest, configuration: JsonObject
) -> Eligibility:
    needs = [skill.metadata for skill in skills]
    names = {name for need in needs for name in (*need.binaries, *need.any_binaries)}
    return Eligibility(
        platform=request.platform,
        binaries={name for name in names if request.has_program(name)},
        variables={name for name, value in request.settings.env.items() if value},
        configuration=configuration,
    )
