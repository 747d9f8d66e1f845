"""A mark that a session was compacted, for agents with an event before it and none after."""

from ullage.store.files.atomic import replace_file
from ullage.store.files.places import Places, session_folder

FILE_NAME = "compacted"


def mark_compaction(session_key: str, places: Places) -> None:
    """Leave the mark; once more changes nothing.

    Raises:
        StateUnwritable: the state folder does not take it.
    """
    replace_file(session_folder("state", session_key, places) / FILE_NAME, b"")


def take_mark(session_key: str, places: Places) -> bool:
    """Remove the mark and say whether it was there; of two at once, one gets it."""
    try:
        (session_folder("state", session_key, places) / FILE_NAME).unlink()
    except OSError:
        return False
    return True
