"""Preview a compaction as two texts; apply what the user made of the proposal.

Nothing is written but the preview's own folder, until it is applied. What was proposed is kept
with it, so that a proposal that the user left alone is noted as its author wrote it.
"""

import asyncio
from hashlib import sha256
from pathlib import Path
from typing import Final

import msgspec

from ullage.app.change import Made
from ullage.app.compact import Plan, Request, compact, plan_compaction, with_flush
from ullage.app.flush import flush_log_name
from ullage.app.load import Loaded, load
from ullage.app.sessions import open_session
from ullage.app.status_text import ago
from ullage.app.summaries import ModelUse, WrittenSummary
from ullage.core.compaction import Unneeded
from ullage.core.config.settings import Config
from ullage.core.gauge import tokens_text
from ullage.core.masking import mask_items
from ullage.core.policy import Layer
from ullage.core.preview_text import before_text, proposed_text, split_proposed
from ullage.core.secrets import mask
from ullage.errors import ChangedMeanwhile, InputError, PreviewNotFound, PreviewRefused
from ullage.store.places import Places
from ullage.store.previews import (
    preview_id_of,
    proposed_path,
    read_preview,
    read_proposed,
    remove_preview,
    set_aside,
    write_preview,
)
from ullage.store.reader import FileLines, Fingerprint, look_at
from ullage.store.token_counts import CountText

VERSION: Final = 1


class PreviewNote(msgspec.Struct, frozen=True, kw_only=True):
    """What a preview was made from; on disk beside its texts, without secrets."""

    version: int
    path: str
    fingerprint: Fingerprint
    layer: Layer
    focus: str | None
    summary: WrittenSummary
    budget_tokens: int
    """The summary's; it says how many identifiers are looked for."""
    n_replaced: int
    n_kept: int
    n_tokens_before: int
    n_tokens_after: int
    proposed_sha256: str
    """Of the proposal as it was written; another one is its user's work."""
    agent: str
    session_id: str


class CompactionPreview(msgspec.Struct, frozen=True, kw_only=True):
    preview_id: str
    before_path: Path
    proposed_path: Path
    note: PreviewNote
    is_edited: bool = False
    """Whether it was there already, and its user has edited it."""
    aside_path: Path | None = None
    """Where the proposal is kept that the user edited before this one was made."""

    @property
    def path(self) -> Path:
        return Path(self.note.path)

    @property
    def title(self) -> str:
        note = self.note
        n_before, n_after = note.n_tokens_before, note.n_tokens_after
        return f"Compaction · {tokens_text(n_before, n_after)} ({saved_text(n_before, n_after)})"


async def make_preview(
    loaded: Loaded,
    layer: Layer | None,
    focus: str | None,
    config: Config,
    places: Places,
    model: ModelUse,
    *,
    is_anew: bool = False,
) -> CompactionPreview | Unneeded:
    """Plan a compaction and write its two texts in place of an earlier preview of the session.

    Without a layer it is the one that is due, else the gentlest one that helps. A proposal that
    the user edited is given back where it would be made again, unless that is asked for
    (`is_anew`); where it would not, it is kept beside the new one.

    Raises:
        WriteNotSupported: this kind of session is not ours to write to.
        StateUnwritable: the state folder does not take it.
    """
    if not is_anew:
        found = await asyncio.to_thread(_find_edited, loaded, layer, focus, places)
        if found is not None:
            return found
    is_full_due = (loaded.status.gauge.utilization or 0.0) >= loaded.policy.full_ratio
    request = Request(layer=layer or ("full" if is_full_due else "summarize"), focus=focus)
    plan = await plan_compaction(loaded, request, config, places, model)
    if isinstance(plan, Unneeded) and layer is None and request.layer == "summarize":
        fuller = msgspec.structs.replace(request, layer="full")
        found = await plan_compaction(loaded, fuller, config, places, model)
        plan = plan if isinstance(found, Unneeded) else found
    if isinstance(plan, Unneeded):
        return plan
    return await asyncio.to_thread(_write, plan, request, config, places)


def find_preview(preview_id: str, places: Places) -> CompactionPreview:
    """Find a preview by its id.

    Raises:
        PreviewNotFound: it was applied, discarded, or is too old.
    """
    files = read_preview(preview_id, PreviewNote, VERSION, places)
    return CompactionPreview(
        preview_id=files.preview_id,
        before_path=files.before_path,
        proposed_path=files.proposed_path,
        note=files.note,
    )


def preview_of_file(path: Path, places: Places) -> CompactionPreview:
    """Find the preview that a proposal belongs to.

    Raises:
        PreviewNotFound: it was applied, discarded, or is too old.
    """
    found = find_preview(path.parent.name, places)
    if found.proposed_path != path:
        raise PreviewNotFound(f"{path} is no proposal of Ullage")
    return found


def is_outdated(preview: CompactionPreview) -> bool:
    """Tell whether the session went on since it was previewed."""
    try:
        return look_at(preview.path) != preview.note.fingerprint
    except InputError:
        return True


async def plan_proposed(
    preview: CompactionPreview,
    text: str | None,
    config: Config,
    places: Places,
    model: ModelUse,
    count_text: CountText,
) -> Plan | Unneeded:
    """Plan the compaction anew with what stands above the marker; `text` is what is not saved.

    Raises:
        PreviewRefused: the marker is missing, so that nobody knows what is the summary.
        ChangedMeanwhile: the session went on; the preview stays.
        PreviewNotFound: the proposal is gone.
    """
    if text is None:
        text = await asyncio.to_thread(read_proposed, preview.proposed_path)
    proposed = split_proposed(text)
    if not proposed.has_marker:
        raise PreviewRefused(
            "the line that ends the summary is missing, nothing was applied: put it back, or"
            " regenerate the preview"
        )
    loaded = await asyncio.to_thread(_load_again, preview, config, places, count_text)
    note = preview.note
    is_as_written = proposed.summary == note.summary.text.strip("\n")
    request = Request(
        layer=note.layer,
        focus=note.focus,
        summary=None if is_as_written else proposed.summary,
        written=note.summary if is_as_written else None,
    )
    plan = await plan_compaction(loaded, request, config, places, model)
    if isinstance(plan, Unneeded):
        return plan
    if (len(plan.selection.replaced), len(plan.selection.kept)) != (note.n_replaced, note.n_kept):
        raise ChangedMeanwhile(
            "what would be replaced is not what was previewed, as the configuration changed;"
            " nothing was applied: regenerate the preview"
        )
    return await with_flush(plan, config, places, model)


def apply_proposed(preview: CompactionPreview, plan: Plan, config: Config, places: Places) -> Made:
    """Make the compaction that was planned, and remove its preview.

    Raises:
        PreviewNotFound: it was applied or discarded meanwhile.
        SessionLive, ChangedMeanwhile, StorageError: as `compact`; the preview stays.
    """
    find_preview(preview.preview_id, places)
    made = compact(plan, config, places)
    remove_preview(preview.preview_id, places)
    return made


def discard_preview(preview: CompactionPreview, places: Places) -> None:
    remove_preview(preview.preview_id, places)


def saved_text(n_before: int, n_after: int) -> str:
    """Tell what a compaction saves as a share of the context before it."""
    # A minus sign, as a hyphen would be a range.
    return f"{n_after / max(n_before, 1) - 1:+.0%}".replace("-", "\N{MINUS SIGN}")


def _find_edited(
    loaded: Loaded, layer: Layer | None, focus: str | None, places: Places
) -> CompactionPreview | None:
    """Find a proposal that its user edited, where the one that is asked for would be the same."""
    try:
        found = find_preview(preview_id_of(loaded.path), places)
    except PreviewNotFound:
        return None
    is_wished = layer in (None, found.note.layer) and focus in (None, found.note.focus)
    if not is_wished or is_outdated(found) or not _is_edited(found):
        return None
    return msgspec.structs.replace(found, is_edited=True)


def _is_edited(preview: CompactionPreview) -> bool:
    try:
        return _sha256(read_proposed(preview.proposed_path)) != preview.note.proposed_sha256
    except PreviewNotFound:
        return False


def _sha256(proposed: str) -> str:
    """Give a hash that is the same whatever line ends an editor writes."""
    return sha256(split_proposed(proposed).text.encode("utf-8", "replace")).hexdigest()


def _load_again(
    preview: CompactionPreview, config: Config, places: Places, count_text: CountText
) -> Loaded:
    """Load the session as it was previewed.

    Raises:
        ChangedMeanwhile: it went on since.
    """
    loaded = load(open_session(preview.path), config, places, count_text)
    if _fingerprint(loaded) != preview.note.fingerprint:
        raise ChangedMeanwhile(
            f"{preview.path.name} went on since this was previewed, nothing was applied: your text"
            " is kept; regenerate the preview to see what would go now"
        )
    return loaded


def _fingerprint(loaded: Loaded) -> Fingerprint | None:
    lines = loaded.session.lines
    return lines.fingerprint if isinstance(lines, FileLines) else None


def _write(plan: Plan, request: Request, config: Config, places: Places) -> CompactionPreview:
    loaded, selection = plan.loaded, plan.selection
    fingerprint = _fingerprint(loaded)
    if fingerprint is None:
        raise AssertionError("only files are compacted")
    known = loaded.known_secrets
    replaced = mask_items(selection.replaced, known)
    kept = mask_items(selection.kept, known)
    header = loaded.session.header
    log_name = flush_log_name(loaded, config, places)
    proposed = proposed_text(plan.summary.text, kept, ago, log_name)
    note = PreviewNote(
        version=VERSION,
        path=str(loaded.path),
        fingerprint=fingerprint,
        layer=selection.layer,
        focus=None if request.focus is None else mask(request.focus, known),
        summary=plan.summary,
        budget_tokens=selection.summary_budget_tokens,
        n_replaced=len(replaced),
        n_kept=len(kept),
        n_tokens_before=plan.n_tokens_before,
        n_tokens_after=plan.n_tokens_after,
        proposed_sha256=_sha256(proposed),
        agent=header.known_agent,
        session_id=header.session_id,
    )
    preview_id = preview_id_of(loaded.path)
    aside = _set_aside_edited(preview_id, places)
    write_preview(preview_id, before_text(replaced, kept, ago), proposed, note, places)
    return msgspec.structs.replace(find_preview(preview_id, places), aside_path=aside)


def _set_aside_edited(preview_id: str, places: Places) -> Path | None:
    """Move a proposal that its user edited beside the next one; where it is, None if none is."""
    path = proposed_path(preview_id, places)
    try:
        is_edited = _is_edited(find_preview(preview_id, places))
    except PreviewNotFound:
        # Without a note that can be read, nobody knows who wrote it.
        is_edited = path.exists()
    return set_aside(path) if is_edited else None
