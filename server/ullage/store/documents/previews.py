"""Previews of compactions: two texts for an editor and a note of what they were made from.

A proposal that its user edited is work: it is moved beside the next one, never written over, and
removed only with its folder, long after its last change.
"""

import re
import shutil
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, suppress
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Generic, TypeVar

import msgspec

from ullage.errors import PreviewNotFound
from ullage.store.files.atomic import publish, remove_quietly, replace_file, unwritable
from ullage.store.files.places import Places
from ullage.store.files.quick_lock import quick_lock
from ullage.store.files.state_file import read_state

BEFORE_NAME = "before.md"
PROPOSED_NAME = "proposed.md"
NOTE_NAME = "preview.json"
MAX_AGE_S = 7 * 24 * 3600.0
"""An untouched preview is removed after this; users return after a weekend (chosen)."""
MAX_PROPOSED_BYTES = 4 * 1024 * 1024
"""A larger text is no summary that anybody wrote (chosen)."""
_ID = re.compile(r"[0-9a-f]{16}")
_READ_ONLY = 0o400
_WRITABLE = 0o600

T = TypeVar("T", bound=msgspec.Struct)


class PreviewFiles(msgspec.Struct, Generic[T], frozen=True, kw_only=True):
    """A preview as it is on disk."""

    preview_id: str
    before_path: Path
    proposed_path: Path
    note: T


def preview_id_of(path: Path) -> str:
    """Name the preview of a transcript: a newer one takes the place of the one before."""
    return sha256(str(path).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def previews_folder(places: Places) -> Path:
    return places.state_folder / "previews"


def proposed_path(preview_id: str, places: Places) -> Path:
    return previews_folder(places) / preview_id / PROPOSED_NAME


def previews_lock(places: Places) -> AbstractContextManager[None]:
    """Hold what two windows must not do to one preview at a time.

    Raises:
        StateBusy, StateUnwritable: as `quick_lock`.
    """
    return quick_lock(previews_folder(places) / "previews.lock")


def write_preview(
    preview_id: str, before: str, proposed: str, note: msgspec.Struct, places: Places
) -> None:
    """Write a preview in place of the one before; the note last, which makes it one.

    Raises:
        StateUnwritable: the state folder does not take it.
    """
    folder = previews_folder(places) / preview_id
    remove_quietly(folder / NOTE_NAME)
    # Windows lets no one rename over a file that is read-only.
    with suppress(OSError):
        (folder / BEFORE_NAME).chmod(_WRITABLE)
    replace_file(folder / BEFORE_NAME, before.encode("utf-8", "replace"))
    with suppress(OSError):
        (folder / BEFORE_NAME).chmod(_READ_ONLY)
    write_proposed(folder / PROPOSED_NAME, proposed)
    replace_file(folder / NOTE_NAME, msgspec.json.encode(note) + b"\n")


def write_proposed(path: Path, text: str) -> None:
    replace_file(path, text.encode("utf-8", "replace"))


def set_aside(proposed_path: Path) -> Path:
    """Move a proposal beside the one that is written next.

    Raises:
        StateUnwritable: the system does not let us; it is where it was.
    """
    for number in count(1):
        aside = proposed_path.with_name(f"proposed.{number}.md")
        try:
            publish(proposed_path, aside)
        except FileExistsError:
            continue
        except OSError as error:
            raise unwritable(aside, error) from None
        return aside
    raise AssertionError("numbers do not end")


def read_preview(preview_id: str, of: type[T], version: int, places: Places) -> PreviewFiles[T]:
    """Read what a preview was made from.

    Raises:
        PreviewNotFound: there is no readable one of this name.
    """
    if not _ID.fullmatch(preview_id):
        raise PreviewNotFound(f"{preview_id[:40]!r} is no preview: make a new one")
    folder = previews_folder(places) / preview_id
    note = read_state(folder / NOTE_NAME, of, version)
    if note.content is None:
        raise PreviewNotFound(note.problem or "this preview is gone: make a new one")
    return PreviewFiles(
        preview_id=preview_id,
        before_path=folder / BEFORE_NAME,
        proposed_path=folder / PROPOSED_NAME,
        note=note.content,
    )


def read_proposed(path: Path) -> str:
    """Read a proposal as the user left it.

    Raises:
        PreviewNotFound: the file is gone, not to be read, or no text of a summary's size.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MAX_PROPOSED_BYTES + 1)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise PreviewNotFound(f"cannot read {path}: {reason}. Make a new preview") from None
    if len(data) > MAX_PROPOSED_BYTES:
        raise PreviewNotFound(f"{path} is too large for a summary: make a new preview")
    return data.decode("utf-8-sig", "replace")


def read_before(path: Path) -> str:
    """Read the messages that a compaction replaces, as we wrote them; empty where they are gone."""
    try:
        return path.read_bytes().decode("utf-8", "replace")
    except OSError:
        return ""


def remove_preview(preview_id: str, places: Places) -> None:
    """Remove a preview; what was moved beside it stays, and so does its folder then."""
    folder = previews_folder(places) / preview_id
    remove_quietly(folder / NOTE_NAME)
    with suppress(OSError):
        (folder / BEFORE_NAME).chmod(_WRITABLE)
    for name in (BEFORE_NAME, PROPOSED_NAME):
        remove_quietly(folder / name)
    with suppress(OSError):
        folder.rmdir()


def remove_old_previews(places: Places) -> None:
    """Remove old previews; what cannot be removed now is removed another day."""
    for preview_id in tuple(_list_previews(places)):
        folder = previews_folder(places) / preview_id
        if _is_old(folder):
            remove_preview(preview_id, places)
            shutil.rmtree(folder, ignore_errors=True)


def _list_previews(places: Places) -> Iterator[str]:
    try:
        names = sorted(path.name for path in previews_folder(places).iterdir())
    except OSError:
        return
    yield from (name for name in names if _ID.fullmatch(name))


def _is_old(folder: Path) -> bool:
    try:
        newest = max(path.stat().st_mtime for path in (folder, *folder.iterdir()))
    except OSError:
        return False
    return time.time() - newest > MAX_AGE_S
