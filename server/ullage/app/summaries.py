"""Summaries: written by a model or by our own rules, audited, completed, masked."""

import asyncio
from collections.abc import Callable

import msgspec

from ullage.app.load import Loaded
from ullage.core.audit import Audit, audit
from ullage.core.audit_facts import Fact
from ullage.core.compaction import Selection
from ullage.core.completion import completed
from ullage.core.facts import Facts, gather
from ullage.core.secrets import mask
from ullage.core.summary import summarize
from ullage.errors import ModelError
from ullage.summary.endpoint import Endpoint
from ullage.summary.request import ModelSummary, Progress, SummaryRequest
from ullage.summary.stages import summarize_with_model

EXTRACTIVE = "extractive"
BY_USER = "user"


class ModelUse(msgspec.Struct, frozen=True, kw_only=True):
    """The model that writes summaries, if any, and who hears how far it is."""

    endpoint: Endpoint | None = None
    report: Callable[[Progress], None] | None = None


class WrittenSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A summary as it will stand in the transcript."""

    text: str
    n_tokens: int
    author: str
    """`extractive`, `user`, or the model as `provider/name`."""
    audit: Audit
    """Of the text as its author wrote it."""
    inserted: tuple[Fact, ...]
    """Facts that it lacked, and that stand in it now."""
    left_out: tuple[Fact, ...]
    model: ModelSummary | None
    """What the model answered and took for it."""
    warnings: tuple[str, ...]


async def write_summary(
    selection: Selection,
    loaded: Loaded,
    model: ModelUse,
    *,
    focus: str | None,
    pins: tuple[str, ...],
    text: str | None,
) -> WrittenSummary:
    """Write the summary of what a compaction replaces, by a model where there is one.

    A model that fails in any way is replaced by our own rules, and the summary says so in its
    warnings. `text` is the user's own summary: it is audited and completed like any other.
    """
    items = await asyncio.to_thread(mask_items, selection.replaced, loaded.known_secrets)
    facts = await asyncio.to_thread(gather, items)
    answer: ModelSummary | None = None
    warnings: tuple[str, ...] = ()
    if text is None and model.endpoint is not None:
        request = SummaryRequest(
            items=items,
            focus=focus,
            budget_tokens=selection.summary_budget_tokens,
            count=loaded.count,
            known_secrets=loaded.known_secrets,
        )
        try:
            answer = await summarize_with_model(request, model.endpoint, report=model.report)
        except ModelError as error:
            warnings = (f"{error}; summarized without a model",)
        else:
            warnings = answer.warnings
    if answer is not None and answer.tier == "note":
        # A note says only that there was something: our own rules still find the facts.
        warnings = (*warnings, "too large for the model; summarized without it")
        answer = None
    author = EXTRACTIVE if text is None else BY_USER
    if answer is not None and model.endpoint is not None:
        text, author = answer.text, f"{model.endpoint.provider}/{model.endpoint.model}"
    return await asyncio.to_thread(
        _finished, items, selection, loaded, facts, text, author, focus, pins, answer, warnings
    )


def _finished(
    selection: Selection,
    loaded: Loaded,
    facts: Facts,
    text: str | None,
    author: str,
    focus: str | None,
    pins: tuple[str, ...],
    answer: ModelSummary | None,
    warnings: tuple[str, ...],
) -> WrittenSummary:
    items, budget = selection.replaced, selection.summary_budget_tokens
    if text is None:
        text = summarize(
            items, focus=focus, budget_tokens=budget, count=loaded.count, facts=facts
        )
    found = audit(items, text, pins=pins, budget_tokens=budget, facts=facts)
    whole = completed(text, found, budget_tokens=budget, count=loaded.count)
    final = mask(whole.text, loaded.known_secrets)
    return WrittenSummary(
        text=final,
        n_tokens=loaded.count(final),
        author=author,
        audit=found,
        inserted=whole.inserted,
        left_out=whole.left_out,
        model=answer,
        warnings=warnings,
    )
