"""Open a session: its lines, and which agent wrote them.

Apart from `load`, which a hook imports too: this knows all agents.
"""

from pathlib import Path

from ullage.app.sessions.session import Session
from ullage.errors import NotATranscript, SessionLive
from ullage.formats.registry import AGENTS, recognize
from ullage.store.files.places import Places
from ullage.store.transcript.open import open_lines
from ullage.store.transcript.reader import SessionLines


def open_session(path: Path, session_id: str | None = None) -> Session:
    """Open a transcript and recognize it; of a database the session that is named, or the newest.

    Raises:
        Unreadable: the file cannot be read.
        NotATranscript: no agent that we know wrote it.
    """
    lines = open_lines(path, session_id)
    return recognize_session(lines)


def reopen(session: Session) -> Session:
    """Open a session again, as it is now."""
    return open_session(session.path, session.header.session_id)


def recognize_session(lines: SessionLines) -> Session:
    """Tell by its first lines which agent wrote a transcript.

    Raises:
        NotATranscript: no agent that we know wrote it.
    """
    match = recognize(lines)
    if match is None:
        raise NotATranscript(
            f"{lines.path} is not a session of an agent that Ullage reads"
            f" ({', '.join(agent.name for agent in AGENTS)}): name a transcript"
        )
    agent, header = match
    return Session(agent_info=agent, header=header.named(lines.path.stem), lines=lines)


def is_running(session: Session, places: Places) -> bool:
    """Tell whether the agent itself says that it has a session open."""
    from ullage.store.files.processes import running_sessions

    ids = running_sessions(session.agent.live_folders(places.env, places.home))
    return session.header.session_id in ids


def find_processes(session: Session, places: Places) -> tuple[int, ...]:
    """Give the process that has a session open, its parent and so on, as far as the agent tells."""
    from ullage.store.files.processes import find_process, list_ancestors

    folders = session.agent.live_folders(places.env, places.home)
    process_id = find_process(session.header.session_id, folders)
    return () if process_id is None else list_ancestors(process_id, places)


def refuse_running(session: Session, places: Places, way_out: str = "") -> None:
    """Refuse a session that its agent says it has open.

    Raises:
        SessionLive: with the way out, and the other one that there may be.
    """
    if is_running(session, places):
        ways = ", or ".join(filter(None, ("end it there first", way_out)))
        raise SessionLive(f"the agent has this session open: {ways}")
