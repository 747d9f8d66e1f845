"""A proposal that is open in an editor: checked as it stands, whenever somebody asks."""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from ullage.app.change.preview import CompactionPreview, preview_of_file
from ullage.app.change.preview_check import Checked, check_preview, read_material
from ullage.app.documents.check import Surroundings
from ullage.core.documents.finding import DocumentFinding, TextFix
from ullage.core.summary.preview import Change
from ullage.core.text.positions import Positions
from ullage.errors import UllageError
from ullage.store.documents.previews import read_proposed


class CheckedProposal(msgspec.Struct, frozen=True, kw_only=True):
    preview: CompactionPreview
    checked: Checked


def read_checked_proposal(path: Path, around: Surroundings) -> CheckedProposal | None:
    """Check a proposal as it stands in its editor; None where it is none any more."""
    config, places, text = around.config, around.places, around.texts.get(path)
    try:
        preview = preview_of_file(path, places)
        text = read_proposed(path) if text is None else text
        material = around.materials.of(
            preview.proposed_path, preview, lambda: read_material(preview, places)
        )
        checked = check_preview(preview, material, text, config, places)
    except UllageError:
        return None
    return CheckedProposal(preview=preview, checked=checked)


def check_proposal(path: Path, text: str, around: Surroundings) -> Iterator[DocumentFinding]:
    """Find what a proposal would lose, invents or repeats."""
    del text  # It is read as `read_checked_proposal` reads it for lenses and actions.
    proposal = read_checked_proposal(path, around)
    if proposal is None:
        return
    positions = Positions(proposal.checked.text)
    for finding in proposal.checked.findings:
        yield DocumentFinding(
            code=finding.code,
            extent=positions.extent(finding.start, finding.end),
            message=finding.message,
            fixes=tuple(text_fix(change, positions) for change in finding.fixes),
        )


def text_fix(change: Change, positions: Positions) -> TextFix:
    extent = positions.extent(change.start, change.end)
    return TextFix(title=change.title, extent=extent, new_text=change.new_text)
