"""Preview a compaction as two texts; apply what the user made of the proposal.

Nothing is written but the preview's own folder, until it is applied. What was proposed is kept
with it, so that a proposal that the user left alone is noted as its author wrote it.
"""

import asyncio
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from ullage.app.change.compact import Plan, Request, compact, plan_compaction, with_flush
from ullage.app.change.make import ChangeResult
from ullage.app.change.prepared import plan_with_prepared
from ullage.app.gauge.status_text import ago, name_text
from ullage.app.memory.flush import flush_log_name, plan_flush_before
from ullage.app.memory.report import flush_gist, flush_listing
from ullage.app.sessions.load import Loaded, load
from ullage.app.sessions.open import open_session
from ullage.app.summary.write import ModelUse, WrittenSummary
from ullage.core.change.compaction import NoCompaction
from ullage.core.config.settings import Config
from ullage.core.gauge.gauge import DEFAULT_LAYER, Layer, tokens_text
from ullage.core.secrets.redaction import mask_items
from ullage.core.secrets.scan import mask
from ullage.core.summary.preview import Proposal, read_proposal, write_before, write_proposal
from ullage.errors import ChangedMeanwhile, InputError, PreviewNotFound, PreviewRefused
from ullage.store.documents import previews
from ullage.store.files.places import Places, is_there
from ullage.store.gauge.token_counts import CountText
from ullage.store.transcript.reader import FileLines, Fingerprint, look_at

VERSION: Final = 3


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
    n_tokens_before: int
    n_tokens_after: int
    marker: str
    """The line that ends the summary, by which a proposal is known from an earlier one."""
    agent: str
    session_id: str
    name: str
    """What the session is called where it stands among others."""
    writes: str
    """What is written where when it is applied, in a few words."""


class _Memory(msgspec.Struct, frozen=True, kw_only=True):
    """What a preview tells of the flush that comes before its compaction."""

    short: tuple[str, ...] = ()
    listed: tuple[str, ...] = ()


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
    def name_title_last(self) -> str:
        """The session's name for where the end is cut: its agent and its id stay."""
        title, agent, short_id = self.note.name.rsplit(" · ", 2)
        return f"{agent} · {short_id} · {title}"

    @property
    def title(self) -> str:
        note = self.note
        n_before, n_after = note.n_tokens_before, note.n_tokens_after
        tokens = f"{tokens_text(n_before, n_after)} ({saved_text(n_before, n_after)})"
        return f"{note.name} · {tokens}"


async def make_preview(
    loaded: Loaded,
    layer: Layer | None,
    focus: str | None,
    config: Config,
    places: Places,
    model: ModelUse,
    texts: Mapping[Path, str],
    *,
    is_anew: bool = False,
) -> CompactionPreview | NoCompaction:
    """Plan a compaction and write its two texts in place of an earlier preview of the session.

    Without a layer it is the one that every other command takes, or the full one where that would
    do nothing. A proposal that
    the user edited is given back where it would be made again, unless that is asked for
    (`is_anew`); where it would not, it is kept beside the new one. `texts` are those of the editor,
    saved or not: they may change until the new one is written.

    Raises:
        WriteNotSupported: this kind of session is not ours to write to.
        StateUnwritable: the state folder does not take it.
    """
    if not is_anew:
        edited = await asyncio.to_thread(_find_edited, loaded, layer, focus, places, texts)
        if edited is not None:
            return edited
    request = Request(layer=layer or DEFAULT_LAYER, focus=focus)
    plan_with = plan_compaction if is_anew else plan_with_prepared
    plan = await plan_with(loaded, request, config, places, model)
    if isinstance(plan, NoCompaction) and layer is None:
        fuller = msgspec.structs.replace(request, layer="full")
        fuller_plan = await plan_with(loaded, fuller, config, places, model)
        plan = plan if isinstance(fuller_plan, NoCompaction) else fuller_plan
    if isinstance(plan, NoCompaction):
        return plan
    memory = await _memory(loaded, config, places, model)
    return await asyncio.to_thread(_write, plan, request, memory, places, texts)


def find_preview(preview_id: str, places: Places) -> CompactionPreview:
    """Find a preview by its id.

    Raises:
        PreviewNotFound: it was applied, discarded, or is too old.
    """
    files = previews.read_preview(preview_id, PreviewNote, VERSION, places)
    return CompactionPreview(
        preview_id=files.preview_id,
        before_path=files.before_path,
        proposed_path=files.proposed_path,
        note=files.note,
    )


def name_previewed(preview_id: str, followed: Iterable[Loaded], places: Places) -> str | None:
    """Name the session of a preview; where that is gone, among those that are followed."""
    try:
        return find_preview(preview_id, places).note.name
    except PreviewNotFound:
        its = (each for each in followed if previews.preview_id_of(each.path) == preview_id)
        return next(map(name_text, its), None)


def preview_of_file(path: Path, places: Places) -> CompactionPreview:
    """Find the preview that a proposal belongs to.

    Raises:
        PreviewNotFound: it was applied, discarded, or is too old.
    """
    preview = find_preview(path.parent.name, places)
    if preview.proposed_path != path:
        raise PreviewNotFound(f"{path} is no proposal of Ullage")
    return preview


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
) -> Plan | NoCompaction:
    """Plan the compaction anew with what stands above the marker; `text` is what is not saved.

    Raises:
        PreviewRefused: the marker is missing, or another proposal's: nobody knows what is meant.
        ChangedMeanwhile: the session went on; the preview stays.
        PreviewNotFound: the proposal is gone.
    """
    if text is None:
        text = await asyncio.to_thread(previews.read_proposed, preview.proposed_path)
    request = _request(preview.note, read_proposal(text))
    loaded = await asyncio.to_thread(_load_again, preview, config, places, count_text)
    plan = await plan_compaction(loaded, request, config, places, model)
    if isinstance(plan, NoCompaction):
        return plan
    return await with_flush(plan, config, places, model)


def apply_proposed(
    preview: CompactionPreview, plan: Plan, config: Config, places: Places
) -> ChangeResult:
    """Make the compaction that was planned, and remove its preview.

    Raises:
        PreviewNotFound: it was applied or discarded meanwhile.
        SessionLive, ChangedMeanwhile, StorageError: as `compact`; the preview stays.
    """
    find_preview(preview.preview_id, places)
    made = compact(plan, config, places)
    with previews.previews_lock(places), suppress(PreviewNotFound):
        # Another window may have made another one meanwhile.
        if find_preview(preview.preview_id, places).note == preview.note:
            previews.remove_preview(preview.preview_id, places)
    return made


def discard_preview(
    preview: CompactionPreview, places: Places, texts: Mapping[Path, str]
) -> Path | None:
    """Remove a preview; give where the proposal is kept if its user edited it."""
    with previews.previews_lock(places):
        aside = _set_aside_edited(preview.proposed_path, texts)
        previews.remove_preview(preview.preview_id, places)
    return aside


def saved_text(n_before: int, n_after: int) -> str:
    """Tell what a compaction saves as a share of the context before it."""
    # A minus sign, as a hyphen would be a range.
    return f"{n_after / max(n_before, 1) - 1:+.0%}".replace("-", "\N{MINUS SIGN}")


def _find_edited(
    loaded: Loaded,
    layer: Layer | None,
    focus: str | None,
    places: Places,
    texts: Mapping[Path, str],
) -> CompactionPreview | None:
    """Find a proposal that its user edited, where the one that is asked for would be the same."""
    try:
        preview = find_preview(previews.preview_id_of(loaded.path), places)
    except PreviewNotFound:
        return None
    is_wished = layer in (None, preview.note.layer) and focus in (None, preview.note.focus)
    if not is_wished or is_outdated(preview) or not _is_in_hand(preview, texts):
        return None
    return msgspec.structs.replace(preview, is_edited=True)


def _is_in_hand(preview: CompactionPreview, texts: Mapping[Path, str]) -> bool:
    """Tell whether its user has edited it; an editor may still hold the text of an earlier one."""
    typed = texts.get(preview.proposed_path)
    proposed = None if typed is None else read_proposal(typed)
    if proposed is None or proposed.marker not in (None, preview.note.marker):
        return _is_edited(preview.proposed_path)
    return proposed.is_edited


def _is_edited(path: Path) -> bool:
    try:
        return read_proposal(previews.read_proposed(path)).is_edited
    except PreviewNotFound:
        # What cannot be read is not ours alone.
        return is_there(path)


def _request(note: PreviewNote, proposed: Proposal) -> Request:
    if proposed.marker is None:
        raise PreviewRefused(
            "the line that ends the summary is missing, nothing was applied: put it back, or"
            " regenerate the preview"
        )
    if proposed.marker != note.marker:
        raise PreviewRefused(
            "another summary was proposed since this one, nothing was applied: reload the document"
            " to see it; what you wrote is kept beside it"
        )
    is_as_written = proposed.summary == note.summary.text.strip("\n")
    return Request(
        layer=note.layer,
        focus=note.focus,
        summary=None if is_as_written else proposed.summary,
        written=note.summary if is_as_written else None,
        first_kept=note.n_replaced,
    )


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
            "the session went on since this was previewed, nothing was applied: your text is kept;"
            " regenerate the preview to see what would go now"
        )
    return loaded


def _fingerprint(loaded: Loaded) -> Fingerprint | None:
    lines = loaded.session.lines
    return lines.fingerprint if isinstance(lines, FileLines) else None


async def _memory(loaded: Loaded, config: Config, places: Places, model: ModelUse) -> _Memory:
    """List what goes to the daily log; a model is asked for that only when it is applied."""
    if model.endpoint is not None:
        name = flush_log_name(loaded, config, places)
        if name is None:
            return _Memory()
        line = f"To apply this also appends what is worth remembering to `{name}`."
        return _Memory(short=(f"appends to {name}",), listed=(line,))
    flush = await plan_flush_before(loaded, config, places, model)
    gist = flush_gist(flush)
    return _Memory(short=() if gist is None else (gist,), listed=tuple(flush_listing(flush)))


def _writes_text(plan: Plan) -> str:
    tokens = tokens_text(plan.n_tokens_before, plan.n_tokens_after)
    is_copy = plan.change.path_after != plan.loaded.path
    where = "a new session, this one stays" if is_copy else "this session"
    # Where it goes first: the end is cut in an editor that is half of a narrow window.
    return f"Written to {where}: {tokens} tokens"


def _write(
    plan: Plan, request: Request, memory: _Memory, places: Places, texts: Mapping[Path, str]
) -> CompactionPreview:
    loaded, selection = plan.loaded, plan.selection
    fingerprint = _fingerprint(loaded)
    if fingerprint is None:
        raise AssertionError("only files are compacted")
    secrets = loaded.known_secrets
    replaced = mask_items(selection.replaced, secrets)
    kept = mask_items(selection.kept, secrets)
    header = loaded.session.header
    notes = tuple(f"Note: {warning}" for warning in plan.summary.warnings)
    proposed = write_proposal(plan.summary.text, kept, ago, (*notes, *memory.listed))
    marker = read_proposal(proposed).marker
    if marker is None:
        raise AssertionError("a proposal has a marker")
    note = PreviewNote(
        version=VERSION,
        path=str(loaded.path),
        fingerprint=fingerprint,
        layer=selection.layer,
        focus=None if request.focus is None else mask(request.focus, secrets),
        summary=plan.summary,
        budget_tokens=selection.summary_budget_tokens,
        n_replaced=len(replaced),
        n_tokens_before=plan.n_tokens_before,
        n_tokens_after=plan.n_tokens_after,
        marker=marker,
        agent=header.known_agent,
        session_id=header.session_id,
        name=name_text(loaded),
        writes=", ".join((_writes_text(plan), *memory.short)),
    )
    preview_id = previews.preview_id_of(loaded.path)
    before = write_before(replaced, kept, ago, marker)
    with previews.previews_lock(places):
        aside = _set_aside_edited(previews.proposed_path(preview_id, places), texts)
        previews.write_preview(preview_id, before, proposed, note, places)
        return msgspec.structs.replace(find_preview(preview_id, places), aside_path=aside)


def _set_aside_edited(path: Path, texts: Mapping[Path, str]) -> Path | None:
    """Move what its user made of a proposal, saved or not, to where no other takes its place."""
    typed = texts.get(path)
    if typed is not None and read_proposal(typed).is_edited and not _holds(path, typed):
        if _is_edited(path):
            previews.set_aside(path)
        previews.write_proposed(path, typed)
    return previews.set_aside(path) if _is_edited(path) else None


def _holds(path: Path, text: str) -> bool:
    try:
        return read_proposal(previews.read_proposed(path)).text == read_proposal(text).text
    except PreviewNotFound:
        return False
