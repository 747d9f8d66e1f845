"""Where opencode keeps its sessions: in databases, not in files of their own."""

from collections.abc import Mapping
from glob import escape
from pathlib import Path


def session_roots(env: Mapping[str, str], home: Path) -> tuple[Path, ...]:
    """Give no folders: there are no transcripts to look for."""
    del env, home
    return ()


def session_folders(cwd: Path, env: Mapping[str, str], home: Path) -> tuple[Path, ...]:
    del cwd, env, home
    return ()


def subagent_folders(path: Path) -> tuple[Path, ...]:
    """Give no folders: a subagent's session is a row that names its parent."""
    del path
    return ()


def database_patterns(env: Mapping[str, str], home: Path) -> tuple[tuple[Path, str], ...]:
    """Give folders and what a database in each is called, the main channel's first.

    `OPENCODE_DB` replaces them all; opencode takes it below its own folder unless absolute.
    """
    data = env.get("XDG_DATA_HOME")
    root = (Path(data).expanduser() if data else home / ".local" / "share") / "opencode"
    chosen = env.get("OPENCODE_DB")
    if chosen:
        path = root / chosen
        return ((path.parent, escape(path.name)),) if path.name else ()
    return (root, "opencode.db"), (root, "opencode-*.db")


def live_folders(env: Mapping[str, str], home: Path) -> tuple[Path, ...]:
    """Give none: this agent does not note which sessions it has open."""
    del env, home
    return ()
