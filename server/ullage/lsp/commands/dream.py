"""`ullage.dream`: what lasts of the daily logs is proposed now."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from ullage.app.dream.dream import Cause, DreamResult, dream
from ullage.app.summary.write import ModelUse
from ullage.core.text.prose import plural
from ullage.lsp.commands import progress
from ullage.lsp.convert import uri_of
from ullage.lsp.documents.inbox import count_waiting
from ullage.lsp.documents.memory_changes import changing_memory
from ullage.lsp.memory import find_memory
from ullage.lsp.protocol import DreamArgument, Outcome
from ullage.lsp.state import UllageServer
from ullage.store.memory.places import DREAMS, MEMORY

CANCELLED = "Dreaming cancelled: nothing was proposed."
NOTHING = "Nothing new lasts: nothing was proposed"
NO_FOLDER = "no folder is open whose daily logs could be read"


async def run_dream(ls: UllageServer, argument: DreamArgument) -> Outcome:
    named = () if argument.path is None else (find_memory(ls, Path(argument.path))[0],)
    folders = named or ls.workspace_folders()
    if not folders:
        return progress.report_nothing(NO_FOLDER)

    async def dream_of_all(report: progress.Report) -> list[tuple[Path, DreamResult]]:
        model = await progress.model_for(ls, report)
        return [(folder, await dream_of(ls, folder, model)) for folder in folders]

    dreamt = await progress.with_progress(ls, "Dreaming", dream_of_all)
    if dreamt is None:
        return progress.report_cancelled(CANCELLED)
    proposing = [folder for folder, result in dreamt if result.items]
    return Outcome(
        outcome="done" if proposing else "nothing",
        message=_tell([result for _, result in dreamt]),
        uri=uri_of(proposing[0] / DREAMS) if proposing else None,
    )


async def dream_of(
    ls: UllageServer,
    folder: Path,
    model: ModelUse,
    cause: Cause = "request",
    now: datetime | None = None,
) -> DreamResult:
    """Dream of a folder, and have what shows its memory asked for anew.

    Raises:
        Refused: as a dream is, or a file of memory has changes that are not saved.
        StateBusy: another dream of it is under way.
        StorageError: the disk or the state folder does not take it.
    """
    async with changing_memory(ls, folder):
        return await dream(folder, ls.config, ls.places, model, cause=cause, now=now)


def _tell(results: Sequence[DreamResult]) -> str:
    n_applied = sum(len(result.applied) for result in results)
    n_waiting = sum(len(result.items) for result in results) - n_applied
    parts = (
        f"{count_waiting(n_waiting)} in {DREAMS}" if n_waiting else "",
        f"{plural(n_applied, 'line')} went to {MEMORY}" if n_applied else "",
    )
    notes = dict.fromkeys(note for result in results for note in result.notes)
    return " · ".join((" · ".join(filter(None, parts)) or NOTHING, *notes))
