"""Claude Code's own settings, as far as they say when it compacts (2.1.330)."""

import re
import sys
from pathlib import Path
from typing import Final

from ullage.core.config.agent_settings import (
    AgentSettings,
    NumberSetting,
    leading_number,
    number_at,
    value_at,
)
from ullage.core.gauge.gauge import CompactionPoint, PointSource
from ullage.core.gauge.window import has_large_window, strip_model
from ullage.formats.agent_info import Env, RunningSession
from ullage.formats.agents.claude_code.places import HOME
from ullage.formats.json_line import as_object

ANSWER_TOKENS = 20_000
"""Kept free for the answer, or what the model may answer at most where that is less."""
MARGIN_TOKENS = 13_000
MIN_WINDOW_TOKENS = 100_000
"""A smaller window for this is taken as so large."""
UNRECOGNIZED_TOKENS = 200_000
"""What it takes for the window of a model that it does not recognize, as of other makers."""
KEYS = ("autoCompactEnabled", "autoCompactWindow", "modelSettings", "env")
"""All that is read below; `.claude.json` changes with every prompt."""
_PERCENT: Final = "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE"
_WINDOW: Final = "CLAUDE_CODE_AUTO_COMPACT_WINDOW"
_MAX_OUTPUT: Final = "CLAUDE_CODE_MAX_OUTPUT_TOKENS"
_MAX_CONTEXT: Final = "CLAUDE_CODE_MAX_CONTEXT_TOKENS"
_SWITCHES = ("DISABLE_AUTO_COMPACT", "DISABLE_COMPACT")
_UNITS = {"k": 1_000, "m": 1_000_000}
_DATED = re.compile(r"(?:-\d{8})?(?:\[1m\])?$")


def list_setting_files(path: Path, cwd: Path, env: Env, home: Path) -> tuple[Path, ...]:
    """List the settings of the organization, of the folder and of the user, and the older file.

    `.claude.json` lies beside the user's folder, in it where a variable names that.
    """
    del path
    own = HOME.root(env, home)
    return (
        _managed_folder() / "managed-settings.json",
        cwd / ".claude" / "settings.local.json",
        cwd / ".claude" / "settings.json",
        own / "settings.json",
        (own if env.get(HOME.variable) else home) / ".claude.json",
    )


def _managed_folder() -> Path:
    if sys.platform == "darwin":
        return Path("/Library/Application Support/ClaudeCode")
    if sys.platform == "win32":
        return Path("C:/Program Files/ClaudeCode")
    return Path("/etc/claude-code")


def find_compaction_point(session: RunningSession) -> CompactionPoint | None:
    """Tell where Claude Code compacts: 167,000 of 200,000 where nothing is configured.

    `min(window, its own for this) - min(largest answer, 20,000) - 13,000`, or a percentage of that
    before the 13,000, whichever is less (docs/design/agents.md, "When an agent compacts").
    """
    settings = _with_own_environment(session.settings)
    is_off = settings.find_flag("autoCompactEnabled") is False
    if is_off or any(settings.has_flag(name) for name in _SWITCHES):
        return None
    source: PointSource = "default"
    end, detail = session.window.n_tokens, "Claude Code's own rule"
    is_disproved = session.window.source == "disproved"
    if session.model and not is_disproved and not _is_recognized(session.model):
        n_tokens = leading_number(settings.env.get(_MAX_CONTEXT, ""))
        end = min(end, round(n_tokens or UNRECOGNIZED_TOKENS))
    if (chosen := _environment_window(settings)) is not None:
        source = "environment"
    elif (chosen := _set_window(settings, session.model)) is not None:
        source = "setting"
    if chosen is not None:
        end, detail = min(end, round(chosen.value)), chosen.origin
    usable = end - min(ANSWER_TOKENS, _max_output(settings))
    at_tokens = usable - MARGIN_TOKENS
    percent = leading_number(settings.env.get(_PERCENT, ""))
    if percent is not None and 0 < percent <= 100 and int(usable * percent / 100) < at_tokens:
        at_tokens, source, detail = int(usable * percent / 100), "environment", _PERCENT
    return CompactionPoint(at_tokens=at_tokens, source=source, detail=detail)


def _is_recognized(model: str) -> bool:
    """Whether Claude Code has a window for a model: one of its maker, or one marked `[1m]`."""
    return strip_model(model).startswith("claude") or has_large_window(model)


def _with_own_environment(settings: AgentSettings) -> AgentSettings:
    """Add the variables that the settings themselves define, which Claude Code sets for itself."""
    env = dict(settings.env)
    for file in reversed(settings.sources):
        defined = as_object(file.content.get("env")) or {}
        env |= {name: str(value) for name, value in defined.items() if value is not None}
    return AgentSettings(sources=settings.sources, env=env)


def _environment_window(settings: AgentSettings) -> NumberSetting | None:
    text = settings.env.get(_WINDOW, "").strip().lower()
    number = leading_number(text)
    n_tokens = None if number is None else round(number * _UNITS.get(text[-1:], 1))
    if not n_tokens:
        return None
    return NumberSetting(value=max(MIN_WINDOW_TOKENS, n_tokens), origin=_WINDOW)


def _set_window(settings: AgentSettings, model: str | None) -> NumberSetting | None:
    """Give `autoCompactWindow` of the strongest file that has one, for this model before all."""
    name = _DATED.sub("", model or "")
    for file in settings.sources:
        of_models = as_object(file.content.get("modelSettings")) or {}
        own = next((key for key in of_models if _DATED.sub("", key) == name), None)
        for keys in (("modelSettings", own or "", "autoCompactWindow"), ("autoCompactWindow",)):
            if value_at(file.content, keys) == "auto":
                return None
            n_tokens = number_at(file.content, keys)
            if n_tokens is not None and n_tokens >= MIN_WINDOW_TOKENS:
                origin = f"autoCompactWindow in {file.name}"
                return NumberSetting(value=n_tokens, origin=origin)
    return None


def _max_output(settings: AgentSettings) -> int:
    n_tokens = leading_number(settings.env.get(_MAX_OUTPUT, ""))
    return round(n_tokens) if n_tokens else ANSWER_TOKENS
