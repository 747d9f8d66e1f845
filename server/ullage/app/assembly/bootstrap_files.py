"""Read the bootstrap files of a workspace: once each, from inside it, in their order.

docs/design/assembly.md, "Bootstrap files".
"""

from collections.abc import Iterable, Iterator
from datetime import date, timedelta
from pathlib import Path

from ullage.core.assembly.bootstrap import IDENTITY, RULES, ContextFile, FileKind, WorkspaceFile
from ullage.store.files.text_files import (
    MAX_TEXT_BYTES,
    exists,
    is_same_file,
    is_too_large,
    read_text_inside,
)
from ullage.store.memory.daily_log import log_path
from ullage.store.memory.places import MEMORY

_MAX_MB = MAX_TEXT_BYTES // 1024 // 1024


class BootstrapReader:
    """Reads files of one workspace, and notes what could not be read."""

    def __init__(self, workspace: Path) -> None:
        self._workspace = workspace
        self._seen: list[Path] = []
        self.warnings: list[str] = []

    def read(
        self, custom: Iterable[str], given: Iterable[ContextFile], today: date
    ) -> tuple[WorkspaceFile, ...]:
        """Read all; `custom` are named by the configuration, `given` by the agent's runtime."""
        days = (today - timedelta(days=1), today)
        logs = (log_path(self._workspace, day.isoformat()) for day in days)
        return (
            *self._read("rules", RULES),
            *self._read("identity", IDENTITY),
            *self._read("custom", custom),
            *(self._make("custom", file.path, file.content) for file in given),
            *self._read("memory", (MEMORY,)),
            *self._read("daily log", (log.relative_to(self._workspace).as_posix() for log in logs)),
        )

    def _read(self, kind: FileKind, names: Iterable[str]) -> Iterator[WorkspaceFile]:
        for name in names:
            path = self._workspace / name
            if not exists(path):
                if kind == "custom":
                    self.warnings.append(f"{name}: bootstrap.files names it, but it is not there")
                continue
            if any(is_same_file(path, earlier) for earlier in self._seen):
                continue
            self._seen.append(path)
            text = read_text_inside(self._workspace, name)
            if text is None:
                self.warnings.append(f"{name}: it is no text, or leads out of the workspace")
            elif is_too_large(path):
                self.warnings.append(f"{name}: it is not given, as it has more than {_MAX_MB} MB")
            else:
                yield self._make(kind, name, text)

    def _make(self, kind: FileKind, name: str, text: str) -> WorkspaceFile:
        """Make a file that is given: MEMORY.md is memory whoever names it, and however."""
        is_named_so = name.replace("\\", "/").rpartition("/")[2].casefold() == MEMORY.casefold()
        memory = self._workspace / MEMORY
        is_memory = is_named_so or is_same_file(self._workspace / name, memory)
        return WorkspaceFile(path=name, text=text, kind="memory" if is_memory else kind)
