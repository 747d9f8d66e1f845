"""Looks at files and folders now and then, where the system tells nothing of them."""

import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeAlias

POLL_S = 2.0
"""How often; one look at each, all in one thread (chosen)."""
Stamp: TypeAlias = tuple[int, int, int] | None


class FilePoll:
    """Calls back from a thread of its own, which is there while there is something to look at.

    Nothing is looked at under the lock: a server that is gone may take minutes to say so.
    """

    def __init__(self, on_change: Callable[[Path], None]) -> None:
        self._on_change = on_change
        self._lock = threading.Lock()
        self._stamps: dict[Path, Stamp] = {}
        self._thread: threading.Thread | None = None
        self._is_stopped = threading.Event()

    def watch(self, paths: Iterable[Path]) -> None:
        """Look at exactly these from now on, whether they exist or not."""
        wanted = set(paths)
        # Nothing else changes which they are.
        new = {path: _stamp(path) for path in wanted - self._stamps.keys()}
        with self._lock:
            self._stamps = new | {p: stamp for p, stamp in self._stamps.items() if p in wanted}
            if self._stamps and self._thread is None:
                self._thread = threading.Thread(target=self._run, name="file-poll", daemon=True)
                self._thread.start()

    def stop(self) -> None:
        """Call back no more; the thread ends with the look that it is at."""
        with self._lock:
            self._is_stopped.set()

    def _run(self) -> None:
        while not self._is_stopped.wait(POLL_S):
            changed = self._find_changed()
            with self._lock:
                if self._is_stopped.is_set():
                    return
                for path in changed:
                    self._on_change(path)
                if not self._stamps:
                    self._thread = None
                    return

    def _find_changed(self) -> list[Path]:
        with self._lock:
            known = dict(self._stamps)
        stamps = {path: _stamp(path) for path in known}
        with self._lock:
            changed = [path for path in stamps.keys() & self._stamps if stamps[path] != known[path]]
            self._stamps |= {path: stamps[path] for path in changed}
        return changed


def _stamp(path: Path) -> Stamp:
    try:
        status = path.stat()
    except (OSError, ValueError):
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns
