"""pi's and OpenClaw's own settings, as far as they say when they compact (0.87.1, 2026.9)."""

from pathlib import Path

from ullage.core.config.agent_settings import AgentSettings, NumberSetting, number_at, value_at
from ullage.core.gauge.gauge import CompactionPoint
from ullage.formats.agent_info import Env, Home, RunningSession
from ullage.formats.agents.openclaw.entries import EVENTS, FLAT
from ullage.formats.json_line import as_object, objects_of

RESERVE_TOKENS = 16_384
"""pi's `reserveTokens`."""
OPENCLAW_RESERVE_TOKENS = 20_000
"""OpenClaw's floor, at most a quarter of the window."""
HOME = Home(variable="PI_CODING_AGENT_DIR", default=".pi/agent", folders=("sessions",))
STATE_HOME = Home(variable="OPENCLAW_STATE_DIR", default=".openclaw", folders=("agents",))
_OPENCLAW = ("agents", "defaults")
"""Where in OpenClaw's settings `compaction` stands."""


def list_setting_files(path: Path, cwd: Path, env: Env, home: Path) -> tuple[Path, ...]:
    """List OpenClaw's settings for a session of its own, else those of pi."""
    if _is_openclaws(path):
        return (STATE_HOME.root(env, home) / "openclaw.json",)
    own = HOME.root(env, home)
    return cwd / ".pi" / "settings.json", own / "settings.json", own / "models.json"


def find_window(settings: AgentSettings, provider: str, model: str) -> NumberSetting | None:
    """Find the `contextWindow` of a model: of a provider's own list, else of its overrides."""
    above = ("providers", provider)
    changed = settings.find_number(*above, "modelOverrides", model, "contextWindow")
    for file in settings.sources:
        listed = objects_of(as_object(value_at(file.content, above)) or {}, "models")
        tokens = (number_at(own, ("contextWindow",)) for own in listed if own.get("id") == model)
        n_tokens = next(tokens, None)
        if n_tokens is not None:
            return NumberSetting(value=n_tokens, origin=f"{model} in {file.name}")
    return changed


def find_compaction_point(session: RunningSession) -> CompactionPoint | None:
    """Tell where pi compacts: its window less 16,384; OpenClaw keeps 20,000, or a quarter.

    Files of the older forms, events and flat entries, are of no agent that we know the rule of.
    """
    if session.header.dialect in (EVENTS, FLAT):
        return None
    is_openclaw = _is_openclaws(session.path)
    above = _OPENCLAW if is_openclaw else ()
    settings, n_window = session.settings, session.window.n_tokens
    if settings.find_flag(*above, "compaction", "enabled") is False:
        return None
    reserve = settings.find_number(*above, "compaction", "reserveTokens")
    default = min(OPENCLAW_RESERVE_TOKENS, n_window // 4) if is_openclaw else RESERVE_TOKENS
    if reserve is None or (is_openclaw and reserve.value <= default):
        detail = f"the window less {default:,} in reserve"
        return CompactionPoint(at_tokens=n_window - default, source="default", detail=detail)
    at_tokens = round(n_window - reserve.value)
    return CompactionPoint(at_tokens=at_tokens, source="setting", detail=reserve.origin)


def _is_openclaws(path: Path) -> bool:
    """Whether a transcript lies where OpenClaw has its own: `agents/<id>/sessions/<file>`."""
    return path.parts[-4:-3] == ("agents",)
