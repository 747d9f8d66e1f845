"""Summaries in stages, each with its fallbacks (docs/design/summaries.md, "Stages").

Nothing is written here: a summary comes back whole and checked, or an error does, and the
caller then has the extractive summary. One summary may take many requests; all of them go over
one set of connections, which a cancellation closes.
"""

import asyncio
import secrets
from itertools import chain

import msgspec

from ullage.core.summary import chunks, model_output
from ullage.core.summary.chunks import count_reserve
from ullage.core.summary.grounding import drop_forged
from ullage.core.summary.model_input import Excerpt, fence_excerpts
from ullage.core.summary.prompts import Prompt, merge_prompt, part_prompt, system_prompt
from ullage.core.text.prose import plural
from ullage.core.transcript.context import ContextItem
from ullage.core.transcript.speech import read_speech
from ullage.core.transcript.tokens import count_message
from ullage.errors import BadAnswer, ContextOverflow
from ullage.summary.endpoint import Endpoint
from ullage.summary.failures import overflow
from ullage.summary.limits import ClockAndJitter, Limits
from ullage.summary.request import (
    Ask,
    ModelSummary,
    Progress,
    Report,
    Stage,
    SummaryRequest,
    Tier,
    TokenSpending,
    add_answer,
)

MIN_MESSAGES_TO_SPLIT = 4
"""Fewer are summarized in one part; chosen."""
_MAX_HALVINGS = 4
"""How often one part is tried in smaller chunks after an overflow; chosen."""
_NO_MERGE = "the model did not merge the parts; they were put together point by point"
MAX_CALLS = 48
"""A session that takes more requests is one for a model with a larger window; chosen."""


class _Material(msgspec.Struct, frozen=True, kw_only=True):
    messages: chunks.MeasuredMessages
    n_tokens: int
    """Of all that is replaced, the earlier summary included."""
    earlier: str


class _Partial(msgspec.Struct, frozen=True, kw_only=True):
    text: str
    """Empty where there is a note alone."""
    tier: Tier
    notes: tuple[str, ...] = ()


class Writer:
    """What is common to the requests of one summary, and what they have taken so far."""

    def __init__(
        self, request: SummaryRequest, endpoint: Endpoint, ask: Ask, report: Report | None
    ) -> None:
        self._request = request
        self._prices = endpoint.prices
        self._ask = ask
        self._report = report
        self.window_tokens = endpoint.window_tokens
        self.max_answer_tokens = min(endpoint.max_tokens, count_reserve(self.window_tokens))
        self.nonce = secrets.token_hex(4)
        self.system = system_prompt(
            nonce=self.nonce,
            focus=request.focus,
            budget_tokens=min(request.budget_tokens, self.max_answer_tokens),
        )
        self.n_calls_planned = 0
        self._n_asked = 0
        self.n_forged = 0
        self.spent: TokenSpending = TokenSpending(cost_usd=None if endpoint.prices is None else 0.0)

    def count(self, text: str) -> int:
        return self._request.count(text) if text else 0

    async def write(
        self,
        prompt: Prompt,
        stage: Stage,
        *,
        pieces: tuple[Excerpt, ...],
        earlier: str,
        max_tokens: int,
    ) -> str:
        """Have a summary written of pieces and of an earlier summary; give it in our sections.

        Raises:
            ContextOverflow: they do not fit into the window.
            BadAnswer: what came must not stand for them.
            ModelError: nothing came.
        """
        n_prompt_tokens = self.count(prompt.system) + self.count(prompt.user)
        is_too_large = n_prompt_tokens + self.max_answer_tokens > self.window_tokens
        if is_too_large or self._n_asked == MAX_CALLS:
            raise overflow()
        self._n_asked += 1
        self._tell(stage)
        answer = await self._ask(prompt, self.max_answer_tokens)
        self.spent = add_answer(self.spent, answer, n_prompt_tokens, self._prices, self.count)
        # Half a megabyte of material takes a third of a second to be searched.
        return await asyncio.to_thread(self._judged, answer.text, pieces, earlier, max_tokens)

    def _judged(
        self, answer: str, pieces: tuple[Excerpt, ...], earlier: str, max_tokens: int
    ) -> str:
        text = model_output.clean_answer(answer, self._request.known_secrets)
        material = model_output.collect_evidence(pieces, earlier, self.nonce)
        reason = model_output.refuse_answer(text, material, max_tokens, self.count)
        if reason is not None:
            raise BadAnswer(f"the model's summary is not used: {reason}")
        founded, n_forged = drop_forged(model_output.write_in_sections(text), pieces, earlier)
        self.n_forged += n_forged
        return founded

    def _tell(self, stage: Stage) -> None:
        if self._report is not None:
            n_done = self.spent.n_calls
            n_total = max(self.n_calls_planned, n_done + 1)
            self._report(Progress(stage=stage, n_done=n_done, n_total=n_total))


async def summarize_with_model(
    request: SummaryRequest,
    endpoint: Endpoint,
    *,
    report: Report | None = None,
    limits: Limits | None = None,
    chance: ClockAndJitter | None = None,
) -> ModelSummary:
    """Have a model write the summary of a conversation.

    Writes nothing anywhere. Cancelling it closes its connections.

    Raises:
        ModelError: no summary that may be used; the extractive one is the caller's fallback.
        EndpointRefused: nothing may be sent there.
    """
    # The openai package takes half a second to import: only who asks a model waits for it.
    from ullage.summary.chat import connect

    known_secrets = (*endpoint.secrets, *request.known_secrets)
    request = msgspec.structs.replace(request, known_secrets=known_secrets)
    material = await asyncio.to_thread(_measure, request)
    if not material.messages.items:
        raise BadAnswer("there is nothing to summarize but an earlier summary")
    async with connect(endpoint, limits, chance) as ask:
        return await _write(material, request, Writer(request, endpoint, ask, report))


def _measure(request: SummaryRequest) -> _Material:
    """Part the earlier summary from the messages, and measure both."""
    count, secrets = request.count, request.known_secrets
    items = tuple(item for item in request.items if item.category != "summary")
    earlier = [item for item in request.items if item.category == "summary"]
    messages = chunks.measure_messages(items, secrets, count)
    n_earlier = sum(count_message(item.message, count) for item in earlier)
    texts = [_earlier_text(item, secrets) for item in earlier]
    return _Material(
        messages=messages,
        n_tokens=sum(messages.n_whole_tokens) + n_earlier,
        earlier=model_output.merge_sections(texts) if texts else "",
    )


def _earlier_text(item: ContextItem, known_secrets: tuple[str, ...]) -> str:
    return model_output.write_in_sections(
        model_output.clean_answer(read_speech(item, "summary"), known_secrets)
    )


async def _write(material: _Material, request: SummaryRequest, writer: Writer) -> ModelSummary:
    n_fixed = writer.count(writer.system) + writer.max_answer_tokens
    n_chunk = chunks.limit_chunk(writer.window_tokens, n_fixed)
    parts = _split(material.messages, n_chunk, request.n_parts)
    n_calls = sum(len(chunks.cut_chunks(part, n_chunk)) for part in parts) + (len(parts) > 1)
    if n_calls > MAX_CALLS:
        raise overflow()
    writer.n_calls_planned = n_calls
    partials = [
        await _write_part(writer, part, n_chunk, "" if n_part else material.earlier)
        for n_part, part in enumerate(parts)
    ]
    texts = tuple(part.text for part in partials if part.text)
    warnings: list[str] = []
    text = texts[0] if len(texts) == 1 else ""
    if len(texts) > 1:
        text = await _merge(writer, texts, warnings)
    if writer.n_forged:
        warnings.append(f"left out: {plural(writer.n_forged, 'point')} that no user stated")
    return _check(material, partials, text, tuple(warnings), writer)


def _split(
    messages: chunks.MeasuredMessages, n_chunk_tokens: int, n_parts: int
) -> tuple[chunks.MeasuredMessages, ...]:
    is_small = sum(messages.n_tokens) <= n_chunk_tokens
    if is_small or len(messages.items) < MIN_MESSAGES_TO_SPLIT:
        return (messages,)
    return chunks.split_by_share(messages, n_parts)


async def _write_part(
    writer: Writer, part: chunks.MeasuredMessages, n_chunk_tokens: int, earlier: str
) -> _Partial:
    """Go through the tiers: all messages, those that are not oversized, a note."""
    small, notes = chunks.drop_oversized(part, writer.window_tokens)
    try:
        text = await _write_chunks(writer, part, n_chunk_tokens, earlier)
        return _Partial(text=text, tier="full")
    except ContextOverflow:
        pass
    except BadAnswer:
        if not notes:
            raise
    if notes and small.items:
        try:
            text = await _write_chunks(writer, small, n_chunk_tokens, earlier)
            return _Partial(text=text, tier="partial", notes=notes)
        except (ContextOverflow, BadAnswer):
            pass
    # The earlier summary is never what is left out.
    note = chunks.format_note(len(part.items), len(notes))
    return _Partial(text=earlier, tier="note", notes=(note,))


async def _write_chunks(
    writer: Writer, part: chunks.MeasuredMessages, n_chunk_tokens: int, earlier: str
) -> str:
    """Summarize chunk by chunk, each on top of what came before it.

    Where one is too large for the model after all, the rest goes on in smaller chunks.
    """
    start = n_halvings = 0
    while start < len(part.items):
        chunk = chunks.cut_chunks(part.between(start, len(part.items)), n_chunk_tokens)[0]
        try:
            earlier = await _write_chunk(writer, chunk, earlier)
        except ContextOverflow:
            n_halvings += 1
            if len(chunk.items) == 1 or n_halvings > _MAX_HALVINGS:
                raise
            n_chunk_tokens = sum(chunk.n_tokens) // 2
        else:
            start += len(chunk.items)
    return earlier


async def _write_chunk(writer: Writer, chunk: chunks.MeasuredMessages, earlier: str) -> str:
    pieces = tuple(chain.from_iterable(chunk.pieces))
    return await writer.write(
        part_prompt(writer.system, fence_excerpts(pieces, writer.nonce), earlier, writer.nonce),
        "part",
        pieces=pieces,
        earlier=earlier,
        max_tokens=model_output.limit_summary(sum(chunk.n_whole_tokens), writer.count(earlier)),
    )


async def _merge(writer: Writer, texts: tuple[str, ...], warnings: list[str]) -> str:
    """Make one summary of those of the parts; by rule where the model does not manage it."""
    joined = "\n\n".join(texts)
    try:
        return await writer.write(
            merge_prompt(writer.system, texts, writer.nonce),
            "merge",
            pieces=(),
            earlier=joined,
            max_tokens=writer.count(joined),
        )
    except (ContextOverflow, BadAnswer):
        warnings.append(_NO_MERGE)
        return model_output.merge_sections(texts)


def _check(
    material: _Material,
    partials: list[_Partial],
    text: str,
    warnings: tuple[str, ...],
    writer: Writer,
) -> ModelSummary:
    """Put the notes to the summary, and refuse it where it would gain too little."""
    notes = tuple(note for part in partials for note in part.notes)
    if not text:
        n_messages = len(material.messages.items)
        _, left_out = chunks.drop_oversized(material.messages, writer.window_tokens)
        notes = (chunks.format_note(n_messages, len(left_out)),)
    whole = "\n".join((*((text,) if text else ()), *notes))
    n_tokens = writer.count(whole)
    if n_tokens > material.n_tokens * model_output.MAX_RATIO:
        raise BadAnswer(
            f"the model's summary is not used: {n_tokens:,} tokens for {material.n_tokens:,}"
        )
    tiers = {part.tier for part in partials}
    tier: Tier = "full" if tiers == {"full"} else "note" if not text else "partial"
    return ModelSummary(
        text=whole,
        tier=tier,
        n_parts=len(partials),
        spent=writer.spent,
        omitted=notes,
        warnings=warnings,
    )
