"""A person judges what waits in the inbox of memory, and takes a review back."""

import asyncio
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from lsprotocol import types

from ullage.app.dream.review import ReviewPlan, list_waiting, make_review, plan_review, undo_review
from ullage.core.dream.review import Decision
from ullage.core.text.positions import Positions
from ullage.core.text.prose import plural
from ullage.errors import ChangedMeanwhile, UnknownItem
from ullage.lsp.commands import progress
from ullage.lsp.convert import range_of, uri_of
from ullage.lsp.documents.inbox import UNDO_TITLE
from ullage.lsp.documents.memory_changes import changing_memory, refuse_unsaved
from ullage.lsp.memory import find_memory, refuse_agents
from ullage.lsp.protocol import (
    ConfirmParams,
    MemoryItemArgument,
    Outcome,
    ReviewMemoryArgument,
    UndoReviewArgument,
)
from ullage.lsp.state import UllageServer
from ullage.store.memory.change_records import MemoryChange
from ullage.store.memory.changes import find_undoable
from ullage.store.memory.places import DREAMS, MEMORY

CANCELLED = "Review cancelled: nothing was changed."
NOTHING_TO_UNDO = "no review of this workspace's memory is left to take back"
_BUTTONS = {"accept": "Accept", "reject": "Reject", "merge": "Merge"}
_FINDING = "Finding: "


async def run_review(ls: UllageServer, argument: ReviewMemoryArgument) -> Outcome:
    refuse_agents(ls)
    workspace, _ = find_memory(ls, Path(argument.path))
    await refuse_unsaved(ls, workspace)
    decisions = tuple(_list_decisions(argument))
    plan = await asyncio.to_thread(plan_review, decisions, workspace, ls.config, ls.places)
    if len(argument.ids) > 1 and not argument.isConfirmed:
        way_out = "run `ullage memory review` in a shell"
        if not await progress.ask_first(ls, _question(argument, plan), way_out):
            return progress.report_cancelled(CANCELLED)
    async with changing_memory(ls, workspace):
        change = await asyncio.to_thread(make_review, plan, workspace, ls.places)
    has_lines = bool(plan.outcome.accepted)
    return Outcome(
        outcome="done",
        message=_tell(plan.what, change),
        review=UndoReviewArgument(path=argument.path, change=change.change_id),
        uri=uri_of(workspace / MEMORY) if has_lines else None,
    )


async def run_edit(ls: UllageServer, argument: MemoryItemArgument) -> Outcome:
    """Select the words of an item in the editor, where they are changed by typing."""
    path = Path(argument.path)
    workspace, _ = find_memory(ls, path)
    text = ls.surroundings().text_of(path) or ""
    items = await asyncio.to_thread(list_waiting, workspace, ls.places, text)
    item = next((item for item in items if item.id == argument.id), None)
    if item is None:
        raise UnknownItem(f"{argument.id} waits in {DREAMS} no more")
    positions = Positions(text)
    start = positions.line_start(item.finding_line - 1)
    end = start + len(positions.line_text(item.finding_line - 1))
    where = positions.extent(start + len(_FINDING), end)
    if ls.shows_documents:
        await ls.window_show_document_async(
            types.ShowDocumentParams(
                uri=ls.documents.open_uri(path) or uri_of(path),
                take_focus=True,
                selection=range_of(where),
            )
        )
    return Outcome(
        outcome="nothing",
        message=f"Change the words in line {item.finding_line} of {DREAMS}, save, and accept them",
    )


async def run_undo_review(ls: UllageServer, argument: UndoReviewArgument) -> Outcome:
    refuse_agents(ls)
    workspace, last = await _find_last(ls, argument.path)
    if argument.change not in (None, last.change_id):
        raise ChangedMeanwhile(
            f"memory was changed since (“{last.what}”): take that back first, by “{UNDO_TITLE}”"
        )
    async with changing_memory(ls, workspace):
        change = await asyncio.to_thread(undo_review, workspace, ls.config, ls.places)
    what = change.what.removeprefix("undo of ")
    return Outcome(outcome="done", message=f"Taken back: {_tell(what, change)}")


async def _find_last(ls: UllageServer, path: str | None) -> tuple[Path, MemoryChange]:
    """Find the newest change of memory that can be taken back, and its folder."""
    named = () if path is None else (find_memory(ls, Path(path))[0],)
    folders, places = named or ls.workspace_folders(), ls.places
    found = await asyncio.to_thread(
        lambda: [
            (folder, change)
            for folder in folders
            if (change := find_undoable(folder, places)) is not None
        ]
    )
    if not found:
        raise UnknownItem(NOTHING_TO_UNDO)
    return max(found, key=lambda each: datetime.fromisoformat(each[1].at))


def _list_decisions(argument: ReviewMemoryArgument) -> Iterator[Decision]:
    ids = tuple(dict.fromkeys(argument.ids))
    if argument.choice == "merge":
        yield Decision(choice="accept", ids=ids, text=argument.text)
    else:
        # Words are of one item: those of several would be one line, which is a merge.
        text = argument.text if len(ids) == 1 else None
        for each in ids:
            yield Decision(choice=argument.choice, ids=(each,), text=text)


def _question(argument: ReviewMemoryArgument, plan: ReviewPlan) -> ConfirmParams:
    items = plural(len(argument.ids), "item")
    n_replaced = len(plan.outcome.replaced)
    effect = f"They leave {DREAMS}, and do not come again." if argument.choice == "reject" else ""
    match argument.choice:
        case "reject":
            question = f"Reject {items}?"
        case "accept":
            question = f"Accept {items} into {MEMORY}?"
        case "merge":
            texts = [line.text for line in plan.outcome.accepted] or list(plan.outcome.known)
            question = f"Accept {items} as one line of {MEMORY}: “{texts[0]}”?"
    replaced = f"{plural(n_replaced, 'line')} there will be replaced." if n_replaced else ""
    return ConfirmParams(
        question=question,
        detail=progress.detail(effect, replaced, "It can be undone."),
        button=_BUTTONS[argument.choice],
    )


def _tell(what: str, change: MemoryChange) -> str:
    return " · ".join((what, *change.notes))
