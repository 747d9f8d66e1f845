"""Check what the user makes of a proposal: points that it lacks, and what is invented."""

import msgspec

from ullage.app.change.check_material import CheckMaterial
from ullage.app.change.preview import CompactionPreview, is_outdated
from ullage.app.sessions.load import read
from ullage.app.sessions.open import open_session
from ullage.app.sessions.secrets import secrets_for
from ullage.app.summary.pins import carry_pins
from ullage.core.config.settings import Config
from ullage.core.facts.collect import collect_facts
from ullage.core.gauge.loss import kinds_text
from ullage.core.secrets.redaction import mask_items
from ullage.core.summary.audit import audit, count_by_kind, list_expected
from ullage.core.summary.preview import (
    HINDRANCES,
    Change,
    PreviewFinding,
    check_proposal,
    find_marker_fault,
    find_outdated,
    insert_all,
    read_proposal,
)
from ullage.core.summary.sources import Sources
from ullage.core.transcript.recalled import leave_out_recalled
from ullage.store.files.places import Places


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a proposal under its user's hands."""

    text: str
    """What the offsets of the findings are in."""
    findings: tuple[PreviewFinding, ...]
    state: str
    """What it keeps, or why it cannot be applied, in a few words."""
    can_apply: bool
    insert_all: Change | None = None
    """Puts in all that is lost."""


def read_material(preview: CompactionPreview, places: Places) -> CheckMaterial | None:
    """Read what a preview would replace; None where the session went on since."""
    if is_outdated(preview):
        return None
    session, note = open_session(preview.path), preview.note
    secrets = secrets_for(session.header, places)
    items = read(session, places).context.items
    masked = mask_items(items[: note.n_replaced], secrets)
    replaced = tuple(map(leave_out_recalled, masked))
    return CheckMaterial(
        items=replaced,
        expected=list_expected(replaced, collect_facts(masked), note.budget_tokens),
        session=session,
        known_secrets=secrets,
        kept=items[note.n_replaced :],
        budget_tokens=note.budget_tokens,
        sources=Sources(replaced),
    )


def check_preview(
    preview: CompactionPreview,
    material: CheckMaterial | None,
    text: str,
    config: Config,
    places: Places,
) -> Checked:
    """Check a proposal as it stands in the editor, saved or not; pins as they are now.

    Raises:
        PinRefused: there are pins that cannot be read.
    """
    proposed = read_proposal(text)
    is_old = material is None or is_outdated(preview)
    outdated = find_outdated(proposed) if is_old else None
    faults = (outdated, find_marker_fault(proposed, preview.note.marker))
    findings = tuple(fault for fault in faults if fault is not None)
    if material is None or findings:
        # Nobody knows what the summary is, or of which messages: nothing can be said of it.
        state = HINDRANCES[findings[0].code]
        return Checked(text=proposed.text, findings=findings, state=state, can_apply=False)
    audited = audit(
        material.items,
        proposed.summary,
        pins=carry_pins(
            material.session, config.pins, material.kept, places, material.known_secrets
        ),
        budget_tokens=material.budget_tokens,
        expected=material.expected,
    )
    lost = kinds_text(count_by_kind(audited.missing))
    return Checked(
        text=proposed.text,
        findings=check_proposal(proposed, audited),
        state=f"would lose {lost}" if lost else "no loss found",
        can_apply=True,
        insert_all=insert_all(proposed, audited.missing),
    )
