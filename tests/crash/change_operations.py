"""Changes of memory in the sweep: four files as one, made and taken back.

Whatever happens, all files are old or all are new once somebody looks after it, nothing is left
beside them, and the change can be taken back. Where the inbox was edited in between, what was taken
out of it stands at its end then, once.
"""

from pathlib import Path

from crash.checker import Seen
from crash.places import places_of
from ullage.app.memory.origins import begin_memory, list_outside_changes, record_lines
from ullage.core.memory.origin import list_line_digests
from ullage.errors import UnknownItem
from ullage.store.memory.change_records import list_memory_changes
from ullage.store.memory.changes import (
    make_memory_change,
    recover_memory_changes,
    undo_memory_change,
)
from ullage.store.memory.planned_files import PlannedFile, find_memory_file
from ullage.store.transcript.reader import Fingerprint

MEMORY = b"# Memory\r\n\r\n- use npm\r\n"
FILES = (
    PlannedFile(
        place="workspace",
        path="MEMORY.md",
        before=MEMORY,
        after=b"# Memory\r\n\r\n- use pnpm\r\n",
    ),
    PlannedFile(place="workspace", path="memory/superseded.md", before=None, after=b"- use npm\n"),
    PlannedFile(place="state", path="rejected.txt", before=None, after=b"use yarn\n"),
    PlannedFile(
        place="workspace",
        path="DREAMS.md",
        before=b"# DREAMS.md\r\n\r\n## Waiting\r\n\r\n### a\r\n\r\nuse pnpm\r\n",
        after=b"# DREAMS.md\r\n\r\n## Waiting\r\n\r\n",
    ),
)
EDITED = b"# Mine\r\n\r\n## Waiting\r\n\r\n"
PUT_BACK = EDITED + b"### a\r\n\r\nuse pnpm\r\n"
OLD, NEW = [file.before for file in FILES], [file.after for file in FILES]
MODE = 0o640


def review_before(root: Path) -> None:
    for file in FILES:
        if file.before is not None:
            (root / file.path).write_bytes(file.before)
            (root / file.path).chmod(MODE)
    places = places_of(root)
    begin_memory(root, places)
    record_lines(dict.fromkeys(list_line_digests("- use pnpm"), "agent"), "", root, places)


def reviewed_before(root: Path) -> None:
    review_before(root)
    _make(root)


def _make(root: Path) -> None:
    make_memory_change(FILES, "review", root, places_of(root))


def edited_before(root: Path) -> None:
    reviewed_before(root)
    (root / "DREAMS.md").write_bytes(EDITED)


def review(root: Path, _: Fingerprint) -> None:
    _make(root)


def undo_review(root: Path, _: Fingerprint) -> None:
    undo_memory_change(root, places_of(root))


def check_reviewed(seen: Seen) -> list[str]:
    return _change_problems(seen, NEW)


def check_unreviewed(seen: Seen) -> list[str]:
    return _change_problems(seen, OLD)


def check_put_back(seen: Seen) -> list[str]:
    if seen.outcome.startswith("bug"):
        return [seen.outcome]
    root, places = seen.root, places_of(seen.root)
    recover_memory_changes(root, places)
    found, old, new = _read(root), [*OLD[:-1], PUT_BACK], [*NEW[:-1], EDITED]
    problems = [] if found in (old, new) else [f"a mix of old and new: {found}"]
    if seen.outcome == "made" and found != old:
        problems.append("success was reported, and the review stands")
    if found == new:
        undo_memory_change(root, places)
    if _read(root) != old:
        problems.append(f"what was taken out is not put back once: {_read(root)}")
    return problems + _kept_problems(root)


def _change_problems(seen: Seen, wanted: list[bytes | None]) -> list[str]:
    if seen.outcome.startswith("bug"):
        return [seen.outcome]
    root, places = seen.root, places_of(seen.root)
    recover_memory_changes(root, places)
    problems: list[str] = []
    found = _read(root)
    if found not in (OLD, NEW):
        problems.append(f"a mix of old and new: {found}")
    if seen.outcome == "made" and found != wanted:
        problems.append("success was reported, and the files are old")
    if found == OLD:
        _make(root)
    if _read(root) != NEW:
        problems.append("the change cannot be made any more")
    undo_memory_change(root, places)
    if _read(root) != OLD:
        problems.append("the change cannot be taken back")
    return problems + _kept_problems(root)


def _kept_problems(root: Path) -> list[str]:
    """Look at what must hold once all is taken back."""
    places = places_of(root)
    problems = [f"a record is torn: {each}" for each in list_memory_changes(root, places).problems]
    if list_outside_changes(root, places):
        problems.append("our own change is told as one from outside")
    try:
        undo_memory_change(root, places)
        problems.append("a change that was not made was taken back")
    except UnknownItem:
        pass
    modes = [(root / name).stat().st_mode & 0o777 for name in ("MEMORY.md", "DREAMS.md")]
    if modes != [MODE, MODE]:
        problems.append(f"permissions are {modes}")
    left = [path.name for path in root.rglob("*.tmp") if root / "state" not in path.parents]
    left += [path.name for path in _path(root, FILES[2]).parent.glob(".rejected*")]
    return problems + ([f"left behind: {left}"] if left else [])


def _read(root: Path) -> list[bytes | None]:
    paths = [_path(root, file) for file in FILES]
    return [path.read_bytes() if path.exists() else None for path in paths]


def _path(root: Path, file: PlannedFile) -> Path:
    return find_memory_file(file.place, file.path, root, places_of(root))
