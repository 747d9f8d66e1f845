"""What a person can do about a part of `MEMORY.md` that is not loaded: move it to a note."""

from pathlib import Path

from ullage.app.documents.kind import MEMORY_FOLDER
from ullage.core.documents.finding import NewFile, TextFix
from ullage.core.documents.instructions import Cut
from ullage.core.text.markdown import read_parts
from ullage.core.text.positions import Positions
from ullage.store.files.text_files import exists

NAMES = ("more.md", *(f"more-{n}.md" for n in range(2, 10)))
"""Of the new file, the first that is free; nine parts of one index are enough (chosen)."""
LINES_BEFORE = 2
"""So many lines before the cut it begins at the latest: the line that names the file is loaded."""


def move_part(path: Path, text: str, cut: Cut, positions: Positions) -> TextFix | None:
    """Move what is cut, whole items and paragraphs of it, to a note that the index names."""
    last_line = positions.position(cut.start).line - LINES_BEFORE
    starts = [positions.position(part.start).line for part in read_parts(text)]
    first = max((line for line in starts if 0 < line <= last_line), default=None)
    folder = path.parent if path.parent.name == MEMORY_FOLDER else path.parent / MEMORY_FOLDER
    target = next((folder / name for name in NAMES if not exists(folder / name)), None)
    if first is None or target is None:
        return None
    start = positions.line_start(first)
    last = positions.position(cut.end).line
    end = positions.line_start(last + 1) if last + 1 < positions.n_lines else len(text)
    name = target.relative_to(path.parent).as_posix()
    return TextFix(
        title=f"Move this part to {name}",
        extent=positions.extent(start, end),
        new_text=f"- More of this: {name}\n",
        is_sure=False,
        new_file=NewFile(path=str(target), text=text[start:end]),
    )
