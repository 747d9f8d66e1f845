"""What a search of memory finds of the project's own pages, without a model.

    python benchmarks/memory/questions.py

Indexes a copy of `docs/` and asks what `questions.json` has: questions whose answers stand on a
line of the pages, identifiers, and questions on what is not there. It ends with 1 where the piece
of an answer no longer stands on exactly one line.
"""

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from datetime import date
from pathlib import Path

import msgspec

from ullage.app.memory.open_memory import OpenMemory
from ullage.app.memory.search import search_memory
from ullage.core.config.memory_settings import EmbeddingSettings
from ullage.core.memory.answer import MemoryHit
from ullage.store.files.places import Places

ROOT = Path(__file__).resolve().parents[2]
N_FIRST = 3
"""Results that a question on the pages is answered within."""


class Piece(msgspec.Struct, frozen=True):
    """Words of a page by which the line of an answer is known."""

    path: str
    answer: str


class Asked(msgspec.Struct, frozen=True):
    question: str
    path: str
    answer: str
    also: tuple[Piece, ...] = ()
    """Other lines that answer it as well."""


class Identifier(msgspec.Struct, frozen=True):
    query: str
    identifier: str


class Questions(msgspec.Struct, frozen=True):
    docs: tuple[Asked, ...]
    """Asked as by a user who knows none of the page's words; written before the search was."""
    docs_looked_up_again: tuple[Asked, ...]
    """As by an engineer who read the pages some time ago."""
    docs_plain: tuple[Asked, ...]
    """Whatever the pages answer."""
    absent: tuple[str, ...]
    identifiers: tuple[Identifier, ...]


class Memory:
    """The pages, opened for searching."""

    def __init__(self, memory: OpenMemory) -> None:
        self._memory = memory

    def ask(self, question: str) -> tuple[MemoryHit, ...]:
        answer = search_memory(self._memory, question, by="ullage", today=date(2026, 11, 23))
        return answer.results


def main() -> None:
    questions = msgspec.json.decode(
        Path(__file__).with_name("questions.json").read_bytes(), type=Questions
    )
    sets = {
        "of one who knows no word of the page": questions.docs,
        "looked up again": questions.docs_looked_up_again,
        "plain": questions.docs_plain,
    }
    every = [asked for asked_of_set in sets.values() for asked in asked_of_set]
    lost = [piece for asked in every for piece in _pieces(asked) if _line(piece) is None]
    if lost:
        for piece in lost:
            print(f"stands on no line or on several: {piece.answer!r} in {piece.path}")
        sys.exit(1)
    with tempfile.TemporaryDirectory() as folder:
        workspace = Path(folder, "workspace")
        shutil.copytree(ROOT / "docs", workspace / "docs")
        places = Places(
            cwd=workspace, home=Path(folder), env={}, state_folder=Path(folder, "state")
        )
        with closing(OpenMemory(workspace, places, EmbeddingSettings())) as opened:
            for name, asked in sets.items():
                _measure_pages(name, asked, Memory(opened))
            _measure(questions, Memory(opened))


def _measure_pages(name: str, questions: tuple[Asked, ...], memory: Memory) -> None:
    n_answered = 0
    for asked in questions:
        found = memory.ask(asked.question)[:N_FIRST]
        is_answered = any(_has(hit, piece) for hit in found for piece in _pieces(asked))
        n_answered += is_answered
        if not is_answered:
            print(f"not answered: {asked.question} {_places(found)}")
    print(f"{name}: {n_answered} of {len(questions)} answered within the first {N_FIRST}\n")


def _measure(questions: Questions, memory: Memory) -> None:
    n_exact = n_nothing = 0
    for wanted in questions.identifiers:
        found = memory.ask(wanted.query)[:1]
        is_exact = any(wanted.identifier in f"{hit.heading}\n{hit.text}" for hit in found)
        n_exact += is_exact
        if not is_exact:
            print(f"not first: {wanted.query} {_places(found)}")
    for question in questions.absent:
        found = memory.ask(question)
        n_nothing += not found
        if found:
            print(f"answered, and is not there: {question} {_places(found[:1])}")
    print(f"identifiers, the exact one first: {n_exact} of {len(questions.identifiers)}")
    print(f"absent, answered with nothing: {n_nothing} of {len(questions.absent)}")


def _pieces(asked: Asked) -> Iterator[Piece]:
    yield Piece(asked.path, asked.answer)
    yield from asked.also


def _line(piece: Piece) -> int | None:
    """Give the line that a piece stands on, from 1; None where it is not exactly one."""
    lines = (ROOT / piece.path).read_text("utf-8").split("\n")
    found = [number for number, line in enumerate(lines, start=1) if piece.answer in line]
    return found[0] if len(found) == 1 else None


def _has(hit: MemoryHit, piece: Piece) -> bool:
    line = _line(piece)
    return hit.path == piece.path and line is not None and hit.first_line <= line <= hit.last_line


def _places(found: tuple[MemoryHit, ...]) -> str:
    return ", ".join(f"{hit.path}:{hit.first_line}" for hit in found) or "nothing"


if __name__ == "__main__":
    main()
