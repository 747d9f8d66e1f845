"""The session that a user means: a path, an id, or nothing for the newest of the folder."""

from pathlib import Path

import msgspec

from ullage.app.sessions.load import Loaded, load
from ullage.app.sessions.open import open_session
from ullage.app.sessions.session import Session
from ullage.core.config.settings import Config
from ullage.core.transcript.entries import Header
from ullage.errors import SessionNotFound
from ullage.store.files.places import Places, is_there
from ullage.store.gauge.token_counts import CountText
from ullage.store.gauge.tokenizer import count_tokens
from ullage.store.transcript.reader import NoLines


def find_session(text: str | None, places: Places) -> Session:
    """Find the session that a user means: a path, an id, or nothing for the newest here.

    Raises:
        SessionNotFound: there is none, or an id names several.
        Unreadable: the path cannot be read.
        NotATranscript: the path is something else.
    """
    if text is None:
        from ullage.app.sessions.find import look, no_session_text

        seen = look((places.cwd,), places)
        if not seen:
            raise SessionNotFound(
                f"{no_session_text(places.cwd, places)}, or name a session with --session"
            )
        return seen[0].session
    path = _as_path(text)
    if path.suffix or len(path.parts) != 1 or is_there(places.cwd / path):
        session = open_session(places.cwd / path)
    else:
        from ullage.app.sessions.find import find_by_id

        session = find_by_id(text, places)
    return msgspec.structs.replace(session, named=text)


def load_named(
    text: str | None, config: Config, places: Places, count_text: CountText = count_tokens
) -> Loaded:
    """Load the session that a user means; raises as `find_session` does."""
    reading = places.for_reading(is_read_only=config.policy.is_read_only)
    return load(find_session(text, reading), config, places, count_text)


def find_saved_session(text: str | None, places: Places) -> Session:
    """Find the session that a user means; one without a transcript by its checkpoints.

    Raises:
        InputError: there is none, or what is named is no session.
    """
    try:
        return find_session(text, places)
    except SessionNotFound:
        # Checkpoints are YAML, which no other session needs.
        from ullage.store.checkpoint.files import find_session_key

        key = text and find_session_key(text, places.state_folder / "context" / "checkpoints")
        if not text or not key:
            raise
    return Session(
        header=Header(agent=None, session_id=text, version=0, cwd=str(places.cwd)),
        agent_info=None,
        lines=NoLines(Path()),
        key=key,
        named=text,
    )


def _as_path(text: str) -> Path:
    """Read a path as the shell would; a home that does not exist stays as it is written."""
    try:
        return Path(text).expanduser()
    except RuntimeError:
        return Path(text)
