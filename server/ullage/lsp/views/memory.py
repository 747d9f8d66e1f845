"""Memory of the workspace: its files, what waits, what was recalled today, changes; the search."""

import asyncio
from datetime import date
from pathlib import Path

from lsprotocol import types

from ullage.app.documents.memory_files import MemoryFile, list_memory_files
from ullage.app.documents.outside_changes import write_changes_uri
from ullage.app.dream.review import WaitingItem, list_waiting
from ullage.app.memory.open_memory import OpenMemory
from ullage.app.memory.origins import GONE, OutsideChange, list_outside_changes
from ullage.app.memory.recalls import RecalledChunk, count_recalls_on, find_recalled, record_chosen
from ullage.app.memory.search import search_memory
from ullage.core.memory.answer import MemoryAnswer, MemoryHit
from ullage.core.memory.origin import ORIGIN_WORDS
from ullage.core.text.prose import collapse_spaces, gist, plural, remove_list_mark
from ullage.errors import StorageError
from ullage.lsp import protocol
from ullage.lsp.client_refresh import refresh_diagnostics, refresh_lists
from ullage.lsp.convert import escape_markdown, uri_of
from ullage.lsp.documents.diagnostics import check_soon
from ullage.lsp.documents.inbox import describe_item, describe_markdown
from ullage.lsp.documents.memory import quote_lines
from ullage.lsp.memory import find_memory, list_indexed, read_memory
from ullage.lsp.protocol import MemoryHitRow, MemoryRow
from ullage.lsp.state import SessionChange, UllageServer
from ullage.store.memory.changes import find_undoable
from ullage.store.memory.journal import measure_journal
from ullage.store.memory.places import DREAMS

MAX_HITS = 20
"""Of a search: a screen of them (chosen)."""
MIN_SYMBOL_CHARS = 4
"""Shorter queries are beginnings of names in code (chosen)."""
TITLE_CHARS = 100
"""Of a text in a list (chosen: what a line of an editor holds)."""
NO_FOLDER = "no folder is open whose memory could be searched"
_KINDS = {"memory": "Memory", "log": "Daily log", "instructions": "Instructions"}


async def run_memory(ls: UllageServer, argument: protocol.SessionArgument) -> protocol.MemoryResult:
    del argument
    folders = ls.workspace_folders()
    files = await asyncio.to_thread(list_memory_files, ls.surroundings())
    inbox: list[MemoryRow] = []
    recalled: list[MemoryRow] = []
    changes: list[MemoryRow] = []
    can_undo = False
    for folder in folders if ls.config.memory.is_enabled else ():
        prefix = f"{folder.name}/" if len(folders) > 1 else ""
        # Before it is read: what is added meanwhile is shown with the next change.
        ls.memories.journal_bytes[folder] = await asyncio.to_thread(
            measure_journal, folder, ls.places
        )
        try:
            waiting = await asyncio.to_thread(list_waiting, folder, ls.places)
            inbox += [_item_row(ls, item, folder, prefix) for item in waiting]
            last = await asyncio.to_thread(find_undoable, folder, ls.places)
            can_undo = can_undo or last is not None
            recalled += await _list_recalled(ls, folder, prefix)
            found = await asyncio.to_thread(list_outside_changes, folder, ls.places)
        except StorageError as error:
            changes.append(_problem_row(error, folder))
            continue
        changes += [_change_row(ls, change, folder, prefix) for change in found]
    return protocol.MemoryResult(
        rows=[_file_row(file, is_single=len(folders) <= 1) for file in files],
        inbox=inbox,
        recalled=recalled,
        changes=changes,
        canDream=ls.may_write and ls.config.memory.is_enabled,
        canUndoReview=can_undo and ls.may_write,
    )


async def run_memory_search(
    ls: UllageServer, argument: protocol.MemorySearchArgument
) -> protocol.MemorySearchResult:
    """Answer a question that may still be typed: what is chosen of it is a recall."""
    folders = ls.workspace_folders()

    def search(memory: OpenMemory) -> MemoryAnswer:
        return search_memory(memory, argument.query, limit=MAX_HITS, by=None, today=date.today())

    answers = {folder: await read_memory(ls, folder, search) for folder in folders}
    found = [(folder, hit) for folder, answer in answers.items() for hit in answer.results]
    found.sort(key=lambda placed: -placed[1].score)
    # One folder that holds no answer is not worth a word beside another that does.
    telling = [answer for answer in answers.values() if answer.results or not found]
    notes = dict.fromkeys(answer.note for answer in telling if answer.note)
    is_single = len(folders) <= 1
    return protocol.MemorySearchResult(
        rows=[_hit_row(hit, folder, is_single=is_single) for folder, hit in found[:MAX_HITS]],
        message="; ".join(notes) if folders else NO_FOLDER,
    )


async def run_memory_chosen(
    ls: UllageServer, argument: protocol.MemoryChosenArgument
) -> protocol.MemoryChosenResult:
    workspace, path = find_memory(ls, Path(argument.path))
    line, places = argument.firstLine + 1, ls.places
    is_noted = await asyncio.to_thread(
        record_chosen, path, line, argument.query, workspace, places, date.today()
    )
    refresh_lists(ls, "memory")
    return protocol.MemoryChosenResult(isNoted=is_noted)


async def refresh_memory(ls: UllageServer, change: SessionChange) -> None:
    """Have memory shown anew, and its open files checked, where its journal was added to.

    An agent that recalls or writes something says so in its session, and what it wrote was noted
    just before: nothing else needs to be watched.
    """
    known, places = ls.memories.journal_bytes, ls.places
    opened = [path for path in ls.documents.small_uris if ls.kind_of(path) == "memory"]
    folders = ls.workspace_folders() if opened else tuple(known)
    if not folders:
        return
    sizes = await asyncio.to_thread(
        lambda: {folder: measure_journal(folder, places) for folder in folders}
    )
    if all(known.get(folder) == size for folder, size in sizes.items()):
        return
    known.update(sizes)
    refresh_lists(ls, "memory")
    for path in opened:
        check_soon(ls, path, "memory", delay_s=0.0)
    refresh_diagnostics(ls)


async def answer_workspace_symbols(
    ls: UllageServer, params: types.WorkspaceSymbolParams
) -> list[types.SymbolInformation]:
    """Find chunks of memory beside what other servers find: by words, in indexes that are there."""
    if len(params.query.strip()) < MIN_SYMBOL_CHARS or not ls.config.memory.is_enabled:
        return []

    def search(memory: OpenMemory) -> MemoryAnswer:
        return search_memory(
            memory, params.query, limit=MAX_HITS, by=None, today=date.today(), is_by_words=True
        )

    found = [
        (folder, hit)
        for folder in await list_indexed(ls)
        for hit in (await read_memory(ls, folder, search)).results
    ]
    found.sort(key=lambda placed: -placed[1].score)
    return [_symbol(hit, folder) for folder, hit in found[:MAX_HITS]]


async def _list_recalled(ls: UllageServer, folder: Path, prefix: str) -> list[MemoryRow]:
    """List what was recalled today; where that is nothing, no index is built."""
    counts = await asyncio.to_thread(count_recalls_on, date.today(), folder, ls.places)
    if not counts:
        return []
    found = await read_memory(ls, folder, lambda memory: find_recalled(memory, counts))
    return [_recalled_row(chunk, folder, prefix) for chunk in found]


def _file_row(file: MemoryFile, *, is_single: bool) -> MemoryRow:
    relative = file.path.relative_to(file.workspace)
    title = str(relative) if is_single else str(file.workspace.name / relative)
    size = f"{file.length}, {file.sent} tokens"
    return MemoryRow(
        path=str(file.path),
        kind=file.kind,
        title=title,
        detail=size,
        label=f"{_KINDS[file.kind]} {title}, {size}",
    )


def _item_row(ls: UllageServer, item: WaitingItem, folder: Path, prefix: str) -> MemoryRow:
    title, described = gist(item.item.finding, TITLE_CHARS), describe_item(item)
    return MemoryRow(
        path=str(folder / DREAMS),
        kind="item",
        title=title,
        detail=" · ".join(filter(None, (prefix.rstrip("/"), described))),
        label=f"Waits for a review: {collapse_spaces(item.item.finding)}, {described}",
        tooltip="\n\n".join((quote_lines(item.item.finding), *describe_markdown(item, folder))),
        firstLine=item.finding_line - 1,
        lastLine=item.finding_line - 1,
        item=item.id if ls.may_write else None,
    )


def _recalled_row(chunk: RecalledChunk, folder: Path, prefix: str) -> MemoryRow:
    text = gist(remove_list_mark(chunk.text), TITLE_CHARS)
    title = f"{prefix}{chunk.path}:{chunk.first_line}"
    counts = (("you", chunk.n_by_user), ("agent", chunk.n_by_agent))
    askers = ", ".join(f"{asker} {n}×" if n > 1 else asker for asker, n in counts if n)
    head = f"**{escape_markdown(title)}** · {ORIGIN_WORDS[chunk.origin]}"
    parts = (head, escape_markdown(chunk.heading), quote_lines(chunk.text))
    return MemoryRow(
        path=str(folder / chunk.path),
        kind="recall",
        title=title,
        detail=f"{askers} · {text}",
        label=f"Recalled by {askers}: {text}, {title}",
        tooltip="\n\n".join(filter(None, parts)),
        firstLine=chunk.first_line - 1,
        lastLine=chunk.last_line - 1,
    )


def _change_row(ls: UllageServer, change: OutsideChange, folder: Path, prefix: str) -> MemoryRow:
    title = f"{prefix}{change.path}"
    counts = ((len(change.added), "new"), (len(change.removed), "gone"))
    lines = ", ".join(f"{plural(n, 'line')} {what}" for n, what in counts if n)
    lines += ", the file is gone" if change.sha256 == GONE else ""
    return MemoryRow(
        path=str(folder / change.path),
        kind="change",
        title=title,
        detail=lines,
        label=f"{title} was changed from outside: {lines}",
        uri=write_changes_uri(folder, change.path),
        sha256=change.sha256 if ls.may_write else None,
    )


def _symbol(hit: MemoryHit, folder: Path) -> types.SymbolInformation:
    start, end = types.Position(hit.first_line - 1, 0), types.Position(hit.last_line, 0)
    return types.SymbolInformation(
        name=gist(remove_list_mark(hit.text), TITLE_CHARS),
        kind=types.SymbolKind.String,
        container_name="Memory",
        location=types.Location(uri_of(folder / hit.path), types.Range(start, end)),
    )


def _problem_row(error: StorageError, folder: Path) -> MemoryRow:
    title = "Recalls and changes are not known"
    return MemoryRow(
        path=str(folder), kind="problem", title=title, detail=f"{error}", label=f"{title}: {error}"
    )


def _hit_row(hit: MemoryHit, folder: Path, *, is_single: bool) -> MemoryHitRow:
    place = f"{hit.path}:{hit.first_line}"
    origin = ORIGIN_WORDS[hit.origin]
    return MemoryHitRow(
        path=str(folder / hit.path),
        firstLine=hit.first_line - 1,
        lastLine=hit.last_line - 1,
        title=gist(remove_list_mark(hit.text), TITLE_CHARS),
        place=place if is_single else f"{folder.name}/{place}",
        detail=f"{hit.heading} · {origin}" if hit.heading else origin,
    )
