"""The program in a home of its own: in this process, or in a process of its own.

Most tests call `Place.run`, which takes milliseconds. A process of its own is for what only a
process can show: its end, signals, encodings, pipes, what its start imports, locks.
"""

import io
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from ullage.cli.main import main
from ullage.store.files.places import Places

PASSED_ON = ("PATH", "PYTHONPATH", "SYSTEMROOT", "COVERAGE_PROCESS_START")
IDLE_S = 3600
WAIT_S = 120
"""The end of every wait for what is sure to come: a hang is told of, a busy machine is not."""

on_terminal = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pty")


class Done(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


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

    def let_pi_fill_its_window(self) -> None:
        """Turn pi's own compaction off, so that all thresholds are shares of the window."""
        settings = self.home / ".pi" / "agent" / "settings.json"
        settings.parent.mkdir(parents=True, exist_ok=True)
        settings.write_text('{"compaction": {"enabled": false}}', encoding="utf-8")

    def run(
        self, *args: str | Path, cwd: Path | None = None, stdin: str = "", **env: str | None
    ) -> Done:
        """Run `ullage` in this process; variables given as None are left out."""
        out, err = _stream(), _stream()
        with self.entered(**env) as patch:
            patch.chdir(cwd or self.cwd)
            patch.setattr(sys, "argv", ["ullage", *map(str, args)])
            patch.setattr(sys, "stdin", _stream(stdin.encode()))
            patch.setattr(sys, "stdout", out)
            patch.setattr(sys, "stderr", err)
            with pytest.raises(SystemExit) as ended:
                main()
        code = ended.value.code
        assert code is None or isinstance(code, int)
        return Done(code or 0, _written(out), _written(err))

    @contextmanager
    def entered(self, **env: str | None) -> Iterator[pytest.MonkeyPatch]:
        """Let this process have the environment that a process here would have."""
        with pytest.MonkeyPatch.context() as patch:
            for name in tuple(os.environ):
                patch.delenv(name)
            for name, value in self.env(**env).items():
                patch.setenv(name, value)
            patch.setattr(tempfile, "tempdir", None)
            yield patch

    def start(
        self,
        *args: str | Path,
        cwd: Path | None = None,
        program: tuple[str, ...] = ("-m", "ullage"),
        **env: str | None,
    ) -> subprocess.Popen[bytes]:
        """Start `ullage`, or another program of Python, with pipes to it."""
        return subprocess.Popen(
            [sys.executable, *program, *map(str, args)],
            cwd=cwd or self.cwd,
            env=self.env(**env),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def run_process(
        self,
        *args: str | Path,
        stdin: bytes = b"",
        program: tuple[str, ...] = ("-m", "ullage"),
        **env: str | None,
    ) -> Done:
        """Run `ullage`, or another program of Python, in a process of its own to its end."""
        with self.start(*args, program=program, **env) as process:
            try:
                out, err = process.communicate(stdin, WAIT_S)
            finally:
                process.kill()
        return Done(process.returncode, out.decode(), err.decode())

    def run_on_terminal(self, *args: str, typed: str = "", **env: str) -> Done:
        """Run `ullage` in a process whose input is a terminal, on which something was typed."""
        ours, theirs = os.openpty()
        try:
            os.write(ours, typed.encode())
            done = subprocess.run(
                [sys.executable, "-m", "ullage", *args],
                cwd=self.cwd,
                env=self.env(**env),
                stdin=theirs,
                capture_output=True,
                timeout=WAIT_S,
                check=False,
            )
        finally:
            os.close(ours)
            os.close(theirs)
        return Done(done.returncode, done.stdout.decode(), done.stderr.decode())

    def places(self) -> Places:
        return Places(cwd=self.cwd, home=self.home, env={}, state_folder=self.state)

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


def _stream(data: bytes = b"") -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", newline="\n")


def _written(stream: io.TextIOWrapper) -> str:
    stream.flush()
    stream.seek(0)
    return stream.read()


def idle(path: Path, age_s: float = IDLE_S) -> Path:
    then = time.time() - age_s
    os.utime(path, (then, then))
    return path
