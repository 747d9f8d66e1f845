"""Inlay hints on small documents: what each section costs."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from lsprotocol import types

from ullage.app.documents.check import Surroundings
from ullage.core.documents.text_sections import cut_text_sections
from ullage.core.text.positions import Positions
from ullage.lsp.documents.finding import position_of

FileHints: TypeAlias = Callable[[Path, types.Range, Surroundings], list[types.InlayHint]]


def section_hints(path: Path, seen: types.Range, around: Surroundings) -> list[types.InlayHint]:
    """Give the tokens at the headings that are in sight."""
    text = around.text_of(path)
    if text is None:
        return []
    positions = Positions(text)
    found: list[types.InlayHint] = []
    for section in cut_text_sections(text):
        end = positions.position(section.heading_end)
        if seen.start.line <= end.line <= seen.end.line:
            label = f"~{section.n_tokens:,} tokens"
            found.append(types.InlayHint(position=position_of(end), label=label, padding_left=True))
    return found
