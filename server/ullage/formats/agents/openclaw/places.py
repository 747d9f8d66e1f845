"""Where pi keeps its sessions."""

from collections.abc import Mapping
from pathlib import Path


def session_roots(env: Mapping[str, str], home: Path) -> tuple[Path, ...]:
    """Give the folders below which all sessions are."""
    chosen = env.get("PI_CODING_AGENT_SESSION_DIR")
    if chosen:
        return (Path(chosen).expanduser(),)
    agent_folder = env.get("PI_CODING_AGENT_DIR")
    root = Path(agent_folder).expanduser() if agent_folder else home / ".pi" / "agent"
    return (root / "sessions",)


def session_folders(cwd: Path, env: Mapping[str, str], home: Path) -> tuple[Path, ...]:
    """Give the folders that may hold the sessions of a workspace."""
    roots = session_roots(env, home)
    if env.get("PI_CODING_AGENT_SESSION_DIR"):
        return roots
    return tuple(root / folder_name(str(cwd)) for root in roots)


def folder_name(cwd: str) -> str:
    """Encode a working folder as pi does: `/home/me/a b` becomes `--home-me-a b--`."""
    trimmed = cwd[1:] if cwd[:1] in ("/", "\\") else cwd
    return f"--{trimmed.replace('/', '-').replace(chr(92), '-').replace(':', '-')}--"


def subagent_folders(path: Path) -> tuple[Path, ...]:
    """Give none: pi's subagents are sessions of their own, in folders of their own."""
    del path
    return ()


def database_patterns(env: Mapping[str, str], home: Path) -> tuple[tuple[Path, str], ...]:
    """Give the folder below which OpenClaw (2026.8 and later) has a database for each agent."""
    chosen = env.get("OPENCLAW_STATE_DIR")
    root = Path(chosen).expanduser() if chosen else home / ".openclaw"
    return ((root / "agents", "*/agent/openclaw-agent.sqlite"),)


def live_folders(env: Mapping[str, str], home: Path) -> tuple[Path, ...]:
    """Give none: this agent does not note which sessions it has open."""
    del env, home
    return ()
