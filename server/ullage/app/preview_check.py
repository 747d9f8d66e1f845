"""Check what the user makes of a proposal: facts that would be lost, and what is invented."""

import msgspec

from ullage.app.load import read
from ullage.app.pins import carried_pins
from ullage.app.preview import CompactionPreview, is_outdated
from ullage.app.secrets import secrets_for
from ullage.app.sessions import open_session
from ullage.core.audit import audit
from ullage.core.config.settings import Config
from ullage.core.context import ContextItem
from ullage.core.facts import Facts, gather
from ullage.core.masking import mask_items
from ullage.core.preview_check import (
    Change,
    PreviewFinding,
    check_proposed,
    insert_all,
    marker_finding,
    outdated_finding,
)
from ullage.core.preview_text import split_proposed
from ullage.store.places import Places


class CheckMaterial(msgspec.Struct, frozen=True, kw_only=True):
    """What a proposal is checked against; read once, as a user types many letters."""

    items: tuple[ContextItem, ...]
    """What would be replaced, without secrets."""
    facts: Facts
    pins: tuple[str, ...]
    budget_tokens: int


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a proposal under its user's hands."""

    text: str
    """What the offsets of the findings are in."""
    findings: tuple[PreviewFinding, ...]
    insert_all: Change | None
    """Puts in all that is lost."""
    n_found: int
    n_kept: int

    @property
    def kept_text(self) -> str:
        return f"keeps {self.n_kept:,} of {self.n_found:,} facts"


def read_material(
    preview: CompactionPreview, config: Config, places: Places
) -> CheckMaterial | None:
    """Read what a preview would replace; None where the session went on since.

    Raises:
        PinRefused: there are pins that cannot be read.
    """
    if is_outdated(preview):
        return None
    session, note = open_session(preview.path), preview.note
    known = secrets_for(session.header, places)
    items = read(session, places).context.items
    replaced = mask_items(items[: note.n_replaced], known)
    return CheckMaterial(
        items=replaced,
        facts=gather(replaced),
        pins=carried_pins(session, config.pins, items[note.n_replaced :], places),
        budget_tokens=note.budget_tokens,
    )


def check_preview(preview: CompactionPreview, material: CheckMaterial | None, text: str) -> Checked:
    """Check a proposal as it stands in the editor, saved or not."""
    proposed = split_proposed(text)
    if material is None or is_outdated(preview):
        marker = marker_finding(proposed)
        known = () if marker is None else (marker,)
        findings = (outdated_finding(proposed), *known)
        return Checked(text=proposed.text, findings=findings, insert_all=None, n_found=0, n_kept=0)
    found = audit(
        material.items,
        proposed.summary,
        pins=material.pins,
        budget_tokens=material.budget_tokens,
        facts=material.facts,
    )
    return Checked(
        text=proposed.text,
        findings=check_proposed(proposed, found),
        insert_all=insert_all(proposed, found.missing),
        n_found=found.n_found,
        n_kept=found.n_kept,
    )
