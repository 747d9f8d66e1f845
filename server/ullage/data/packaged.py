"""Reads the files beside it: the one place below the store that opens any."""

from pathlib import Path

_FOLDER = Path(__file__).parent


def read_packaged(name: str) -> bytes:
    """Read a data file by its path in this folder; a tenth of what `importlib.resources` takes."""
    return (_FOLDER / name).read_bytes()
