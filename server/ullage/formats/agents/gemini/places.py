"""Where the Gemini CLI keeps its sessions."""

import hashlib
import os
import re
from collections.abc import Mapping
from pathlib import Path

MAX_NAMESAKES = 4
"""Folders of the same name whose sessions are looked at (chosen)."""
_NOT_PLAIN = re.compile(r"[^a-z0-9]+")


def session_roots(env: Mapping[str, str], home: Path) -> tuple[Path, ...]:
    """Give the folders below which all sessions are."""
    chosen = env.get("GEMINI_CLI_HOME")
    root = Path(chosen).expanduser() if chosen else home
    return (root / ".gemini" / "tmp",)


def session_folders(cwd: Path, env: Mapping[str, str], home: Path) -> tuple[Path, ...]:
    """Give the folders that may hold the sessions of a workspace.

    Which of several namesakes is meant stands in `.project_root` beside `chats`, and in
    `projects.json`. The last folder is where older versions kept a workspace.
    """
    slug = folder_name(cwd)
    namesakes = (slug, *(f"{slug}-{number}" for number in range(1, MAX_NAMESAKES)))
    names = (*namesakes, hashlib.sha256(os.fsencode(cwd)).hexdigest())
    return tuple(root / name / "chats" for root in session_roots(env, home) for name in names)


def subagent_folders(path: Path) -> tuple[Path, ...]:
    """Give none: the folder of the subagents has the session's whole id, the file's name has not.

    Nor do subagents name their parent, so that only the folder would tell whose they are.
    """
    del path
    return ()


def folder_name(cwd: Path) -> str:
    """Shorten a working folder as the Gemini CLI does: `/home/me/My app!` becomes `my-app`."""
    return _NOT_PLAIN.sub("-", cwd.name.lower()).strip("-") or "project"


def live_folders(env: Mapping[str, str], home: Path) -> tuple[Path, ...]:
    """Give none: this agent does not note which sessions it has open."""
    del env, home
    return ()
