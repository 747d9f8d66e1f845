"""Preview a compaction as two texts; apply what the user made of the proposal.

Nothing is written but the preview's own folder, until it is applied. What was proposed is kept
with it, so that a proposal that the user left alone is noted as its author wrote it.
"""

import asyncio
from pathlib import Path
from typing import Final

import msgspec

from ullage.app.change import Made
from ullage.app.compact import Plan, Request, compact, plan_compaction, with_flush
from ullage.app.load import Loaded, load
from ullage.app.sessions import open_session
from ullage.app.status_text import ago
from ullage.app.summaries import ModelUse, WrittenSummary
from ullage.core.compaction import Unneeded
from ullage.core.config.settings import Config
from ullage.core.gauge import short_tokens
from ullage.core.masking import mask_items
from ullage.core.policy import Layer
from ullage.core.preview_text import before_text, proposed_text, split_proposed
from ullage.core.secrets import mask
from ullage.errors import ChangedMeanwhile, InputError, PreviewNotFound, PreviewRefused
from ullage.store.places import Places
from ullage.store.previews import (
    is_old,
    list_previews,
    preview_id_of,
    read_preview,
    read_proposed,
    remove_preview,
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
    agent: str
    session_id: str


class CompactionPreview(msgspec.Struct, frozen=True, kw_only=True):
    preview_id: str
    before_path: Path
    proposed_path: Path
    note: PreviewNote

    @property
    def path(self) -> Path:
        return Path(self.note.path)

    @property
    def title(self) -> str:
        note = self.note
        return f"Compaction · {tokens_text(note.n_tokens_before, note.n_tokens_after)}"


async def make_preview(
    loaded: Loaded,
    layer: Layer | None,
    focus: str | None,
    config: Config,
    places: Places,
    model: ModelUse,
) -> CompactionPreview | Unneeded:
    """Plan a compaction and write its two texts; a preview of the same session goes.

    Without a layer it is the one that is due, else the gentlest one that helps.

    Raises:
        WriteNotSupported: this kind of session is not ours to write to.
        StateUnwritable: the state folder does not take it.
    """
    is_full_due = (loaded.status.gauge.utilization or 0.0) >= loaded.policy.full_ratio
    request = Request(layer=layer or ("full" if is_full_due else "summarize"), focus=focus)
    plan = await plan_compaction(loaded, request, config, places, model)
    if isinstance(plan, Unneeded) and layer is None and request.layer == "summarize":
        fuller = msgspec.structs.replace(request, layer="full")
        found = await plan_compaction(loaded, fuller, config, places, model)
        plan = plan if isinstance(found, Unneeded) else found
    if isinstance(plan, Unneeded):
        return plan
    return await asyncio.to_thread(_write, plan, request, places)


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


def remove_useless_previews(places: Places) -> None:
    """Remove the previews that are old, damaged, or of sessions that went on."""
    for preview_id in tuple(list_previews(places)):
        if is_old(preview_id, places) or _is_useless(preview_id, places):
            remove_preview(preview_id, places)


def made_text(plan: Plan, made: Made) -> str:
    """Tell in one line what a compaction did."""
    n_before, n_kept = len(plan.loaded.context.items), len(made.loaded.context.items)
    tokens = tokens_text(plan.n_tokens_before, plan.n_tokens_after, has_share=False)
    return f"Context compacted · {tokens} tokens · {n_before:,} → {n_kept:,} messages"


def tokens_text(n_before: int, n_after: int, *, has_share: bool = True) -> str:
    text = f"{short_tokens(n_before)} → {short_tokens(n_after)}"
    if not has_share or not n_before:
        return text
    # A minus sign, as a hyphen would be a range.
    return f"{text} (\N{MINUS SIGN}{1 - n_after / n_before:.0%})"


def _is_useless(preview_id: str, places: Places) -> bool:
    try:
        return is_outdated(find_preview(preview_id, places))
    except PreviewNotFound:
        # One that is being written has no note yet.
        return False


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


def _write(plan: Plan, request: Request, places: Places) -> CompactionPreview:
    loaded, selection = plan.loaded, plan.selection
    fingerprint = _fingerprint(loaded)
    if fingerprint is None:
        raise AssertionError("only files are compacted")
    known = loaded.known_secrets
    replaced = mask_items(selection.replaced, known)
    kept = mask_items(selection.kept, known)
    header = loaded.session.header
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
        agent=header.known_agent,
        session_id=header.session_id,
    )
    preview_id = preview_id_of(loaded.path)
    write_preview(
        preview_id,
        before_text(replaced, kept, ago),
        proposed_text(plan.summary.text, kept, ago),
        note,
        places,
    )
    return find_preview(preview_id, places)
