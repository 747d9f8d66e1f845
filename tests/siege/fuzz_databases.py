"""Databases that are fuzzed: those of agents, and our own caches, which may cost but never fail."""

import json
import sqlite3
from contextlib import closing
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from zlib import crc32

from database_files import OPENCODE_SAMPLE, openclaw_database
from pi_files import conversation
from siege.fuzz_sessions import Take, count_roughly
from ullage.app.memory.open_memory import INDEX, OpenMemory
from ullage.app.memory.search import search_memory
from ullage.app.sessions.find import list_sessions
from ullage.core.config.memory_settings import EmbeddingSettings
from ullage.formats.registry import agent_info
from ullage.store.files.places import Places
from ullage.store.gauge.token_counts import TokenCounts
from ullage.store.memory.places import memory_folder

TEXTS = ("one text", "another text")


def _use(places: Places) -> None:
    """Do what reads and writes each cache."""
    counts = TokenCounts("o200k_base", places.state_folder, count_roughly)
    for text in TEXTS:
        counts(text)
    counts.save()
    found = list(list_sessions(places.cwd, places))
    if len(found) != 1:
        raise AssertionError(f"{len(found)} sessions are listed, and there is one")
    with closing(OpenMemory(places.cwd, places, EmbeddingSettings())) as memory:
        search_memory(memory, "ledgers", by=None, today=date(2026, 11, 28))


def _lay(places: Places) -> None:
    (places.cwd / "MEMORY.md").write_bytes(b"# Memory\n\n- Ledgers are kept in SQLite.\n")
    folder = agent_info("openclaw").workspace_folders(places.cwd, {}, places.home)[0]
    folder.mkdir(parents=True)
    session = conversation(1, chars=50, cwd=str(places.cwd))
    (folder / "s.jsonl").write_bytes(session.data)


def _caches(places: Places) -> tuple[Path, ...]:
    index = places.state_folder / "index"
    memory = memory_folder(places.cwd, places) / INDEX
    return index / "tokens.sqlite", index / "folders.sqlite", memory


def list_caches() -> tuple[bytes, ...]:
    with TemporaryDirectory() as name:
        root = Path(name)
        places = Places(cwd=root / "shop", home=root, env={}, state_folder=root / "state")
        places.cwd.mkdir()
        _lay(places)
        _use(places)
        return tuple(path.read_bytes() for path in _caches(places))


def read_caches(places: Places) -> Take:
    """Make what is given the content of one cache; the others are as the last use left them."""
    _lay(places)
    _use(places)

    def take(given: bytes) -> None:
        path = _caches(places)[crc32(given) % 3]
        for suffix in ("-wal", "-shm", "-journal"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)
        path.write_bytes(given)
        _use(places)

    return take


def list_databases() -> tuple[bytes, ...]:
    sample = Path(__file__).parents[1] / "samples/openclaw/pi-0.73.1-external-compactions.jsonl"
    events = [json.loads(line) for line in sample.read_text("utf-8").split("\n") if line]
    with TemporaryDirectory() as name:
        path = Path(name) / "openclaw.sqlite"
        openclaw_database(path, {events[0]["id"]: events})
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("VACUUM")
        return OPENCODE_SAMPLE.read_bytes(), path.read_bytes()
