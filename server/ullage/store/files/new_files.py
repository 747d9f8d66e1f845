"""New files at a place that a user names: whole or not at all, and never in place of another."""

from pathlib import Path

from ullage.errors import FileExists, StorageError
from ullage.store.files.atomic import create_file


def create_named_file(path: Path, data: bytes) -> None:
    """Write a file that must not exist, mode 0600.

    Raises:
        FileExists: there is something of that name; it is untouched.
        StorageError: the folder or the disk does not take it, and nothing is left.
    """
    try:
        create_file(path, data)
    except FileExistsError:
        raise FileExists(f"{path} exists already: name another file") from None
    except ValueError:
        raise StorageError(f"{str(path)!r} is no name for a file: name another one") from None
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise StorageError(f"cannot write {path}: {reason}. Name a file that can be") from None


def make_session_folder(folder: Path) -> None:
    """Make the folder of a workspace's sessions, as its agent would at its first session.

    Raises:
        StorageError: the system does not let us.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise StorageError(f"cannot make {folder}: {reason}. Make it yourself") from None
