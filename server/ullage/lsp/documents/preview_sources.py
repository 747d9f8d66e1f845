"""In a proposal: from each line to the message that it comes from, and what matches the focus."""

import asyncio
from pathlib import Path

from lsprotocol import types

from ullage.app.documents.proposal_sources import TiedLine, find_source, tie_lines
from ullage.lsp.convert import line_range, uri_of
from ullage.lsp.documents.by_kind import answer_by_kind
from ullage.lsp.state import UllageServer

FOCUS = "focus"


async def preview_hints(
    ls: UllageServer, path: Path, params: types.InlayHintParams
) -> list[types.InlayHint]:
    first, last = params.range.start.line, params.range.end.line
    tied = await asyncio.to_thread(tie_lines, path, ls.surroundings(), first, last)
    return [_hint(line) for line in tied]


def _hint(tied: TiedLine) -> types.InlayHint:
    parts = [FOCUS] if tied.matches_focus else []
    tooltip = ["Matches the focus."] if tied.matches_focus else []
    if tied.number is not None:
        parts.append(f"← {tied.number}")
        tooltip.append(
            f"From message {tied.number} ({tied.category}): its definition (F12) is there."
        )
    return types.InlayHint(
        position=types.Position(tied.line, tied.n_columns),
        label=" ".join(parts),
        tooltip=" ".join(tooltip),
        padding_left=True,
    )


async def preview_definition(
    ls: UllageServer, path: Path, params: types.DefinitionParams
) -> types.Location | None:
    around, line = ls.surroundings(), params.position.line
    source = await asyncio.to_thread(find_source, path, around, line)
    return None if source is None else types.Location(uri_of(source.path), line_range(source.line))


answer_definition = answer_by_kind({"preview": preview_definition}, None)
