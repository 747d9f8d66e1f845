"""Sessions: those of a workspace, newest first, or the one that a user means."""

from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

import msgspec

from ullage.core.transcript import Header
from ullage.errors import NotATranscript, SessionNotFound, Unreadable
from ullage.formats.format import Format
from ullage.formats.registry import FORMATS, recognize
from ullage.store.folders import Found, newest_first, transcripts_below, transcripts_in
from ullage.store.places import Places
from ullage.store.reader import FileLines

MIN_ID_CHARS = 4
"""A shorter beginning of an id names too many sessions (chosen)."""


class Session(msgspec.Struct, frozen=True, kw_only=True):
    """A transcript on disk whose format is known."""

    header: Header
    format: Format
    lines: FileLines

    @property
    def path(self) -> Path:
        return self.lines.path


def open_session(path: Path) -> Session:
    """Recognize a transcript.

    Raises:
        Unreadable: the file cannot be read.
        NotATranscript: no agent that we know wrote it.
    """
    lines = FileLines(path)
    found = recognize(lines)
    if found is None:
        raise NotATranscript(
            f"{path} is not a session of an agent that Ullage reads (pi/OpenClaw, Claude Code):"
            " name a .jsonl transcript"
        )
    return Session(format=found[0], header=found[1], lines=lines)


def find_session(text: str | None, places: Places) -> Session:
    """Find the session that a user means: a path, an id, or nothing for the newest here.

    Raises:
        SessionNotFound: there is none, or an id names several.
        Unreadable: the path cannot be read.
        NotATranscript: the path is something else.
    """
    if text is None:
        newest = next(workspace_sessions(places.cwd, places), None)
        if newest is None:
            raise SessionNotFound(
                f"no session of an agent in {places.cwd}: run Ullage where the agent ran,"
                " or name a session with --session"
            )
        return newest
    path = _as_path(text)
    if path.suffix or len(path.parts) != 1 or (places.cwd / path).exists():
        return open_session(places.cwd / path)
    return _session_by_id(text, places)


def workspace_sessions(cwd: Path, places: Places) -> Iterator[Session]:
    """Go through the main sessions of a folder, the one written to last first.

    Different folders may share a folder of sessions, so each session's own record decides.
    """
    spellings = _spellings(cwd)
    found = chain.from_iterable(transcripts_in(folder) for folder in session_folders(cwd, places))
    for session in _recognized(newest_first(found)):
        if session.header.cwd is None or session.header.cwd in spellings:
            yield session


def session_folders(cwd: Path, places: Places) -> set[Path]:
    """List the folders where agents keep the sessions of a folder, whether they exist or not."""
    return {
        folder
        for known in FORMATS
        for spelling in _spellings(cwd)
        for folder in known.session_folders(Path(spelling), places.env, places.home)
    }


def _spellings(cwd: Path) -> set[str]:
    """Give a folder as it was named and as it really is; an agent may note either."""
    return {str(cwd), str(cwd.resolve())}


def subagent_sessions(session: Session) -> Iterator[Session]:
    """Go through the sessions that work for this one, the one written to last first."""
    folders = session.format.subagent_folders(session.path)
    found = chain.from_iterable(transcripts_below(folder) for folder in folders)
    for child in _recognized(newest_first(found)):
        if child.header.parent_session_id == session.header.session_id:
            yield child


def _session_by_id(text: str, places: Places) -> Session:
    if len(text) < MIN_ID_CHARS:
        raise SessionNotFound(
            f"session id {text!r} is too short: give at least {MIN_ID_CHARS} characters"
        )
    wanted = text.lower()
    roots = (r for known in FORMATS for r in known.session_roots(places.env, places.home))
    files = chain.from_iterable(transcripts_below(root) for root in roots)
    named = newest_first(found for found in files if wanted in found.path.stem.lower())
    matches = [
        session
        for session in _recognized(named)
        if session.header.session_id.lower().startswith(wanted)
    ]
    exact = [session for session in matches if session.header.session_id.lower() == wanted]
    candidates = exact or matches
    if not candidates:
        raise SessionNotFound(
            f"no session has the id {text}: run Ullage where the agent ran, or give the"
            " transcript's path"
        )
    n_ids = len({session.header.session_id for session in candidates})
    if n_ids > 1:
        raise SessionNotFound(f"{n_ids} sessions have ids that begin with {text}: give more of it")
    return candidates[0]


def _as_path(text: str) -> Path:
    """Read a path as the shell would; a home that does not exist stays as it is written."""
    try:
        return Path(text).expanduser()
    except RuntimeError:
        return Path(text)


def _recognized(files: Iterable[Found]) -> Iterator[Session]:
    """Recognize files; one that cannot be read hides none of the others."""
    for found in files:
        try:
            yield open_session(found.path)
        except (Unreadable, NotATranscript):
            continue
