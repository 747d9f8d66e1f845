"""A proposal that is open in an editor: checked as it stands, whenever somebody asks."""

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from threading import Lock

import msgspec

from ullage.app.document_check import Surroundings
from ullage.app.preview import CompactionPreview, preview_of_file
from ullage.app.preview_check import Checked, CheckMaterial, check_preview, read_material
from ullage.core.config.settings import Config
from ullage.core.document_finding import DocumentFinding, TextFix
from ullage.core.positions import Positions
from ullage.core.preview_check import Change
from ullage.errors import UllageError
from ullage.store.places import Places
from ullage.store.previews import read_proposed

MAX_KEPT = 2
"""Previews whose messages are kept in memory: a user edits one at a time (chosen)."""


class CheckedProposal(msgspec.Struct, frozen=True, kw_only=True):
    preview: CompactionPreview
    checked: Checked


class _KeptMaterial:
    """What one proposal is checked against, read again when another preview took its place."""

    def __init__(self) -> None:
        self._preview: CompactionPreview | None = None
        self._material: CheckMaterial | None = None
        self._lock = Lock()

    def of(
        self, preview: CompactionPreview, config: Config, places: Places
    ) -> CheckMaterial | None:
        with self._lock:
            if self._preview != preview:
                self._material = read_material(preview, config, places)
                self._preview = preview
            return self._material


@lru_cache(maxsize=MAX_KEPT)
def _kept(preview_id: str) -> _KeptMaterial:
    del preview_id
    return _KeptMaterial()


def checked_proposal(
    path: Path, text: str | None, config: Config, places: Places
) -> CheckedProposal | None:
    """Check a proposal, `text` being what is not saved; None where it is none any more."""
    try:
        preview = preview_of_file(path, places)
        text = read_proposed(path) if text is None else text
        material = _kept(preview.preview_id).of(preview, config, places)
    except UllageError:
        return None
    return CheckedProposal(preview=preview, checked=check_preview(preview, material, text))


def check_proposal(path: Path, text: str, around: Surroundings) -> Iterator[DocumentFinding]:
    """Find what a proposal would lose, invents or repeats."""
    found = checked_proposal(path, text, around.config, around.places)
    if found is None:
        return
    positions = Positions(found.checked.text)
    for one in found.checked.findings:
        yield DocumentFinding(
            code=one.code,
            extent=positions.extent(one.start, one.end),
            message=one.message,
            fixes=tuple(text_fix(change, positions) for change in one.fixes),
        )


def text_fix(change: Change, positions: Positions) -> TextFix:
    extent = positions.extent(change.start, change.end)
    return TextFix(title=change.title, extent=extent, new_text=change.new_text)
