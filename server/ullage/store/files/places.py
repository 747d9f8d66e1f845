"""Where things are on this machine: home, the agents' folders, our state."""

import os
from contextlib import suppress
from pathlib import Path

import msgspec

from ullage.core.transcript.session_key import earlier_folder_name, folder_name
from ullage.errors import StateUnwritable


class Places(msgspec.Struct, frozen=True, kw_only=True):
    """The surroundings that every path is worked out from."""

    cwd: Path
    home: Path
    env: dict[str, str]
    state_folder: Path
    keeps_caches: bool = True
    """Whether what was worked out is kept in the state folder; not where nothing is written."""


def current_places() -> Places:
    env = dict(os.environ)
    return Places(cwd=Path.cwd(), home=Path.home(), env=env, state_folder=state_folder(env))


def state_folder(env: dict[str, str]) -> Path:
    """Give `$ULLAGE_STATE_DIR`, else the platform's folder for a user's state."""
    chosen = env.get("ULLAGE_STATE_DIR")
    if chosen:
        return Path(chosen).expanduser().absolute()
    from platformdirs import user_state_path

    return user_state_path("ullage", appauthor=False)


def make_folder(folder: Path) -> None:
    """Make a folder of our state that only the user may enter.

    Raises:
        StateUnwritable: the system does not let us.
    """
    missing = [folder, *folder.parents]
    try:
        missing = missing[: next(at for at, path in enumerate(missing) if path.is_dir())]
        for path in reversed(missing):
            path.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise unwritable(folder, error) from None


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


def unwritable(path: Path, error: OSError) -> StateUnwritable:
    reason = error.strerror or type(error).__name__
    return StateUnwritable(
        f"cannot write {path}: {reason}. Make it writable, or set ULLAGE_STATE_DIR to a folder"
        " that is"
    )
