"""Where a new session of pi goes, and how a user goes on with it."""

from pathlib import Path
from uuid import uuid4

import msgspec

from ullage.app.change.make import now_text
from ullage.app.sessions.open import open_session
from ullage.formats.agents.openclaw.agent import OPENCLAW
from ullage.formats.agents.openclaw.new_session import NewHeader, file_name
from ullage.store.files.atomic import create_named_file, make_session_folder
from ullage.store.files.places import Places


class NewFile(msgspec.Struct, frozen=True, kw_only=True):
    path: Path
    header: NewHeader

    @property
    def resume(self) -> str:
        return f"pi --session {self.path}"


def new_file(places: Places) -> NewFile:
    """Name a session of its own in the folder where pi keeps those of the current folder."""
    header = NewHeader(session_id=str(uuid4()), timestamp=now_text(), cwd=str(places.cwd))
    folder = OPENCLAW.workspace_folders(places.cwd, places.env, places.home)[0]
    return NewFile(path=folder / file_name(header), header=header)


def new_file_beside(path: Path, cwd: str) -> NewFile:
    """Name a session that branches off another one, in the same folder, as pi does."""
    header = NewHeader(
        session_id=str(uuid4()),
        timestamp=now_text(),
        cwd=cwd,
        parent_path=str(path.absolute()),
    )
    return NewFile(path=path.with_name(file_name(header)), header=header)


def write_session(path: Path, data: bytes) -> None:
    """Write a new session whole, and see that it is one.

    Raises:
        FileExists, StorageError: it was not written.
    """
    make_session_folder(path.parent)
    create_named_file(path, data)
    open_session(path)
