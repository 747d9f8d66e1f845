"""The real command in a process of its own, in a home of its own."""

import os
import subprocess
import sys
import time
from pathlib import Path

PASSED_ON = ("PATH", "PYTHONPATH", "SYSTEMROOT", "COVERAGE_PROCESS_START")
IDLE_S = 3600
TIMEOUT_S = 60


class Place:
    """A home, a project folder and a state folder below a test's temporary folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.home = root / "home"
        self.cwd = root / "work" / "shop"
        self.state = root / "state"
        self.temporary = root / "tmp"
        for folder in (self.home, self.cwd, self.temporary):
            folder.mkdir(parents=True)

    def run(
        self,
        *args: str | Path,
        cwd: Path | None = None,
        stdin: str = "",
        program: tuple[str, ...] = ("-m", "ullage"),
        **env: str | None,
    ) -> subprocess.CompletedProcess[str]:
        """Run `ullage` and give what it printed; variables given as None are left out."""
        return subprocess.run(
            [sys.executable, *program, *map(str, args)],
            cwd=cwd or self.cwd,
            env=self.env(**env),
            input=stdin,
            capture_output=True,
            encoding="utf-8",
            timeout=TIMEOUT_S,
            check=False,
        )

    def env(self, **changes: str | None) -> dict[str, str]:
        found: dict[str, str | None] = {
            name: os.environ[name] for name in PASSED_ON if name in os.environ
        }
        found |= {
            "HOME": str(self.home),
            "USERPROFILE": str(self.home),
            "ULLAGE_STATE_DIR": str(self.state),
            "TMPDIR": str(self.temporary),
            "TEMP": str(self.temporary),
            "PYTHONIOENCODING": "utf-8",
            **changes,
        }
        return {name: value for name, value in found.items() if value is not None}

    def write(self, name: str, data: bytes, *, age_s: float = IDLE_S) -> Path:
        """Write a file of the project folder that was left alone for a while."""
        path = self.cwd / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return idle(path, age_s)

    def files(self) -> dict[str, bytes | None]:
        """Give all there is below the root, files with their bytes."""
        return {
            str(path.relative_to(self.root)): path.read_bytes() if path.is_file() else None
            for path in self.root.rglob("*")
        }


def idle(path: Path, age_s: float = IDLE_S) -> Path:
    then = time.time() - age_s
    os.utime(path, (then, then))
    return path
