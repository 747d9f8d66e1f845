"""The bundled session of the demonstration, copied into a scratch folder."""

import gzip
import os
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from importlib import resources
from pathlib import Path

from ullage.store.files.places import Places

IDLE_S = 60.0
"""How old the copy is made to look: a session that was just written to counts as in use."""


@contextmanager
def scratch_session() -> Generator[tuple[Path, Places]]:
    """Copy the session into a scratch folder with a state of its own; both go at the end."""
    packed = resources.files("ullage") / "data" / "demo" / "session.jsonl.gz"
    with tempfile.TemporaryDirectory(prefix="ullage-demo-") as name:
        folder = Path(name).resolve()
        path = folder / "session.jsonl"
        path.write_bytes(gzip.decompress(packed.read_bytes()))
        make_idle(path)
        yield path, Places(cwd=folder, home=folder, env={}, state_folder=folder / "state")


def make_idle(path: Path) -> None:
    """Set a file's time back, as if its agent had left it alone for a while."""
    then = time.time() - IDLE_S
    os.utime(path, (then, then))
