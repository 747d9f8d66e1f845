"""Memory written by a model before a compaction, where the agent itself can take no turn."""

import asyncio
import secrets

import msgspec

from ullage.core.config.memory_settings import FlushSettings
from ullage.core.memory.log_text import LogPoint
from ullage.core.memory.prompt import (
    CheckedPoints,
    check_points,
    write_memory_prompt,
    write_memory_system,
)
from ullage.core.summary import chunks
from ullage.core.text.prose import plural
from ullage.core.transcript.context import ContextItem
from ullage.core.transcript.tokens import Count
from ullage.errors import BadAnswer
from ullage.summary.endpoint import Endpoint
from ullage.summary.failures import overflow
from ullage.summary.limits import ClockAndJitter, Limits
from ullage.summary.request import Ask, Progress, Report, TokenSpending, add_answer

MAX_CALLS = 8
"""A session that takes more is looked at from its end; chosen: the summary takes calls, too."""
MAX_ANSWER_TOKENS = 1500
"""The 400 words that are asked for, with room for other languages; chosen."""


class MemoryRequest(msgspec.Struct, frozen=True, kw_only=True):
    items: tuple[ContextItem, ...]
    """What is new since the last compaction, oldest first, without secrets."""
    settings: FlushSettings
    log_name: str
    written: str
    """What stands in the log."""
    count: Count
    known_secrets: tuple[str, ...]


class ModelMemory(msgspec.Struct, frozen=True, kw_only=True):
    """What a model found worth remembering, checked against what it was shown."""

    points: tuple[LogPoint, ...]
    """Empty where it said that there is nothing."""
    spent: TokenSpending
    warnings: tuple[str, ...]


async def remember_with_model(
    request: MemoryRequest,
    endpoint: Endpoint,
    *,
    report: Report | None = None,
    limits: Limits | None = None,
    chance: ClockAndJitter | None = None,
) -> ModelMemory:
    """Have a model write down what is worth remembering of messages.

    Writes nothing anywhere. Cancelling it closes its connections.

    Raises:
        ModelError: no answer that may be used.
        EndpointRefused: nothing may be sent there.
    """
    # The openai package takes half a second to import: only who asks a model waits for it.
    from ullage.summary.chat import connect

    known_secrets = (*endpoint.secrets, *request.known_secrets)
    request = msgspec.structs.replace(request, known_secrets=known_secrets)
    asking = _MemoryRequests(request, endpoint)
    parts = await asyncio.to_thread(asking.parts)
    async with connect(endpoint, limits, chance) as ask:
        return await asking.through(parts, ask, report)


class _MemoryRequests:
    """The requests of one flush, and what they have taken so far."""

    def __init__(self, request: MemoryRequest, endpoint: Endpoint) -> None:
        self._request = request
        self._prices = endpoint.prices
        self._window_tokens = endpoint.window_tokens
        self._max_answer_tokens = min(
            endpoint.max_tokens, MAX_ANSWER_TOKENS, chunks.count_reserve(endpoint.window_tokens)
        )
        self._nonce = secrets.token_hex(4)
        self._system = write_memory_system(request.settings, request.log_name, self._nonce)
        self._spent = TokenSpending(cost_usd=None if endpoint.prices is None else 0.0)

    def parts(self) -> tuple[chunks.MeasuredMessages, ...]:
        """Cut the messages into runs that each fit into a request."""
        request = self._request
        sized = chunks.measure_messages(request.items, request.known_secrets, request.count)
        empty = write_memory_prompt(self._system, (), request.written, self._nonce)
        n_fixed = request.count(empty.system) + request.count(empty.user)
        n_chunk = chunks.limit_chunk(self._window_tokens, n_fixed + self._max_answer_tokens)
        return chunks.cut_chunks(sized, n_chunk)

    async def through(
        self, parts: tuple[chunks.MeasuredMessages, ...], ask: Ask, report: Report | None
    ) -> ModelMemory:
        warnings: list[str] = []
        if len(parts) > MAX_CALLS:
            n_left = sum(len(part.items) for part in parts[:-MAX_CALLS])
            warnings.append(f"the model was not shown the oldest {plural(n_left, 'message')}")
            parts = parts[-MAX_CALLS:]
        points: list[LogPoint] = []
        n_forged = 0
        for at, part in enumerate(parts):
            if report is not None:
                report(Progress(stage="memory", n_done=at, n_total=len(parts)))
            checked = await self._one(part, ask)
            points += checked.points
            n_forged += checked.n_forged
        if n_forged:
            warnings.append(f"left out: {plural(n_forged, 'point')} that no user stated")
        return ModelMemory(points=tuple(points), spent=self._spent, warnings=tuple(warnings))

    async def _one(self, part: chunks.MeasuredMessages, ask: Ask) -> CheckedPoints:
        request = self._request
        pieces = tuple(piece for shown in part.pieces for piece in shown)
        prompt = write_memory_prompt(self._system, pieces, request.written, self._nonce)
        n_tokens = request.count(prompt.system) + request.count(prompt.user)
        if n_tokens + self._max_answer_tokens > self._window_tokens:
            raise overflow()
        answer = await ask(prompt, self._max_answer_tokens)
        self._spent = add_answer(self._spent, answer, n_tokens, self._prices, request.count)
        checked = await asyncio.to_thread(
            check_points, answer.text, pieces, self._nonce, request.known_secrets
        )
        if checked.refusal is not None:
            raise BadAnswer(f"what the model wrote down is not used: {checked.refusal}")
        return checked
