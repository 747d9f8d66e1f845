"""opencode's own settings, as far as they say when it compacts (1.18.34)."""

from pathlib import Path

from ullage.core.config.agent_settings import AgentSettings, NumberSetting, number_at
from ullage.core.gauge.gauge import CompactionPoint
from ullage.formats.agent_info import Env, RunningSession
from ullage.formats.json_line import as_object

MAX_OUTPUT_TOKENS = 32_000
"""What a model may answer at most, whatever its provider allows."""
WINDOW_PER_ANSWER = 4
"""Where the largest answer of a model is not configured, a quarter of a small window is taken for
it: of opencode's 8,000 models two thirds are right so, and 4 % too late (measured)."""
RESERVED_TOKENS = 20_000
"""Kept free of what may be sent, where a provider limits that by itself."""
_NAMES = ("opencode.jsonc", "opencode.json")


def list_setting_files(path: Path, cwd: Path, env: Env, home: Path) -> tuple[Path, ...]:
    """List the settings of the folder and of those above, of a variable's file, of the user."""
    del path
    folders = (cwd, *cwd.parents)
    config = Path(env["XDG_CONFIG_HOME"]) if env.get("XDG_CONFIG_HOME") else home / ".config"
    chosen = env.get("OPENCODE_CONFIG")
    return (
        *(folder / ".opencode" / name for folder in folders for name in _NAMES),
        *(folder / name for folder in folders for name in _NAMES),
        *((Path(chosen),) if chosen else ()),
        *(config / "opencode" / name for name in (*_NAMES, "config.json")),
    )


def find_window(settings: AgentSettings, provider: str, model: str) -> NumberSetting | None:
    """Find the `limit` of a model: of what may be sent, else of the window."""
    for kind in ("input", "context"):
        limit = settings.find_number("provider", provider, "models", model, "limit", kind)
        if limit is not None and limit.value:
            return limit
    return None


def find_compaction_point(session: RunningSession) -> CompactionPoint | None:
    """Tell where opencode compacts: the window less the largest answer, at most 32,000 tokens.

    Where what may be sent has a limit of its own, it is that less `compaction.reserved`.
    """
    is_off = session.settings.find_flag("compaction", "auto") is False
    if is_off or session.settings.has_flag("OPENCODE_DISABLE_AUTOCOMPACT"):
        return None
    limits = _limits_of(session.model, session.settings)
    unknown = session.window.n_tokens // WINDOW_PER_ANSWER
    n_output = round(min(limits.get("output") or unknown, MAX_OUTPUT_TOKENS))
    n_input = limits.get("input")
    if not n_input:
        at_tokens = session.window.n_tokens - n_output
        detail = f"the window less {n_output:,} for the answer"
        return CompactionPoint(at_tokens=at_tokens, source="default", detail=detail)
    reserved = session.settings.find_number("compaction", "reserved")
    if reserved is not None:
        at_tokens = round(n_input - reserved.value)
        return CompactionPoint(at_tokens=at_tokens, source="setting", detail=reserved.origin)
    at_tokens = round(n_input) - min(RESERVED_TOKENS, n_output)
    detail = "what may be sent less its reserve"
    return CompactionPoint(at_tokens=at_tokens, source="default", detail=detail)


def _limits_of(model: str | None, settings: AgentSettings) -> dict[str, float]:
    """Give the `limit` that the user's configuration has for a model, whoever provides it."""
    name = (model or "").rpartition("/")[2]
    for file in settings.sources:
        for provider in (as_object(file.content.get("provider")) or {}).values():
            models = as_object((as_object(provider) or {}).get("models")) or {}
            limit = as_object((as_object(models.get(name)) or {}).get("limit"))
            if limit is not None:
                keys = ("context", "input", "output")
                return {key: n for key in keys if (n := number_at(limit, (key,))) is not None}
    return {}
