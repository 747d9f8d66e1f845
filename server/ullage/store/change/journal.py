"""Journals: what a change is about to do, so that an interrupted one is finished or withdrawn."""

import os
from pathlib import Path
from typing import TypeAlias

import msgspec

from ullage.errors import StorageError, WriteNotSupported
from ullage.store.change.session_lock import path_digest
from ullage.store.files.atomic import replace_file, sync_folder
from ullage.store.files.places import Places

VERSION = 1


class AppendIntent(msgspec.Struct, frozen=True, kw_only=True, tag="append"):
    device: int
    inode: int
    offset: int
    data: bytes


class RewriteIntent(msgspec.Struct, frozen=True, kw_only=True, tag="rewrite"):
    device: int
    inode: int
    """Of the old file."""
    size_bytes: int
    """Of the old file; what stands behind it there came late."""
    temporary: str
    """Name of the new file before it has the transcript's."""
    new_size_bytes: int = 0
    backup: str | None = None
    """Name that keeps the old file; None while the new one is built."""
    is_settled: bool = False
    """Whether all is done but for late writers, who may still have the old file open."""


class CreateIntent(msgspec.Struct, frozen=True, kw_only=True, tag="create"):
    temporary: str
    created: str
    """Name of the new session's file."""
    sha256: str


class RemoveIntent(msgspec.Struct, frozen=True, kw_only=True, tag="remove"):
    """A new session is taken out of the agent's sight."""

    aside: bytes
    """Where it goes, as the file system spells it."""
    sha256: str


ReceiptRef: TypeAlias = tuple[str, str, str | None]
"""Session key and id of a change's receipt, and the id of the one that the change takes back."""
NO_RECEIPT: ReceiptRef = ("", "", None)
"""Of a repair."""
Intent: TypeAlias = AppendIntent | RewriteIntent | CreateIntent | RemoveIntent


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """The content of a journal."""

    version: int
    path: bytes
    """The transcript, as the file system spells it."""
    session_key: str
    receipt_id: str
    """Empty where a repair needs none."""
    undoes: str | None
    intent: Intent


class Journal:
    """The journal of one transcript; the repair of a change has one of the next level."""

    def __init__(self, path: Path, places: Places, *, level: int = 0) -> None:
        self.path = path
        self.level = level
        self._places = places
        self._file = journal_folder(places) / f"{path_digest(path)}.{level}.json"
        self.receipt = NO_RECEIPT
        """Is marked when the change is found done."""

    def write(self, intent: Intent) -> None:
        """Note what comes next.

        Raises:
            StateUnwritable: the disk does not take it, and the change must not begin.
        """
        session_key, receipt_id, undoes = self.receipt
        entry = Entry(
            version=VERSION,
            path=os.fsencode(self.path),
            session_key=session_key,
            receipt_id=receipt_id,
            undoes=undoes,
            intent=intent,
        )
        replace_file(self._file, msgspec.json.encode(entry) + b"\n")

    def require_readable(self) -> None:
        """Let no new change hide one that only a newer Ullage can see to.

        Raises:
            WriteNotSupported: a newer Ullage left an unfinished change.
        """
        if self._file.exists() and read_entry(self._file) is None:
            raise WriteNotSupported(
                f"a change of {self.path.name} was interrupted, and its note {self._file} is not"
                " one that this version reads: run the newer Ullage once, or remove the note"
            )

    def read(self) -> Entry | None:
        """Read what was about to happen; None where nothing was."""
        return read_entry(self._file)

    def clear(self) -> None:
        """Forget a change that is done or withdrawn; one that stays is looked at again."""
        try:
            self._file.unlink(missing_ok=True)
            sync_folder(self._file.parent)
        except (OSError, StorageError):
            return

    def next_level(self) -> "Journal":
        return Journal(self.path, self._places, level=self.level + 1)


def journal_folder(places: Places) -> Path:
    return places.state_folder / "journals"


def read_entry(file: Path) -> Entry | None:
    """Read a journal; None where there is none, or one that only a newer Ullage understands.

    Journals are replaced whole, so that one that does not decode was not written by us.
    """
    try:
        entry = msgspec.json.decode(file.read_bytes(), type=Entry)
    except (OSError, ValueError, RecursionError):
        return None
    return entry if entry.version == VERSION else None


def journaled_paths(places: Places) -> tuple[Path, ...]:
    """List the transcripts of which a change was begun and not seen to its end."""
    try:
        files = sorted(journal_folder(places).glob("*.json"))
    except OSError:
        return ()
    entries = [read_entry(file) for file in files]
    return tuple(dict.fromkeys(Path(os.fsdecode(entry.path)) for entry in entries if entry))
