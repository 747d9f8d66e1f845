"""Follow a session while its agent writes: what is new is read, what is known is not."""

from pathlib import Path

import msgspec

from ullage.app.sessions.load import Loaded, counts_for, measure_reading, read
from ullage.app.sessions.open import open_session
from ullage.app.sessions.secrets import SessionSecrets
from ullage.app.sessions.session import Session
from ullage.core.checkpoint.captured import Event, events_of
from ullage.core.config.settings import Config
from ullage.errors import UllageError
from ullage.formats.reading import Reading
from ullage.store.files.places import Places
from ullage.store.gauge.token_counts import CountText, TokenCounts
from ullage.store.transcript.database import look_at_database
from ullage.store.transcript.reader import FileLines, Fingerprint, Mark, mark_at, read_appended


class ReadSession(msgspec.Struct, frozen=True, kw_only=True):
    """A session as it was read, not measured yet."""

    session: Session
    secrets: SessionSecrets
    shown: Reading
    whole: Reading
    """What the finished lines alone say; an unfinished one is read again each time."""
    mark: Mark | None
    """Where reading goes on; None for what is read as a whole: a packed file or a database."""


class FollowedSession(msgspec.Struct, frozen=True, kw_only=True):
    """A session as it was read and measured last."""

    loaded: Loaded
    read: ReadSession


def stamp_of(path: Path) -> tuple[Fingerprint, ...] | None:
    """Look at what may be a session, with the log of a database; None where nothing is."""
    try:
        return look_at_database(path)
    except UllageError:
        return None


def read_session(
    path: Path,
    before: FollowedSession | None,
    config: Config,
    places: Places,
    count_text: CountText,
) -> FollowedSession:
    """Read what was appended to a session that was read before, or else all of it.

    The same value is given back where nothing was written.

    Raises:
        Unreadable: the file cannot be read now; it may come back.
        NotATranscript: it is empty or something else now.
    """
    if before is None:
        return start(path, config, places, count_text)
    session_id = before.loaded.session.header.session_id
    return update(before, config) or start(path, config, places, count_text, session_id)


def start(
    path: Path,
    config: Config,
    places: Places,
    count_text: CountText,
    session_id: str | None = None,
) -> FollowedSession:
    """Read a session from its beginning; of a database the one named, or written to last."""
    # Where several live in a folder, a command that names none may mean another one.
    session = msgspec.structs.replace(open_session(path, session_id), named=session_id or str(path))
    reading, lines = read(session, places), session.lines
    is_file = isinstance(lines, FileLines)
    first = ReadSession(
        session=session,
        secrets=SessionSecrets(session.header, places),
        shown=reading,
        whole=reading,
        mark=mark_at(lines, reading.index.covered_bytes) if is_file else None,
    )
    return _measure(first, config, counts_for(reading.context.model, places, count_text))


def update(followed: FollowedSession, config: Config) -> FollowedSession | None:
    """Read what was appended; None where only a reading from the beginning can tell."""
    before = followed.read
    if before.session.lines.is_current():
        return followed
    now = _read_on(before)
    return None if now is None else _measure(now, config, followed.loaded.count)


def new_events(before: FollowedSession, after: FollowedSession) -> tuple[Event, ...]:
    """Tell what happened in a session since it was read before; nothing where it is another."""
    old, new = before.read.whole.context, after.read.whole.context
    if before.loaded.session.header.session_id != after.loaded.session.header.session_id:
        return ()
    n_old = len(old.items)
    if not n_old or (n_old <= len(new.items) and new.items[n_old - 1] is old.items[-1]):
        return tuple(events_of(new.items, range(n_old, len(new.items))))
    old_ids = {item.entry_id for item in old.items}
    places = (at for at, item in enumerate(new.items) if item.entry_id not in old_ids)
    return tuple(events_of(new.items, places))


def _read_on(before: ReadSession) -> ReadSession | None:
    """Add what was appended; None where only a new reading can tell."""
    appended = None if before.mark is None else read_appended(before.session.path, before.mark)
    if appended is None:
        return None
    extend, size_bytes = before.session.agent.extend, appended.source.size_bytes
    whole = extend(before.whole, appended.lines, size_bytes)
    shown = whole
    if whole is not None and appended.unfinished is not None:
        shown = extend(whole, (appended.unfinished,), size_bytes)
    if whole is None or shown is None:
        return None
    return ReadSession(
        session=msgspec.structs.replace(before.session, lines=appended.source),
        secrets=before.secrets,
        shown=shown,
        whole=whole,
        mark=appended.mark,
    )


def _measure(now: ReadSession, config: Config, count: TokenCounts) -> FollowedSession:
    loaded = measure_reading(now.session, now.shown, config, count, now.secrets)
    return FollowedSession(loaded=loaded, read=now)
