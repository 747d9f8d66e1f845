"""Findings on instruction files and memory: what no agent sees, what is said twice, dead paths."""

from collections.abc import Iterator
from pathlib import Path

from ullage.app.dead_paths import dead_paths
from ullage.app.document_check import Surroundings
from ullage.app.document_kind import INSTRUCTION_NAMES, MEMORY_NAME
from ullage.core.document_finding import DocumentFinding, Related, TextFix
from ullage.core.duplicates import Duplicate, Statement, find_duplicates, statements
from ullage.core.instructions import (
    CLAUDE_LARGE_CHARS,
    Cut,
    claude_memory_cut,
    codex_cut,
    is_large_for_claude,
    openclaw_cut,
)
from ullage.core.positions import Positions, utf16_length
from ullage.core.token_estimate import estimate_tokens
from ullage.store.text_files import is_same_file

CODEX_NAMES = ("AGENTS.override.md", "AGENTS.md")
"""The first that is there counts; one file a folder."""
CLAUDE_NAMES = ("CLAUDE.md", "CLAUDE.local.md")
NOT_OPENCLAW = frozenset((*CLAUDE_NAMES[1:], "AGENTS.override.md", "GEMINI.md"))
"""Instruction files that OpenClaw does not load (S3 §Bootstrap File Priority)."""
AGENT_FOLDERS = frozenset((".claude", ".codex", ".gemini"))
"""A file in one of them is that agent's alone."""
COPY_RATIO = 0.8
COPY_MIN_STATEMENTS = 4
"""From so many statements and such a share of them on, the file is a copy: told once (chosen)."""


def check_instructions(path: Path, text: str, around: Surroundings) -> Iterator[DocumentFinding]:
    positions = Positions(text)
    for cut in instruction_cuts(path, text, around):
        yield from _cut_findings("instructions-cut", cut, text, positions)
    if path.name in CLAUDE_NAMES and is_large_for_claude(text):
        yield DocumentFinding(
            code="instructions-large",
            extent=positions.extent(0, len(positions.line_text(0))),
            message=(
                f"{utf16_length(text):,} characters, about {estimate_tokens(text):,} tokens in"
                f" every request: Claude Code warns of more than {CLAUDE_LARGE_CHARS:,}."
            ),
        )
    yield from duplicate_findings(path, text, around, positions)
    yield from dead_paths(path, text, around)


def check_memory(path: Path, text: str, around: Surroundings) -> Iterator[DocumentFinding]:
    positions = Positions(text)
    for cut in memory_cuts(path, text, around):
        yield from _cut_findings("memory-cut", cut, text, positions)
    if path.name == MEMORY_NAME:
        yield from duplicate_findings(path, text, around, positions)
        yield from dead_paths(path, text, around)


def instruction_cuts(path: Path, text: str, around: Surroundings) -> tuple[Cut, ...]:
    """Give what each agent that loads a file by its name and its place leaves out."""
    cuts: list[Cut | None] = []
    is_agents_own = AGENT_FOLDERS.intersection(path.parts)
    if path.name not in NOT_OPENCLAW and not is_agents_own and _is_at_top(path, around):
        cuts.append(openclaw_cut(text, around.config.bootstrap.max_chars))
    if path.name in CODEX_NAMES:
        cuts.append(codex_cut(text, _spent_bytes(path, around)))
    return tuple(cut for cut in cuts if cut is not None)


def memory_cuts(path: Path, text: str, around: Surroundings) -> tuple[Cut, ...]:
    """Give what is not loaded of MEMORY.md; other notes are read when an agent asks for them."""
    if path.name != MEMORY_NAME:
        return ()
    is_claudes = ".claude" in path.parts or path.parent.name == "memory"
    cut = (
        claude_memory_cut(text)
        if is_claudes
        else openclaw_cut(text, around.config.bootstrap.max_chars)
    )
    return () if cut is None else (cut,)


def _is_at_top(path: Path, around: Surroundings) -> bool:
    """Whether a file may stand at the top of a workspace, where OpenClaw loads from."""
    workspace = around.workspace_of(path)
    return workspace is None or workspace == path.parent


def _spent_bytes(path: Path, around: Surroundings) -> int:
    """Count what Codex has loaded already when it comes to a file: those of the folders above."""
    workspace = around.workspace_of(path)
    if workspace is None:
        return 0
    n_bytes = 0
    for folder in path.parent.parents:
        if not folder.is_relative_to(workspace):
            break
        texts = (around.text_of(folder / name) for name in CODEX_NAMES)
        found = next((text for text in texts if text and text.strip()), "")
        n_bytes += len(found.encode("utf-8", "surrogatepass"))
    return n_bytes


def _cut_findings(
    code: str, cut: Cut, text: str, positions: Positions
) -> Iterator[DocumentFinding]:
    """Warn where the cut begins, and mark all of it as unseen."""
    unseen = text[cut.start : cut.end]
    start = positions.position(cut.start)
    line_end = positions.line_start(start.line) + len(positions.line_text(start.line))
    end = (
        ""
        if cut.end == len(text)
        else f" It sees the text again from line {positions.position(cut.end).line + 1} on."
    )
    message = (
        f"{cut.reader} does not see {utf16_length(unseen):,} characters from here on,"
        f" about {estimate_tokens(unseen):,} tokens: it {cut.rule}.{end}"
    )
    yield DocumentFinding(
        code=code,
        extent=positions.extent(cut.start, max(min(line_end, cut.end), cut.start)),
        message=message,
    )
    yield DocumentFinding(
        code=code,
        extent=positions.extent(cut.start, cut.end),
        message=f"{cut.reader} does not see this.",
        is_unseen=True,
    )


def duplicate_findings(
    path: Path, text: str, around: Surroundings, positions: Positions
) -> Iterator[DocumentFinding]:
    own = statements(text)
    others = _others(path, around)
    made = [statements(other) for _, other in others]
    found = find_duplicates(own, made)
    for source, (other_path, other) in enumerate(others, start=1):
        copies = [one for one in found if one.source == source]
        n_common = len(copies)
        if n_common >= COPY_MIN_STATEMENTS and n_common >= COPY_RATIO * len(own):
            yield _copy_finding(positions, other_path, other, n_common, len(own))
            found = tuple(one for one in found if one.source != source)
    sources = ((path, positions), *((at, Positions(other)) for at, other in others))
    told_up_to = 0
    for one in found:
        # What stands below an item that is told is told with it.
        if one.statement.part.start >= told_up_to:
            told_up_to = one.statement.end
            yield _duplicate_finding(one, text, positions, sources[one.source], path)


def _others(path: Path, around: Surroundings) -> list[tuple[Path, str]]:
    """List the instruction files that an agent is given beside one: of its folder, and above."""
    workspace = around.workspace_of(path)
    folders = [path.parent]
    if workspace is not None:
        folders += [at for at in path.parent.parents if at.is_relative_to(workspace)]
    found: list[tuple[Path, str]] = []
    for folder in folders:
        for name in (*INSTRUCTION_NAMES, MEMORY_NAME):
            other = folder / name
            text = None if other == path else around.text_of(other)
            if text and not is_same_file(path, other):
                found.append((other, text))
    return found


def _copy_finding(
    positions: Positions, other_path: Path, other: str, n_common: int, n_own: int
) -> DocumentFinding:
    first = Positions(other)
    return DocumentFinding(
        code="instructions-duplicate",
        extent=positions.extent(0, len(positions.line_text(0))),
        message=(
            f"{n_common} of the {n_own} statements of this file stand in {other_path.name} too."
            f" Let one of the two name the other: Claude Code takes @{other_path.name} for it."
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
    one: Duplicate,
    text: str,
    positions: Positions,
    source: tuple[Path, Positions],
    path: Path,
) -> DocumentFinding:
    start, end, other = one.statement.part.start, one.statement.end, one.other
    other_path, other_positions = source
    line = other_positions.position(other.part.start).line + 1
    where = f"line {line}" if other_path == path else f"{other_path.name}, line {line}"
    words = "This stands already in" if one.is_exact else "Nearly the same stands in"
    return DocumentFinding(
        code="instructions-duplicate",
        extent=positions.extent(start, end),
        message=f"{words} {where}; {estimate_tokens(text[start:end]):,} tokens.",
        related=(
            Related(
                path=str(other_path),
                extent=other_positions.extent(other.part.start, other.end),
                message="The other place",
            ),
        ),
        fixes=(_removal(one.statement, text, positions),) if one.is_exact else (),
    )


def _removal(statement: Statement, text: str, positions: Positions) -> TextFix:
    """Remove whole lines, all below included; the blank line that would be doubled goes too."""
    start = statement.part.start
    last = positions.position(statement.end).line
    end = positions.line_start(last + 1) if last + 1 < positions.n_lines else len(text)
    start_line = positions.position(start).line
    is_alone = not positions.line_text(start_line - 1).strip()
    if is_alone and last + 2 < positions.n_lines and not positions.line_text(last + 1).strip():
        end = positions.line_start(last + 2)
    extent = positions.extent(start, end)
    return TextFix(title="Remove this copy", extent=extent, new_text="", is_sure=False)
