"""The state of a session that continues under another id."""

import os

from ullage.store.files.atomic import replace_file
from ullage.store.files.places import Places
from ullage.store.state.auto_state import AUTO_FILE
from ullage.store.state.flush_state import carry_written
from ullage.store.state.pins import PINS_FILE

CARRIED = (PINS_FILE, AUTO_FILE)
"""What the user chose for a session, and what is known of its automatic runs."""


def carry_state(old_key: str, new_key: str, places: Places) -> None:
    """Copy what the user chose for a session and what is known of it to the one that continues it.

    Raises:
        StorageError: the state folder does not take it.
    """
    carry_written(old_key, new_key, places)
    for file in CARRIED:
        path = file.path(new_key, places)
        if os.path.lexists(path):
            continue
        try:
            data = file.path(old_key, places).read_bytes()
        except OSError:
            continue
        replace_file(path, data)
