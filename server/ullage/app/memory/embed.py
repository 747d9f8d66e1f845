"""Embed memory: what has no vector yet is counted, priced, sent in batches and tested."""

import asyncio
from collections.abc import Sequence
from contextlib import closing

import msgspec

from ullage.app.memory.embedder import Embedder, find_embedder, open_vectors
from ullage.app.memory.open_memory import OpenMemory
from ullage.app.memory.self_test import Judgment, SelfTest, read_many, spread
from ullage.app.sessions.secrets import secrets_in
from ullage.core.text.prose import plural
from ullage.core.transcript.tokens import estimate_tokens
from ullage.errors import StorageError
from ullage.store.files.quick_lock import quick_lock
from ullage.store.memory.index import MemoryIndex
from ullage.store.memory.vectors import VectorSpace
from ullage.summary.embeddings import BATCH_SIZE, EmbeddedBatch, Space, TakeBatch, embed
from ullage.summary.request import Progress, Report, TokenSpending

_N_PRICED = 500
"""Texts whose tokens are estimated; the others are taken to be like them (chosen)."""
_RETESTED_SHARE = 0.25
"""From which share of new chunks on the self-test is made again (chosen)."""


class EmbedPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be embedded; nothing is sent yet."""

    embedder: Embedder
    space: VectorSpace | None
    """The one that is added to; None where a new one begins."""
    digests: tuple[str, ...]
    """Of the chunks without a vector."""
    n_chunks: int
    """With different texts, in all."""
    n_tokens: int
    """Estimated, of what is to be sent; the self-test takes a few thousand more."""
    cost_usd: float | None
    """None where no price is known, or the model runs on this machine."""

    @property
    def text(self) -> str:
        """Say in one line what is sent where and what that costs."""
        cost = "" if self.cost_usd is None else f", about ${self.cost_usd:.4f}"
        return (
            f"{plural(len(self.digests), 'text')} of memory, about {self.n_tokens:,} tokens{cost},"
            f" to {self.embedder.endpoint.model} at {self.embedder.endpoint.origin}"
        )


class EmbedResult(msgspec.Struct, frozen=True, kw_only=True):
    """What a run embedded."""

    n_embedded: int
    weight: float
    """What the vectors count beside words now, by the self-test."""
    spent: TokenSpending


def plan_vectors(memory: OpenMemory) -> EmbedPlan | None:
    """Work out what is not embedded yet, and what it costs; None where nobody named an endpoint.

    Raises:
        EndpointRefused: nothing may be sent there, or there is no key for it.
        StorageError: vectors cannot be kept or compared here.
    """
    embedder = find_embedder(memory.embeddings, memory.places)
    if embedder is None:
        return None
    if not memory.places.keeps_caches:
        raise StorageError("nothing may be written, vectors neither: memory is not embedded")
    return memory.read(lambda index: _plan(embedder, index, memory))


def _plan(embedder: Embedder, index: MemoryIndex, memory: OpenMemory) -> EmbedPlan:
    store = open_vectors(memory.folder)
    spaces = (space for space in store.list_spaces() if embedder.made(space))
    space = next(spaces, None)
    digests = tuple(dict.fromkeys(index.list_digests().values()))
    missing = digests if space is None else store.list_missing(space, digests)
    _, texts = _read_texts(index, spread(missing, _N_PRICED))
    n_tokens = sum(map(estimate_tokens, texts)) * len(missing) // max(1, len(texts))
    prices = embedder.endpoint.prices
    return EmbedPlan(
        embedder=embedder,
        space=space,
        digests=missing,
        n_chunks=len(digests),
        n_tokens=n_tokens,
        cost_usd=None if prices is None else n_tokens * prices.input_usd / 1_000_000,
    )


async def make_vectors(
    plan: EmbedPlan, memory: OpenMemory, report: Report | None = None
) -> EmbedResult:
    """Embed what is planned and test it; vectors that came are kept, however this ends.

    Raises:
        ModelError: the endpoint failed; the next run goes on where this one ended.
        EndpointRefused: nothing may be sent there.
        StateBusy: another Ullage embeds this memory.
        StorageError: the disk does not take the vectors.
    """
    with (
        quick_lock(memory.folder / "vectors.lock", timeout_s=0),
        closing(memory.open_index()) as index,  # searches go on with the one that is open
    ):
        return await _Run(plan, index, memory, report).through()


class _Run:
    """One run, and what it took so far."""

    def __init__(
        self, plan: EmbedPlan, index: MemoryIndex, memory: OpenMemory, report: Report | None
    ) -> None:
        self._plan = plan
        self._index = index
        self._store = open_vectors(memory.folder)
        self._secrets = secrets_in((memory.workspace,), memory.places)
        self._report = report
        self._space = plan.space
        self._lock = asyncio.Lock()
        self._n_done = 0
        self._spent = TokenSpending()

    async def through(self) -> EmbedResult:
        plan = self._plan
        await self._embed_chunks()
        space = self._space
        if space is None:
            return EmbedResult(n_embedded=0, weight=0.0, spent=self._spent)
        is_due = self._n_done >= _RETESTED_SHARE * plan.n_chunks
        if is_due or not space.is_active:
            judged = await self._judge(space)
            digests = tuple(self._index.list_digests().values())
            await asyncio.to_thread(
                self._store.activate, space, judged.weight, judged.close_score, digests
            )
            space = msgspec.structs.replace(space, weight=judged.weight)
        return EmbedResult(n_embedded=self._n_done, weight=space.weight, spent=self._spent)

    async def _embed_chunks(self) -> None:
        digests, texts = await asyncio.to_thread(_read_texts, self._index, self._plan.digests)

        async def take(batch: EmbeddedBatch, spent: TokenSpending) -> None:
            # Several batches come at once, and one alone begins the space.
            async with self._lock:
                if self._space is None:
                    self._space = await asyncio.to_thread(self._begin, batch.space)
                these = digests[batch.first : batch.first + len(batch.vectors)]
                vectors = dict(zip(these, batch.vectors, strict=True))
                await asyncio.to_thread(self._store.put, self._space, vectors)
                self._n_done += len(vectors)
                self._spent = spent
                self._tell(len(texts))

        await self._ask(texts, take)

    async def _judge(self, space: VectorSpace) -> Judgment:
        test = await asyncio.to_thread(SelfTest, self._index)
        vectors: dict[str, tuple[float, ...]] = {}

        async def take(batch: EmbeddedBatch, spent: TokenSpending) -> None:
            these = test.questions[batch.first : batch.first + len(batch.vectors)]
            vectors.update(zip(these, batch.vectors, strict=True))
            self._spent = spent

        await self._ask(test.questions, take)
        (space,) = (each for each in self._store.list_spaces() if each.id == space.id)
        table = await asyncio.to_thread(self._store.load, space)
        return await asyncio.to_thread(test.judge, table, vectors)

    async def _ask(self, texts: Sequence[str], take: TakeBatch) -> None:
        embedder, space = self._plan.embedder, self._space
        await embed(
            texts,
            embedder.endpoint,
            take=take,
            dimensions=embedder.dimensions,
            space=space and Space(answered_by=space.answered_by, n_dimensions=space.n_dimensions),
            known_secrets=self._secrets,
            spent=self._spent,
        )

    def _begin(self, space: Space) -> VectorSpace:
        embedder = self._plan.embedder
        return self._store.add_space(
            VectorSpace(
                id=0,
                model=embedder.endpoint.model,
                dimensions=embedder.dimensions,
                origin=embedder.endpoint.origin,
                answered_by=space.answered_by,
                n_dimensions=space.n_dimensions,
            )
        )

    def _tell(self, n_texts: int) -> None:
        if self._report is not None:
            n_batches = -(-n_texts // BATCH_SIZE)
            self._report(
                Progress(stage="embed", n_done=self._n_done // BATCH_SIZE, n_total=n_batches)
            )


def _read_texts(index: MemoryIndex, digests: Sequence[str]) -> tuple[list[str], list[str]]:
    """Read the texts of chunks; give the digests that the index still has, and their texts."""
    found = index.find_digests(digests)
    by_digest = {digest: chunk_id for chunk_id, digest in found.items()}
    known = [digest for digest in digests if digest in by_digest]
    chunks = read_many(index, [by_digest[digest] for digest in known])
    texts = {chunk.digest: chunk.text for _, chunk in chunks}
    return list(texts), list(texts.values())
