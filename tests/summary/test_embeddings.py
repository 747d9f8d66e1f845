"""Embeddings: vectors that were checked, batch by batch, or one line that says why not."""

import asyncio
import json
import logging
import math
from collections.abc import Callable

import pytest

from embedding_server import (
    FINE,
    GOOD,
    MODEL,
    N_DIMENSIONS,
    ROWS,
    TEXTS,
    VECTORS,
    answered,
    embed_asked,
    rows_of,
    texts_of,
)
from model_faults import shown
from model_server import Asked, ModelServer, Reply, head, no_server, served, serving
from model_session import CANARY, CHANCE, KEY, PASSWORD, endpoint_of
from ullage.errors import BadAnswer, EndpointRefused, ModelDenied, ModelError, ModelUnreachable
from ullage.summary.embeddings import (
    BATCH_SIZE,
    MAX_IN_FLIGHT,
    MAX_TEXT_CHARS,
    EmbeddedBatch,
    Space,
    embed,
)
from ullage.summary.endpoint import Prices, choose_embedder
from ullage.summary.limits import REMOTE
from ullage.summary.request import TokenSpending
from virtual_time import run_virtual

Vectors = dict[int, tuple[float, ...]]


@pytest.fixture(autouse=True)
def everything_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)


class Taken:
    """What came of a run, by the place of each text."""

    def __init__(self) -> None:
        self.vectors: Vectors = {}
        self.spaces: set[Space] = set()
        self.spent = TokenSpending()

    async def take(self, batch: EmbeddedBatch, spent: TokenSpending) -> None:
        self.vectors |= dict(enumerate(batch.vectors, batch.first))
        self.spaces.add(batch.space)
        self.spent = spent


async def embed_at(
    server: ModelServer, texts: tuple[str, ...] = TEXTS, taken: Taken | None = None, **options
) -> Taken:
    taken = taken or Taken()
    await embed(
        texts,
        endpoint_of(server, model=MODEL),
        take=taken.take,
        known_secrets=(PASSWORD,),
        limits=REMOTE,
        chance=CHANCE,
        **options,
    )
    return taken


def embed_by(rule: Callable[[Asked], Reply], texts: tuple[str, ...], **options) -> tuple:
    """Give what was taken and asked of a server that follows a rule."""

    async def main() -> tuple:
        async with served(ModelServer(rule)) as server:
            return await embed_at(server, texts, **options), server

    return run_virtual(main)


@pytest.mark.parametrize("name", ROWS)
def test_a_server_gives_vectors_or_one_line(name: str, caplog: pytest.LogCaptureFixture) -> None:
    row = ROWS[name]

    async def main() -> tuple[object, int, float]:
        loop = asyncio.get_running_loop()
        async with serving(*row.replies) as server:
            began = loop.time()
            try:
                outcome: object = await embed_at(server)
            except Exception as error:  # noqa: BLE001 -- what a test is to judge
                outcome = error
            return outcome, len(server.asked), loop.time() - began

    outcome, n_asked, elapsed_s = run_virtual(main)
    if isinstance(outcome, Taken):
        assert row.outcome == VECTORS
        assert [list(outcome.vectors[at]) for at in range(3)] == [r["embedding"] for r in GOOD]
    else:
        assert isinstance(outcome, Exception)
        assert type(outcome) is row.outcome, shown(outcome)
        assert len(str(outcome).splitlines()) == 1
        assert outcome.__cause__ is None
        assert outcome.__context__ is None
        assert KEY not in shown(outcome)
        assert CANARY not in str(outcome)
    assert KEY not in caplog.text
    assert CANARY not in caplog.text
    assert n_asked == row.n_tries
    assert elapsed_s <= row.at_most_s


def test_nobody_listens() -> None:
    async def main() -> None:
        async with no_server() as server:
            with pytest.raises(ModelUnreachable):
                await embed_at(server)

    run_virtual(main)


def test_a_redirect_is_not_followed_and_no_text_leaves() -> None:
    async def main() -> int:
        async with serving(FINE) as other:
            away = (head(307, location=f"{other.base_url}/embeddings"),)
            async with serving(away) as server:
                with pytest.raises(ModelDenied, match="redirects elsewhere"):
                    await embed_at(server)
            return other.n_connections

    assert run_virtual(main) == 0


def test_batches_are_of_64_and_at_most_four_are_on_their_way() -> None:
    texts = tuple(f"text number {n}" for n in range(10 * BATCH_SIZE + 1))
    opened: list[int] = []

    async def main() -> tuple[Taken, list[int]]:
        server = ModelServer(())

        def answer(asked: Asked) -> Reply:
            opened.append(server.n_open)
            # The first ones take longest: they come back in another order than they went.
            return (1.0 / len(opened), *embed_asked(asked))

        server.replies = answer
        async with served(server):
            taken = await embed_at(server, texts)
            return taken, [len(texts_of(asked)) for asked in server.asked]

    taken, sizes = run_virtual(main)
    assert sorted(sizes) == [1, *[BATCH_SIZE] * 10]
    assert max(opened) == MAX_IN_FLIGHT
    assert [list(taken.vectors[at]) for at in range(len(texts))] == [
        row["embedding"] for row in rows_of(texts)
    ]
    assert taken.spaces == {Space(answered_by=MODEL, n_dimensions=N_DIMENSIONS)}


def test_what_is_sent_has_no_secrets_and_is_bounded() -> None:
    texts = (f"the password is {PASSWORD}", f"and the key {KEY}", "x" * 9_000, "", " \n")
    _, server = embed_by(embed_asked, texts)
    (asked,) = server.asked
    sent = texts_of(asked)
    assert PASSWORD not in asked.body
    assert KEY not in asked.body
    assert [len(text) for text in sent[2:]] == [MAX_TEXT_CHARS, 1, 1]
    body = json.loads(asked.body)
    assert (body["model"], body["encoding_format"]) == (MODEL, "float")
    assert "dimensions" not in body


def test_texts_that_are_too_long_for_a_model_are_cut() -> None:
    def answer(asked: Asked) -> Reply:
        if max(map(len, texts_of(asked))) > 600:
            return ROWS["overflow of Ollama"].replies[0]
        return embed_asked(asked)

    taken, server = embed_by(answer, ("word " * 380, "short"))
    assert [max(map(len, texts_of(asked))) for asked in server.asked] == [1899, 949, 474]
    assert [texts_of(asked)[1] for asked in server.asked] == ["short"] * 3
    assert len(taken.vectors) == 2


def test_dimensions_are_asked_for_and_demanded() -> None:
    taken, _ = embed_by(embed_asked, TEXTS, dimensions=4)
    assert {len(vector) for vector in taken.vectors.values()} == {4}
    with pytest.raises(BadAnswer, match="of 8 dimensions, not of 4"):
        embed_by(lambda asked: answered(rows_of(texts_of(asked))), TEXTS, dimensions=4)


@pytest.mark.parametrize(
    ("space", "problem"),
    [
        (Space(answered_by=MODEL, n_dimensions=9), "of 8 dimensions, not of 9"),
        (Space(answered_by="another", n_dimensions=8), "answered by another model"),
    ],
)
def test_vectors_of_another_space_are_not_taken(space: Space, problem: str) -> None:
    with pytest.raises(BadAnswer, match=problem):
        embed_by(embed_asked, TEXTS, space=space)


def test_a_model_that_changes_within_a_run_ends_it() -> None:
    n_answered = 0

    def answer(asked: Asked) -> Reply:
        nonlocal n_answered
        n_answered += 1
        return answered(rows_of(texts_of(asked)), f"model {n_answered // 6}")

    taken = Taken()
    texts = tuple(map(str, range(20 * BATCH_SIZE)))
    with pytest.raises(BadAnswer, match="another model"):
        embed_by(answer, texts, taken=taken)
    assert taken.spaces == {Space(answered_by="model 0", n_dimensions=N_DIMENSIONS)}
    assert BATCH_SIZE <= len(taken.vectors) < len(texts)


def test_batches_that_came_before_a_fault_or_a_cancellation_are_kept() -> None:
    texts = tuple(map(str, range(20 * BATCH_SIZE)))
    taken = Taken()

    async def main() -> None:
        server = ModelServer(())

        def answer(asked: Asked) -> Reply:
            return embed_asked(asked) if len(server.asked) < 8 else ("hang",)

        server.replies = answer
        async with served(server):
            asking = asyncio.create_task(embed_at(server, texts, taken))
            await server.until(lambda: len(taken.vectors) == 8 * BATCH_SIZE)
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking

    run_virtual(main)
    assert len(taken.vectors) == 8 * BATCH_SIZE


def test_what_it_takes_is_told_by_the_server_or_counted() -> None:
    async def main() -> tuple[TokenSpending, TokenSpending]:
        reports, unreported = Taken(), Taken()
        async with serving(FINE) as server:
            endpoint = endpoint_of(server)
            priced = endpoint.__class__(
                provider="custom",
                model="m",
                base_url=endpoint.base_url,
                key=endpoint.key,
                window_tokens=1,
                prices=Prices(input_usd=0.5, output_usd=9.0),
            )
            await embed(TEXTS, priced, take=reports.take)
        body = json.dumps({"data": GOOD}).encode()
        async with serving((head(200, KIND_OF_JSON), body)) as server:
            await embed(TEXTS, endpoint_of(server), take=unreported.take)
        return reports.spent, unreported.spent

    reported, counted = run_virtual(main)
    assert (reported.n_calls, reported.n_input_tokens, reported.is_reported) == (1, 12, True)
    assert reported.cost_usd is not None
    assert math.isclose(reported.cost_usd, 12 * 0.5 / 1e6)
    assert (counted.is_reported, counted.cost_usd) == (False, None)
    assert 10 < counted.n_input_tokens < 40


KIND_OF_JSON = "application/json"


@pytest.mark.parametrize(
    ("base_url", "model", "problem"),
    [
        ("https://host/v1", None, "memory.embeddings.model"),
        (None, "m", "memory.embeddings.baseUrl"),
        ("http://elsewhere.example/v1", "m", "not encrypted"),
        ("http://169.254.169.254/v1", "m", "own network"),
    ],
)
def test_an_endpoint_is_named_whole_and_safe(
    base_url: str | None, model: str | None, problem: str
) -> None:
    with pytest.raises(EndpointRefused, match=problem):
        choose_embedder(base_url, model)


def test_a_provider_is_told_by_its_address() -> None:
    assert choose_embedder(None, None) is None
    for url, provider in {
        "https://api.openai.com/v1": "openai",
        "http://127.0.0.1:11434/v1": "ollama",
        "https://api.openai.com.evil.example/v1": "custom",
    }.items():
        choice = choose_embedder(url, "m")
        assert choice is not None
        assert choice.provider == provider


def test_every_error_is_a_models() -> None:
    kinds = {row.outcome for row in ROWS.values()} - {VECTORS}
    assert all(isinstance(kind, type) and issubclass(kind, ModelError) for kind in kinds)
