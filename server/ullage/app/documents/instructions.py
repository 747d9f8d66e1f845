"""Findings on instruction files and memory: what no agent sees, what is said twice, dead paths."""

from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path

import msgspec

from ullage.app.documents import instruction_loading
from ullage.app.documents.check import Surroundings
from ullage.app.documents.contradictions import find_contradicting_lines
from ullage.app.documents.kind import MEMORY_FOLDER, MEMORY_NAME, find_loaded_name
from ullage.app.documents.moved_part import move_part
from ullage.app.documents.outside_changes import find_outside_lines
from ullage.core.documents import instructions
from ullage.core.documents.duplicates import Duplicate, Statement, find_duplicates, read_statements
from ullage.core.documents.finding import DocumentFinding, Related, TextFix
from ullage.core.documents.mentioned_paths import PASSING_FOLDERS, PathMention, find_mentions
from ullage.core.text.gitignore import ignore_spec, is_ignored
from ullage.core.text.positions import Positions, utf16_length
from ullage.core.transcript.tokens import estimate_tokens
from ullage.formats.agent_info import InstructionLoader
from ullage.formats.agents.claude_code.instructions import LOADER as CLAUDE_CODE
from ullage.formats.agents.codex.agent import LOADER as CODEX
from ullage.formats.agents.openclaw.agent import LOADER as OPENCLAW
from ullage.store.files import text_files

TWIN_NAME = "AGENTS.md"
COPY_RATIO = 0.8
COPY_MIN_STATEMENTS = 4
"""From so many statements and such a share of them on, the file is a copy: told once (chosen)."""
CLOSE_RATIO = 0.8
"""Of a name to one that is there, as difflib measures it (chosen)."""
MAX_SUGGESTIONS = 3


class _Place(msgspec.Struct, frozen=True, kw_only=True):
    """Where a mentioned path may lead: relative to one of the folders that it may be meant from."""

    first: Path
    """Of the names in it; that one is the workspace's, or the path is none of it."""
    end: Path


class _Ignored:
    """The mentions that a `.gitignore` of the folders says may lead to nothing."""

    def __init__(self, folders: list[Path]) -> None:
        self._folders = folders
        self._specs = {
            at: ignore_spec(text_files.read_text_file(at / ".gitignore") or "") for at in folders
        }

    def __contains__(self, mention: PathMention) -> bool:
        end = "/" if mention.path.endswith("/") else ""
        return any(
            is_ignored(f"{place.end.relative_to(folder).as_posix()}{end}", spec)
            for place in _find_places(mention, self._folders)
            for folder, spec in self._specs.items()
            if place.end.is_relative_to(folder)
        )


def check_instructions(path: Path, text: str, around: Surroundings) -> Iterator[DocumentFinding]:
    positions = Positions(text)
    for cut in find_instruction_cuts(path, text, around):
        is_used = instruction_loading.is_in_sight(cut.reader, path, around)
        yield from _cut_findings("instructions-cut", cut, text, positions, is_used=is_used)
    if CLAUDE_CODE in instruction_loading.loaders_of(
        path, around
    ) and instructions.is_large_for_claude(text):
        yield DocumentFinding(
            code="instructions-large",
            extent=positions.extent(0, len(positions.line_text(0))),
            message=(
                f"{utf16_length(text):,} characters, about {instructions.estimate_text(text):,}"
                " tokens in every request:"
                f" Claude Code warns of more than {instructions.CLAUDE_LARGE_CHARS:,}."
            ),
        )
    yield from find_duplicate_text(path, text, around, positions)
    yield from find_dead_paths(path, text, around)


def is_index(path: Path) -> bool:
    """Whether a file of memory is in every request; other notes are read when they are wanted."""
    return find_loaded_name(path.name) == MEMORY_NAME


def check_memory(path: Path, text: str, around: Surroundings) -> Iterator[DocumentFinding]:
    positions = Positions(text)
    for cut in find_memory_cuts(path, text, around):
        is_used = instruction_loading.is_in_sight(cut.reader, path, around)
        fix = move_part(path, text, cut, positions)
        fixes = () if fix is None else (fix,)
        yield from _cut_findings("memory-cut", cut, text, positions, is_used=is_used, fixes=fixes)
    if is_index(path):
        yield from find_duplicate_text(path, text, around, positions)
        yield from find_dead_paths(path, text, around)
        yield from find_contradicting_lines(path, text, positions)
    yield from find_outside_lines(path, text, around, positions)


def find_instruction_cuts(
    path: Path, text: str, around: Surroundings
) -> tuple[instructions.Cut, ...]:
    """Give what each agent that loads a file by its name and its place leaves out."""
    loaders = instruction_loading.loaders_of(path, around)
    cuts = (find_cut(loader, path, text, around) for loader in loaders)
    return tuple(cut for cut in cuts if cut is not None)


def find_cut(
    loader: InstructionLoader, path: Path, text: str, around: Surroundings
) -> instructions.Cut | None:
    """Give what an agent leaves out of a file that it loads, after those that it loads before."""
    if loader == OPENCLAW:
        return instructions.find_openclaw_cut(text, around.config.bootstrap.max_chars)
    if loader == CLAUDE_CODE and is_index(path):
        return instructions.find_claude_memory_cut(text)
    if loader == CODEX and path.name not in loader.choices[0]:
        return instructions.find_codex_memory_cut(text)
    home = instruction_loading.home_of(loader, around) or around.places.home
    max_bytes = instruction_loading.configure(loader, path.parent, around).max_bytes
    if max_bytes is None or path.parent == home:
        return None
    above = instruction_loading.load_above(loader, path, around)
    spent = (text for at, text in above.items() if at.parent != home)
    n_spent = sum(len(loaded.encode("utf-8", "surrogatepass")) for loaded in spent)
    return instructions.find_codex_cut(text, n_spent, max_bytes)


def find_memory_cuts(path: Path, text: str, around: Surroundings) -> tuple[instructions.Cut, ...]:
    """Give what is not loaded of MEMORY.md; other notes are read when an agent asks for them."""
    if not is_index(path):
        return ()
    cut: instructions.Cut | None = None
    if CLAUDE_CODE.folder in path.parts or path.parent.name == MEMORY_FOLDER:
        cut = find_cut(CLAUDE_CODE, path, text, around)
    elif OPENCLAW in instruction_loading.loaders_of(path, around):
        cut = find_cut(OPENCLAW, path, text, around)
    return () if cut is None else (cut,)


def _cut_findings(
    code: str,
    cut: instructions.Cut,
    text: str,
    positions: Positions,
    *,
    is_used: bool,
    fixes: tuple[TextFix, ...] = (),
) -> Iterator[DocumentFinding]:
    """Warn where the cut begins, and mark all of it as unseen; of an agent that is not used here,
    only say so."""
    unseen = cut.left_out(text)
    start = positions.position(cut.start)
    line_end = positions.line_start(start.line) + len(positions.line_text(start.line))
    end = (
        ""
        if cut.end == len(text)
        else f"\nIt sees the text again from line {positions.position(cut.end).line + 1} on."
    )
    reader = cut.reader if is_used else f"{cut.reader}, if you use it,"
    message = (
        f"{reader} does not see {utf16_length(unseen):,} characters from here on,"
        f" about {estimate_tokens(unseen):,} tokens.\nIt {cut.rule}.{end}"
    )
    yield DocumentFinding(
        code=code,
        extent=positions.extent(cut.start, max(min(line_end, cut.end), cut.start)),
        message=message,
        is_notice=not is_used,
        fixes=fixes,
    )
    if is_used:
        yield DocumentFinding(
            code=code,
            extent=positions.extent(cut.start, cut.end),
            message=f"{cut.reader} does not see this.",
            is_unseen=True,
        )


def find_duplicate_text(
    path: Path, text: str, around: Surroundings, positions: Positions
) -> Iterator[DocumentFinding]:
    """Find statements that an agent has already read."""
    own = read_statements(text)
    others = list(instruction_loading.load_before(path, text, around).items())
    duplicates = find_duplicates(own, [read_statements(other_text) for _, other_text in others])
    for source, (other_path, other_text) in enumerate(others, start=1):
        n_common = sum(duplicate.source == source for duplicate in duplicates)
        if _is_copy(n_common, own):
            words = " too, which is loaded before it."
            yield _copy_finding(positions, other_path, other_text, (n_common, len(own)), words)
            duplicates = tuple(duplicate for duplicate in duplicates if duplicate.source != source)
    sources = ((path, positions), *((at, Positions(other_text)) for at, other_text in others))
    for run in _join_runs(duplicates, text):
        yield _duplicate_finding(run, text, positions, sources[run[0].source], path)
    if find_loaded_name(path.name) == "CLAUDE.md" and path.with_name(TWIN_NAME) not in dict(others):
        yield from _twin_findings(path, own, positions, around)


def _join_runs(duplicates: Sequence[Duplicate], text: str) -> Iterator[tuple[Duplicate, ...]]:
    """Join duplicates that follow each other in one other file: they are reported once."""
    run: list[Duplicate] = []
    for duplicate in duplicates:
        last = run[-1] if run else None
        # What stands below an item that is told is told with it.
        if last is not None and duplicate.statement.part.start < last.statement.end:
            continue
        if last is not None and not (
            (duplicate.source, duplicate.is_exact) == (last.source, last.is_exact)
            and not text[last.statement.end : duplicate.statement.part.start].strip()
        ):
            yield tuple(run)
            run.clear()
        run.append(duplicate)
    if run:
        yield tuple(run)


def _twin_findings(
    path: Path, own: Sequence[Statement], positions: Positions, around: Surroundings
) -> Iterator[DocumentFinding]:
    """Tell of a CLAUDE.md that repeats AGENTS.md: no agent loads both, but who edits one forgets
    the other."""
    other_path = path.with_name(TWIN_NAME)
    other_text = around.text_of(other_path)
    if not other_text or text_files.is_same_file(path, other_path):
        return
    before = len(find_duplicates(own, []))
    n_common = len(find_duplicates(own, [read_statements(other_text)])) - before
    if _is_copy(n_common, own):
        words = f": they drift apart. For Claude Code a line @{TWIN_NAME} stands for all of it."
        yield _copy_finding(positions, other_path, other_text, (n_common, len(own)), words)


def _is_copy(n_common: int, own: Sequence[Statement]) -> bool:
    return n_common >= COPY_MIN_STATEMENTS and n_common >= COPY_RATIO * len(own)


def _copy_finding(
    positions: Positions, other_path: Path, other_text: str, counts: tuple[int, int], words: str
) -> DocumentFinding:
    first = Positions(other_text)
    n_common, n_own = counts
    return DocumentFinding(
        code="instructions-duplicate",
        extent=positions.extent(0, len(positions.line_text(0))),
        message=(
            f"{n_common} of the {n_own} statements of this file stand in {other_path.name}{words}"
        ),
        related=(
            Related(
                path=str(other_path),
                extent=first.extent(0, len(first.line_text(0))),
                message="The other file",
            ),
        ),
    )


def _duplicate_finding(
    run: Sequence[Duplicate],
    text: str,
    positions: Positions,
    source: tuple[Path, Positions],
    path: Path,
) -> DocumentFinding:
    start, end = run[0].statement.part.start, run[-1].statement.end
    is_exact, copy = run[0].is_exact, run[0].other
    other_path, other_positions = source
    lines = [other_positions.position(duplicate.other.part.start).line + 1 for duplicate in run]
    first, last = min(lines), max(lines)
    where = f"line {first}" if first == last else f"lines {first} to {last}"
    where = where if other_path == path else f"{other_path.name}, {where}"
    words = f"These {len(run)} stand" if len(run) > 1 else "This stands"
    words = f"{words} already in" if is_exact else "Nearly the same stands in"
    return DocumentFinding(
        code="instructions-duplicate",
        extent=positions.extent(start, end),
        message=f"{words} {where}; {estimate_tokens(text[start:end]):,} tokens.",
        related=(
            Related(
                path=str(other_path),
                extent=other_positions.extent(copy.part.start, copy.end),
                message="The other place",
            ),
        ),
        fixes=(_removal(run, text, positions),) if is_exact else (),
    )


def _removal(run: Sequence[Duplicate], text: str, positions: Positions) -> TextFix:
    """Remove whole lines, all below included; the blank line that would be doubled goes too."""
    start = run[0].statement.part.start
    last = positions.position(run[-1].statement.end).line
    end = positions.line_start(last + 1) if last + 1 < positions.n_lines else len(text)
    start_line = positions.position(start).line
    is_alone = not positions.line_text(start_line - 1).strip()
    if is_alone and last + 2 < positions.n_lines and not positions.line_text(last + 1).strip():
        end = positions.line_start(last + 2)
    extent = positions.extent(start, end)
    title = "Remove this copy" if len(run) == 1 else f"Remove these {len(run)} copies"
    return TextFix(title=title, extent=extent, new_text="", is_sure=False)


def find_dead_paths(path: Path, text: str, around: Surroundings) -> Iterator[DocumentFinding]:
    """Find the mentioned paths that lead nowhere, from this folder or any above it.

    Outside of a workspace nothing is found: there, paths are relative to whatever is worked on.
    A path whose first folder is not there is a route, a package, or in another repository. One
    that is right from some folder further down is one that an agent finds.
    """
    workspace = around.workspace_of(path)
    if workspace is None:
        return
    folders = [path.parent, *(at for at in path.parents[1:] if at.is_relative_to(workspace))]
    mentions = find_mentions(text)
    if not instruction_loading.takes_imports(path):
        mentions = tuple(mention for mention in mentions if mention.kind != "import")
    missing = [mention for mention in mentions if _is_missing(mention, folders)]
    if not missing:
        return
    ignored = _Ignored(folders)
    names = text_files.list_names(workspace, PASSING_FOLDERS)
    if names is None:
        return
    tails = {f"/{name.rstrip('/')}" for name in names}
    positions = Positions(text)
    for mention in missing:
        parts = mention.path.split("/")
        wanted = "/" + "/".join(part for part in parts if part not in ("", ".", ".."))
        if mention in ignored or any(tail.endswith(wanted) for tail in tails):
            continue
        extent = positions.extent(mention.start, mention.end)
        near = _find_nearest(mention.path, names)
        yield DocumentFinding(
            code="instructions-dead-path",
            extent=extent,
            message=f"{mention.path} does not exist in this workspace.",
            fixes=tuple(
                TextFix(title=f"Did you mean {name}?", extent=extent, new_text=name)
                for name in near
            ),
        )


def _is_missing(mention: PathMention, folders: list[Path]) -> bool:
    places = _find_places(mention, folders)
    begun = [place for place in places if text_files.is_folder(place.first)]
    if mention.path.endswith("/"):
        # What has no folder above it either is a route as likely as a folder.
        begun = [place for place in begun if text_files.is_folder(place.end.parent)]
    return begun != [] and not any(text_files.exists(place.end) for place in places)


def _find_places(mention: PathMention, folders: list[Path]) -> list[_Place]:
    places = (_find_place(mention, folder, folders[-1]) for folder in folders)
    return [place for place in places if place is not None]


def _find_place(mention: PathMention, folder: Path, workspace: Path) -> _Place | None:
    """Give where a path leads from a folder; None for out of the workspace."""
    names = [name for name in mention.path.split("/") if name not in ("", ".")]
    n_up = next((at for at, name in enumerate(names) if name != ".."), len(names))
    start = (folder, *folder.parents)[min(n_up, len(folder.parents))]
    if not start.is_relative_to(workspace) or n_up == len(names):
        return None
    below = names[n_up:]
    return _Place(first=start / below[0] if below[1:] else start, end=start.joinpath(*below))


def _find_nearest(path: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """Give the paths that may be meant: of the same name elsewhere, else of a name like it."""
    wanted = path.rstrip("/").rpartition("/")[2]
    same = [name for name in names if name.rstrip("/").rpartition("/")[2] == wanted]
    if not same:
        same = get_close_matches(path.removeprefix("./"), names, MAX_SUGGESTIONS, CLOSE_RATIO)
    return tuple(sorted(same, key=len)[:MAX_SUGGESTIONS])
