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
from ullage.app.gauge.due import find_next_due
from ullage.app.memory.flush import PickedPoints, plan_flush_before
from ullage.app.sessions.load import Loaded
from ullage.app.summary.pins import carry_pins
from ullage.app.summary.write import EXTRACTIVE, ModelUse, WrittenSummary
from ullage.core.change.compaction import NoCompaction, Selection
from ullage.core.config.settings import Config
from ullage.core.gauge.gauge import Layer
from ullage.core.secrets.scan import mask
from ullage.store.files.places import Places
from ullage.store.files.state_file import SessionFile, replace_state

MORE_KEPT_RATIO = 0.10
"""Of the window: so much more than its layer keeps may stay behind a cut that was prepared
(docs/design/layers.md, "Ready before it is due")."""


class PreparedSummary(msgspec.Struct, frozen=True, kw_only=True):
    """The content of `prepared.json`: a summary written ahead, without secrets."""

    version: int = 1
    n_replaced: int
    """Messages that it stands for, from the first of the context."""
    n_tokens_replaced: int
    digest: str
    """Of those messages, and of the pins and the layer that it was written for."""
    author: str
    """Who was to write it; a model that failed left it to our own rules."""
    summary: WrittenSummary
    picked: PickedPoints | None
    """What a model picked out for the daily log; None where none was to, or it failed."""


PREPARED_FILE = SessionFile("prepared.json", PreparedSummary)


async def prepare_summary(
    loaded: Loaded, config: Config, places: Places, model: ModelUse
) -> PreparedSummary | None:
    """Have the summary written that will be due next, if any; None where the one kept stands.

    Our own rules are cheap: theirs is always of what would go now. A model is asked anew where
    more would stay behind the cut than may, also one that failed. What a window with another author
    keeps stands as long: two of them never write in turn.
    """
    layer = (await asyncio.to_thread(find_next_due, loaded)).change
    if layer is None or layer == "prune":
        return None
    request = Request(layer=layer, trigger="auto")
    kept, n_more = await asyncio.to_thread(_find_kept, loaded, request, config, places)
    is_renewed = model.endpoint is None and n_more > 0
    if kept is not None and not (is_renewed and kept.author == _author(model)):
        return None
    planned = await plan_summary(loaded, request, config, places, model)
    if isinstance(planned, NoCompaction):
        return None
    cut = planned.selection.cut
    return PreparedSummary(
        n_replaced=cut.first_kept,
        n_tokens_replaced=cut.n_tokens_replaced,
        digest=_digest(loaded, layer, cut.first_kept, config, places),
        author=_author(model),
        summary=planned.summary,
        picked=await _pick_by_model(loaded, config, places, model),
    )


def keep_prepared(prepared: PreparedSummary, session_key: str, places: Places) -> None:
    """Keep a prepared summary in the place of another.

    Raises:
        StateUnwritable: the state folder does not take it; the old file is intact.
        StorageError: a newer version wrote the file.
    """
    path = PREPARED_FILE.path(session_key, places)
    replace_state(path, PREPARED_FILE.read(session_key, places), prepared)


async def plan_with_prepared(
    loaded: Loaded, request: Request, config: Config, places: Places, model: ModelUse
) -> Plan | NoCompaction:
    """Work out a compaction with the summary that was prepared for it, where that stands.

    What a user asks for is what it would be without, unless that spares asking a model.

    Raises:
        WriteNotSupported: this kind of session is not ours to write to.
    """
    kept, n_more = None, 0
    if request.focus is None and request.summary is None:
        kept, n_more = await asyncio.to_thread(_find_kept, loaded, request, config, places)
    is_exact = request.trigger == "manual" and model.endpoint is None
    if kept is None or (is_exact and n_more > 0) or not _is_by(kept, model):
        return await plan_compaction(loaded, request, config, places, model)
    request = msgspec.structs.replace(request, written=kept.summary, first_kept=kept.n_replaced)
    plan = await plan_compaction(loaded, request, config, places, model)
    is_plan = isinstance(plan, Plan)
    return msgspec.structs.replace(plan, picked=kept.picked) if is_plan else plan


def _find_kept(
    loaded: Loaded, request: Request, config: Config, places: Places
) -> tuple[PreparedSummary | None, int]:
    """Find what is kept where it stands, and how many tokens more than need be stay behind."""
    kept = PREPARED_FILE.read(loaded.session.state_key, places).content
    selection = None if kept is None else select_messages(loaded, request)
    if kept is None or not isinstance(selection, Selection):
        return None, 0
    n_more = selection.cut.n_tokens_replaced - kept.n_tokens_replaced
    n_most = MORE_KEPT_RATIO * loaded.status.gauge.window.n_tokens
    is_near = 0 <= n_more <= n_most
    if not is_near or _has_secrets(kept, loaded.known_secrets):
        return None, 0
    digest = _digest(loaded, request.layer, kept.n_replaced, config, places)
    return (kept, n_more) if digest == kept.digest else (None, 0)


def _is_by(kept: PreparedSummary, model: ModelUse) -> bool:
    """Whether it is by whom one would be now, who did not fail."""
    by = EXTRACTIVE if model.endpoint is None else model.endpoint.name
    return kept.author == _author(model) and kept.summary.author == by


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
    pins = carry_pins(loaded.session, config.pins, items[n_replaced:], places)
    data = "\0".join((layer, *pins)).encode("utf-8", "surrogatepass")
    return hashlib.sha256(data + b"\0" + join_records(items[:n_replaced])).hexdigest()
