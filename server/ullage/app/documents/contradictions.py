"""Findings on lines of `MEMORY.md` that contradict each other."""

from collections.abc import Iterator
from pathlib import Path

from ullage.core.documents.finding import DocumentFinding, Related, TextFix
from ullage.core.dream.contradictions import find_contradictions
from ullage.core.text.markdown import Part
from ullage.core.text.positions import Positions

CODE = "memory-contradiction"


def find_contradicting_lines(
    path: Path, text: str, positions: Positions
) -> Iterator[DocumentFinding]:
    """Find lines of which only one can hold; each pair is told at the later one."""
    for pair in find_contradictions(text):
        first, second = pair.first, pair.second
        line = positions.position(first.start).line + 1
        yield DocumentFinding(
            code=CODE,
            extent=positions.extent(second.start, second.end),
            message=f"This contradicts line {line}: only one of the two can hold.",
            related=(
                Related(
                    path=str(path),
                    extent=positions.extent(first.start, first.end),
                    message="The other line",
                ),
            ),
            fixes=(
                _removal("Remove the other line", first, text, positions),
                _removal("Remove this line", second, text, positions),
            ),
        )


def _removal(title: str, part: Part, text: str, positions: Positions) -> TextFix:
    """Remove whole lines; a person says which, as the later ones are not always right."""
    last = positions.position(part.end).line
    end = positions.line_start(last + 1) if last + 1 < positions.n_lines else len(text)
    start = positions.line_start(positions.position(part.start).line)
    return TextFix(title=title, extent=positions.extent(start, end), new_text="", is_sure=False)
