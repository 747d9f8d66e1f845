"""The copy in which a session goes on, where its agent's own files are never changed."""

from contextlib import suppress

from ullage.app.sessions.session import ChangeTarget, Session
from ullage.app.sessions.title import name_of
from ullage.core.text.shell_word import quote_word
from ullage.errors import AlreadyChanged, InputError
from ullage.store.change.receipts import session_made_of
from ullage.store.files.places import Places
from ullage.store.transcript.reader import FileLines


def find_copy(session: Session, places: Places) -> Session | None:
    """Find the copy of a session that nobody has written to since; a damaged one is none."""
    target = session.find_change_target()
    if not isinstance(target, ChangeTarget) or not target.editor.makes_copies:
        return None
    path = session_made_of(session.path, target.lines.fingerprint, places)
    if path is None:
        return None
    with suppress(InputError):
        lines = FileLines(path)
        header = session.agent.read_header(lines)
        if header is not None:
            return Session(header=header.named(path.stem), agent_info=session.agent, lines=lines)
    return None


def way_to_copy(copy: Session, known_secrets: tuple[str, ...] = ()) -> str:
    """Name the session in which another goes on, and the command that goes on with it."""
    command = copy.agent.resume_command(copy.header, copy.path)
    return name_of(copy, known_secrets) + ("" if command is None else f": `{command}`")


def refuse_second_copy(
    session: Session, places: Places, known_secrets: tuple[str, ...] = ()
) -> None:
    """Refuse to make a second session of one that goes on in a copy.

    Raises:
        AlreadyChanged: with the way to the first.
    """
    copy = find_copy(session, places)
    if copy is not None:
        raise AlreadyChanged(
            f"this session goes on already in {way_to_copy(copy, known_secrets)}; or take that back"
            f" first with `ullage undo --session {quote_word(str(copy.path))}`"
        )
