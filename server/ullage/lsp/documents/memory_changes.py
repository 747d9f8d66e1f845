"""A change of memory that a person asks for: the editor's text must be the disk's, and follows it.

An editor reads a file again some time after it was changed on the disk. What it shows until then
is no change of its user's.
"""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from ullage.errors import Refused
from ullage.lsp.client_refresh import refresh_diagnostics, refresh_lists, refresh_views
from ullage.lsp.documents.diagnostics import check_dependents, check_soon
from ullage.lsp.state import UllageServer
from ullage.store.files.text_files import read_text_file
from ullage.store.memory.places import DREAMS, MEMORY


@asynccontextmanager
async def changing_memory(ls: UllageServer, workspace: Path) -> AsyncGenerator[None]:
    """Change the memory of a folder, and have all that shows it asked for anew.

    Raises:
        Refused: a file of it has changes in the editor that are not saved.
    """
    await refuse_unsaved(ls, workspace)
    texts = _open_texts(ls, workspace)
    yield
    for path, text in texts.items():
        if ls.documents.texts.get(path) == text:
            ls.documents.replaced[path] = text
    show_memory_changed(ls, workspace)


async def refuse_unsaved(ls: UllageServer, workspace: Path) -> None:
    """Refuse to change what the editor would then overwrite.

    Raises:
        Refused: a file of memory has changes in the editor that are not saved.
    """
    path = await find_unsaved(ls, workspace)
    if path is not None:
        raise Refused(f"{path.name} has changes that are not saved: save it first")


async def find_unsaved(ls: UllageServer, workspace: Path) -> Path | None:
    """Find a file of a folder's memory whose text in the editor is not the disk's."""
    texts, replaced = _open_texts(ls, workspace), dict(ls.documents.replaced)
    unsaved = {path: text for path, text in texts.items() if replaced.get(path) != text}
    return await asyncio.to_thread(_find_other, unsaved)


def show_memory_changed(ls: UllageServer, workspace: Path) -> None:
    inbox = workspace / DREAMS
    if inbox in ls.documents.small_uris:
        check_soon(ls, inbox, "inbox", delay_s=0.0)
    check_dependents(ls, inbox)
    refresh_diagnostics(ls)
    refresh_views(ls)
    refresh_lists(ls, "memory")


def _open_texts(ls: UllageServer, workspace: Path) -> dict[Path, str]:
    paths = (workspace / DREAMS, workspace / MEMORY)
    return {path: ls.documents.texts[path] for path in paths if path in ls.documents.texts}


def _find_other(texts: Mapping[Path, str]) -> Path | None:
    for path, text in texts.items():
        if _with_lf(read_text_file(path) or "") != _with_lf(text):
            return path
    return None


def _with_lf(text: str) -> str:
    return text.replace("\r\n", "\n").removeprefix("\ufeff")
