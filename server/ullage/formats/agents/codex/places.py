"""Where Codex keeps its sessions."""

from collections.abc import Mapping
from pathlib import Path


def session_roots(env: Mapping[str, str], home: Path) -> tuple[Path, ...]:
    """Give the folders below which all sessions are: those in use, then the archived ones."""
    chosen = env.get("CODEX_HOME")
    root = Path(chosen).expanduser() if chosen else home / ".codex"
    return (root / "sessions", root / "archived_sessions")


def session_folders(cwd: Path, env: Mapping[str, str], home: Path) -> tuple[Path, ...]:
    """Give the roots: rollouts lie in `YYYY/MM/DD`, and only their headers name the workspace."""
    del cwd
    return session_roots(env, home)


def subagent_folders(path: Path) -> tuple[Path, ...]:
    """Give the folder of the day: a subagent has a rollout of its own, mostly of the same day.

    One that a later day's resume started is not found; to look for it would read every header.
    """
    return (path.parent,)


def live_folders(env: Mapping[str, str], home: Path) -> tuple[Path, ...]:
    """Give none: this agent does not note which sessions it has open."""
    del env, home
    return ()
