"""What a hook that went the long way leaves for those that go the short way (`quick_state.py`)."""

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

import msgspec

from ullage import __version__
from ullage.store.config.files import list_config_files
from ullage.store.files import quick_state
from ullage.store.files.atomic import remove_quietly, replace_file
from ullage.store.files.places import Places

MAX_FILES = 300
"""Three snapshots for a session; one that goes on leaves others (chosen)."""


def write_snapshot(
    name: str,
    event: str,
    places: Places,
    told: Mapping[str, object],
    files: Iterable[Path] = (),
) -> None:
    """Leave what was found at an event, with all files that it came from.

    Raises:
        StorageError: the state folder does not take it.
    """
    paths = dict.fromkeys((*list_config_files(places, (places.cwd,)), *files))
    folder = places.state_folder / "context" / quick_state.FOLDER
    snapshot: dict[str, object] = {
        "version": __version__,
        "folder": str(places.cwd),
        "environment": quick_state.environment_sum(),
        "files": [quick_state.stamp_of(str(path)) for path in paths],
    }
    replace_file(folder / f"{name}.{event}.json", msgspec.json.encode(snapshot | dict(told)))
    remove_oldest(folder)


def remove_oldest(folder: Path) -> None:
    """Keep the newest files of a folder that gets some for each session."""
    with suppress(OSError), os.scandir(folder) as entries:
        by_age = sorted(entries, key=lambda entry: entry.stat().st_mtime, reverse=True)
        for entry in by_age[MAX_FILES:]:
            remove_quietly(Path(entry.path))
