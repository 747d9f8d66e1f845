"""Summaries: written by a model or by our own rules, audited, completed, masked."""

import asyncio

import msgspec

from ullage.app.sessions.load import Loaded
from ullage.core.change.compaction import Selection
from ullage.core.config.settings import ModelSettings
from ullage.core.facts.collect import collect_facts
from ullage.core.facts.facts import Facts
from ullage.core.facts.summary_sections import write_as_of
from ullage.core.gauge.loss import Loss
from ullage.core.secrets.redaction import mask_items
from ullage.core.secrets.scan import mask
from ullage.core.summary.audit import Audit, audit
from ullage.core.summary.extract import summarize
from ullage.core.summary.focus import misses_focus
from ullage.core.summary.insert_missing import (
    CompletedSummary,
    count_asked_again,
    insert_missing,
    measure_loss,
)
from ullage.core.text.prose import gist
from ullage.core.text.quoting import one_line
from ullage.core.transcript.context import ContextItem
from ullage.core.transcript.recalled import leave_out_recalled
from ullage.errors import BadAnswer, EndpointRefused, ModelError, UllageError
from ullage.store.files.places import Places
from ullage.store.gauge.models import find_model
from ullage.summary.endpoint import (
    Endpoint,
    choose_model,
    endpoint_for,
    find_key,
    read_system_keyring,
)
from ullage.summary.request import ModelSummary, Report, SummaryRequest
from ullage.summary.stages import summarize_with_model

EXTRACTIVE = "extractive"
BY_USER = "user"
UNKNOWN_WINDOW_TOKENS = 32_000
"""Of a model that no table knows: small enough for what people run at home (chosen)."""
_WITHOUT = "summarized without a model"
_NO_MATCH = "nothing in these messages matches the focus “{focus}”"


class ModelUse(msgspec.Struct, frozen=True, kw_only=True):
    """The model that writes summaries, if any, and who hears how far it is."""

    endpoint: Endpoint | None = None
    problem: str | None = None
    """Which model was configured, and why it cannot be asked."""
    report: Report | None = None


class SummaryOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What the user wants of a summary."""

    focus: str | None
    pins: tuple[str, ...]
    """Texts that it has to hold."""
    text: str | None
    """The user's own summary: audited, but only pins are put into it; None has one written."""


class WrittenSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A summary as it will stand in the transcript."""

    text: str
    n_tokens: int
    author: str
    """`extractive`, `user`, or the model as `provider/name`."""
    audit: Audit
    """Of the text as its author wrote it."""
    loss: Loss
    """What was found, kept and put in."""
    model: ModelSummary | None
    """What the model answered and took for it."""
    warnings: tuple[str, ...]


class _Material(msgspec.Struct, frozen=True, kw_only=True):
    """What a summary is made from: the messages without their secrets, and their facts."""

    selection: Selection
    loaded: Loaded
    wishes: SummaryOptions
    items: tuple[ContextItem, ...]
    facts: Facts


class _Draft(msgspec.Struct, frozen=True, kw_only=True):
    text: str
    author: str
    model: ModelSummary | None = None
    warnings: tuple[str, ...] = ()


async def write_summary(
    selection: Selection, loaded: Loaded, model: ModelUse, wishes: SummaryOptions
) -> WrittenSummary:
    """Write the summary of what a compaction replaces, by a model where there is one.

    Where the model fails in any way our own rules take its place, and the warnings say so.
    """
    material = await asyncio.to_thread(_collect_material, selection, loaded, wishes)
    draft = None
    warnings: tuple[str, ...] = ()
    if model.problem is not None:
        warnings = (f"{_WITHOUT}; {model.problem}",)
    if wishes.text is not None:
        draft = _Draft(text=wishes.text, author=BY_USER)
    elif model.endpoint is not None:
        try:
            draft = await _ask_model(material, model.endpoint, model.report)
        except ModelError as error:
            warnings = (f"{_WITHOUT}; {unused_text(model.endpoint.name, error)}",)
    if draft is None:
        text = await asyncio.to_thread(_extract, material)
        if misses_focus(text, wishes.focus):
            warnings = (*warnings, _NO_MATCH.format(focus=one_line(gist(wishes.focus or "", 80))))
        draft = _Draft(text=text, author=EXTRACTIVE, warnings=warnings)
    return await asyncio.to_thread(_finish, draft, material)


def _collect_material(selection: Selection, loaded: Loaded, wishes: SummaryOptions) -> _Material:
    items = mask_items(selection.replaced, loaded.known_secrets)
    facts = collect_facts(items)
    items = tuple(map(leave_out_recalled, items))
    return _Material(selection=selection, loaded=loaded, wishes=wishes, items=items, facts=facts)


async def _ask_model(material: _Material, endpoint: Endpoint, report: Report | None) -> _Draft:
    """Ask the model.

    Raises:
        ModelError: it has no summary; where all tiers failed, with the note that stands for that.
    """
    request = SummaryRequest(
        items=material.items,
        focus=material.wishes.focus,
        budget_tokens=material.selection.summary_budget_tokens,
        count=material.loaded.count,
        known_secrets=material.loaded.known_secrets,
    )
    answer = await summarize_with_model(request, endpoint, report=report)
    if answer.tier == "note":
        raise BadAnswer(answer.text)
    return _Draft(
        text=write_as_of(material.facts.last_at_ms) + answer.text,
        author=endpoint.name,
        model=answer,
        warnings=answer.warnings,
    )


def _extract(material: _Material) -> str:
    return summarize(
        material.items,
        focus=material.wishes.focus,
        budget_tokens=material.selection.summary_budget_tokens,
        count=material.loaded.count,
        facts=material.facts,
    )


def _finish(draft: _Draft, material: _Material) -> WrittenSummary:
    """Audit a draft, put in what it misses, and mask what came in again."""
    selection, loaded = material.selection, material.loaded
    budget = selection.summary_budget_tokens
    checked = audit(
        material.items,
        draft.text,
        pins=material.wishes.pins,
        budget_tokens=budget,
        facts=material.facts,
    )
    put_in = _keep_pins(checked) if draft.author == BY_USER else checked
    whole: CompletedSummary = insert_missing(
        draft.text, put_in, budget_tokens=budget, count=loaded.count
    )
    text = mask(whole.text, loaded.known_secrets)
    n_tokens = loaded.count(text)
    return WrittenSummary(
        text=text,
        n_tokens=n_tokens,
        author=draft.author,
        audit=checked,
        loss=measure_loss(
            checked,
            whole,
            n_tokens_replaced=selection.cut.n_tokens_replaced,
            n_summary_tokens=n_tokens,
            n_asked_again=count_asked_again(material.facts),
        ),
        model=draft.model,
        warnings=(*draft.warnings, *_tell_excess(whole, n_tokens, budget)),
    )


def _tell_excess(whole: CompletedSummary, n_tokens: int, budget_tokens: int) -> tuple[str, ...]:
    """Say why a summary is longer than its budget, if it is."""
    if n_tokens <= budget_tokens or not any(fact.is_required for fact in whole.inserted):
        return ()
    n_excess = n_tokens - budget_tokens
    return (
        f"{n_excess:,} tokens over the summary's budget of {budget_tokens:,}: pins and rules that"
        " you stated stand in any case",
    )


def _keep_pins(checked: Audit) -> Audit:
    """Leave a user's own summary as it is but for the pins, which they set as well."""
    missing = tuple(fact for fact in checked.missing if fact.kind == "pin")
    return msgspec.structs.replace(checked, missing=missing, misplaced=())


def model_use(
    model: ModelSettings,
    places: Places,
    *,
    report: Report | None = None,
) -> ModelUse:
    """Give the model that the user configured with the key for it; no model where none was."""
    name = "/".join(part for part in (model.provider, model.name) if part) or "the model"
    try:
        return ModelUse(endpoint=_endpoint(model, places), report=report)
    except EndpointRefused as error:
        return ModelUse(problem=unused_text(name, error))


def unused_text(name: str, error: UllageError) -> str:
    """Tell why a model that was configured has no part in what follows."""
    return f"{name} was not used: {error}"


def has_model(model: ModelSettings, places: Places) -> bool:
    """Tell whether a model would be asked for a summary."""
    return model_use(model, places).endpoint is not None


def _endpoint(model: ModelSettings, places: Places) -> Endpoint | None:
    choice = choose_model(model.provider, model.name, model.base_url)
    if choice is None:
        return None
    choice = msgspec.structs.replace(
        choice, temperature=model.temperature, max_tokens=model.max_tokens
    )
    row = find_model(None, None, choice.model)
    return endpoint_for(
        choice,
        key=find_key(choice, places.env, read_system_keyring),
        window_tokens=row.window_tokens if row else UNKNOWN_WINDOW_TOKENS,
    )
