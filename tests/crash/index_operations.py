"""The index of memory in the sweep: begun, brought up to date, and built again when damaged.

Whatever happens, the next search gives what the files hold, and neither they nor the journal are
changed by it.
"""

import sqlite3
from contextlib import closing
from datetime import date
from pathlib import Path

from crash.checker import Seen
from crash.memory_operations import RECALL
from crash.places import leave_alone, places_of
from ullage.app.memory.open_memory import INDEX, OpenMemory
from ullage.app.memory.search import search_memory
from ullage.core.config.memory_settings import EmbeddingSettings
from ullage.core.memory.words import read_query
from ullage.store.memory import pages
from ullage.store.memory.journal import read_journal, record_events
from ullage.store.memory.places import memory_folder
from ullage.store.transcript.reader import Fingerprint

LEDGERS, INVOICES = "where are ledgers kept", "which queue has the invoices"
BEFORE = {
    "MEMORY.md": "# Decisions\n\n- Ledgers are kept in PostgreSQL.\n",
    "memory/old.md": "- The queue of invoices is Kafka.\n",
}
AFTER = {
    "MEMORY.md": "# Decisions\n\n- Ledgers are kept in SQLite.\n",
    "memory/new.md": "- The queue of invoices is RabbitMQ.\n",
}
read_query("the words")  # loads the stemmer and the stop words, as no fault of theirs is meant


def begin(root: Path) -> None:
    _write(root, AFTER)
    record_events((RECALL,), root, places_of(root))


def change(root: Path) -> None:
    _write(root, BEFORE)
    record_events((RECALL,), root, places_of(root))
    _ask(root, LEDGERS)
    for path in BEFORE:
        (root / path).unlink()
    _write(root, AFTER)


def damage(root: Path) -> None:
    # This process ends with the operation: what is new is not read again until then.
    pages.UNSETTLED_NS = 0
    begin(root)
    _ask(root, LEDGERS)
    path = memory_folder(root, places_of(root)) / INDEX
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE chunk SET text = 'Ledgers are kept in a drawer.'")


def search(root: Path, _: Fingerprint) -> None:
    _ask(root, LEDGERS)


def check_searched(seen: Seen) -> list[str]:
    if seen.outcome.startswith("bug"):
        return [seen.outcome]
    problems: list[str] = []
    answers = _ask(seen.root, LEDGERS, INVOICES)
    if answers != [[text.split("\n")[-2]] for text in AFTER.values()]:
        problems.append(f"the next search gives something else: {answers}")
    for path in (*BEFORE, *AFTER):
        text = (seen.root / path).read_text("utf-8") if (seen.root / path).exists() else None
        if text != AFTER.get(path):
            problems.append(f"the user's {path} was changed")
    journal = read_journal(seen.root, places_of(seen.root))
    if journal.problem or RECALL not in journal.events:
        problems.append(f"the journal was changed: {journal.problem}")
    return problems


def _ask(root: Path, *queries: str) -> list[list[str]]:
    """Give the texts that answer each question."""
    today = date(2026, 11, 23)
    with closing(OpenMemory(root, places_of(root), EmbeddingSettings())) as memory:
        answers = [search_memory(memory, query, by=None, today=today) for query in queries]
    return [[hit.text for hit in answer.results] for answer in answers]


def _write(root: Path, texts: dict[str, str]) -> None:
    for path, text in texts.items():
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(text, "utf-8")
        leave_alone(root / path)
