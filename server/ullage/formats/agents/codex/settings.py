"""Codex's own settings, as far as they say when it compacts (0.169)."""

from pathlib import Path

import msgspec

from ullage.core.config.agent_settings import AgentSettings, value_at
from ullage.core.gauge.gauge import CompactionPoint
from ullage.formats.agent_info import Env, Home, InstructionLoader, RunningSession
from ullage.formats.json_line import texts_of

COMPACTS_PERCENT = 90
"""Of the model's whole window."""
TOLD_PERCENT = 95
"""Of the whole window, what a rollout tells as the window."""
MAX_INSTRUCTION_BYTES = 32 * 1024
"""Of the AGENTS.md files of a project, unless `project_doc_max_bytes` says otherwise."""
HOME = Home(variable="CODEX_HOME", default=".codex", folders=("sessions", "archived_sessions"))
"""Those in use, then the archived ones."""


def list_setting_files(path: Path, cwd: Path, env: Env, home: Path) -> tuple[Path, ...]:
    del path
    return cwd / ".codex" / "config.toml", HOME.root(env, home) / "config.toml"


def find_compaction_point(session: RunningSession) -> CompactionPoint:
    """Tell where Codex compacts: 244,800 where the rollout says 258,400.

    That is 90 % of the whole window, or what is configured where that is less.
    """
    whole = TOLD_PERCENT if session.window.source == "agent" else 100
    at_tokens = session.window.n_tokens * COMPACTS_PERCENT // whole
    limit = session.settings.find_number("model_auto_compact_token_limit")
    if limit is not None and 0 < limit.value < at_tokens:
        return CompactionPoint(at_tokens=round(limit.value), source="setting", detail=limit.origin)
    detail = f"{COMPACTS_PERCENT} % of the model's whole window"
    return CompactionPoint(at_tokens=at_tokens, source="default", detail=detail)


def configure_loader(
    loader: InstructionLoader, settings: AgentSettings, cwd: Path
) -> InstructionLoader:
    """Apply the limit, other names, and whether a folder is trusted: else none of it is read."""
    limit = settings.find_number("project_doc_max_bytes")
    others = (texts_of(file.content, "project_doc_fallback_filenames") for file in settings.sources)
    names = (*loader.choices[0], *next(filter(None, others), ()))
    levels = (
        value_at(file.content, ("projects", str(folder), "trust_level"))
        for folder in (cwd, *cwd.parents)
        for file in settings.sources
    )
    is_trusted = next(filter(None, levels), None) != "untrusted"
    return msgspec.structs.replace(
        loader,
        choices=(names,) if is_trusted else (),
        max_bytes=loader.max_bytes if limit is None else int(limit.value),
        has_memory=settings.find_flag("features", "memories") is True,
    )
