"""Where the folders of a case are, and files that look as if they were left alone."""

import os
import time
from pathlib import Path

from ullage.store.files.places import Places


def places_of(root: Path) -> Places:
    return Places(cwd=root, home=root, env={}, state_folder=root / "state")


def leave_alone(path: Path) -> None:
    then = time.time() - 3600
    os.utime(path, (then, then))
