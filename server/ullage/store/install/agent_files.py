"""Files of agents that are changed on a user's word: settings, and programs of ours beside them.

A link stays a link: what it points to is exchanged. A file keeps its permissions and its owner,
and is never written where it is not what the user was shown.
"""

import hashlib
import os
import stat
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from importlib import resources
from pathlib import Path

import msgspec

from ullage.core.install.json_edit import Before, Container
from ullage.errors import ChangedMeanwhile, StorageError, Unreadable
from ullage.store.files import atomic
from ullage.store.files.places import Places
from ullage.store.files.state_file import read_state

MAX_SIZE_BYTES = 1024 * 1024
"""Settings have some kilobytes; those of a user with thousands of permissions 100 kB (chosen)."""
VERSION = 1


class AgentFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file as it was when it was read."""

    path: Path
    """Where the agent looks for it."""
    target: Path
    """Where its bytes are: behind links."""
    data: bytes | None
    """None where there is none."""


class FileChange(msgspec.Struct, frozen=True, kw_only=True):
    file: AgentFile
    new: bytes | None
    """None where the file goes."""


class InstallReceipt(msgspec.Struct, frozen=True, kw_only=True):
    before: Before | None
    """Of the settings; None where the agent has none that we change."""
    is_settings_new: bool
    """Whether there was no settings file."""
    files: tuple[tuple[str, str], ...]
    """Our own files, each with its SHA-256."""
    folders: tuple[str, ...]
    """Those that were made for them, the deepest first."""


class _Shape(msgspec.Struct, rename="camel"):
    version: int
    is_settings_new: bool
    has_before: bool
    blank: str | None
    containers: tuple[tuple[tuple[str, ...], str], ...]
    files: tuple[tuple[str, str], ...]
    folders: tuple[str, ...]


def read_agent_file(path: Path) -> AgentFile:
    """Read a file, if there is one.

    Raises:
        Unreadable: it is no file that can be read, a link to nothing, or far too large.
    """
    try:
        if not _is_there(path):
            return AgentFile(path=path, target=path, data=None)
        target = Path(os.path.realpath(path, strict=True))
        info = target.stat()
        if not stat.S_ISREG(info.st_mode):
            raise Unreadable(f"{path} is no regular file: move it away; nothing was written")
        if info.st_size > MAX_SIZE_BYTES:
            raise Unreadable(
                f"{path} has {info.st_size:,} bytes, and {MAX_SIZE_BYTES:,} are read at most:"
                " make it smaller; nothing was written"
            )
        return AgentFile(path=path, target=target, data=target.read_bytes())
    except FileNotFoundError:
        raise Unreadable(f"{path} is a link to nothing: correct it; nothing was written") from None
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise Unreadable(f"{path} cannot be read ({reason}); nothing was written") from None


def _is_there(path: Path) -> bool:
    # `lexists` would take what cannot be looked at for what is not there.
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def packaged_files(*folders: str) -> dict[str, bytes]:
    """Give the files of these folders of `data/agents`, by their names."""
    root = resources.files("ullage") / "data" / "agents"
    return {
        file.name: file.read_bytes()
        for folder in folders
        for file in sorted((root / folder).iterdir(), key=lambda file: file.name)
        if file.is_file()
    }


def missing_folders(path: Path) -> tuple[Path, ...]:
    """List the folders that have to be made for a file, the deepest first."""
    return tuple(folder for folder in path.parents if not folder.is_dir())


def make_changes(changes: Sequence[FileChange]) -> None:
    """Make all changes in their order, or none where a file is not as it was shown.

    Raises:
        ChangedMeanwhile: a file changed since it was read.
        StorageError: the system does not let us; each file is old or new.
    """
    for change in changes:
        _require_unchanged(change.file)
    for change in changes:
        try:
            _make(change.file, change.new)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise StorageError(
                f"cannot write {change.file.target}: {reason}. Check the permissions of its folder"
            ) from None


def remove_empty_folders(folders: Iterable[Path]) -> None:
    """Remove our empty folders; one that holds something stays."""
    for folder in folders:
        with suppress(OSError):
            folder.rmdir()


def _require_unchanged(file: AgentFile) -> None:
    if read_agent_file(file.path) != file:
        raise ChangedMeanwhile(
            f"{file.path} changed meanwhile; nothing was written to it: run the command again"
        )


def _make(file: AgentFile, new: bytes | None) -> None:
    if new is None:
        _require_unchanged(file)
        file.path.unlink()
        atomic.sync_folder(file.path.parent)
    elif file.data is None:
        atomic.make_folder(file.path.parent)
        try:
            atomic.create_file(file.path, new)
        except FileExistsError:
            raise ChangedMeanwhile(f"{file.path} was made meanwhile: try again") from None
    else:
        _exchange(file, new)


def _exchange(file: AgentFile, new: bytes) -> None:
    atomic.remove_stale_temporaries(file.target.parent, of=file.target.name)
    temporary = atomic.temporary_beside(file.target)
    try:
        atomic.write_new_file(temporary, new)
        _take_permissions(temporary, file.target.stat())
        _require_unchanged(file)
        atomic.rename_over(temporary, file.target)
    except BaseException:
        atomic.remove_quietly(temporary)
        raise
    atomic.sync_folder(file.target.parent)


def _take_permissions(path: Path, like: os.stat_result) -> None:
    if sys.platform == "win32":
        return
    now = path.stat()
    if (now.st_uid, now.st_gid) != (like.st_uid, like.st_gid):
        os.chown(path, like.st_uid, like.st_gid)
    path.chmod(stat.S_IMODE(like.st_mode))


def receipt_path(agent: str, folder: Path, places: Places) -> Path:
    digest = hashlib.sha256(os.fsencode(folder)).hexdigest()[:8]
    return places.state_folder / "agents" / f"{agent}-{digest}.json"


def read_receipt(path: Path) -> InstallReceipt | None:
    """Read a receipt; None where no usable one exists."""
    shape = read_state(path, _Shape, VERSION).content
    if shape is None:
        return None
    containers = tuple(Container(path=keys, inner=inner) for keys, inner in shape.containers)
    before = Before(blank=shape.blank, containers=containers) if shape.has_before else None
    return InstallReceipt(
        before=before,
        is_settings_new=shape.is_settings_new,
        files=shape.files,
        folders=shape.folders,
    )


def encode_receipt(receipt: InstallReceipt) -> bytes:
    before = receipt.before
    shape = _Shape(
        version=VERSION,
        is_settings_new=receipt.is_settings_new,
        has_before=before is not None,
        blank=None if before is None else before.blank,
        containers=tuple((c.path, c.inner) for c in before.containers) if before else (),
        files=receipt.files,
        folders=receipt.folders,
    )
    return msgspec.json.encode(shape) + b"\n"
