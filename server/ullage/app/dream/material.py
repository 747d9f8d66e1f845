"""What a dream reads: the daily logs of the last days, and what is known already."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from ullage.app.documents.kind import INSTRUCTION_NAMES
from ullage.app.memory.origins import read_origins
from ullage.app.sessions.secrets import secrets_in
from ullage.core.dream.memory_page import read_points
from ullage.core.dream.propose import Known, Statement
from ullage.core.dream.review import list_rejected, list_superseded
from ullage.core.memory.chunks import chunk_digest, read_chunks
from ullage.core.memory.inbox import read_items
from ullage.core.memory.log_text import MAX_POINT_CHARS
from ullage.core.memory.origin import KnownOrigins, Origin, digest_line
from ullage.core.memory.quoted import cite_lines, quote_memory
from ullage.core.text.prose import remove_list_mark
from ullage.store.files.places import Places
from ullage.store.files.text_files import read_text_file
from ullage.store.memory.pages import read_page
from ullage.store.memory.places import DREAMS, FOLDER, MEMORY, SUPERSEDED, memory_folder
from ullage.store.memory.seen import MemoryFile, read_memory_files

REJECTED = "rejected.txt"
JOINED = "joined.txt"
"""What a proposed line says besides its own words: it does not come beside that. A line, a tab and
what was said, in the folder of the workspace's memory in our state, as the other."""


def list_statements(
    logs: Iterable[MemoryFile], known: KnownOrigins, secrets: tuple[str, ...]
) -> Iterator[Statement]:
    """List the points of daily logs, each on one line, without secrets."""
    for log in logs:
        day = log.path.removeprefix(f"{FOLDER}/").removesuffix(".md")
        chunks = {
            line: chunk_digest(chunk.text)
            for chunk in read_chunks(log.text)
            for line in range(chunk.first_line, chunk.last_line + 1)
        }
        for number, line in enumerate(log.text.split("\n"), 1):
            text = remove_list_mark(line.strip())
            is_point = text != line.strip() and not line.startswith("#")
            if is_point and len(text) <= MAX_POINT_CHARS:
                yield Statement(
                    text=quote_memory(text, secrets),
                    origin=known.lines.get(digest_line(line), "unknown"),
                    day=day,
                    place=cite_lines(log.path, number, number),
                    chunk=chunks.get(number, ""),
                )


def read_known(workspace: Path, places: Places) -> Known:
    """Read what is known of a workspace.

    Raises:
        StorageError: the journal cannot be read.
    """
    origins = read_origins(workspace, places)
    secrets = secrets_in((workspace,), places)
    standing: dict[str, Origin] = {}
    said_on: dict[str, str] = {}
    superseded: dict[str, str] = {}
    others: list[str] = []
    for file in read_memory_files(workspace):
        if file.path == MEMORY:
            for point in read_points(file.text):
                line = quote_memory(point.text, secrets)
                # What is longer says more than one thing, and nothing replaces all of it.
                if len(line) <= MAX_POINT_CHARS:
                    lines = file.text[point.start : point.end]
                    standing[line] = origins.tell(MEMORY, lines)
                else:
                    others.append(line)
        elif file.path == SUPERSEDED:
            superseded = list_superseded(file.text)
        elif not file.path.removeprefix(f"{FOLDER}/")[:4].isdigit():
            others += _list_lines(file.text)
    for item in read_items(read_page(workspace, DREAMS) or ""):
        said_on[item.finding] = item.day
        standing[item.finding] = origins.lines.get(item.item_id, "unknown")
    folder = memory_folder(workspace, places)
    others += list_rejected(read_text_file(folder / REJECTED) or "")
    for line in (read_text_file(folder / JOINED) or "").split("\n"):
        text, _, said = line.partition("\t")
        if text in standing:
            others.append(said)
    for name in INSTRUCTION_NAMES:
        others += _list_lines(read_page(workspace, name) or "")
    return Known(
        standing=standing,
        said_on=said_on,
        others=tuple(dict.fromkeys(others)),
        superseded=superseded,
    )


def _list_lines(text: str) -> Iterator[str]:
    for line in text.split("\n"):
        bare = remove_list_mark(line.strip())
        if bare and not line.startswith("#"):
            yield bare
