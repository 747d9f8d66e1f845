"""The summary of the next compaction: prepared before it is due, and taken where it still stands.

It stands where it would be written of the same messages by the same author, with the same pins.
What came since stays in the context as it is.
"""

import asyncio
import hashlib

import msgspec

from ullage.app.change.compact import (
    Plan,
    Request,
    plan_compaction,
    plan_summary,
    select_messages,
)
from ullage.app.change.make import join_records
from ullage.app.change.prepared_file import PREPARED_FILE, PreparedSummary
from ullage.app.gauge.due import find_next_due
from ullage.app.memory.flush import PickedPoints, plan_flush_before
from ullage.app.sessions.load import Loaded
from ullage.app.summary.pins import carry_pins
from ullage.app.summary.write import EXTRACTIVE, ModelUse
from ullage.core.change.compaction import NoCompaction, Selection
from ullage.core.config.settings import Config
from ullage.core.gauge.gauge import Layer
from ullage.core.secrets.scan import mask
from ullage.store.files.places import Places

MORE_KEPT_RATIO = 0.10
"""Of the window: so much more than its layer keeps may stay behind a cut that was prepared
(docs/design/layers.md, "Ready before it is due")."""


MAX_ASKED = 2
"""Summaries that a model is asked for ahead of one compaction, by all windows (chosen)."""


async def prepare_summary(
    loaded: Loaded, config: Config, places: Places, model: ModelUse
) -> PreparedSummary | None:
    """Have the summary written that will be due next, if any; None where the one stored stands.

    Our own rules are cheap: theirs is always of what would go now. A model is asked anew where the
    one stored stands no more, also one that failed, until it was asked often enough. What a window
    with another author stored stands as long: two of them never write in turn.
    """
    layer = (await asyncio.to_thread(find_next_due, loaded)).change
    if layer is None or layer == "prune":
        return None
    request = Request(layer=layer, trigger="auto")
    stored, n_more = await asyncio.to_thread(_find_stored, loaded, request, config, places)
    is_renewed = model.endpoint is None and n_more > 0
    if stored is not None and not (is_renewed and stored.author == _author(model)):
        return None
    before = await asyncio.to_thread(_read_stored, loaded, places)
    n_asked = 0 if before is None else before.n_asked
    if model.endpoint is not None:
        n_asked += 1
        if n_asked > MAX_ASKED:
            return None
    planned = await plan_summary(loaded, request, config, places, model)
    if isinstance(planned, NoCompaction):
        return None
    cut = planned.selection.cut
    return PreparedSummary(
        n_compactions=len(loaded.context.compactions),
        n_asked=n_asked,
        n_replaced=cut.first_kept,
        n_tokens_replaced=cut.n_tokens_replaced,
        digest=_digest(loaded, layer, cut.first_kept, config, places),
        author=_author(model),
        summary=planned.summary,
        picked=await _pick_by_model(loaded, config, places, model),
    )


def forget_spent(loaded: Loaded, places: Places) -> None:
    """Remove what was prepared for a compaction that was made otherwise, as by the agent."""
    key = loaded.session.state_key
    stored = PREPARED_FILE.read(key, places).content
    if stored is not None and stored.n_compactions < len(loaded.context.compactions):
        PREPARED_FILE.remove(key, places)


async def plan_with_prepared(
    loaded: Loaded, request: Request, config: Config, places: Places, model: ModelUse
) -> Plan | NoCompaction:
    """Work out a compaction with the summary that was prepared for it, where that stands.

    What a user asks for is what it would be without, unless that spares asking a model; where
    more stays behind its cut, the summary's warnings say so.

    Raises:
        WriteNotSupported: this kind of session is not ours to write to.
    """
    stored, n_more = None, 0
    if request.focus is None and request.summary is None:
        stored, n_more = await asyncio.to_thread(_find_stored, loaded, request, config, places)
    is_exact = request.trigger == "manual" and model.endpoint is None
    if stored is None or (is_exact and n_more > 0) or not _is_by(stored, model):
        return await plan_compaction(loaded, request, config, places, model)
    summary = stored.summary
    if n_more > 0:
        note = f"written ahead: {n_more:,} tokens that came since could go as well"
        summary = msgspec.structs.replace(summary, warnings=(*summary.warnings, note))
    request = msgspec.structs.replace(request, written=summary, first_kept=stored.n_replaced)
    plan = await plan_compaction(loaded, request, config, places, model)
    is_plan = isinstance(plan, Plan)
    return msgspec.structs.replace(plan, picked=stored.picked) if is_plan else plan


def _read_stored(loaded: Loaded, places: Places) -> PreparedSummary | None:
    """Read what is stored for the next compaction, whether it stands or not."""
    stored = PREPARED_FILE.read(loaded.session.state_key, places).content
    is_next = stored is not None and stored.n_compactions == len(loaded.context.compactions)
    return stored if is_next else None


def _find_stored(
    loaded: Loaded, request: Request, config: Config, places: Places
) -> tuple[PreparedSummary | None, int]:
    """Find what is stored where it stands, and how many tokens more than need be stay behind."""
    stored = _read_stored(loaded, places)
    selection = None if stored is None else select_messages(loaded, request)
    if stored is None or not isinstance(selection, Selection):
        return None, 0
    n_more = selection.cut.n_tokens_replaced - stored.n_tokens_replaced
    n_most = MORE_KEPT_RATIO * loaded.status.gauge.window.n_tokens
    is_near = 0 <= n_more <= n_most
    if not is_near or _has_secrets(stored, loaded.known_secrets):
        return None, 0
    digest = _digest(loaded, request.layer, stored.n_replaced, config, places)
    return (stored, n_more) if digest == stored.digest else (None, 0)


def _is_by(stored: PreparedSummary, model: ModelUse) -> bool:
    """Whether it is by whom one would be now, who did not fail."""
    by = EXTRACTIVE if model.endpoint is None else model.endpoint.name
    return stored.author == _author(model) and stored.summary.author == by


def _has_secrets(prepared: PreparedSummary, secrets: tuple[str, ...]) -> bool:
    """Whether something in it has become known as a secret since."""
    points = () if prepared.picked is None else prepared.picked.points
    texts = (prepared.summary.text, *(point.text for point in points))
    return any(mask(text, secrets) != text for text in texts)


async def _pick_by_model(
    loaded: Loaded, config: Config, places: Places, model: ModelUse
) -> PickedPoints | None:
    """Have a model pick out what goes into the daily log before the compaction, if one would."""
    if model.endpoint is None:
        return None
    flush = await plan_flush_before(loaded, config, places, model)
    if flush is None or flush.author != model.endpoint.name:
        return None
    return PickedPoints(
        points=flush.points, author=flush.author, spent=flush.spent, notes=flush.notes
    )


def _author(model: ModelUse) -> str:
    """Name who would write a summary, with the problem that a model has."""
    by_rules = f"{EXTRACTIVE} {model.problem or ''}".rstrip()
    return by_rules if model.endpoint is None else model.endpoint.name


def _digest(loaded: Loaded, layer: Layer, n_replaced: int, config: Config, places: Places) -> str:
    items = loaded.context.items
    pins = carry_pins(loaded.session, config.pins, items[n_replaced:], places, loaded.known_secrets)
    data = "\0".join((layer, *pins)).encode("utf-8", "surrogatepass")
    return hashlib.sha256(data + b"\0" + join_records(items[:n_replaced])).hexdigest()
