"""The skills that an agent tells its model of: one line each, as the request has it."""

from collections.abc import Callable

import msgspec

from ullage.core.assembly.skill_frontmatter import SkillFile
from ullage.core.config.agent_settings import AgentSettings
from ullage.core.gauge.window import Window


class ListedSkill(msgspec.Struct, frozen=True, kw_only=True):
    """A skill, and what the model is told of it."""

    name: str
    path: str
    description: str
    """What is told of it; empty where only its name is."""
    text: str
    """Its line in the request; empty where it is not listed."""
    reason: str = ""
    """Why it is not listed; ends a sentence whose subject is the skill."""
    cut: str = ""
    """What of its description is left out, and by which rule."""

    @property
    def is_listed(self) -> bool:
        return not self.reason


def _has_none(_: str) -> bool:
    return False


class SkillRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What decides how much of its skills an agent tells."""

    window: Window
    model: str | None = None
    settings: AgentSettings = AgentSettings()
    now_ms: int = 0
    home: str = ""
    platform: str = ""
    """As `sys.platform` gives it."""
    has_program: Callable[[str], bool] = _has_none
    """Whether this machine has a program of a name."""


def leave_out(file: SkillFile, name: str, reason: str) -> ListedSkill:
    return ListedSkill(name=name, path=file.path, description="", text="", reason=reason)
