"""Follow a session while its agent writes: what is new is read, what is known is not."""

from pathlib import Path

import msgspec

from ullage.app.sessions.load import Loaded, load, measure_reading
from ullage.app.sessions.open import open_session
from ullage.core.checkpoint.session_events import events_of
from ullage.core.checkpoint.working_state import Event
from ullage.core.config.settings import Config
from ullage.errors import UllageError
from ullage.formats.format import Reading
from ullage.store.files.places import Places
from ullage.store.gauge.token_counts import CountText
from ullage.store.transcript.database import look_at_database
from ullage.store.transcript.reader import FileLines, Fingerprint, Mark, mark_at, read_appended


class Followed(msgspec.Struct, frozen=True, kw_only=True):
    """A session as it was read last, and where reading goes on."""

    loaded: Loaded
    whole: Reading
    """What the finished lines alone say; an unfinished one is read again each time."""
    mark: Mark | None
    """None for a source that is read as a whole: a packed file or a database."""


def stamp_of(path: Path) -> tuple[Fingerprint, ...] | None:
    """Look at what may be a session, with the log of a database; None where nothing is."""
    try:
        return look_at_database(path)
    except UllageError:
        return None


def start(
    path: Path,
    config: Config,
    places: Places,
    count_text: CountText,
    session_id: str | None = None,
) -> Followed:
    """Read a session for the first time; of a database the one that is named, or the newest.

    Raises:
        Unreadable: the file cannot be read.
        NotATranscript: no agent that we know wrote it.
    """
    loaded = load(open_session(path, session_id), config, places, count_text)
    lines = loaded.session.lines
    covered_bytes = loaded.reading.index.covered_bytes
    return Followed(
        loaded=loaded,
        whole=loaded.reading,
        mark=mark_at(lines, covered_bytes) if isinstance(lines, FileLines) else None,
    )


def update(followed: Followed, config: Config, places: Places) -> Followed:
    """Read what was appended; a file that is no longer the same is read anew.

    The same value is given back where nothing was written.

    Raises:
        Unreadable: the file cannot be read now; it may come back.
        NotATranscript: it is empty or something else now.
    """
    before = followed.loaded
    if before.session.lines.is_current():
        return followed
    session_id = before.session.header.session_id
    return _extend(followed, config) or start(
        before.path, config, places, before.count.count_text, session_id
    )


def _extend(followed: Followed, config: Config) -> Followed | None:
    """Add what was appended; None where only a new reading can tell."""
    before = followed.loaded
    appended = None if followed.mark is None else read_appended(before.path, followed.mark)
    if appended is None:
        return None
    extend, size_bytes = before.session.format.extend, appended.source.size_bytes
    whole = extend(followed.whole, appended.lines, size_bytes)
    shown = whole
    if whole is not None and appended.unfinished is not None:
        shown = extend(whole, (appended.unfinished,), size_bytes)
    if whole is None or shown is None:
        return None
    session = msgspec.structs.replace(before.session, lines=appended.source)
    loaded = measure_reading(session, shown, config, before.count, before.known_secrets)
    return Followed(loaded=loaded, whole=whole, mark=appended.mark)


def new_events(before: Followed, after: Followed) -> tuple[Event, ...]:
    """Tell what happened in a session since it was read before; nothing where it is another."""
    old, new = before.whole.context, after.whole.context
    if before.loaded.session.header.session_id != after.loaded.session.header.session_id:
        return ()
    n_old = len(old.items)
    if not n_old or (n_old <= len(new.items) and new.items[n_old - 1] is old.items[-1]):
        return tuple(events_of(new.items, range(n_old, len(new.items))))
    known = {item.entry_id for item in old.items}
    places = (at for at, item in enumerate(new.items) if item.entry_id not in known)
    return tuple(events_of(new.items, places))
