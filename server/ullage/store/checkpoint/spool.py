"""Where events are laid that are to be added to a session's working state: one file for each.

No lock is taken and nothing is read for it. Whoever writes the state next takes them in; that an
event counts once makes it safe to take it twice. Most tool calls are laid there by
`quick_state.py`, as their hooks got them.
"""

import os
import re
from pathlib import Path

import msgspec

from ullage.core.checkpoint.captured import Captured, ToolEvent, capture_events
from ullage.errors import StorageError
from ullage.store.files.atomic import create_state_file
from ullage.store.files.places import Places, session_folder
from ullage.store.files.quick_state import SPOOL_VERSION

_NAME = re.compile(r"waiting-\w+\.json")


class SpooledFile(msgspec.Struct, frozen=True, kw_only=True):
    """The content of a file that waits to be taken in."""

    version: int
    taken: Captured = Captured()
    tool: ToolEvent | None = None
    """A call as `agent/quick_answer.py` lays it down, which found no secret in it."""

    @property
    def captured(self) -> Captured:
        return self.taken if self.tool is None else capture_events((self.tool,), now_ms=0)


def spool(session_key: str, captured: Captured, places: Places) -> int:
    """Lay down what was captured, and tell how many files wait now.

    Raises:
        StorageError: the state folder does not take it.
    """
    folder = session_folder("state", session_key, places)
    path = folder / f"waiting-{os.urandom(8).hex()}.json"
    create_state_file(path, msgspec.json.encode(SpooledFile(version=SPOOL_VERSION, taken=captured)))
    return len(spooled_files(folder))


def spooled_files(folder: Path) -> list[Path]:
    """List the files that wait.

    Raises:
        StorageError: the system does not tell.
    """
    try:
        return [path for path in folder.iterdir() if _NAME.fullmatch(path.name)]
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise StorageError(f"cannot look at {folder}: {error.strerror}") from None
