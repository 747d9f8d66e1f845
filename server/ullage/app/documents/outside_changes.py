"""Lines of memory that were changed from outside: as findings, and as a text for a person."""

from collections.abc import Iterator, Set
from difflib import unified_diff
from pathlib import Path

from ullage.app.documents.check import Surroundings
from ullage.app.memory.origins import GONE, OutsideChange, list_outside_changes
from ullage.app.sessions.secrets import secrets_in
from ullage.core.documents.finding import DocumentFinding
from ullage.core.documents.virtual_uri import VirtualUri, write_virtual_uri
from ullage.core.memory.origin import is_memory_path, list_line_digests
from ullage.core.secrets.scan import mask
from ullage.core.text.positions import Positions
from ullage.core.text.prose import plural
from ullage.core.text.quoting import show_hidden
from ullage.errors import StorageError
from ullage.store.files.places import Places
from ullage.store.memory.seen import read_memory_files, read_seen_texts

OUTSIDE_CODE = "memory-outside"
MAX_FINDINGS = 50
"""Of a file; accepting the change settles all of them (chosen)."""
_UNKNOWN = "Changed from outside: it is not known"


def find_outside_lines(
    path: Path, text: str, around: Surroundings, positions: Positions
) -> Iterator[DocumentFinding]:
    """Find the lines that came from outside, where they stand in a text that may not be saved."""
    workspace = around.workspace_of(path)
    if workspace is None or not around.config.memory.is_enabled:
        return
    name = path.relative_to(workspace).as_posix()
    change = _find_change(name, workspace, around.places) if is_memory_path(name) else None
    if change is None:
        return
    added = {digest for _, line in change.added for digest in list_line_digests(line)}
    for run in list(_list_runs(added, positions))[:MAX_FINDINGS]:
        these = "this line" if len(run) == 1 else f"these {len(run)} lines"
        start, end = positions.line_start(run[0]), positions.line_start(run[-1])
        yield DocumentFinding(
            code=OUTSIDE_CODE,
            extent=positions.extent(start, end + len(positions.line_text(run[-1]))),
            message=f"{_UNKNOWN} who wrote {these}.",
            sha256=change.sha256,
        )
    if change.removed:
        yield DocumentFinding(
            code=OUTSIDE_CODE,
            extent=positions.extent(0, len(positions.line_text(0))),
            message=f"{_UNKNOWN} who removed {plural(len(change.removed), 'line')}.",
            sha256=change.sha256,
        )


def write_changes_uri(workspace: Path, path: str) -> str:
    """Name the document that shows what changed in a memory file since it was seen."""
    return write_virtual_uri(
        VirtualUri(name="Memory Changes.diff", workspace=str(workspace), file=path)
    )


def write_outside_diff(workspace: Path, path: str, places: Places) -> str:
    """Write what changed in a memory file since it was seen, without secrets.

    What editors do not show is written as its code: somebody may hide lines from who reads them.
    """
    files = (file.text for file in read_memory_files(workspace) if file.path == path)
    before, now = read_seen_texts(workspace, places).get(path, ""), next(files, "")
    secrets = secrets_in((workspace,), places)
    texts = (mask(text, secrets).split("\n") for text in (before, now))
    seen, present = (list(map(show_hidden, lines)) for lines in texts)
    name = show_hidden(path)
    lines = list(unified_diff(seen, present, lineterm=""))
    # Not a diff's own header: VS Code shows that in dark blue on black in high contrast.
    lines[:2] = [
        f"{name}, as it was seen and as it is now" if lines else f"{name} is as it was seen."
    ]
    return "\n".join(lines) + "\n"


def _find_change(name: str, workspace: Path, places: Places) -> OutsideChange | None:
    try:
        changes = list_outside_changes(workspace, places)
    except StorageError:
        # What is wrong with the journal is told where memory is shown, not at each file.
        return None
    return next((c for c in changes if c.path == name and c.sha256 != GONE), None)


def _list_runs(added: Set[str], positions: Positions) -> Iterator[list[int]]:
    """List the lines that follow each other, those that say something; blank ones part nothing."""
    run: list[int] = []
    for line in range(positions.n_lines):
        digests = list(list_line_digests(positions.line_text(line)))
        if not added.isdisjoint(digests):
            run.append(line)
        elif digests and run:
            yield run
            run = []
    if run:
        yield run
