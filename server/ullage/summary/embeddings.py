"""Embeddings: texts to vectors, by any server that speaks OpenAI's `/embeddings`.

Nothing is written here: what comes is checked and given to the caller batch by batch, so that a run
that breaks off or is cancelled loses the batches in flight alone.
"""

import asyncio
import math
from collections.abc import Awaitable, Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from ullage.core.secrets.scan import mask
from ullage.core.transcript.tokens import estimate_tokens
from ullage.errors import BadAnswer, ContextOverflow
from ullage.summary.endpoint import Endpoint
from ullage.summary.limits import ClockAndJitter, Limits
from ullage.summary.request import Answer, TokenSpending, Usage, add_answer

if TYPE_CHECKING:
    from ullage.summary.client import Connection

BATCH_SIZE = 64
MAX_IN_FLIGHT = 4
"""docs/design/memory.md, "Vectors"."""
MAX_TEXT_CHARS = 2_000
"""The 400 tokens of a chunk, with room; many models take no more than 512 (chosen)."""
_MAX_HALVINGS = 3
"""How often the texts of a batch are cut to half after an overflow; chosen."""
_MAX_BODY_BYTES = 16_000_000
"""A batch of the longest vectors, some 20 characters a number, and half as much again."""


class Space(msgspec.Struct, frozen=True, kw_only=True):
    """What vectors must have in common to be compared."""

    answered_by: str
    """The model as the server names it; empty where it names none."""
    n_dimensions: int


class EmbeddedBatch(msgspec.Struct, frozen=True, kw_only=True):
    first: int
    """Place of the first text among all."""
    vectors: tuple[tuple[float, ...], ...]
    """Finite, none of them all zero, all of one length."""
    space: Space


TakeBatch: TypeAlias = Callable[[EmbeddedBatch, TokenSpending], Awaitable[None]]
"""Takes a batch, in the order in which they come, and what all of them took so far."""


class _Embedding(msgspec.Struct, frozen=True, kw_only=True):
    embedding: tuple[float, ...]
    index: int | None = None


class _Usage(msgspec.Struct, frozen=True, kw_only=True):
    prompt_tokens: int


class _Response(msgspec.Struct, frozen=True, kw_only=True):
    data: tuple[_Embedding, ...]
    model: str | None = None
    usage: _Usage | None = None


async def embed(
    texts: Sequence[str],
    endpoint: Endpoint,
    *,
    take: TakeBatch,
    dimensions: int | None = None,
    space: Space | None = None,
    known_secrets: tuple[str, ...] = (),
    spent: TokenSpending | None = None,
    limits: Limits | None = None,
    chance: ClockAndJitter | None = None,
) -> None:
    """Embed texts, without their secrets, several batches at once.

    `space` is what the vectors must belong to; None takes the one of the first answer. `spent` is
    what an earlier call took, which is added to.
    Cancelling it closes its connections.

    Raises:
        ModelError: an answer did not come, or may not be used; batches that were taken stay.
        EndpointRefused: nothing may be sent there.
    """
    # The openai package takes half a second to import: only who embeds waits for it.
    from ullage.summary.client import open_connection

    limits = msgspec.structs.replace(
        limits or endpoint.default_limits, max_body_bytes=_MAX_BODY_BYTES
    )
    async with open_connection(endpoint, limits, chance, "application/json") as connection:
        run = _Run(connection, (*endpoint.secrets, *known_secrets), dimensions, space, take, spent)
        batches = iter(range(0, len(texts), BATCH_SIZE))
        try:
            async with asyncio.TaskGroup() as tasks:
                for _ in range(MAX_IN_FLIGHT):
                    tasks.create_task(run.through(texts, batches))
        except BaseExceptionGroup as group:
            error = group.exceptions[0]
        else:
            return
    # Outside of the handler: no chain of exceptions that leads to a request.
    raise error


class _Run:
    """The requests of one run: what they have in common, and what they took so far."""

    def __init__(
        self,
        connection: "Connection",
        known_secrets: tuple[str, ...],
        dimensions: int | None,
        space: Space | None,
        take: TakeBatch,
        spent: TokenSpending | None,
    ) -> None:
        self._connection = connection
        self._known_secrets = known_secrets
        self._dimensions = dimensions
        self._space = space
        self._take = take
        prices = connection.endpoint.prices
        self._spent = spent or TokenSpending(cost_usd=None if prices is None else 0.0)

    async def through(self, texts: Sequence[str], batches: Iterator[int]) -> None:
        """Embed batch after batch, until none is left for this or any other task."""
        for first in batches:
            batch = texts[first : first + BATCH_SIZE]
            sent = await asyncio.to_thread(self._prepare, batch)
            response = await self._request(sent)
            vectors = self._check(response, len(sent))
            self._add_spending(response, sent)
            answered_by = response.model or ""
            space = Space(answered_by=answered_by, n_dimensions=len(vectors[0]))
            await self._take(EmbeddedBatch(first=first, vectors=vectors, space=space), self._spent)

    def _prepare(self, texts: Sequence[str]) -> list[str]:
        """Mask and shorten; OpenAI refuses a batch for an empty text in it."""
        masked = (mask(text, self._known_secrets).strip() for text in texts)
        return [text[:MAX_TEXT_CHARS] or "-" for text in masked]

    async def _request(self, texts: list[str]) -> _Response:
        """Ask for the vectors of a batch, with less of its texts where they are too long."""
        from ullage.summary.client import send_request

        n_chars = max(map(len, texts))
        for _ in range(_MAX_HALVINGS + 1):
            shortened = [text[:n_chars] for text in texts]
            try:
                return await send_request(self._connection, partial(self._send, shortened))
            except ContextOverflow:
                n_chars = max(1, n_chars // 2)
        raise ContextOverflow(
            f"the texts do not fit into the model's context, not even {2 * n_chars:,} characters"
            " of each: use another model"
        )

    async def _send(self, texts: list[str]) -> _Response:
        from httpx2 import Response

        body: dict[str, object] = {
            "model": self._connection.endpoint.model,
            "input": texts,
            "encoding_format": "float",
        }
        if self._dimensions is not None:
            body["dimensions"] = self._dimensions
        # The client's own method for embeddings decodes each number in Python, unchecked.
        answer = await self._connection.client.post("/embeddings", cast_to=Response, body=body)
        return msgspec.json.decode(answer.content, type=_Response)

    def _check(self, response: _Response, n_texts: int) -> tuple[tuple[float, ...], ...]:
        """Give the vectors in the order of their texts.

        Raises:
            BadAnswer: they are not those of the texts, or not of the space.
        """
        origin, rows = self._connection.endpoint.origin, response.data
        if len(rows) != n_texts:
            raise BadAnswer(f"{origin} answered {n_texts} texts with {len(rows)} vectors: not used")
        by_place = {at if row.index is None else row.index: row for at, row in enumerate(rows)}
        if by_place.keys() != set(range(n_texts)):
            raise BadAnswer(f"{origin} does not say which vector is of which text: not used")
        vectors = tuple(by_place[place].embedding for place in range(n_texts))
        if not all(any(vector) and all(map(math.isfinite, vector)) for vector in vectors):
            raise BadAnswer(f"{origin} sent a vector that is empty, zero or infinite: not used")
        lengths = {len(vector) for vector in vectors}
        self._check_space(lengths, response.model or "")
        return vectors

    def _check_space(self, lengths: set[int], answered_by: str) -> None:
        """Hold the vectors to those that came before; the first ones of all decide."""
        origin = self._connection.endpoint.origin
        if self._space is None:
            n_dimensions = self._dimensions or min(lengths)
            self._space = Space(answered_by=answered_by, n_dimensions=n_dimensions)
        if lengths != {self._space.n_dimensions}:
            raise BadAnswer(
                f"{origin} sent vectors of {max(lengths):,} dimensions, not of"
                f" {self._space.n_dimensions:,}: look at `memory.embeddings.model` and at"
                " `memory.embeddings.dimensions`"
            )
        if answered_by != self._space.answered_by:
            raise BadAnswer(
                f"{origin} answered by another model than before: name the one that you mean in"
                " `memory.embeddings.model`"
            )

    def _add_spending(self, response: _Response, texts: list[str]) -> None:
        tokens = response.usage and Usage(
            prompt_tokens=response.usage.prompt_tokens, completion_tokens=0
        )
        self._spent = add_answer(
            self._spent,
            Answer(text="", usage=tokens),
            sum(map(estimate_tokens, texts)),
            self._connection.endpoint.prices,
            estimate_tokens,
        )
