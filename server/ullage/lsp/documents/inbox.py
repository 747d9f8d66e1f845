"""The inbox of memory in an editor: what waits is judged above its item, or by code actions."""

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import cast

from lsprotocol import types
from lsprotocol.types import CodeLens, CodeLensParams, Command

from ullage.app.documents.check import SmallFile, Surroundings
from ullage.app.dream.review import WaitingItem, list_waiting
from ullage.core.memory.origin import ORIGIN_WORDS
from ullage.core.memory.quoted import find_cited_lines
from ullage.core.text.prose import plural
from ullage.lsp import protocol
from ullage.lsp.convert import escape_markdown, hover_of, line_range
from ullage.lsp.documents.memory import lines_uri, place_hover, quote_lines
from ullage.lsp.state import UllageServer
from ullage.store.files.text_files import exists
from ullage.store.memory.changes import find_undoable

UNDO_TITLE = "Undo Last Review"


async def inbox_lenses(ls: UllageServer, path: Path, _: CodeLensParams) -> list[CodeLens]:
    around, may_write, can_show = ls.surroundings(), ls.may_write, ls.shows_documents

    def read() -> list[CodeLens]:
        items = _list_items(path, around)
        can_undo = may_write and find_undoable(path.parent, around.places) is not None
        head = _offer_all(path, items, may_write=may_write, can_undo=can_undo)
        lenses = [CodeLens(line_range(0), command=command) for command in head]
        for item in items:
            commands = _offer(path, item, can_show=can_show) if may_write else ()
            lenses += [
                CodeLens(line_range(item.line - 1), command=command)
                for command in (*commands, Command(describe_item(item), ""))
            ]
        return lenses

    return await asyncio.to_thread(read)


def inbox_hover(file: SmallFile, params: types.HoverParams) -> types.Hover | None:
    return place_hover(file, params) or _item_hover(file, params)


async def inbox_actions(
    ls: UllageServer, path: Path, params: types.CodeActionParams
) -> list[types.CodeAction]:
    """Offer what can be decided of the items that are selected, or that the cursor stands in."""
    if not ls.may_write:
        return []
    start, end = params.range.start.line + 1, params.range.end.line + 1
    items = await asyncio.to_thread(_list_items, path, ls.surroundings())
    chosen = [item for item in items if item.line <= end and item.last_line >= start]
    if len(chosen) > 1:
        commands = _offer_several(path, chosen)
    else:
        commands = (each for item in chosen for each in _offer_one(ls, path, item))
    return [
        types.CodeAction(title=command.title, kind=types.CodeActionKind.Refactor, command=command)
        for command in commands
    ]


def describe_item(item: WaitingItem) -> str:
    """Say whose words an item is, and what speaks for it."""
    score, n_replaced = item.item.score, len(item.item.replaces)
    parts = (
        ORIGIN_WORDS[item.origin],
        f"score {score}" if score else "",
        f"replaces {plural(n_replaced, 'line')}" if n_replaced else "",
    )
    return " · ".join(filter(None, parts))


def count_waiting(n_items: int) -> str:
    return f"{plural(n_items, 'item')} {'waits' if n_items == 1 else 'wait'}"


def describe_markdown(item: WaitingItem, workspace: Path) -> list[str]:
    """Tell all of an item in paragraphs of Markdown; what it says is data."""
    content = item.item
    replaced = quote_lines("\n".join(content.replaces))
    described = describe_item(item)
    parts = (
        f"**{described[0].upper()}{escape_markdown(described[1:])}**",
        f"Source: {_link_places(content.source, workspace)}" if content.source else "",
        f"Reason: {escape_markdown(content.reason)}" if content.reason else "",
        f"Replaces:\n\n{replaced}" if content.replaces else "",
    )
    return list(filter(None, parts))


def _list_items(path: Path, around: Surroundings) -> tuple[WaitingItem, ...]:
    return list_waiting(path.parent, around.places, around.text_of(path) or "")


def _offer_all(
    path: Path, items: Sequence[WaitingItem], *, may_write: bool, can_undo: bool
) -> Iterator[Command]:
    yield Command(count_waiting(len(items)) if items else "Nothing waits", "")
    if may_write and len(items) > 1:
        yield _review("Accept all…", path, "accept", items)
    if can_undo:
        arguments = [{"path": str(path)}]
        yield Command(UNDO_TITLE, protocol.UNDO_REVIEW_COMMAND, arguments=arguments)


def _offer(path: Path, item: WaitingItem, *, can_show: bool, what: str = "") -> Iterator[Command]:
    yield _review(f"Accept{what}", path, "accept", (item,))
    if can_show:
        arguments = [{"path": str(path), "id": item.id}]
        yield Command(f"Edit{what}", protocol.EDIT_MEMORY_ITEM_COMMAND, arguments=arguments)
    yield _review(f"Reject{what}", path, "reject", (item,))


def _offer_one(ls: UllageServer, path: Path, item: WaitingItem) -> Iterator[Command]:
    return _offer(path, item, can_show=ls.shows_documents, what=" this item")


def _offer_several(path: Path, items: Sequence[WaitingItem]) -> Iterator[Command]:
    these = f"these {len(items)} items…"
    # The words of the first are what a client proposes to its user.
    yield _review(f"Merge {these}", path, "merge", items, text=items[0].item.finding)
    yield _review(f"Accept {these}", path, "accept", items)
    yield _review(f"Reject {these}", path, "reject", items)


def _review(
    title: str, path: Path, choice: str, items: Sequence[WaitingItem], text: str | None = None
) -> Command:
    argument: dict[str, object] = {
        "path": str(path),
        "choice": choice,
        "ids": [item.id for item in items],
    }
    if text is not None:
        argument["text"] = text
    return Command(title, protocol.REVIEW_MEMORY_COMMAND, arguments=[cast(object, argument)])


def _item_hover(file: SmallFile, params: types.HoverParams) -> types.Hover | None:
    line = params.position.line + 1
    for item in list_waiting(file.path.parent, file.around.places, file.text):
        if item.line <= line <= item.last_line:
            return hover_of(describe_markdown(item, file.path.parent))
    return None


def _link_places(source: str, workspace: Path) -> str:
    """Write where an item comes from, its places in memory as links to their lines."""
    parts: list[str] = []
    end = 0
    for cited in find_cited_lines(source):
        target = workspace / cited.path
        if ".." in target.parts or not exists(target):
            continue
        place = escape_markdown(source[cited.start : cited.end])
        uri = lines_uri(target, cited.first_line, cited.last_line)
        parts += (escape_markdown(source[end : cited.start]), f"[{place}]({uri})")
        end = cited.end
    return " ".join(filter(None, (*parts, escape_markdown(source[end:]))))
