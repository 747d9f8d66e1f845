"""Sessions: those of a workspace, newest first, or the one that has an id.

What counts as a session of a folder is decided here alone (docs/design/sessions.md): for the
command line, the lists and the gauge.
"""

import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

import msgspec

from ullage.app.sessions.open import open_session, recognize_session
from ullage.app.sessions.owner import ANY_FOLDER, of_folder, of_session, owner_of
from ullage.app.sessions.session import Session
from ullage.app.sessions.title import overview_of
from ullage.core.gauge.gauge import Band, Gauge
from ullage.core.transcript.entries import Agent
from ullage.errors import InputError, NotATranscript, SessionNotFound
from ullage.formats.agent_info import AgentInfo
from ullage.formats.registry import AGENTS
from ullage.store.change.receipts import receipt_of_new, written_before_us
from ullage.store.files.places import Places
from ullage.store.files.processes import running_sessions
from ullage.store.transcript.database import SessionRows, find_databases
from ullage.store.transcript.folders import TranscriptFile, is_of_workspace, transcripts_below
from ullage.store.transcript.look import TranscriptFolder, find_transcripts
from ullage.store.transcript.open import DatabaseRow, database_rows
from ullage.store.transcript.reader import QUIET_S, FileLines

MIN_ID_CHARS = 4
"""A shorter part of an id names too many sessions (chosen)."""
MAX_SESSIONS = 20
"""Of a folder, the newest: older ones are rarely watched (chosen)."""
MAX_LIVE = 10
N_NEWEST = 3
"""Followed though none of them lives, as the user may go on with one of them (chosen)."""
STAY_S = 30.0
"""How long another session goes on before the gauge leaves a live one that does not (chosen)."""


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """A session that was seen but not opened: a file or a row of a database."""

    place: TranscriptFile | DatabaseRow
    written_ns: int

    def open(self) -> Session:
        match self.place:
            case TranscriptFile():
                return open_session(self.place.path)
            case DatabaseRow():
                return recognize_session(self.place.open())


class SeenSession(msgspec.Struct, frozen=True, kw_only=True):
    """A session that was looked at, not read."""

    session: Session
    written_ns: int
    """When its agent wrote to it last, in nanoseconds since 1970: our own changes do not count."""
    is_live: bool
    continues: Path | None = None
    """The transcript that it was made from, where it is a copy of ours."""

    @property
    def path(self) -> Path:
        return self.session.path


class SessionBrief(msgspec.Struct, frozen=True, kw_only=True):
    """What is kept of a session that is measured but not followed."""

    agent: Agent
    session_id: str
    title: str
    path: Path
    written_ns: int
    gauge: Gauge
    band: Band
    model: str | None
    n_compactions: int
    can_change: bool
    is_auto_enabled: bool
    """By the configuration; the session's own switch may say otherwise."""


def find_by_id(text: str, places: Places) -> Session:
    """Find the session whose id begins or ends with a text.

    Raises:
        SessionNotFound: there is none, or several.
    """
    if len(text) < MIN_ID_CHARS:
        raise SessionNotFound(
            f"session id {text!r} is too short: give at least {MIN_ID_CHARS} characters"
        )
    wanted = text.lower()

    def is_named(session_id: str) -> bool:
        return session_id.lower().startswith(wanted) or session_id.lower().endswith(wanted)

    roots = (r for info in AGENTS for r in info.session_roots(places.env, places.home))
    files = (
        transcript
        for root in roots
        for transcript in transcripts_below(root)
        if wanted[:8] in transcript.path.stem.lower()
    )
    problems: list[str] = []
    rows = database_rows(list_databases(places), problems)
    rows = (row for row in rows if is_named(row.session.session_id))
    matches: dict[str, Session] = {}
    for candidate in _sort_newest_first(files, rows):
        try:
            session = candidate.open()
            session_id = session.header.session_id.lower()
            if not is_named(session_id):
                continue
            if session_id not in matches or not overview_of(matches[session_id]).has_messages:
                matches[session_id] = session
        except InputError as error:
            problems.append(str(error))
    if not matches:
        # The name of a file may have the beginning of its id alone.
        here = list_sessions(places.cwd, places)
        matches = {s.header.session_id.lower(): s for s in here if is_named(s.header.session_id)}
    if not matches:
        reason = (
            f"no session has the id {text}: run Ullage where the agent ran, or give the"
            " transcript's path"
        )
        raise SessionNotFound("; ".join((reason, *dict.fromkeys(problems))))
    if len(matches) > 1 and wanted not in matches:
        raise SessionNotFound(
            f"{len(matches)} sessions have ids that begin or end with {text}: give more of it"
        )
    return matches.get(wanted) or next(iter(matches.values()))


def no_session_text(cwd: Path, places: Places) -> str:
    """Say that a folder has no session, and what cannot be read or which folder above has some."""
    reading = places.for_reading(is_read_only=True)
    problems: list[str] = []
    if next(list_sessions(cwd, reading, problems), None) is None and problems:
        reasons = "; ".join(dict.fromkeys(problems))
        return f"no session of an agent in {cwd} that can be read: {reasons}"
    above = (parent for parent in cwd.parents if next(list_sessions(parent, reading), None))
    folder = next(above, None)
    where = "where the agent ran" if folder is None else f"in {folder}, which has some"
    return f"no session of an agent in {cwd}: run Ullage {where}"


def list_sessions(
    cwd: Path,
    places: Places,
    problems: list[str] | None = None,
    *,
    is_undone_too: bool = False,
) -> Iterator[Session]:
    """Go through the main sessions of a folder, the one written to last first.

    Different folders may share a folder of sessions, so each session's own record decides. A copy
    that we made counts once an agent has written to it, and one that was taken back once it was
    written to since, or, with `is_undone_too`, before; a stub without a message is none; of files
    with one id the last counts.
    What cannot be read hides none of the others, and is added to the problems, a line each.
    """
    problems = [] if problems is None else problems
    owners = _owners_of(cwd)
    files = find_files(cwd, places)
    rows = database_rows(list_databases(places), problems, directories=_spellings(cwd))
    listed: set[str] = set()
    for candidate in _sort_newest_first(files, rows):
        try:
            session = candidate.open()
            if owner_of(session.header) not in owners:
                continue
            if session.state_key not in listed and _is_gone_on_with(
                session, places, is_undone_too=is_undone_too
            ):
                listed.add(session.state_key)
                yield session
        except InputError as error:
            problems.append(str(error))


def find_files(cwd: Path, places: Places) -> list[TranscriptFile]:
    """Find the transcripts that are of a folder by their headers."""
    folders = (
        TranscriptFolder(path=folder, is_nested=info.has_nested_folders)
        for info in AGENTS
        for folder in _folders_of(info, cwd, places)
    )
    return find_transcripts(folders, _owners_of(cwd), _read_owner, places)


def _owners_of(cwd: Path) -> set[str]:
    return {ANY_FOLDER, *map(of_folder, _spellings(cwd))}


def _is_gone_on_with(session: Session, places: Places, *, is_undone_too: bool) -> bool:
    """Whether an agent has a session to go on with in a file."""
    receipt = receipt_of_new(session.path, session.state_key, places)
    if receipt is not None:
        if receipt.left_size_bytes is not None and not is_undone_too:
            is_as_left = session.lines.size_bytes == receipt.left_size_bytes
        else:
            from ullage.store.change.new_session import has_digest

            is_as_left = has_digest(session.path, receipt.new_sha256 or "")
        if is_as_left:
            return False
    return overview_of(session).has_messages


def list_session_folders(cwd: Path, places: Places) -> set[Path]:
    """List the folders where agents keep the sessions of a folder, whether they exist or not."""
    return {folder for info in AGENTS for folder in _folders_of(info, cwd, places)}


def list_subagents(session: Session, places: Places, problems: list[str]) -> Iterator[Session]:
    """Go through the sessions that work for this one, the one written to last first."""
    wanted = session.header.session_id
    owners = {of_session(wanted)}
    folders = session.agent.subagent_folders(session.path)
    files = find_transcripts(
        (TranscriptFolder(path=folder, is_nested=True) for folder in folders),
        owners,
        _read_owner,
        places,
    )
    databases = (session.path,) if isinstance(session.lines, SessionRows) else ()
    rows = database_rows(databases, problems, parent_id=wanted)
    for candidate in _sort_newest_first(files, rows):
        try:
            subagent = candidate.open()
        except InputError as error:
            problems.append(str(error))
            continue
        if owner_of(subagent.header) in owners:
            yield subagent


def _read_owner(path: Path) -> str:
    """Read whose a transcript is; empty where no agent that we know wrote it, yet."""
    try:
        return owner_of(open_session(path).header)
    except NotATranscript:
        return ""


def list_databases(places: Places) -> Iterator[Path]:
    for info in AGENTS:
        yield from find_databases(info.database_patterns(places.env, places.home))


def _sort_newest_first(
    files: Iterable[TranscriptFile], rows: Iterable[DatabaseRow]
) -> list[Candidate]:
    candidates = [Candidate(place=file, written_ns=file.mtime_ns) for file in files]
    candidates += [
        Candidate(place=row, written_ns=(row.session.updated_ms or 0) * 1_000_000) for row in rows
    ]
    return sorted(candidates, key=lambda candidate: candidate.written_ns, reverse=True)


def _folders_of(info: AgentInfo, cwd: Path, places: Places) -> set[Path]:
    spellings = _spellings(cwd)
    return {
        folder
        for spelling in spellings
        for folder in info.workspace_folders(Path(spelling), places.env, places.home)
        if is_of_workspace(folder, spellings)
    }


def _spellings(cwd: Path) -> set[str]:
    """Give a folder as it was named and as it really is; an agent may note either."""
    return {str(cwd), str(cwd.resolve())}


def look(
    folders: Iterable[Path],
    places: Places,
    limit: int = MAX_SESSIONS,
    problems: list[str] | None = None,
) -> tuple[SeenSession, ...]:
    """List the newest sessions of some folders: the live ones first, then by time."""
    running = find_running_ids(places)
    sessions: dict[str, SeenSession] = {}
    for folder in folders:
        for session in islice(list_sessions(folder, places, problems), limit):
            sessions.setdefault(session.state_key, see_session(session, running, places))
    return tuple(sorted(sessions.values(), key=lambda seen: (not seen.is_live, -seen.written_ns)))


def first_of_each_file(seen: Iterable[SeenSession]) -> tuple[SeenSession, ...]:
    """Leave out all sessions of a database but the first, which stands for it."""
    files: dict[Path, SeenSession] = {}
    for session in seen:
        files.setdefault(session.path, session)
    return tuple(files.values())


def to_follow(seen: Sequence[SeenSession]) -> tuple[Path, ...]:
    """Choose the sessions that are worth following: the live ones and the newest."""
    live = [session for session in seen if session.is_live][:MAX_LIVE]
    newest = sorted(seen, key=lambda session: session.written_ns, reverse=True)[:N_NEWEST]
    return tuple(dict.fromkeys(session.path for session in (*live, *newest)))


def follow_copies(chosen: Path, seen: Sequence[SeenSession], before: Sequence[SeenSession]) -> Path:
    """Give the copy in which an agent goes on with a session since, else the session's own file;
    of a copy that was there `before` and is not any more, the session that it was made of.
    """
    own = next((session for session in seen if session.path == chosen), None)
    for copy in seen:
        if copy.continues == chosen and (own is None or copy.written_ns > own.written_ns):
            return copy.path
    gone = next((copy for copy in before if own is None and copy.path == chosen), None)
    return chosen if gone is None or gone.continues is None else gone.continues


def to_show(seen: Sequence[SeenSession], shown: Path | None) -> Path | None:
    """Choose the session of the gauge: the first, but of two that both go on the one `shown`."""
    first = next(iter(seen), None)
    stays = next((session for session in seen if session.path == shown and session.is_live), first)
    if first is None or stays is None:
        return None
    return (first if first.written_ns - stays.written_ns > STAY_S * 1e9 else stays).path


def find_running_ids(places: Places, but_of: int | None = None) -> frozenset[str]:
    """List the sessions that agents themselves say they have open, but for one process."""
    folders = {path for info in AGENTS for path in info.live_folders(places.env, places.home)}
    return running_sessions(folders, but_of)


def see_session(session: Session, running: frozenset[str], places: Places) -> SeenSession:
    lines = session.lines
    written_ns = lines.written_ns
    if isinstance(lines, FileLines):
        written_ns = written_before_us(lines.path, session.state_key, lines.fingerprint, places)
    is_recent = time.time() - written_ns / 1e9 < QUIET_S
    receipt = receipt_of_new(session.path, session.state_key, places)
    return SeenSession(
        session=session,
        written_ns=written_ns,
        is_live=is_recent or session.header.session_id in running,
        continues=None if receipt is None else Path(receipt.path),
    )
