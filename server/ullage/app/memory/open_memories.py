"""The memories that a process which goes on keeps open, each brought up to date by notices."""

import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from ullage.app.config.load import load_config, refuse_without_memory
from ullage.app.memory.open_memory import OpenMemory
from ullage.core.config.settings import Config
from ullage.store.config.files import Stamp, config_stamps
from ullage.store.files.places import Places

MAX_OPEN = 4
"""The one that was not used for longest is closed (chosen: an open one watches its folders)."""


class _Opened(NamedTuple):
    memory: OpenMemory
    config: Config
    stamps: tuple[Stamp, ...]
    """Of the files of the configuration."""


class OpenMemories:
    """Memories by their workspaces; threads take turns. Close it when done."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._lock = threading.Lock()
        self._open: dict[tuple[Path, bool], _Opened] = {}

    @contextmanager
    def use(
        self, workspace: Path, *, is_read_only: bool = False
    ) -> Generator[tuple[OpenMemory, Config]]:
        """Give the memory of a workspace, and what is configured there by now.

        Of a read-only one nothing is left in the state folder.

        Raises:
            Refused: memory is switched off.
            StorageError: the state folder does not take it.
        """
        with self._lock:
            opened = self._take(workspace, is_read_only)
            yield opened.memory, opened.config

    def close(self) -> None:
        with self._lock:
            while self._open:
                self._close(next(iter(self._open)))

    def _take(self, workspace: Path, is_read_only: bool) -> _Opened:
        key = workspace, is_read_only
        stamps = config_stamps(self._places, (workspace,))
        if key in self._open and self._open[key].stamps != stamps:
            self._close(key)
        if key in self._open:
            opened = self._open.pop(key)
        else:
            config = load_config(self._places, workspace=workspace)
            places = self._places.for_reading(is_read_only=is_read_only)
            memory = open_memory(workspace, config, places, is_watching=True)
            opened = _Opened(memory, config, stamps)
        self._open[key] = opened
        if len(self._open) > MAX_OPEN:
            self._close(next(iter(self._open)))
        return opened

    def _close(self, key: tuple[Path, bool]) -> None:
        self._open.pop(key).memory.close()


def open_memory(
    workspace: Path, config: Config, places: Places, *, is_watching: bool = False
) -> OpenMemory:
    """Open the memory of a workspace, unless that is switched off.

    Raises:
        Refused: memory is switched off.
        StorageError: the state folder does not take it.
    """
    refuse_without_memory(config)
    places = places.for_reading(is_read_only=config.policy.is_read_only)
    return OpenMemory(workspace, places, config.embeddings, is_watching=is_watching)
