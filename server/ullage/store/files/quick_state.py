"""What a hook reads and writes of the state where it goes the short way, with `os` alone.

The long way leaves a snapshot for each session and event (`store/state/hook_snapshot.py`): what it
found of the configuration, and the files that this came from. The short way is gone as long as all
of them are as they were; so whoever may write nothing leaves none, and nothing is written then.
"""

import os
import sys
from binascii import crc32
from time import time_ns

from ullage import __version__
from ullage.core.text.quick_json import is_list, is_object, parse_json, write_json

SPOOL_VERSION = 2
"""Of the files of `spool.py`; 1 had no tool calls as their hooks lay them down."""
FOLDER = "hooks"
"""Below `context` in the state folder."""
FIGURES_FOLDER = "figures"
"""There too: a file for each session whose agent told something."""
TOOL_EVENT, PROMPT_EVENT, STATUS_EVENT = "tool", "prompt", "status"
MAX_WAITING = 64
"""Events of hooks that wait to be taken into the state. The one that makes them so many goes the
long way, which takes them in: a few milliseconds (chosen)."""
_MAX_LAID_DOWN_BYTES = 8 * 1024
"""Of one call: half a megabyte waits at most (chosen)."""
_MAX_SETTINGS_BYTES = 4 * 1024 * 1024
_MAX_SNAPSHOT_BYTES = 64 * 1024
_MAX_APPENDED_BYTES = 1024 * 1024
"""Of a transcript since the snapshot; to read them takes as long as Python takes to start
(chosen)."""
_MAX_END_BYTES = 1024
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-")
_MAX_ID_CHARS = 64
_PASSING = (
    *("_", "PWD", "OLDPWD", "SHLVL", "CLAUDE_ENV_FILE", "CLAUDE_PID"),
    *("CLAUDE_CODE_MESSAGING_SOCKET", "CLAUDE_CODE_MESSAGING_TOKEN"),
    *("COLUMNS", "LINES"),
)
"""Variables that differ between events or processes of a session, and decide nothing (Claude Code
2.1, seen)."""
MAX_ENV_BYTES = 64 * 1024
"""Of a longer file only the beginning is read (chosen)."""
_TOKEN_BYTES = 6
"""Of chance in a temporary name (chosen)."""
_READ = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
"""A pipe in a file's place tells at once that nobody writes to it."""


def session_name(agent: str, session_id: str) -> str | None:
    """Name the snapshots of a session; None where its id is not the usual one."""
    if len(session_id) > _MAX_ID_CHARS or not _PLAIN.issuperset(session_id):
        return None
    return f"{agent}.{session_id}"


def folder_name(folder: str) -> str:
    """Name the snapshots of a folder, whatever session of it they tell of."""
    return f"folder.{crc32(folder.encode('utf-8', 'surrogateescape')):08x}"


def read_snapshot(name: str, event: str, folder: str) -> dict[str, object] | None:
    """Read what was found the last time, of a session or a folder, if all that it came from is as
    it was.

    Another version of Ullage may find other things.

    Args:
        folder: the project that the agent works in.
    """
    root = state_folder()
    if root is None or not os.path.isabs(folder):
        return None
    path = os.path.join(root, "context", FOLDER, f"{name}.{event}.json")
    snapshot = parse_json(read_beginning(path, _MAX_SNAPSHOT_BYTES))
    if not is_object(snapshot) or snapshot.get("version") != __version__:
        return None
    files = snapshot.get("files")
    is_current = (
        snapshot.get("folder") == folder
        and snapshot.get("environment") == environment_sum()
        and is_list(files)
        and all(is_list(stamp) and stamp and stamp == [*stamp_of(str(stamp[0]))] for stamp in files)
    )
    return snapshot if is_current else None


def read_appended(path: str, snapshot: dict[str, object]) -> list[bytes] | None:
    """Read the lines that a transcript got since a snapshot; None where it is another file, where
    a line is not whole, or where there are too many."""
    n_known = snapshot.get("size")
    if snapshot.get("transcript") != path or not isinstance(n_known, int):
        return None
    fd = os.open(path, _READ)
    try:
        info = os.fstat(fd)
        n_before = min(n_known, _MAX_END_BYTES)
        if info.st_ino != snapshot.get("inode") or info.st_size - n_known > _MAX_APPENDED_BYTES:
            return None
        os.lseek(fd, n_known - n_before, os.SEEK_SET)
        data = os.read(fd, n_before + _MAX_APPENDED_BYTES)
    finally:
        os.close(fd)
    if crc32(data[:n_before]) != snapshot.get("end"):
        return None
    *lines, rest = data[n_before:].split(b"\n")
    return None if rest else [line for line in lines if line]


def end_sum(path: str, n_bytes: int) -> int:
    """Sum up the end of what a transcript was, by which `read_appended` knows it again."""
    n_before = min(n_bytes, _MAX_END_BYTES)
    fd = os.open(path, _READ)
    try:
        os.lseek(fd, n_bytes - n_before, os.SEEK_SET)
        return crc32(os.read(fd, n_before))
    finally:
        os.close(fd)


def stamp_of(path: str) -> tuple[str, int, int]:
    """Look at a file: one that was written to has another stamp; zeros where there is none."""
    try:
        info = os.stat(path)
    except (OSError, ValueError):
        return path, 0, 0
    return path, info.st_mtime_ns, info.st_size


def are_settings_equal(snapshot: dict[str, object]) -> bool:
    """Tell whether an agent's own settings say what they said, in what is read of them."""
    keys, stamps = snapshot.get("setting_keys"), snapshot.get("settings")
    if not is_list(keys) or not is_list(stamps):
        return False
    for stamp in stamps:
        if not is_list(stamp) or not stamp:
            return False
        is_written = stamp[:-1] != [*stamp_of(str(stamp[0]))]
        if is_written and (not keys or sum_settings(str(stamp[0]), [*map(str, keys)]) != stamp[-1]):
            return False
    return True


def sum_settings(path: str, keys: list[str]) -> int:
    """Sum up what some settings in a file of JSON say; without the file they say nothing.

    Raises:
        ValueError: the file is no JSON.
    """
    try:
        settings = parse_json(read_beginning(path, _MAX_SETTINGS_BYTES))
    except FileNotFoundError:
        settings = None
    values = [settings.get(key) if is_object(settings) else None for key in keys]
    return crc32(repr(values).encode("utf-8", "surrogatepass"))


def environment_sum() -> int:
    """Sum the environment up: nobody finds a value by it, and another one has another sum."""
    pairs = sorted(pair for pair in os.environ.items() if pair[0] not in _PASSING)
    return crc32(repr(pairs).encode("utf-8", "surrogateescape"))


def read_env_texts(folder: str) -> list[str] | None:
    """Read the `.env` files of a folder; None where not all of them can be read."""
    names = [name for name in os.listdir(folder) if name == ".env" or name.startswith(".env.")]
    paths = [os.path.join(folder, name) for name in names]
    if not all(map(os.path.isfile, paths)):
        return None
    return [read_beginning(path, MAX_ENV_BYTES) for path in paths]


def read_beginning(path: str, n_bytes: int) -> str:
    """Read the beginning of a text."""
    fd = os.open(path, _READ)
    try:
        return os.read(fd, n_bytes).decode("utf-8-sig", "replace")
    finally:
        os.close(fd)


def lay_down(folder: str, call: dict[str, object]) -> bool:
    """Lay a tool call down beside a session's state, whole or not at all.

    Nothing is laid down, and False given, where it is too long or too many wait.
    """
    data = write_json({"version": SPOOL_VERSION, "tool": call}).encode("utf-8")
    if len(data) > _MAX_LAID_DOWN_BYTES:
        return False
    os.makedirs(folder, mode=0o700, exist_ok=True)
    waiting = [name for name in os.listdir(folder) if name.startswith("waiting-")]
    if len(waiting) + 1 >= MAX_WAITING:
        return False
    _write_whole(os.path.join(folder, f"waiting-{time_ns():x}_{os.getpid()}.json"), data)
    return True


def figures_path(root: str, name: str) -> str:
    """Give the file of what an agent told of a session, in a state folder."""
    return os.path.join(root, "context", FIGURES_FOLDER, f"{name}.json")


def keep_figures(root: str, name: str, figures: dict[str, object]) -> None:
    """Keep what an agent told of a session, in place of what it told before.

    Raises:
        OSError: the state folder does not take it.
    """
    path, data = figures_path(root, name), write_json(figures)
    try:
        if read_beginning(path, _MAX_SNAPSHOT_BYTES) == data:
            return
    except FileNotFoundError:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    _write_whole(path, data.encode("utf-8"))


def _write_whole(path: str, data: bytes) -> None:
    folder, name = os.path.split(path)
    # Whoever tidies up knows it by the form that `atomic.temporary_beside` has.
    temporary = os.path.join(folder, f".{name}.{os.urandom(_TOKEN_BYTES).hex()}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    fd = os.open(temporary, flags, 0o600)
    try:
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(fd, view) :]
            os.fsync(fd)
        finally:
            os.close(fd)
        os.replace(temporary, path)
    except OSError:
        os.unlink(temporary)
        raise


def state_folder() -> str | None:
    """Give the state folder; a wrong guess finds no snapshot there."""
    chosen = os.environ.get("ULLAGE_STATE_DIR")
    if chosen:
        return chosen if os.path.isabs(chosen) else None
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA")
        return os.path.join(base, "ullage") if base else None
    return plain_state_folder()


def plain_state_folder() -> str | None:
    """Give the folder that platformdirs gives for a user's state; None where only that can tell."""
    chosen = os.environ.get("XDG_STATE_HOME")
    if sys.platform == "linux" and chosen and os.path.isabs(chosen):
        return os.path.join(chosen, "ullage")
    home = os.environ.get("HOME", "")
    if chosen or not os.path.isabs(home):
        return None
    match sys.platform:
        case "linux":
            return os.path.expanduser("~/.local/state/ullage")
        case "darwin":
            return os.path.expanduser("~/Library/Application Support/ullage")
        case _:
            return None
