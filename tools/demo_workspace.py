"""An invented work tree in memory, with the tools that pi gives its agents."""

import difflib
import re
from dataclasses import dataclass, field
from fnmatch import fnmatch

MAX_MATCHES = 100
"""Matches after which pi's grep stops (pi 0.73.1)."""
MAX_LINE_CHARS = 500
"""Where pi's grep cuts a line (pi 0.73.1)."""


@dataclass
class Workspace:
    """The files as they are now, and as they were at the last commit."""

    files: dict[str, str]
    committed: dict[str, str] = field(default_factory=dict[str, str])

    def commit(self) -> None:
        """Remember the files as they are, for `git diff`."""
        self.committed = dict(self.files)

    def read(self, path: str, offset: int | None = None, limit: int | None = None) -> str:
        """Give a file, or some of its lines, as pi's read does."""
        lines = self.files[path].split("\n")
        start = (offset or 1) - 1
        end = len(lines) if limit is None else min(start + limit, len(lines))
        text = "\n".join(lines[start:end])
        n_left = len(lines) - end
        if n_left:
            text += f"\n\n[{n_left} more lines in file. Use offset={end + 1} to continue.]"
        return text

    def numbered(self, path: str, first: int, last: int) -> str:
        """Give lines with their numbers, as `cat -n file | sed -n` does."""
        lines = self.files[path].splitlines()[first - 1 : last]
        return "\n".join(f"{n:6}\t{line}" for n, line in enumerate(lines, first))

    def write(self, path: str, text: str) -> str:
        """Replace a whole file."""
        self.files[path] = text
        return f"Successfully wrote {len(text.encode())} bytes to {path}"

    def edit(self, path: str, edits: tuple[tuple[str, str], ...]) -> str:
        """Replace pieces of a file, each of which stands in it once.

        Raises:
            ValueError: where a piece is not in the file exactly once.
        """
        text = self.files[path]
        for old, new in edits:
            if text.count(old) != 1:
                raise ValueError(f"{path} has {text.count(old)} times: {old}")
            text = text.replace(old, new)
        self.files[path] = text
        return f"Successfully replaced {len(edits)} block(s) in {path}."

    def grep(self, pattern: str, path: str = "", glob: str = "*") -> str:
        """Search files line by line, in the form of pi's grep."""
        found: list[str] = []
        for name in sorted(self.files):
            if name.startswith(path) and fnmatch(name.rpartition("/")[2], glob):
                shown = name.removeprefix(path).lstrip("/") or name.rpartition("/")[2]
                found += _matches(pattern, shown, self.files[name])
        if not found:
            return "No matches found"
        if len(found) <= MAX_MATCHES:
            return "\n".join(found)
        notice = f"{MAX_MATCHES} matches limit reached. Use limit={2 * MAX_MATCHES} for more, or refine pattern"
        return "\n".join(found[:MAX_MATCHES]) + f"\n\n[{notice}]"

    def diff(self, *prefixes: str) -> str:
        """Compare with the last commit, as `git diff` does."""
        names = sorted(set(self.files) | set(self.committed))
        wanted = (name for name in names if not prefixes or name.startswith(prefixes))
        return "".join(
            _diff(name, self.committed.get(name), self.files.get(name)) for name in wanted
        )

    def status(self) -> str:
        """List changed files, as `git status --short` does."""
        marks = {
            name: "??" if name not in self.committed else " M"
            for name in sorted(self.files)
            if self.files[name] != self.committed.get(name)
        }
        return "\n".join(f"{mark} {name}" for name, mark in marks.items())

    def sizes(self, *prefixes: str) -> str:
        """Count lines, as `wc -l` does."""
        names = [name for name in sorted(self.files) if name.startswith(prefixes)]
        counts = [self.files[name].count("\n") for name in names]
        rows = [f"{count:6} {name}" for count, name in zip(counts, names, strict=True)]
        return "\n".join([*rows, f"{sum(counts):6} total"])


def _matches(pattern: str, name: str, text: str) -> list[str]:
    lines = enumerate(text.splitlines(), 1)
    return [f"{name}:{n}: {line[:MAX_LINE_CHARS]}" for n, line in lines if re.search(pattern, line)]


def _diff(name: str, old: str | None, new: str | None) -> str:
    if old == new:
        return ""
    head = f"diff --git a/{name} b/{name}\n"
    if old is None:
        head += "new file mode 100644\n"
    lines = difflib.unified_diff(
        (old or "").splitlines(keepends=True),
        (new or "").splitlines(keepends=True),
        "/dev/null" if old is None else f"a/{name}",
        "/dev/null" if new is None else f"b/{name}",
    )
    return head + "".join(lines)
