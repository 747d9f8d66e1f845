"""The real Claude Code draws our status line, and tells it what nothing else does.

It does so on a terminal alone. How to run it: see `test_agents.py`.
"""

import json
import os
import re
import select
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyte  # pyright: ignore[reportMissingTypeStubs]
import pytest

from agents_lab import ARE_INSTALLED, HOW_TO_INSTALL, PROGRAMS, Lab
from loopback_model import Answer, LoopbackModel
from running import WAIT_S, on_terminal

pytestmark = [pytest.mark.skipif(not ARE_INSTALLED, reason=HOW_TO_INSTALL), on_terminal]

N_ROWS, N_COLUMNS = 24, 80


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    project = tmp_path / "project"
    project.mkdir()
    with LoopbackModel() as model:
        passed_on = {name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ}
        state = {"ULLAGE_STATE_DIR": str(tmp_path / "state"), "TERM": "xterm-256color"}
        lab = Lab("claude", tmp_path, model, state | passed_on)
        lab.configure()
        trusted = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
        known = {
            "hasCompletedOnboarding": True,
            "customApiKeyResponses": {"approved": ["not-a-key"], "rejected": []},
            "projects": {str(project): trusted},
        }
        (tmp_path / ".claude.json").write_text(json.dumps(known))
        yield lab


def test_the_line_is_drawn_and_what_it_was_told_is_kept(lab: Lab) -> None:
    settings = lab.home / ".claude" / "settings.json"
    before = settings.read_bytes()
    ullage(lab, "install", "claude-code", "--yes")
    lab.model.answers = [Answer("Done.", n_tokens=70_000)]
    with shown(lab, "Fix the login.") as terminal:
        wait_for(terminal, r"35% 70k/200k \| compacts at \S+ \| \$0\.\d\d")
    status = json.loads(ullage(lab, "context", "status", "--json"))
    assert (status["used_tokens"], status["window_tokens"]) == (70_000, 200_000)
    assert (status["cost_usd"] > 0, status["window_source"]) == (True, "agent")
    ullage(lab, "uninstall", "claude-code", "--yes")
    assert settings.read_bytes() == before


@contextmanager
def shown(lab: Lab, prompt: str) -> Iterator[int]:
    """Run Claude Code on a terminal of its own with a first prompt; gives the terminal."""
    ours, theirs = os.openpty()
    termios.tcsetwinsize(theirs, (N_ROWS, N_COLUMNS))
    command = ["node", str(PROGRAMS["claude"]), "--model", "claude-sonnet-4-5"]
    process = subprocess.Popen(
        [*command, "--allowedTools", "Bash", "--", prompt],
        env=lab.environment(),
        cwd=lab.home / "project",
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    try:
        yield ours
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(WAIT_S)
        os.close(ours)


def wait_for(terminal: int, pattern: str) -> None:
    """Read a terminal until something stands on it; what stays the same is not drawn again."""
    screen = pyte.Screen(N_COLUMNS, N_ROWS)
    stream = pyte.ByteStream(screen)
    end = time.monotonic() + WAIT_S
    while not re.search(pattern, "\n".join(screen.display)):
        is_readable, _, _ = select.select([terminal], [], [], max(0, end - time.monotonic()))
        assert is_readable, "\n".join(screen.display)
        stream.feed(os.read(terminal, 65_536))


def ullage(lab: Lab, *args: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "ullage", *args],
        env=lab.environment(),
        cwd=lab.home / "project",
        capture_output=True,
        check=True,
        encoding="utf-8",
        timeout=WAIT_S,
    )
    return done.stdout
