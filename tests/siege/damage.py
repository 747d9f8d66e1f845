"""Damage in one agent's store, everywhere in it, and what is said of it.

    PYTHONPATH=tests .venv/bin/python -m siege.damage 97 [part of a sample's name]

changes every 97th byte of every sample, and at every tenth of these takes bytes away instead. At
each, the folder's sessions are listed, of which all others must be there, and one command is asked
of the damaged session and one of another. A table says how each ended.
"""

import json
import re
import sqlite3
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple, TypeAlias

import click

from claude_files import ClaudeFile, text
from codex_files import CodexFile
from database_files import OPENCODE_SAMPLE, OpencodeSession, openclaw_database
from gemini_files import GeminiFile
from packing import zstd
from pi_files import PiFile
from running import Done, Place
from ullage.app.sessions.open import open_session
from ullage.core.transcript.entries import Agent
from ullage.formats.registry import agent_info

SAMPLES = Path(__file__).parents[1] / "samples"
PACKED, LOGGED, OPENCLAW = "packed", "opencode.db-wal", "openclaw-agent.sqlite"
NAMES = (
    *(path.relative_to(SAMPLES).as_posix() for path in sorted(SAMPLES.rglob("*.jsonl"))),
    *(f"{PACKED}:{path.name}" for path in sorted(SAMPLES.glob("codex/*.jsonl"))),
    OPENCODE_SAMPLE.relative_to(SAMPLES).as_posix(),
    LOGGED,
    OPENCLAW,
)
PAGE_BYTES = 4096
COMMANDS = (
    ("context", "status"),
    ("compact", "--dry-run"),
    ("doctor",),
    ("context", "show"),
    ("checkpoint", "write"),
)
"""Asked for by turns."""
_VARYING = re.compile(r"'[^']*'|\S*/\S*|\d[\d,.]*")
"""What differs between two lines that say the same."""


Damage: TypeAlias = Callable[[bytes, int], bytes]


class Store(NamedTuple):
    """A file of an agent as it is when whole, and the session that lies in it."""

    agent: Agent
    path: Path
    data: bytes
    asked: str
    """What names the session to a command."""


class Tried(NamedTuple):
    """What a command said of a damaged store."""

    agent: Agent
    damage: str
    exit_code: int
    said: str
    failure: str
    """Empty where all is as it must be."""


def change(data: bytes, at: int) -> bytes:
    """Change a byte: to no UTF-8, to its neighbor, to a control character, by turns."""
    value = data[at]
    return data[:at] + bytes([(value ^ 0x86, value ^ 1, value & 0x1F)[at % 3]]) + data[at + 1 :]


def remove(data: bytes, at: int) -> bytes:
    return data[:at] + data[at + 1 :]


def truncate(data: bytes, at: int) -> bytes:
    return data[:at]


def fill_page(data: bytes, at: int) -> bytes:
    """Fill the page of a place with zeros, as a crash may leave it."""
    start = at // PAGE_BYTES * PAGE_BYTES
    end = min(len(data), start + PAGE_BYTES)
    return data[:start] + bytes(end - start) + data[end:]


DAMAGES: tuple[Damage, ...] = (change, remove, truncate, fill_page)


def lay(name: str, place: Place) -> Store:
    """Lay a sample where its agent would have it, as a session of the place's folder."""
    if name == OPENCLAW:
        return _lay_openclaw(place)
    if name == LOGGED:
        return _lay_log(place)
    if name.endswith(".db"):
        path = place.home / ".local/share/opencode" / "opencode.db"
        path.parent.mkdir(parents=True)
        path.write_bytes((SAMPLES / name).read_bytes())
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("UPDATE session SET directory = ?", (str(place.cwd),))
        return Store("opencode", path, path.read_bytes(), str(path))
    is_packed = name.startswith(PACKED)
    sample = SAMPLES / "codex" / name.partition(":")[2] if is_packed else SAMPLES / name
    header = open_session(sample).header
    agent, data = header.known_agent, sample.read_bytes()
    if header.cwd:
        data = data.replace(json.dumps(header.cwd).encode(), json.dumps(str(place.cwd)).encode())
    file = f"{sample.name}.zst" if is_packed else sample.relative_to(sample.parents[0]).name
    path = _folder_of(agent, place) / file
    return Store(agent, path, zstd.compress(data) if is_packed else data, str(path))


def lay_neighbors(place: Place) -> tuple[str, ...]:
    """Write a whole session of each agent, databases in a channel of their own; give their ids."""
    cwd = str(place.cwd)
    pi = PiFile(cwd=cwd, session_id="aaaaaaa0-0000-4000-8000-000000000000")
    claude = ClaudeFile(cwd=cwd, session_id="aaaaaaa1-0000-4000-8000-000000000000")
    codex = CodexFile(cwd=cwd, id="aaaaaaa2-0000-4000-8000-000000000000")
    gemini = GeminiFile(sessionId="aaaaaaa3-0000-4000-8000-000000000000")
    for session in (pi, claude, codex, gemini):
        session.user("Rename the cart of the shop, please")
    pi.assistant("Done.")
    claude.assistant(text("Done."), usage=120)
    codex.assistant("Done.", n_total=120)
    whole: tuple[tuple[Agent, bytes], ...] = (
        ("openclaw", pi.data),
        ("claude-code", claude.data),
        ("codex", codex.data),
        ("gemini", gemini.data),
    )
    ids = tuple(f"aaaaaaa{n}-0000-4000-8000-000000000000" for n in range(len(whole)))
    for session_id, (agent, data) in zip(ids, whole, strict=True):
        _write(_folder_of(agent, place) / f"whole-{session_id}.jsonl", data)
    beta = place.home / ".local/share/opencode" / "opencode-beta.db"
    beta.parent.mkdir(parents=True, exist_ok=True)
    opencode = OpencodeSession(beta, "ses_whole")
    opencode.user("Rename the cart of the shop, please")
    opencode.execute("UPDATE session SET directory = ?", cwd)
    return (*ids, opencode.session_id)


def try_out(name: str, damage: Damage, stride: int) -> Iterator[Tried]:
    """Damage a sample at each stride, and ask of it and of the others."""
    with tempfile.TemporaryDirectory() as folder:
        place = Place(Path(folder))
        store, neighbors = lay(name, place), lay_neighbors(place)
        for n, at in enumerate(range(stride // 2, len(store.data), stride)):
            _write(store.path, damage(store.data, at))
            listed = place.run("sessions", "--json")
            done = place.run(*COMMANDS[n % len(COMMANDS)], "--session", store.asked)
            neighbor = place.run("context", "status", "--session", neighbors[n % len(neighbors)])
            failure = ""
            if neighbor.returncode or not _lists(listed, neighbors):
                failure = f"byte {at:,}: others do not answer: {listed.stderr}{neighbor.stderr}"
            elif done.returncode not in (0, 3, 4) or done.stderr.count("\n") > 1:
                failure = f"byte {at:,}: {done.returncode} {done.stderr}"
            yield Tried(store.agent, damage.__name__, done.returncode, done.stderr, failure)


def _lists(done: Done, wanted: tuple[str, ...]) -> bool:
    if done.returncode:
        return False
    listed = json.loads(done.stdout)["sessions"]
    return set(wanted) <= {session["session_id"] for session in listed}


def _lay_openclaw(place: Place) -> Store:
    sample = SAMPLES / "openclaw" / "pi-0.73.1-external-compactions.jsonl"
    events = [json.loads(line) for line in sample.read_text("utf-8").split("\n") if line]
    events[0]["cwd"] = str(place.cwd)
    path = place.home / ".openclaw" / "agents" / "main" / "agent" / OPENCLAW
    path.parent.mkdir(parents=True)
    openclaw_database(path, {events[0]["id"]: events})
    return Store("openclaw", path, path.read_bytes(), str(path))


def _lay_log(place: Place) -> Store:
    """Lay a database of opencode most of which is in its log still, as while it runs."""
    path = place.home / ".local/share/opencode" / "opencode.db"
    path.parent.mkdir(parents=True)
    log = path.with_name(LOGGED)
    session = OpencodeSession(path)
    with closing(sqlite3.connect(path)) as holder:
        holder.execute("PRAGMA journal_mode = wal").fetchone()
        holder.execute("BEGIN")
        holder.execute("SELECT * FROM session").fetchone()
        session.execute("UPDATE session SET directory = ?", str(place.cwd))
        for n in range(8):
            session.user(f"message {n}")
        whole = path.read_bytes(), log.read_bytes()
    path.write_bytes(whole[0])
    return Store("opencode", _write(log, whole[1]), whole[1], str(path))


def _folder_of(agent: Agent, place: Place) -> Path:
    return agent_info(agent).workspace_folders(place.cwd, {}, place.home)[0]


def _write(path: Path, data: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def main() -> None:
    stride, part = int(sys.argv[1]), "".join(sys.argv[2:])
    counts: Counter[tuple[str, str, int, str]] = Counter()
    n_failures = 0
    for name in (name for name in NAMES if part in name):
        for damage in DAMAGES:
            for tried in try_out(name, damage, stride if damage is change else 10 * stride):
                said = _VARYING.sub("…", tried.said).strip()
                counts[tried.agent, tried.damage, tried.exit_code, said] += 1
                if tried.failure:
                    n_failures += 1
                    click.echo(f"{name}, {tried.damage}, {tried.failure}", err=True)
    for (agent, kind, exit_code, said), n in sorted(counts.items()):
        click.echo(f"{agent:12} {kind:10} {exit_code} {n:6,}  {said}")
    click.echo(f"{counts.total():,} places, {n_failures:,} failures")
    sys.exit(bool(n_failures))


if __name__ == "__main__":
    main()
