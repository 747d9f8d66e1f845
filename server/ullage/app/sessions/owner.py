"""Whose a session is: a folder's, or another session's that it works for."""

from ullage.core.transcript.entries import Header

ANY_FOLDER = "any folder"
"""Whose a session is that does not say where its agent worked."""


def of_folder(cwd: str) -> str:
    return f"folder {cwd}"


def of_session(session_id: str) -> str:
    return f"session {session_id}"


def owner_of(header: Header) -> str:
    if header.parent_session_id is not None:
        return of_session(header.parent_session_id)
    return ANY_FOLDER if header.cwd is None else of_folder(header.cwd)
