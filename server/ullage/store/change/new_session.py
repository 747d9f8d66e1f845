"""A session that goes on in a file of its own, and its way out again."""

import errno
import hashlib
import os
from pathlib import Path

from ullage.errors import Refused, StorageError, Unreadable, WriteNotSupported
from ullage.store.change import session_lock
from ullage.store.change.journal import CreateIntent, Journal, RemoveIntent
from ullage.store.change.receipts import receipts_folder
from ullage.store.files import atomic
from ullage.store.files.places import Places
from ullage.store.transcript.reader import BLOCK_BYTES, Fingerprint, look_at, open_to_read


def create_apart(created: Path, data: bytes, places: Places) -> None:
    """Write a session that no change leads to; what a killed process leaves of it is found.

    Raises:
        WriteNotSupported: there is a file of that name; it is untouched.
        StorageError: the disk does not take it, and nothing is left; or, as the message says,
            it is there without the disk's word that it lasts.
    """
    atomic.make_session_folder(created.parent)
    atomic.remove_stale_temporaries(created.parent, of=".jsonl")
    with session_lock.session_lock(created, places):
        journal = Journal(created, places)
        if create_session(created, None, data, journal):
            journal.clear()


def create_session(
    created: Path, source: tuple[Path, Fingerprint] | None, data: bytes, journal: Journal
) -> bool:
    """Write a new session whole, so that no one sees a part of it.

    `source` is the transcript that it was made from, in the same folder, as that was read. Gives
    whether nothing else is left, so that the journal may go.

    Raises:
        ChangedMeanwhile: the old transcript is not as it was when it was read.
        WriteNotSupported: there is a file of that name; it is untouched.
        StorageError: the disk does not take it, and nothing is left; or, as the message says,
            it is there without the disk's word that it lasts.
    """
    temporary = atomic.temporary_beside(created)
    journal.write(
        CreateIntent(
            temporary=temporary.name,
            created=created.name,
            sha256=hashlib.sha256(data).hexdigest(),
        )
    )
    try:
        atomic.write_new_file(temporary, data)
        if source is not None:
            path, expected = source
            atomic.give_owner(temporary, path)
            if look_at(path) != expected:
                raise session_lock.changed_meanwhile(path)
        atomic.publish(temporary, created)
    except BaseException as error:
        atomic.remove_quietly(temporary)
        if not os.path.lexists(temporary):
            journal.clear()
        if isinstance(error, FileExistsError):
            raise WriteNotSupported(f"{created} exists already, and is not replaced") from None
        if isinstance(error, OSError):
            raise StorageError(
                f"cannot write {created}: {error.strerror or error}; nothing was changed. Free"
                " some space, or check the folder's permissions"
            ) from None
        raise
    atomic.sync_folder(created.parent)
    return not os.path.lexists(temporary)


def remove_new_session(
    path: Path, sha256: str, *, session_key: str, receipt_id: str, places: Places
) -> Path:
    """Move a session that we made to our own folder, if no one went on in it; give its place.

    Raises:
        Refused: it is not byte for byte as we wrote it, or someone has it open.
        StorageError: the disk does not take it; the session stays where it is.
    """
    kept = _kept_path(path, session_key, receipt_id, places)
    atomic.make_folder(kept.parent)
    with session_lock.session_lock(path, places):
        if not os.path.lexists(path) and has_digest(kept, sha256):
            return kept
        seen = look_at(path)
        journal = Journal(path, places)
        try:
            with session_lock.open_to_change(path) as file:
                if _digest(file.fd) != sha256 or look_at(path) != seen:
                    raise _went_on(path)
                if file.is_exclusive:
                    aside = _set_aside(path, kept, sha256, journal)
                    file.let_go()
                    if not session_lock.is_left_alone(file, seen.size_bytes):
                        put_back(aside, path)
                        journal.clear()
                        raise _went_on(path)
                    journal.clear()
                    return aside
            # Windows moves no file that is open, so it was closed; elsewhere this is all the same.
            if look_at(path) != seen:
                raise _went_on(path)
            aside = _set_aside(path, kept, sha256, journal)
        except OSError as error:
            raise StorageError(
                f"cannot move {path}: {error.strerror or error}. Check the folder's permissions"
            ) from None
        journal.clear()
        return aside


def refuse_other(path: Path, sha256: str) -> None:
    """Refuse to give a session its place again where another file has it, or one that went on.

    Raises:
        Refused: with where that is.
    """
    if os.path.lexists(path) and not has_digest(path, sha256):
        raise Refused(f"{path} holds what came since: nothing is made again over that")


def bring_back(
    path: Path, sha256: str, *, session_key: str, receipt_id: str, places: Places
) -> None:
    """Give a session that was taken away its place again, if it is not there.

    Raises:
        Refused: it is not kept any more, or another file has its place.
        StorageError: the disk does not take it.
    """
    kept = _kept_path(path, session_key, receipt_id, places)
    with session_lock.session_lock(path, places):
        refuse_other(path, sha256)
        if os.path.lexists(path):
            return
        if not has_digest(kept, sha256):
            raise Refused(f"{path.name} is not in the state folder any more")
        try:
            put_back(kept, path)
        except OSError as error:
            raise StorageError(
                f"cannot move {kept}: {error.strerror or error}. Check the folder's permissions"
            ) from None


def _kept_path(path: Path, session_key: str, receipt_id: str, places: Places) -> Path:
    return receipts_folder(session_key, places) / f"{receipt_id}-{path.name}"


def settle_removal(path: Path, intent: RemoveIntent) -> bool:
    """See an interrupted removal to its end; whether the session was put back, as it went on.

    Raises:
        OSError: the disk does not take it.
        StorageError: the disk does not confirm it.
    """
    aside = Path(os.fsdecode(intent.aside))
    if not os.path.lexists(aside):
        return False
    if os.path.lexists(path):
        if aside.samefile(path):
            aside.unlink()
        return False
    if has_digest(aside, intent.sha256):
        return False
    put_back(aside, path)
    return True


def has_digest(path: Path, sha256: str) -> bool:
    """Whether a file is there and byte for byte what was meant."""
    try:
        with open_to_read(path) as file:
            return _digest(file.fileno()) == sha256
    except (OSError, Unreadable):
        return False


def _digest(fd: int) -> str:
    # By the descriptor: opened once more the file would wait for our own lease.
    digest = hashlib.sha256()
    os.lseek(fd, 0, os.SEEK_SET)
    while block := os.read(fd, BLOCK_BYTES):
        digest.update(block)
    return digest.hexdigest()


def _set_aside(path: Path, kept: Path, sha256: str, journal: Journal) -> Path:
    """Take a file out of the agent's sight; who has it open still writes to the same file."""
    if os.path.lexists(kept) and not kept.samefile(path):
        kept = atomic.unused_backup(path)
    journal.write(RemoveIntent(aside=os.fsencode(kept), sha256=sha256))
    try:
        os.link(path, kept)
    except FileExistsError:
        if not kept.samefile(path):
            raise
    except OSError as error:
        if error.errno not in (errno.EXDEV, *atomic.NO_LINKS):
            raise
        # Our folder is on another disk: beside the others it is out of sight as well.
        kept = atomic.unused_backup(path)
        journal.write(RemoveIntent(aside=os.fsencode(kept), sha256=sha256))
        path.rename(kept)
        atomic.sync_folder(path.parent)
        return kept
    atomic.sync_folder(kept.parent)
    path.unlink()
    atomic.sync_folder(path.parent)
    return kept


def put_back(aside: Path, path: Path) -> None:
    """Give a session that went on its place again, unless another has taken that.

    Raises:
        OSError: the disk does not take it.
        StorageError: the disk does not confirm it.
    """
    # It was moved by a link or a rename, so that it is on the same disk.
    atomic.publish(aside, path)
    atomic.sync_folder(path.parent)


def _went_on(path: Path) -> Refused:
    return Refused(
        f"{path.name} went on since Ullage wrote it, and is not taken away: end it in the agent"
        " if you want to go back to the old session"
    )
