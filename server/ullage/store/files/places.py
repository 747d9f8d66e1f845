"""Where things are on this machine: home, the agents' folders, our state."""

import os
import re
from contextlib import suppress
from pathlib import Path

import msgspec

from ullage.core.text.digest import sha256
from ullage.store.files.quick_state import plain_state_folder

MAX_NAME_CHARS = 120
_UNSAFE = re.compile(r"[^a-zA-Z0-9._-]")
_RESERVED = re.compile(r"(?i)(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?\Z")


class Places(msgspec.Struct, frozen=True, kw_only=True):
    """The surroundings that every path is worked out from."""

    cwd: Path
    home: Path
    env: dict[str, str]
    state_folder: Path
    keeps_caches: bool = True
    """Whether what was worked out is kept in the state folder; not where nothing is written."""

    def for_reading(self, *, is_read_only: bool) -> "Places":
        """Give the same places, where no cache is kept if nothing may be written."""
        keeps_caches = self.keeps_caches and not is_read_only
        return msgspec.structs.replace(self, keeps_caches=keeps_caches)


def current_places() -> Places:
    env = dict(os.environ)
    return Places(cwd=Path.cwd(), home=Path.home(), env=env, state_folder=state_folder(env))


def places_of_agent(folder: str | None) -> Places:
    """Give the surroundings of an agent that names its folder; the one we run in may be gone."""
    env, home = dict(os.environ), Path.home()
    cwd = Path(folder) if folder and Path(folder).is_absolute() else home
    return Places(cwd=cwd, home=home, env=env, state_folder=state_folder(env))


def state_folder(env: dict[str, str]) -> Path:
    """Give `$ULLAGE_STATE_DIR`, else the platform's folder for a user's state."""
    chosen = env.get("ULLAGE_STATE_DIR")
    if chosen:
        return Path(chosen).expanduser().absolute()
    # To import what knows all platforms takes as long as to read a session.
    plain = plain_state_folder()
    if plain is not None:
        return Path(plain)
    from platformdirs import user_state_path

    return user_state_path("ullage", appauthor=False)


def session_folder(kind: str, session_key: str, places: Places) -> Path:
    """Give the folder of a session below `context/<kind>`."""
    parent = places.state_folder / "context" / kind
    earlier = earlier_folder_name(session_key)
    if earlier != (name := folder_name(session_key)):
        # By the listed names: a disk that ignores case would also find another session's folder.
        with suppress(OSError):
            if earlier in {path.name for path in parent.iterdir()}:
                return parent / earlier
    return parent / name


def is_there(path: Path) -> bool:
    """Whether there is such a file or folder; what cannot be looked at is none."""
    try:
        path.stat()
    except (OSError, ValueError):
        return False
    return True


def is_project(folder: Path, places: Places) -> bool:
    """Whether a folder may be a project's: a home folder and a root hold what is others'."""
    folder = folder.resolve()
    return folder not in (places.home.resolve(), Path(folder.anchor))


def folder_name(session_key: str) -> str:
    """Give the name of a session's folder: its key made safe, and unique where that lost something.

    A key that was changed, that has a capital letter, or whose name Windows or a file system
    could not hold, ends in eight hex digits of its SHA-256: `a:b` and `a_b` never share a
    folder, nor do `A` and `a` where a disk takes them for one name.
    """
    earlier = earlier_folder_name(session_key)
    if earlier != session_key or earlier == earlier.lower():
        return earlier
    return f"{earlier[:MAX_NAME_CHARS]}-{_digest(session_key)}"


def earlier_folder_name(session_key: str) -> str:
    """Give the name by which Ullage 0.1 kept a session: keys that differ in case may share it."""
    name = _UNSAFE.sub("_", session_key)
    is_kept = (
        name == session_key
        and 0 < len(name) <= MAX_NAME_CHARS
        and not name.endswith(".")
        and not _RESERVED.match(name)
    )
    if is_kept:
        return name
    if _RESERVED.match(name):
        # Windows looks at what stands before the first dot only.
        name = name.replace(".", "_")
    return f"{name[:MAX_NAME_CHARS]}-{_digest(session_key)}"


def _digest(session_key: str) -> str:
    return sha256(session_key.encode("utf-8", "surrogatepass")).hexdigest()[:8]
