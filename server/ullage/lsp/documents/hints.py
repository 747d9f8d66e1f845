"""Inlay hints: what each visible entry of a transcript costs, or section of instructions."""

from lsprotocol import types

from ullage.app.documents.outline import Outlined
from ullage.app.documents.outline_text import hint_text, hint_tooltip
from ullage.core.documents.outline import list_rows_between
from ullage.core.documents.text_sections import cut_text_sections
from ullage.core.text.positions import Positions
from ullage.lsp.convert import position_of
from ullage.lsp.documents.by_kind import SmallFile, answer_by_kind, of_outline, of_text

MAX_HINTS = 500
"""Editors ask for what is visible; of one that asks for more, the last lines count (chosen)."""


def transcript_hints(outlined: Outlined, params: types.InlayHintParams) -> list[types.InlayHint]:
    first, last = params.range.start.line, params.range.end.line
    # They stand before the line: an entry is longer than any screen is wide.
    return [
        types.InlayHint(
            position=types.Position(line=row.line, character=0),
            label=text,
            tooltip=hint_tooltip(outlined, row),
            padding_right=True,
        )
        for row in list_rows_between(outlined.outline, first, last)[-MAX_HINTS:]
        if (text := hint_text(outlined, row))
    ]


def section_hints(file: SmallFile, params: types.InlayHintParams) -> list[types.InlayHint]:
    """Give the tokens at the headings that are in sight."""
    positions = Positions(file.text)
    hints: list[types.InlayHint] = []
    for section in cut_text_sections(file.text):
        end = positions.position(section.heading_end)
        if params.range.start.line <= end.line <= params.range.end.line:
            label = f"~{section.n_tokens:,} tokens"
            hints.append(types.InlayHint(position=position_of(end), label=label, padding_left=True))
    return hints


answer_hints = answer_by_kind(
    {
        "transcript": of_outline(transcript_hints, []),
        "instructions": of_text(section_hints, []),
        "memory": of_text(section_hints, []),
    },
    [],
)
