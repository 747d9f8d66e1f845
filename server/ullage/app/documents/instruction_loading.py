"""Which agents load an instruction file, and what they have loaded before it."""

import os.path
from collections.abc import Iterator
from pathlib import Path

import msgspec

from ullage.app.documents.check import Surroundings
from ullage.app.documents.kind import is_at_top, loaded_name
from ullage.core.documents.instructions import Reader
from ullage.core.documents.mentioned_paths import mentions
from ullage.core.transcript.entries import Agent
from ullage.formats.agents.openclaw.places import database_patterns
from ullage.formats.registry import format_of
from ullage.store.files.text_files import is_folder, is_same_file


class Loader(msgspec.Struct, frozen=True, kw_only=True):
    """How an agent finds its instructions."""

    reader: Reader
    agent: Agent
    choices: tuple[tuple[str, ...], ...]
    """In the order of their loading; of alternatives, the first that is there."""
    folder: str
    """The agent's own folder: what lies in it is for that agent alone."""
    is_top_only: bool = False
    """Whether only the top of the workspace counts; else all folders down to the file's."""
    follows_imports: bool = False
    """Whether `@docs/rules.md` stands for all that is in that file."""


OPENCLAW = Loader(
    reader="OpenClaw",
    agent="openclaw",
    choices=(
        ("AGENTS.md", "CLAUDE.md"),
        ("SOUL.md",),
        ("TOOLS.md",),
        ("IDENTITY.md",),
        ("USER.md",),
        ("HEARTBEAT.md",),
        ("BOOTSTRAP.md",),
        ("MEMORY.md",),
    ),
    folder=".openclaw",
    is_top_only=True,
)
"""In OpenClaw's order: docs/design/assembly.md, "Bootstrap files"."""
CODEX = Loader(
    reader="Codex",
    agent="codex",
    choices=(("AGENTS.override.md", "AGENTS.md"),),
    folder=".codex",
)
CLAUDE_CODE = Loader(
    reader="Claude Code",
    agent="claude-code",
    choices=(("CLAUDE.md",), ("CLAUDE.local.md",)),
    folder=".claude",
    follows_imports=True,
)
GEMINI = Loader(
    reader="Gemini CLI",
    agent="gemini",
    choices=(("GEMINI.md",),),
    folder=".gemini",
    follows_imports=True,
)
LOADERS = (OPENCLAW, CODEX, CLAUDE_CODE, GEMINI)
MAX_IMPORT_DEPTH = 5
"""Claude Code's limit, and Gemini CLI's."""


def loaders_of(path: Path, around: Surroundings) -> tuple[Loader, ...]:
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


def _is_chosen(loader: Loader, path: Path, around: Surroundings) -> bool:
    """Whether a file is the first that is there of the alternatives that it is one of."""
    path = path.with_name(loaded_name(path.name))
    names = next((names for names in loader.choices if path.name in names), ())
    first = next(_present(path.parent, names, path, around), None)
    return first is not None and (first[0] == path or is_same_file(path, first[0]))


def is_in_sight(reader: Reader, path: Path, around: Surroundings) -> bool:
    """Whether an agent has a folder where a file is, or sessions of its workspace."""
    loader = next(one for one in LOADERS if one.reader == reader)
    workspace = around.workspace_of(path) or path.parent
    env, home = around.places.env, around.places.home
    sessions = format_of(loader.agent).session_folders(workspace, env, home)
    # Sessions of pi count for OpenClaw, which runs it; its own are below its folder.
    databases = database_patterns(env, home) if loader is OPENCLAW else ()
    signs = (workspace / loader.folder, *sessions, *(folder for folder, _ in databases))
    return loader.folder in path.parts or any(is_folder(sign) for sign in signs)


def loaded_above(loader: Loader, path: Path, around: Surroundings) -> dict[Path, str]:
    """Give what a loader has loaded when it comes to a file; nothing where it never does."""
    path = path.with_name(loaded_name(path.name))
    found: dict[Path, str] = {}
    for folder in _folders(loader, path, around):
        for names in loader.choices:
            loaded = next(_present(folder, names, path, around), None)
            if loaded is not None and loaded[0] == path:
                return found
            if loaded is not None and not is_same_file(path, loaded[0]):
                found[loaded[0]] = loaded[1]
    return {}


def loaded_before(path: Path, text: str, around: Surroundings) -> dict[Path, str]:
    """Give the texts that an agent has before it comes to a file, or takes into it.

    Of two files that no agent loads together neither repeats the other.
    """
    found: dict[Path, str] = {}
    loaders = loaders_of(path, around)
    for loader in loaders:
        found |= loaded_above(loader, path, around)
    if any(loader.follows_imports for loader in loaders):
        found |= imported_texts(path, text, around)
    return found


def imported_texts(path: Path, text: str, around: Surroundings) -> dict[Path, str]:
    """Give the texts that a file's imports stand for, and theirs; each once."""
    found: dict[Path, str] = {}
    level = {path: text}
    for _ in range(MAX_IMPORT_DEPTH):
        level = {
            other: said
            for other in _imports(level)
            if other not in found
            and (said := around.text_of(other))
            and not is_same_file(path, other)
        }
        found |= level
    return found


def _imports(texts: dict[Path, str]) -> Iterator[Path]:
    for path, text in texts.items():
        for one in mentions(text):
            if one.kind == "import":
                yield Path(os.path.normpath(path.parent / one.path))


def _folders(loader: Loader, path: Path, around: Surroundings) -> list[Path]:
    """List the folders that are loaded from, from the top of the workspace down."""
    workspace = around.workspace_of(path)
    if workspace is None or loader.is_top_only:
        return [path.parent]
    above = [at for at in path.parent.parents if at.is_relative_to(workspace)]
    return [*reversed(above), path.parent]


def _present(
    folder: Path, names: tuple[str, ...], path: Path, around: Surroundings
) -> Iterator[tuple[Path, str]]:
    for one in (folder / name for name in names):
        text = around.text_of(one)
        if one == path or (text and text.strip()):
            yield one, text or ""


def takes_imports(path: Path) -> bool:
    """Whether `@docs/rules.md` in a file means that file: else it may be anybody's name."""
    return loaded_name(path.name) in ("CLAUDE.md", "CLAUDE.local.md", "GEMINI.md")
