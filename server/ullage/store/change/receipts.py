"""Receipts on disk: one file for each change of a session, written before the change is made."""

import os
import re
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import msgspec
from msgspec.structs import asdict, replace

from ullage.core.change.edit import LineChange
from ullage.core.change.receipt import ChangeKind, Receipt, ReceiptKind, ReceiptState
from ullage.errors import StateUnwritable
from ullage.store.files import atomic
from ullage.store.files.places import Places, session_folder
from ullage.store.files.state_file import set_aside
from ullage.store.transcript.reader import Fingerprint

KEPT_RECEIPTS = 20
KEPT_S = 30 * 24 * 3600.0
"""Neither the newest nor anything younger is deleted (docs/safety.md, "What is kept")."""
CLOCKS_S = 3600.0
"""How far the clock of the disk of a transcript may be ahead of that of our state (chosen)."""
_FILE_NAME = re.compile(r"(\d{4,})\.json(?:\.corrupt-\d+)?\Z")
VERSION = 1


class Receipts(msgspec.Struct, frozen=True, kw_only=True):
    receipts: tuple[Receipt, ...]
    """Newest first."""
    problems: tuple[str, ...]
    """Of files that could not be read, for the user."""


class NewerVersion(Exception):
    """A receipt that only a newer Ullage understands."""


class _Versioned(msgspec.Struct):
    version: int


class _BeforeShape(msgspec.Struct, rename="camel"):
    device: int
    inode: int
    size_bytes: int
    mtime_ns: int
    head_sha256: str


class _ReceiptShape(msgspec.Struct, rename="camel"):
    """A receipt and its occasion side by side; the bytes of lines are in base64."""

    version: int
    receipt_id: str = msgspec.field(name="id")
    state: ReceiptState
    kind: ReceiptKind
    layer: str | None
    at: str
    session_key: str
    n_tokens_before: int | None = msgspec.field(name="tokensBefore")
    n_tokens_after: int | None = msgspec.field(name="tokensAfter")
    replaced_ids: tuple[str, ...]
    replaced_bytes: int
    replaced_sha256: str
    undoes: str | None
    change: ChangeKind
    path: str
    before: _BeforeShape
    appended_sha256: str
    originals: tuple[LineChange, ...]
    backup: str | None
    new_path: str | None
    new_sha256: str | None
    left_size_bytes: int | None = None


def receipts_folder(session_key: str, places: Places) -> Path:
    return session_folder("preimages", session_key, places)


def list_receipts(session_key: str, places: Places) -> Receipts:
    """List what was done to a session; a receipt that cannot be read is moved aside, not lost."""
    folder = receipts_folder(session_key, places)
    receipts: list[Receipt] = []
    problems: list[str] = []
    for number in reversed(_numbers(folder)):
        path = folder / f"{number:04}.json"
        try:
            receipt = decode(path.read_bytes())
        except FileNotFoundError:
            continue
        except OSError as error:
            problems.append(f"cannot read {path}: {error.strerror}. Check its permissions")
        except NewerVersion:
            problems.append(f"{path} was written by a newer Ullage: it is kept, and not used here")
        except ValueError:
            problems.append(_moved_aside(path))
        else:
            if receipt.occasion.session_key == session_key:
                receipts.append(receipt)
    return Receipts(receipts=tuple(receipts), problems=tuple(problems))


def has_receipts(session_key: str, places: Places) -> bool:
    """Tell whether a session was changed by us, without reading how."""
    with suppress(StateUnwritable):
        return bool(_numbers(receipts_folder(session_key, places)))
    return False


def sessions_made_from(path: Path, places: Places, since_ns: int = 0) -> tuple[Receipt, ...]:
    """List the receipts of new sessions that were made from a transcript and are still there."""
    made = _list_made_from(path, "done", places, since_ns)
    return tuple(receipt for receipt in made if Path(receipt.new_path or "").exists())


def sessions_withdrawn_from(path: Path, places: Places) -> tuple[Receipt, ...]:
    """List the receipts of new sessions that were made from a transcript and taken back."""
    made = _list_made_from(path, "undone", places)
    return tuple(receipt for receipt in made if receipt.occasion.kind != "undo")


def _list_made_from(
    path: Path, state: ReceiptState, places: Places, since_ns: int = 0
) -> Iterator[Receipt]:
    for file in _list_files(places, since_ns):
        try:
            receipt = decode(file.read_bytes())
        except (OSError, ValueError):
            continue
        if receipt.state == state and receipt.path == str(path) and receipt.new_path:
            yield receipt


def _list_files(places: Places, since_ns: int) -> Iterator[Path]:
    """List the receipts of all sessions to which one was added or noted since a time."""
    with suppress(OSError), os.scandir(places.state_folder / "context" / "preimages") as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            # One that goes meanwhile hides none of the others.
            with suppress(OSError):
                if entry.stat().st_mtime_ns >= since_ns:
                    yield from sorted(Path(entry.path).glob("*.json"))


def receipt_of_new(path: Path, session_key: str, places: Places) -> Receipt | None:
    """Give the receipt of a session file that we made; None where its agent made it."""
    if not has_receipts(session_key, places):
        return None
    real = str(path.resolve())
    receipts = list_receipts(session_key, places).receipts
    return next((receipt for receipt in receipts if receipt.new_path == real), None)


def written_before_us(path: Path, session_key: str, now: Fingerprint, places: Places) -> int:
    """Give when somebody else wrote to a transcript last, in nanoseconds since 1970."""
    size_bytes, written_ns = now.size_bytes, now.mtime_ns
    if not has_receipts(session_key, places):
        return written_ns
    real = str(path.resolve())
    for receipt in list_receipts(session_key, places).receipts:
        is_ours = receipt.path == real and receipt.left_size_bytes == size_bytes
        if is_ours and receipt.state != "planned":
            size_bytes, written_ns = receipt.before.size_bytes, receipt.before.mtime_ns
    return written_ns


def session_made_of(path: Path, seen: Fingerprint, places: Places) -> Path | None:
    """Give the new session that was made from a transcript that is as it was for that.

    What was noted before the transcript was written last is not read, so that a look costs nothing.
    """
    since_ns = seen.mtime_ns - int(CLOCKS_S * 1e9)
    for receipt in sessions_made_from(path.resolve(), places, since_ns):
        before = receipt.before
        if (before.size_bytes, before.mtime_ns) == (seen.size_bytes, seen.mtime_ns):
            return Path(receipt.new_path or "")
    return None


def add_receipt(receipt: Receipt, places: Places) -> Receipt:
    """Write a receipt under the next number, and delete those that are old and many.

    Raises:
        StateUnwritable: the disk does not take it, and the change must not be made.
    """
    folder = receipts_folder(receipt.occasion.session_key, places)
    number = max(_numbers(folder), default=0)
    while True:
        number += 1
        numbered = replace(receipt, receipt_id=f"{number:04}")
        path = folder / f"{numbered.receipt_id}.json"
        try:
            atomic.create_state_file(path, encode(numbered))
        except FileExistsError:
            continue
        _delete_old(folder)
        return numbered


def mark(
    session_key: str,
    receipt_id: str,
    state: ReceiptState,
    places: Places,
    *,
    backup: str | None = None,
    left_size_bytes: int | None = None,
) -> None:
    """Note that a change was made, or taken back; a receipt that is gone is not made anew.

    Raises:
        StateUnwritable: the disk does not take it; the receipt is as it was.
    """
    path = receipts_folder(session_key, places) / f"{receipt_id}.json"
    try:
        receipt = decode(path.read_bytes())
    except (FileNotFoundError, NewerVersion, ValueError):
        return
    except OSError as error:
        raise atomic.unwritable(path, error) from None
    changed = replace(
        receipt,
        state=state,
        backup=backup or receipt.backup,
        left_size_bytes=left_size_bytes or receipt.left_size_bytes,
    )
    if changed != receipt:
        atomic.replace_file(path, encode(changed))


def mark_done(
    session_key: str,
    receipt_id: str,
    undoes: str | None,
    places: Places,
    *,
    backup: str | None = None,
) -> None:
    """Note that a change was made, and that it took back another where it did.

    Where the other was an undo itself, what that took back counts again.

    Raises:
        StateUnwritable: the disk does not take it; doing it again is safe.
    """
    states: dict[str, ReceiptState] = {receipt_id: "done"}
    if undoes is not None:
        states[undoes] = "undone"
        redone = _find_undone_by(session_key, undoes, places)
        if redone is not None:
            states[redone] = "done"
    for marked_id, state in states.items():
        mark(session_key, marked_id, state, places, backup=backup if state == "done" else None)


def _find_undone_by(session_key: str, receipt_id: str, places: Places) -> str | None:
    """Give what a change took back; None where it is no undo, or cannot be read."""
    path = receipts_folder(session_key, places) / f"{receipt_id}.json"
    try:
        return decode(path.read_bytes()).occasion.undoes
    except (OSError, NewerVersion, ValueError):
        return None


def remove_receipt(receipt: Receipt, places: Places) -> None:
    """Remove the receipt of a change that was refused before it began."""
    folder = receipts_folder(receipt.occasion.session_key, places)
    atomic.remove_quietly(folder / f"{receipt.receipt_id}.json")


def _numbers(folder: Path) -> list[int]:
    try:
        names = [path.name for path in folder.iterdir()]
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise atomic.unwritable(folder, error) from None
    return sorted({int(match[1]) for name in names if (match := _FILE_NAME.match(name))})


def _moved_aside(path: Path) -> str:
    try:
        aside = set_aside(path)
    except StateUnwritable as error:
        return f"{path} is damaged, and stays where it is: {error}"
    return f"{path} is damaged: it was moved to {aside.name}, and its change cannot be undone"


def _delete_old(folder: Path) -> None:
    before = time.time() - KEPT_S
    for number in _numbers(folder)[:-KEPT_RECEIPTS]:
        path = folder / f"{number:04}.json"
        try:
            if path.stat().st_mtime < before:
                path.unlink()
        except OSError:
            continue


def encode(receipt: Receipt) -> bytes:
    occasion = receipt.occasion
    fields = SimpleNamespace(version=VERSION, **asdict(receipt), **asdict(occasion))
    shape = replace(
        msgspec.convert(fields, _ReceiptShape, from_attributes=True),
        session_key=_text(occasion.session_key),
        replaced_ids=tuple(map(_text, occasion.replaced_ids)),
        path=_text(receipt.path),
        backup=None if receipt.backup is None else _text(receipt.backup),
        new_path=None if receipt.new_path is None else _text(receipt.new_path),
    )
    return msgspec.json.format(msgspec.json.encode(shape), indent=1) + b"\n"


def decode(data: bytes) -> Receipt:
    """Read a receipt.

    Raises:
        NewerVersion: a newer Ullage wrote it.
        ValueError: it is damaged.
    """
    if msgspec.json.decode(data, type=_Versioned).version > VERSION:
        raise NewerVersion
    shape = msgspec.json.decode(data, type=_ReceiptShape)
    fields = SimpleNamespace(occasion=shape, **asdict(shape))
    return msgspec.convert(fields, Receipt, from_attributes=True)


def _text(value: str) -> str:
    """Give text that JSON can hold: a lone surrogate of a file's name becomes its escape."""
    return value.encode("utf-8", "backslashreplace").decode()
