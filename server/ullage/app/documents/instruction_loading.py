"""Which agents load an instruction file, and what they have loaded before it."""

import os.path
from collections.abc import Iterator
from pathlib import Path

from ullage.app.documents.check import Surroundings
from ullage.app.documents.kind import find_loaded_name, is_at_top
from ullage.core.documents.mentioned_paths import find_mentions
from ullage.formats.agent_info import InstructionLoader
from ullage.formats.registry import AGENTS
from ullage.store.files.text_files import is_folder, is_same_file

_AGENTS = {info.loader: info for info in AGENTS if info.loader is not None}
LOADERS = tuple(_AGENTS)
MAX_IMPORT_DEPTH = 5
"""Claude Code's limit, and Gemini CLI's."""


def loaders_of(path: Path, around: Surroundings) -> tuple[InstructionLoader, ...]:
    """Give the agents that load a file by its name and its place, and no other instead of it."""
    workspace = around.workspace_of(path)
    within = path if workspace is None else path.relative_to(workspace)
    own = [loader for loader in LOADERS if loader.folder in within.parts]
    at_top = is_at_top(path.parent, around.workspaces)
    return tuple(
        loader
        for loader in own or LOADERS
        if _is_chosen(loader, path, around) and (own or at_top or not loader.is_top_only)
    )


def _is_chosen(loader: InstructionLoader, path: Path, around: Surroundings) -> bool:
    """Whether a file is the first that is there of the alternatives that it is one of."""
    path = path.with_name(find_loaded_name(path.name))
    names = next((names for names in loader.choices if path.name in names), ())
    first = next(_list_present(path.parent, names, path, around), None)
    return first is not None and (first[0] == path or is_same_file(path, first[0]))


def is_in_sight(reader: str, path: Path, around: Surroundings) -> bool:
    """Whether an agent has a folder where a file is, or sessions of its workspace."""
    loader, info = next((own, info) for own, info in _AGENTS.items() if own.reader == reader)
    workspace = around.workspace_of(path) or path.parent
    env, home = around.places.env, around.places.home
    # Sessions of pi count for OpenClaw, which runs it; its own are in databases.
    sessions = info.workspace_folders(workspace, env, home)
    databases = info.database_patterns(env, home)
    signs = (workspace / loader.folder, *sessions, *(folder for folder, _ in databases))
    return loader.folder in path.parts or any(is_folder(sign) for sign in signs)


def load_above(loader: InstructionLoader, path: Path, around: Surroundings) -> dict[Path, str]:
    """Give what a loader has loaded when it comes to a file; nothing where it never does."""
    path = path.with_name(find_loaded_name(path.name))
    texts: dict[Path, str] = {}
    for folder in _folders(loader, path, around):
        for names in loader.choices:
            loaded = next(_list_present(folder, names, path, around), None)
            if loaded is not None and loaded[0] == path:
                return texts
            if loaded is not None and not is_same_file(path, loaded[0]):
                texts[loaded[0]] = loaded[1]
    return {}


def load_before(path: Path, text: str, around: Surroundings) -> dict[Path, str]:
    """Give the texts that an agent has before it comes to a file, or takes into it.

    Of two files that no agent loads together neither repeats the other.
    """
    texts: dict[Path, str] = {}
    loaders = loaders_of(path, around)
    for loader in loaders:
        texts |= load_above(loader, path, around)
    if any(loader.follows_imports for loader in loaders):
        texts |= read_imports(path, text, around)
    return texts


def read_imports(path: Path, text: str, around: Surroundings) -> dict[Path, str]:
    """Give the texts that a file's imports stand for, and theirs; each once."""
    texts: dict[Path, str] = {}
    level = {path: text}
    for _ in range(MAX_IMPORT_DEPTH):
        level = {
            target: imported
            for target in _list_imports(level)
            if target not in texts
            and (imported := around.text_of(target))
            and not is_same_file(path, target)
        }
        texts |= level
    return texts


def _list_imports(texts: dict[Path, str]) -> Iterator[Path]:
    for path, text in texts.items():
        for mention in find_mentions(text):
            if mention.kind == "import":
                yield Path(os.path.normpath(path.parent / mention.path))


def _folders(loader: InstructionLoader, path: Path, around: Surroundings) -> list[Path]:
    """List the folders that are loaded from, from the top of the workspace down."""
    workspace = around.workspace_of(path)
    if workspace is None or loader.is_top_only:
        return [path.parent]
    above = [at for at in path.parent.parents if at.is_relative_to(workspace)]
    return [*reversed(above), path.parent]


def _list_present(
    folder: Path, names: tuple[str, ...], path: Path, around: Surroundings
) -> Iterator[tuple[Path, str]]:
    for candidate in (folder / name for name in names):
        text = around.text_of(candidate)
        if candidate == path or (text and text.strip()):
            yield candidate, text or ""


def takes_imports(path: Path) -> bool:
    """Whether `@docs/rules.md` in a file means that file: else it may be anybody's name."""
    name = find_loaded_name(path.name)
    return any(name in names for own in LOADERS if own.follows_imports for names in own.choices)
