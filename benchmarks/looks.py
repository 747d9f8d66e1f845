"""Measure a look for the sessions of a folder, in homes of many sessions of all agents.

    python benchmarks/looks.py [N_SESSIONS ...]

Ten sessions of each home are the folder's own. Half of all are Codex's, which keeps the sessions
of all folders in one tree; with `codex:N_SESSIONS` all are. Prints Markdown: milliseconds of CPU.
"""

import json
import os
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from itertools import cycle, islice
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from claude_files import ClaudeFile, text
from codex_files import CodexFile
from database_files import OpencodeSession
from gemini_files import GeminiFile
from pi_files import PiFile
from ullage.app.sessions.find import look
from ullage.formats.agents.claude_code.places import folder_name as claude_folder
from ullage.formats.agents.openclaw.agent import folder_name as pi_folder
from ullage.store.files.places import Places

SIZES = ("1000", "10000", "20000", "codex:10000")
N_OWN = 10
N_FOLDERS = 200
"""Other projects, each with its share of the sessions (chosen)."""
N_DAYS = 365
AGENTS = ("codex", "claude", "codex", "pi", "codex", "gemini", "codex", "opencode")
INSTRUCTIONS = "Follow the rules of the house. " * 200
"""Codex begins with its instructions: some 6 KB here."""
COMMANDS = {
    "`sessions`": ("sessions",),
    "`context status`": ("context", "status"),
    "hook at a start": ("hook", "claude-code"),
}
START = {"hook_event_name": "SessionStart", "source": "startup", "session_id": "new"}


class Home:
    """A home with sessions, and the project whose sessions are looked for."""

    def __init__(self, root: Path) -> None:
        self.home = root / "home"
        self.cwd = root / "work" / "shop"
        self.state = root / "state"
        self.cwd.mkdir(parents=True)
        self.places = Places(cwd=self.cwd, home=self.home, env={}, state_folder=self.state)
        self._database = self.home / ".local/share/opencode/opencode.db"

    def fill(self, n_sessions: int, agents: tuple[str, ...]) -> None:
        rows: list[tuple[str, str]] = []
        for number, agent in enumerate(islice(cycle(agents), n_sessions)):
            # Own sessions are spread over the whole time.
            is_own = number % (n_sessions // N_OWN) == number // (n_sessions // N_OWN)
            name = "shop" if is_own else f"project-{number % N_FOLDERS}"
            cwd = self.cwd.parent / name
            if agent == "opencode":
                rows.append((f"ses_{number:06}", str(cwd)))
            else:
                self.write(agent, number, cwd)
        if rows:
            self._fill_database(rows)
        for folder, _, _ in os.walk(self.home):
            # A folder that just changed is listed again, whatever is known of it.
            os.utime(folder, (1.7e9, 1.7e9))

    def write(self, agent: str, number: int, cwd: Path) -> Path:
        session_id = f"{number:08x}-0000-7000-8000-{number:012x}"
        path, data = self._session(agent, number, session_id, cwd)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        old = time.time() - 86_400 - number
        os.utime(path, (old, old))
        return path

    def _session(self, agent: str, number: int, session_id: str, cwd: Path) -> tuple[Path, bytes]:
        match agent:
            case "codex":
                file = CodexFile(
                    id=session_id, cwd=str(cwd), base_instructions={"text": INSTRUCTIONS}
                )
                file.turn()
                file.user("Fix the flaky test.")
                file.assistant("Done.", n_total=9000)
                day = number % N_DAYS
                folder = self.home / f".codex/sessions/2026/{day // 31 + 1:02}/{day % 31 + 1:02}"
                return folder / f"rollout-2026-01-01T00-00-00-{session_id}.jsonl", file.data
            case "claude":
                claude = ClaudeFile(cwd=str(cwd), session_id=session_id)
                claude.user("Fix the flaky test.")
                claude.assistant(text("Done."), usage=9000)
                folder = self.home / ".claude/projects" / claude_folder(str(cwd))
                return folder / f"{session_id}.jsonl", claude.data
            case "pi":
                pi = PiFile(cwd=str(cwd), session_id=session_id)
                pi.user("Fix the flaky test.")
                pi.assistant("Done.", usage=9000)
                folder = self.home / ".pi/agent/sessions" / pi_folder(str(cwd))
                return folder / f"{session_id}.jsonl", pi.data
            case _:
                gemini = GeminiFile(sessionId=session_id)
                gemini.user("Fix the flaky test.")
                gemini.model("Done.", n_input=9000)
                folder = self.home / ".gemini/tmp" / cwd.name / "chats"
                return folder / f"session-{session_id}.jsonl", gemini.data

    def _fill_database(self, rows: list[tuple[str, str]]) -> None:
        self._database.parent.mkdir(parents=True)
        first = OpencodeSession(self._database)
        first.user("Fix the flaky test.")
        with closing(sqlite3.connect(self._database)) as connection, connection:
            connection.executemany(
                "INSERT INTO session VALUES (?, NULL, ?, 'Shop', '1.18.33', NULL, 1, 2)", rows
            )
            connection.execute(
                "INSERT INTO message SELECT 'msg_' || id, id, 1, 1,"
                ' \'{"role":"user","time":{"created":1}}\' FROM session'
            )
            connection.execute(
                "INSERT INTO part SELECT 'prt_' || id, 'msg_' || id, id, 1, 1,"
                ' \'{"type":"text","text":"Fix the flaky test."}\' FROM session'
            )


def main() -> None:
    columns = ("look 1", "2", "3", "a new file", "an appended line", "`sessions`, first", *COMMANDS)
    print(f"| sessions | own | {' | '.join(columns)} |")
    print(f"|---|---|{'---|' * len(columns)}")
    for size in sys.argv[1:] or SIZES:
        kind, _, number = size.rpartition(":")
        agents = ("codex",) if kind == "codex" else AGENTS
        with tempfile.TemporaryDirectory(prefix="ullage-bench-") as name:
            home = Home(Path(name))
            home.fill(int(number), agents)
            figures = [f"{ms:,.1f}" for ms in (*looks(home, int(number)), *commands(home))]
            n_own = len(look((home.cwd,), home.places, limit=1000))
            print(f"| {size} | {n_own} | {' | '.join(figures)} |", flush=True)


def looks(home: Home, n_sessions: int) -> Iterator[float]:
    """Look as the server does, in this process."""
    for _ in range(3):
        yield measure_look(home)
    path = home.write("codex", n_sessions, home.cwd)
    yield measure_look(home)
    with path.open("ab") as file:
        file.write(path.read_bytes().splitlines(keepends=True)[-1])
    yield measure_look(home)


def measure_look(home: Home) -> float:
    before = time.process_time()
    look((home.cwd,), home.places)
    return (time.process_time() - before) * 1000


def commands(home: Home) -> Iterator[float]:
    """Run commands in processes of their own, the first time with an empty state folder."""
    env = {**os.environ, "HOME": str(home.home), "ULLAGE_STATE_DIR": str(home.home / "state")}
    event = json.dumps({**START, "cwd": str(home.cwd)}).encode()
    for words in COMMANDS.values():
        command = [sys.executable, "-P", "-m", "ullage", *words]
        for n_run in range(2):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(
                command, env=env, cwd=home.cwd, input=event, capture_output=True, check=True
            )
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            if n_run or words == ("sessions",):
                cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
                yield cpu_s * 1000


if __name__ == "__main__":
    main()
