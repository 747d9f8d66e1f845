"""Where what is derived from a workspace's memory, and the journal beside it, are kept."""

from pathlib import Path

from ullage.store.files.places import Places, folder_name


def memory_folder(workspace: Path, places: Places) -> Path:
    """Give the folder of a workspace in our state, by whatever way its path is written."""
    return places.state_folder / "memory" / folder_name(str(workspace.resolve()))
