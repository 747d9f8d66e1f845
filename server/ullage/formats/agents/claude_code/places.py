"""Where Claude Code keeps its sessions."""

from collections.abc import Mapping
from pathlib import Path

MAX_SLUG_CHARS = 200
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def session_roots(env: Mapping[str, str], home: Path) -> tuple[Path, ...]:
    """Give the folders below which all sessions are."""
    return (_config_folder(env, home) / "projects",)


def live_folders(env: Mapping[str, str], home: Path) -> tuple[Path, ...]:
    """Give the folder of the live registry: a file for each process (research/agents.md §0.7)."""
    return (_config_folder(env, home) / "sessions",)


def session_folders(cwd: Path, env: Mapping[str, str], home: Path) -> tuple[Path, ...]:
    """Give the folders that may hold the sessions of a workspace."""
    return tuple(root / folder_name(str(cwd)) for root in session_roots(env, home))


def subagent_folders(path: Path) -> tuple[Path, ...]:
    """Give the folder beside a transcript that is named as it."""
    return (path.with_suffix("") / "subagents",)


def folder_name(cwd: str) -> str:
    """Encode a working folder as Claude Code does (research/agents.md §1.1).

    Every UTF-16 unit but ASCII letters and digits becomes `-`; a name over 200 characters is cut
    and ends in the path's 32-bit hash in base 36. Different folders may share a name.
    """
    data = cwd.encode("utf-16-le", "surrogatepass")
    units = [int.from_bytes(data[i : i + 2], "little") for i in range(0, len(data), 2)]
    slug = "".join(chr(u) if u < 128 and chr(u).isalnum() else "-" for u in units)
    if len(slug) <= MAX_SLUG_CHARS:
        return slug
    value = 0
    for unit in units:
        value = (value * 31 + unit) & 0xFFFFFFFF
    return f"{slug[:MAX_SLUG_CHARS]}-{_base36(abs(value - 2**32 if value >= 2**31 else value))}"


def _config_folder(env: Mapping[str, str], home: Path) -> Path:
    chosen = env.get("CLAUDE_CONFIG_DIR")
    return Path(chosen).expanduser() if chosen else home / ".claude"


def _base36(value: int) -> str:
    digits = ""
    while True:
        value, digit = divmod(value, 36)
        digits = _DIGITS[digit] + digits
        if not value:
            return digits
