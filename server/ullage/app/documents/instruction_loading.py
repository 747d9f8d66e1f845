"""Which agents load an instruction file, and what they have loaded before it."""

import os.path
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from itertools import takewhile
from pathlib import Path
from typing import assert_never

import msgspec

from ullage.app.documents.check import Surroundings
from ullage.app.documents.kind import find_loaded_name, is_at_top
from ullage.core.config.agent_settings import AgentSettings
from ullage.core.documents.mentioned_paths import find_imports
from ullage.formats.agent_info import InstructionLoader
from ullage.formats.registry import AGENTS
from ullage.store.config.agent_settings import read_settings_files
from ullage.store.files.text_files import is_folder, is_same_file, list_names
from ullage.store.files.work_tree import list_folders_up

_AGENTS = {loader: info for info in AGENTS for loader in info.loaders}
LOADERS = tuple(_AGENTS)
_ALL_BELOW = "/**"
_NO_FOLDERS: frozenset[str] = frozenset()


class _Folder(msgspec.Struct, frozen=True, kw_only=True):
    """A folder that is loaded from."""

    path: Path
    choices: tuple[tuple[str, ...], ...]
    is_home: bool
    """Whether it is the user's own, of the agent."""


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
    folder = _find_folder(loader, path, around)
    if folder is None:
        return False
    names = next(names for names in folder.choices if _is_of(path, folder.path, names))
    chosen = _list_chosen(folder.path, names, path, around)
    return any(at == path or is_same_file(path, at) for at, _ in chosen)


def is_in_sight(reader: str, path: Path, around: Surroundings) -> bool:
    """Whether an agent has a folder where a file is, or sessions of its workspace."""
    loader, info = next((own, info) for own, info in _AGENTS.items() if own.reader == reader)
    workspace = around.workspace_of(path) or path.parent
    env, home = around.places.env, around.places.home
    if loader.has_databases:
        sessions = tuple(folder for folder, _ in info.database_patterns(env, home))
    else:
        sessions = info.workspace_folders(workspace, env, home)
    signs = (workspace / loader.folder, *sessions)
    return loader.folder in path.parts or any(is_folder(sign) for sign in signs)


def load_above(loader: InstructionLoader, path: Path, around: Surroundings) -> dict[Path, str]:
    """Give what a loader has loaded when it comes to a file; nothing where it never does."""
    path = path.with_name(find_loaded_name(path.name))
    folder = _find_folder(loader, path, around)
    loaded = {} if folder is None else list_loaded(loader, folder.path, around, path)
    above = takewhile(lambda file: file[0] != path, loaded.items()) if path in loaded else ()
    return dict(above)


def load_before(path: Path, text: str, around: Surroundings) -> dict[Path, str]:
    """Give the texts that an agent has before it comes to a file, or takes into it.

    Of two files that no agent loads together neither repeats the other.
    """
    texts: dict[Path, str] = {}
    for loader in loaders_of(path, around):
        texts |= load_above(loader, path, around)
        texts |= read_imports(loader, path, text, around)
    return texts


def list_loaded(
    loader: InstructionLoader, folder: Path, around: Surroundings, path: Path | None = None
) -> dict[Path, str]:
    """Give the texts that an agent has when it works in a folder, in the order of their loading.

    `path` counts as there though it is empty, and what links to it does not.
    """
    loader = configure(loader, folder, around)
    loaded: dict[Path, str] = {}
    seen: dict[Path, int] = {}
    for place in _list_folders(loader, folder, around):
        for at, text in _list_files(place, path, around):
            if any(fnmatchcase(at.as_posix(), pattern) for pattern in loader.excludes):
                continue
            if at != path and (is_linked(at, path) or not loader.prepare(at, text)):
                continue
            loaded.setdefault(at, text)
            top = None if place.is_home or loader.imports_outside else folder
            for target, imported in _follow(at, text, around, loader.import_hops, top, seen):
                loaded.setdefault(target, imported)
    return loaded


def is_linked(path: Path, other: Path | None) -> bool:
    return other is not None and is_same_file(path, other)


def configure(loader: InstructionLoader, folder: Path, around: Surroundings) -> InstructionLoader:
    """Apply the user's settings of an agent for the folder that it works in."""
    if loader.configure is None:
        return loader
    env, home = around.places.env, around.places.home
    info = next(info for own, info in _AGENTS.items() if own.reader == loader.reader)
    files = read_settings_files(info.setting_files(folder, folder, env, home))
    return loader.configure(loader, AgentSettings(sources=files, env=env), folder)


def home_of(loader: InstructionLoader, around: Surroundings) -> Path | None:
    """Give the user's own folder of an agent, from which it loads too."""
    home = loader.home
    return None if home is None else home.root(around.places.env, around.places.home)


def read_imports(
    loader: InstructionLoader, path: Path, text: str, around: Surroundings
) -> dict[Path, str]:
    """Give the texts that a file's imports stand for, and theirs; each once."""
    folder = _find_folder(loader, path, around)
    if folder is None or not loader.import_hops:
        return {}
    loader = configure(loader, folder.path, around)
    top = None if folder.is_home or loader.imports_outside else folder.path
    imports = _follow(path, text, around, loader.import_hops, top, {})
    return {target: imported for target, imported in imports if not is_same_file(path, target)}


def _follow(
    path: Path,
    text: str,
    around: Surroundings,
    n_hops: int,
    top: Path | None,
    seen: dict[Path, int],
) -> Iterator[tuple[Path, str]]:
    """List what a text imports, each file before what follows it; below `top` alone.

    `seen` has the hops that were left at each target: with as many again nothing is new there, and
    files that import each other would be followed on exponentially many ways.
    """
    for name in find_imports(text) if n_hops else ():
        start = around.places.home if name.startswith("~/") else path.parent
        target = Path(os.path.normpath(start / name.removeprefix("~/")))
        is_outside = top is not None and not target.is_relative_to(top)
        if is_outside or seen.get(target, 0) >= n_hops:
            continue
        seen[target] = n_hops
        imported = around.text_of(target)
        if imported:
            yield target, imported
            yield from _follow(target, imported, around, n_hops - 1, top, seen)


def _find_folder(loader: InstructionLoader, path: Path, around: Surroundings) -> _Folder | None:
    """Give the folder that an agent works in when it loads a file; None where it never does."""
    home = home_of(loader, around)
    if home is not None and any(_is_of(path, home, names) for names in loader.home_choices):
        return _Folder(path=home, choices=loader.home_choices, is_home=True)
    loader = configure(loader, path.parent, around)
    for folder in reversed(path.parents):
        # What has a folder of the user's reads none of the same name in a project as one.
        is_own = home is not None and folder.name == loader.folder
        if not is_own and any(_is_of(path, folder, names) for names in loader.choices):
            return _Folder(path=folder, choices=loader.choices, is_home=False)
    return None


def _is_of(path: Path, folder: Path, names: tuple[str, ...]) -> bool:
    if not path.is_relative_to(folder):
        return False
    within = path.relative_to(folder).as_posix()
    return any(
        within == name or (name.endswith(_ALL_BELOW) and within.startswith(name[:-2]))
        for name in names
    )


def _list_folders(
    loader: InstructionLoader, folder: Path, around: Surroundings
) -> Iterator[_Folder]:
    """List the folders that are loaded from: the user's own, then those of the project down."""
    home = home_of(loader, around)
    if home is not None:
        yield _Folder(path=home, choices=loader.home_choices, is_home=True)
    if folder != home:
        for path in reversed(list(_list_upwards(loader, folder, around))):
            yield _Folder(path=path, choices=loader.choices, is_home=False)


def _list_upwards(loader: InstructionLoader, folder: Path, around: Surroundings) -> Iterable[Path]:
    match loader.reach:
        case "folder":
            top = None
        case "workspace":
            top = around.workspace_of(folder / "any")
        case "repository":
            return list_folders_up(folder)
        case "everywhere":
            top = Path(folder.anchor)
        case _:
            assert_never(loader.reach)
    above = () if top is None else (at for at in folder.parents if at.is_relative_to(top))
    return folder, *above


def _list_files(
    place: _Folder, path: Path | None, around: Surroundings
) -> Iterator[tuple[Path, str]]:
    for names in place.choices:
        yield from _list_chosen(place.path, names, path, around)


def _list_chosen(
    folder: Path, names: tuple[str, ...], path: Path | None, around: Surroundings
) -> list[tuple[Path, str]]:
    """Give the first file that is there, or all that are in a folder of rules."""
    is_many = names[0].endswith(_ALL_BELOW)
    candidates = _list_below(folder / names[0][:-2]) if is_many else [folder / n for n in names]
    texts = ((at, around.text_of(at)) for at in candidates)
    present = ((at, text or "") for at, text in texts if at == path or (text and text.strip()))
    return list(present) if is_many else [file for file, _ in zip(present, range(1), strict=False)]


def _list_below(folder: Path) -> list[Path]:
    """List the Markdown below a folder: its files, then those of the folders in it."""
    names = (list_names(folder, _NO_FOLDERS) or ()) if is_folder(folder) else ()
    found = [name for name in names if name.endswith(".md")]
    return [folder / name for name in sorted(found, key=lambda name: (name.count("/"), name))]


def takes_imports(path: Path) -> bool:
    """Whether `@docs/rules.md` in a file means that file: else it may be anybody's name."""
    name = find_loaded_name(path.name)
    return any(name in names for own in LOADERS if own.import_hops for names in own.choices)
