"""The lines of a proposal that is open, each with the message that it comes from."""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from ullage.app.change.preview import preview_of_file
from ullage.app.change.preview_check import read_material
from ullage.app.documents.check import Surroundings
from ullage.core.summary.focus import Focus, says_focus
from ullage.core.summary.preview import find_message_line, read_proposal
from ullage.core.text.positions import utf16_length
from ullage.errors import UllageError
from ullage.store.documents.previews import read_before, read_proposed


class TiedLine(msgspec.Struct, frozen=True, kw_only=True):
    """A line of a summary that stands for something."""

    line: int
    """From 0."""
    n_columns: int
    """Its length in UTF-16 units."""
    number: int | None
    """Of the message, as the other file of the preview counts; None where none has its words."""
    category: str
    """Whose message it is; empty without one."""
    matches_focus: bool


class SourcePlace(msgspec.Struct, frozen=True, kw_only=True):
    """Where a message stands in the other file of a preview."""

    path: Path
    line: int


def tie_lines(path: Path, around: Surroundings, first: int, last: int) -> list[TiedLine]:
    """Tie the lines of a proposal, as it stands in its editor, from `first` to `last`."""
    try:
        return list(_tie_lines(path, around, first, last))
    except UllageError:
        return []


def find_source(path: Path, around: Surroundings, line: int) -> SourcePlace | None:
    """Find what a line of a proposal comes from."""
    tied = next(iter(tie_lines(path, around, line, line)), None)
    if tied is None or tied.number is None:
        return None
    before_path = preview_of_file(path, around.places).before_path
    return SourcePlace(
        path=before_path, line=find_message_line(read_before(before_path), tied.number)
    )


def _tie_lines(path: Path, around: Surroundings, first: int, last: int) -> Iterator[TiedLine]:
    places, text = around.places, around.texts.get(path)
    preview = preview_of_file(path, places)
    proposal = read_proposal(read_proposed(path) if text is None else text)
    material = around.materials.of(path, preview, lambda: read_material(preview, places))
    if material is None:
        return
    focus, section = Focus(preview.note.focus), ""
    for number, line in enumerate(proposal.text[: proposal.n_above].split("\n")):
        if line.startswith("## "):
            section = line[3:].strip()
        if not first <= number <= last or not line.startswith("- ") or says_focus(line):
            continue
        at = material.sources.find(line, section)
        matches_focus = bool(focus.find(line))
        if at is not None or matches_focus:
            yield TiedLine(
                line=number,
                n_columns=utf16_length(line),
                number=None if at is None else at + 1,
                category="" if at is None else material.items[at].category,
                matches_focus=matches_focus,
            )
