"""Where the lines of memory come from, and which were changed from outside.

What a folder holds when memory is first looked at counts as seen, and so does what version control
holds; what we and a watched agent write is known. Any other change is a finding until a person
accepts it (docs/design/memory.md, "Changes from outside").
"""

from collections.abc import Collection, Container, Iterable, Mapping
from datetime import datetime
from pathlib import Path

import msgspec

from ullage.app.config.load import refuse_read_only
from ullage.app.sessions.secrets import secrets_in
from ullage.core.config.settings import Config
from ullage.core.memory.journal import Begun, Event, FileSeen, Journal, LinesWritten
from ullage.core.memory.origin import KnownOrigins, Origin, is_more_trusted, list_line_digests
from ullage.core.secrets.scan import mask
from ullage.errors import ChangedMeanwhile, StorageError, UnknownItem
from ullage.store.files.places import Places
from ullage.store.memory.journal import OriginReader, append_events, hold_journal, read_journal
from ullage.store.memory.seen import MemoryFile, keep_seen_texts, read_memory_files, read_seen_texts

GONE = ""
"""Stands for the digest of a file that is there no more."""


class OutsideChange(msgspec.Struct, frozen=True, kw_only=True):
    """What changed in a memory file, by nobody who is known."""

    path: str
    """Relative to the workspace, with `/`."""
    added: tuple[tuple[int, str], ...]
    """Lines with their numbers from 1, as they are: to be quoted where they are shown."""
    removed: tuple[str, ...]
    """Lines of the text as it was last seen."""
    sha256: str
    """Of the file as it is; `GONE` where it is there no more."""


class ChangesReport(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `ullage memory changes --json`, and of `accept`: without secrets."""

    changes: tuple[OutsideChange, ...]


def read_origins(workspace: Path, places: Places) -> KnownOrigins:
    """Read what is known of the lines of a workspace's memory; the journal is read each time.

    Raises:
        StorageError: it cannot be read.
    """
    return _read(workspace, places).read_origins()


def see_memory(
    paths: Collection[str], reader: OriginReader, workspace: Path, places: Places
) -> KnownOrigins:
    """Read what is known of the lines of memory, once some of its files changed.

    As in `list_outside_changes`, the first look takes everything for seen, and what was pulled is
    noted; but only these files are looked at.

    Raises:
        StorageError: the journal cannot be read, or the state folder does not take a note.
    """
    known = reader.read()
    if not known.is_begun:
        _begin(read_memory_files(workspace), workspace, places)
        return reader.read()
    pulled = _note_pulled(read_memory_files(workspace, paths), known.lines, workspace, places)
    if pulled and not places.keeps_caches:
        lines: dict[str, Origin] = {**known.lines, **dict.fromkeys(pulled, "file")}
        return KnownOrigins(lines=lines, is_begun=True)
    return reader.read() if pulled else known


def list_outside_changes(workspace: Path, places: Places) -> tuple[OutsideChange, ...]:
    """List the changes of memory that neither Ullage nor a watched agent made.

    The first look takes everything for seen; each notes what was pulled meanwhile. Nothing is
    noted where places keep no caches.

    Raises:
        StorageError: the journal cannot be read, or the state folder does not take a note.
    """
    journal = _read(workspace, places)
    files = tuple(read_memory_files(workspace))
    if not journal.is_begun:
        _begin(files, workspace, places)
        return ()
    seen, known = journal.read_seen(), set(journal.read_origins().lines)
    # A folder that was filled up may have more files than are listed: known ones are looked at.
    files += tuple(read_memory_files(workspace, seen.keys() - {file.path for file in files}))
    changed = [file for file in files if _is_changed(file, seen)]
    gone = sorted(path for path in seen.keys() - {file.path for file in files} if seen[path].sha256)
    known |= set(_note_pulled(changed, known, workspace, places))
    texts = read_seen_texts(workspace, places)
    changes = [_compare(file, texts.get(file.path, ""), known) for file in changed]
    changes += [
        OutsideChange(path=path, added=(), removed=_list_lines(texts.get(path, "")), sha256=GONE)
        for path in gone
    ]
    return tuple(change for change in changes if change.added or change.removed)


def find_outside_change(path: str, workspace: Path, places: Places) -> OutsideChange:
    """Find what changed in a memory file.

    Raises:
        UnknownItem: nothing changed there.
        StorageError: the journal cannot be read, or the state folder does not take a note.
    """
    changes = {change.path: change for change in list_outside_changes(workspace, places)}
    if path not in changes:
        paths = ", ".join(changes) or "there is none"
        raise UnknownItem(f"{path} has no change to accept: name one that has ({paths})")
    return changes[path]


def report_changes(
    changes: Iterable[OutsideChange], workspace: Path, places: Places
) -> ChangesReport:
    """Report changes to who is to accept them: all that is in them, but for secrets."""
    secrets = secrets_in((workspace,), places)
    return ChangesReport(
        changes=tuple(
            msgspec.structs.replace(
                change,
                added=tuple((number, mask(line, secrets)) for number, line in change.added),
                removed=tuple(mask(line, secrets) for line in change.removed),
            )
            for change in changes
        )
    )


def accept_change(
    path: str, sha256: str, workspace: Path, config: Config, places: Places
) -> OutsideChange:
    """Take a change for seen, as a person saw it.

    Raises:
        ChangedMeanwhile: the file is not what `sha256` says any more.
        UnknownItem: nothing changed there.
        WriteNotSupported: the workspace is read-only.
        StorageError: the state folder does not take it.
    """
    refuse_read_only(config.policy)
    change = find_outside_change(path, workspace, places)
    file = next((file for file in read_memory_files(workspace) if file.path == path), None)
    if (GONE if file is None else file.sha256) != sha256:
        raise ChangedMeanwhile(f"{path} changed meanwhile, nothing was accepted: look at it again")
    text = "" if file is None else file.text
    with hold_journal(workspace, places) as journal_path:
        lines = tuple(_list_unknown(text, read_origins(workspace, places).lines))
        events: list[Event] = [FileSeen(path=path, sha256=sha256, at=_now(), how="accepted")]
        if lines:
            events.append(LinesWritten(origin="file", session="", at=_now(), lines=lines))
        append_events(journal_path, events)
        keep_seen_texts({path: text}, workspace, places)
    return change


def record_lines(
    origins: Mapping[str, Origin], session_key: str, workspace: Path, places: Places
) -> None:
    """Note where lines that were written to memory come from, by their digests.

    What is known by then as coming from someone who is trusted as much stays as it is.

    Raises:
        StorageError: the state folder does not take it.
    """
    known = read_origins(workspace, places).lines
    by_origin: dict[Origin, list[str]] = {}
    for digest, origin in origins.items():
        if (before := known.get(digest)) is None or is_more_trusted(origin, before):
            by_origin.setdefault(origin, []).append(digest)
    events = [
        LinesWritten(origin=origin, session=session_key, at=_now(), lines=tuple(lines))
        for origin, lines in by_origin.items()
    ]
    if events:
        with hold_journal(workspace, places) as path:
            append_events(path, events)


def begin_memory(workspace: Path, places: Places) -> None:
    """Take what a folder holds for seen before we write there, where that was not done yet.

    Raises:
        StorageError: the journal cannot be read, or the state folder does not take it.
    """
    if not _read(workspace, places).is_begun:
        _begin(tuple(read_memory_files(workspace)), workspace, places)


def _read(workspace: Path, places: Places) -> Journal:
    journal = read_journal(workspace, places)
    if journal.problem is not None and not journal.n_damaged:
        raise StorageError(journal.problem)
    return journal


def _begin(files: Iterable[MemoryFile], workspace: Path, places: Places) -> None:
    if not places.keeps_caches:
        return
    files = tuple(files)
    with hold_journal(workspace, places) as path:
        if _read(workspace, places).is_begun:
            return
        keep_seen_texts({file.path: file.text for file in files}, workspace, places)
        seen = (
            FileSeen(path=file.path, sha256=file.sha256, at=_now(), how="first") for file in files
        )
        lines = dict.fromkeys(line for file in files for line in list_line_digests(file.text))
        written = LinesWritten(origin="file", session="", at=_now(), lines=tuple(lines))
        append_events(path, (written, *seen, Begun(at=_now())))


def _note_pulled(
    files: Iterable[MemoryFile], known: Container[str], workspace: Path, places: Places
) -> list[str]:
    """Note the lines of some files that nobody knows and the commit that is checked out has."""
    suspects = [file.path for file in files if _list_unknown(file.text, known)]
    if not suspects:
        return []
    # Git is seldom asked, and what starts a process takes 4 ms to import.
    from ullage.store.memory.pulled import read_committed

    committed = read_committed(workspace, suspects, places).values()
    pulled = _list_unknown("\n".join(committed), known)
    if pulled and places.keeps_caches:
        record_lines(dict.fromkeys(pulled, "file"), "", workspace, places)
    return pulled


def _is_changed(file: MemoryFile, seen: Mapping[str, FileSeen]) -> bool:
    before = seen.get(file.path)
    return before is None or before.sha256 != file.sha256


def _list_unknown(text: str, known: Container[str]) -> list[str]:
    """List the digests of lines of which nothing is known."""
    return [line for line in dict.fromkeys(list_line_digests(text)) if line not in known]


def _compare(file: MemoryFile, before: str, known: Container[str]) -> OutsideChange:
    now = set(list_line_digests(file.text))
    return OutsideChange(
        path=file.path,
        added=tuple(
            (number, line)
            for number, line in enumerate(file.text.split("\n"), 1)
            if any(digest not in known for digest in list_line_digests(line))
        ),
        removed=tuple(
            line
            for line in _list_lines(before)
            if any(digest not in now for digest in list_line_digests(line))
        ),
        sha256=file.sha256,
    )


def _list_lines(text: str) -> tuple[str, ...]:
    return tuple(line for line in text.split("\n") if line.strip())


def _now() -> str:
    return datetime.now().astimezone().isoformat(timespec="seconds")
