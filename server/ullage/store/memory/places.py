"""Where memory stands in a workspace, and what is derived from it in our state."""

from pathlib import Path

from ullage.store.files.places import Places, folder_name

FOLDER = "memory"
MEMORY = "MEMORY.md"
DREAMS = "DREAMS.md"
SUPERSEDED = f"{FOLDER}/superseded.md"


def memory_folder(workspace: Path, places: Places) -> Path:
    """Give the folder of a workspace in our state, by whatever way its path is written."""
    return places.state_folder / "memory" / folder_name(str(workspace.resolve()))
