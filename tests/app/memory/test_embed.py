"""Memory is embedded once, by consent, and searched by vectors, or by words with a reason."""

import asyncio
import sys
from collections.abc import Callable, Container
from contextlib import closing
from datetime import date
from pathlib import Path

import msgspec
import pytest

from embedding_server import MODEL, ROWS, answered, embed_asked, texts_of, vector_of
from model_server import Asked, ModelServer, Reply, error_reply, served
from model_session import PASSWORD
from ullage.app.memory.embed import EmbedPlan, EmbedResult, make_vectors, plan_vectors
from ullage.app.memory.embedder import open_vectors
from ullage.app.memory.open_memory import OpenMemory
from ullage.app.memory.search import MemoryAnswer, rank_chunks, search_memory
from ullage.app.memory.vector_search import VectorSearch
from ullage.core.config.memory_settings import EmbeddingSettings
from ullage.core.memory.chunks import chunk_digest
from ullage.core.memory.vector_weight import VectorHits
from ullage.errors import EndpointRefused, StateBusy, StorageError
from ullage.store.files.places import Places
from ullage.store.files.quick_lock import quick_lock
from ullage.store.memory.places import memory_folder
from ullage.summary.embeddings import BATCH_SIZE
from ullage.summary.request import Progress
from virtual_time import run_virtual

SUBJECTS = "wine barrel invoice harbor engine garden ledger violin planet bridge".split()
PAGE = "# Notes\n\n" + "\n".join(
    f"- {subject} {n}: the {subject} of the {place} is kept by the {place}'s keeper, rule {n}"
    for n, (subject, place) in enumerate(
        (subject, place) for subject in SUBJECTS for place in SUBJECTS[:9]
    )
)
N_TEXTS = 90
TODAY = date(2026, 11, 23)


def no_new(_: Container[str]) -> dict[str, str]:
    return {}


class Memory:
    """A workspace's memory with an embedding endpoint."""

    def __init__(self, folder: Path) -> None:
        self.workspace = folder / "work"
        self.places = Places(
            cwd=self.workspace,
            home=folder,
            env={"APP_PASSWORD": PASSWORD},
            state_folder=folder / "state",
        )
        self.folder = memory_folder(self.workspace, self.places)
        self.settings = EmbeddingSettings(base_url="http://127.0.0.1:1/v1", model=MODEL)
        self.write(PAGE)

    def write(self, text: str) -> None:
        path = self.workspace / "memory" / "notes.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")

    def at(self, server: ModelServer, model: str = MODEL) -> "Memory":
        self.settings = EmbeddingSettings(base_url=server.base_url, model=model)
        return self

    def open(self) -> OpenMemory:
        return OpenMemory(self.workspace, self.places, self.settings)

    def plan(self) -> EmbedPlan:
        with closing(self.open()) as memory:
            plan = plan_vectors(memory)
        assert plan is not None
        return plan

    async def embed(self, report: Callable[[Progress], None] | None = None) -> EmbedResult:
        with closing(self.open()) as memory:
            return await make_vectors(self.plan(), memory, report)

    async def search(self, query: str) -> VectorHits:
        return await self.searching().search(query, no_new)

    def searching(self) -> VectorSearch:
        return VectorSearch(self.settings, self.places, self.workspace)


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return Memory(tmp_path)


def sent(server: ModelServer) -> list[str]:
    return [text for asked in server.asked for text in texts_of(asked)]


def sent_chunks(server: ModelServer) -> list[str]:
    return [text for text in sent(server) if "keeper" in text]


def test_what_goes_where_and_what_it_costs_is_known_before(memory: Memory) -> None:
    plan = memory.plan()
    assert (len(plan.digests), plan.n_chunks, plan.cost_usd) == (N_TEXTS, N_TEXTS, None)
    assert 1000 < plan.n_tokens < 4000
    memory.places.env["OPENAI_API_KEY"] = "sk-of-nobody"
    memory.settings = EmbeddingSettings(
        base_url="https://api.openai.com/v1", model="text-embedding-3-small"
    )
    plan = memory.plan()
    assert plan.cost_usd == pytest.approx(plan.n_tokens * 0.02 / 1e6)
    assert plan.text == (
        f"90 texts of memory, about {plan.n_tokens:,} tokens, about ${plan.cost_usd:.4f},"
        " to text-embedding-3-small at https://api.openai.com"
    )


def test_an_endpoint_elsewhere_needs_a_key_of_its_own(memory: Memory) -> None:
    memory.settings = EmbeddingSettings(base_url="https://embed.example/v1", model="m")
    with pytest.raises(EndpointRefused, match=r"no key for https://embed\.example"):
        memory.plan()


def test_memory_is_embedded_once_and_found(memory: Memory) -> None:
    async def main() -> None:
        async with served(ModelServer(embed_asked)) as server:
            done = await memory.at(server).embed()
            assert done.n_embedded == N_TEXTS
            assert done.spent.n_calls == len(server.asked)
            assert sorted(set(sent_chunks(server))) == sorted(PAGE.splitlines()[2:])
            assert memory.plan().digests == ()
            n_asked = len(server.asked)
            again = await memory.embed()
            assert (again.n_embedded, len(server.asked)) == (0, n_asked)
            wanted = PAGE.splitlines()[2:][17]
            hits = await memory.search(wanted)
            assert hits.note is None
            assert next(iter(hits.cosines)) == chunk_digest(wanted)
            assert 0 < hits.weight <= 0.7

    run_virtual(main)


def test_what_is_new_alone_is_sent(memory: Memory) -> None:
    async def main() -> None:
        async with served(ModelServer(embed_asked)) as server:
            await memory.at(server).embed()
            n_asked = len(server.asked)
            memory.write(f"# Notes\n\n- a new keeper came\n{PAGE[9:]}")
            done = await memory.embed()
            assert done.n_embedded == 1
            assert [texts_of(asked) for asked in server.asked[n_asked:]] == [
                ["- a new keeper came"]
            ]

    run_virtual(main)


def test_progress_is_told_batch_by_batch(memory: Memory) -> None:
    told: list[str] = []

    async def main() -> None:
        async with served(ModelServer(embed_asked)) as server:
            await memory.at(server).embed(lambda progress: told.append(progress.text))

    run_virtual(main)
    assert told[0].startswith("Embedding memory: call ")
    assert len(told) == 2


@pytest.mark.parametrize("is_cancelled", [False, True])
def test_a_run_that_ended_early_goes_on_and_pays_for_nothing_twice(
    memory: Memory, is_cancelled: bool
) -> None:
    def failing(asked: Asked) -> Reply:
        if len(texts_of(asked)) == BATCH_SIZE:
            return embed_asked(asked)
        return ("hang",) if is_cancelled else (0.5, *error_reply(401))

    async def main() -> None:
        server = ModelServer(failing)
        async with served(server):
            running = asyncio.create_task(memory.at(server).embed())
            if is_cancelled:
                await server.until(lambda: len(memory.plan().digests) == N_TEXTS - BATCH_SIZE)
                running.cancel()
            outcome = await asyncio.gather(running, return_exceptions=True)
            assert isinstance(outcome[0], BaseException)
            assert len(memory.plan().digests) == N_TEXTS - BATCH_SIZE
            hits = await memory.search("wine")
            assert "not embedded yet" in (hits.note or "")
            first = set(texts_of(server.asked[0])) | set(texts_of(server.asked[1]))
            n_asked = len(server.asked)
            server.replies = embed_asked
            assert (await memory.embed()).n_embedded == N_TEXTS - BATCH_SIZE
            resent = [text for asked in server.asked[n_asked:] for text in texts_of(asked)]
            assert len([text for text in resent if "keeper" in text]) == N_TEXTS - BATCH_SIZE
            assert set(resent) - first, "headings and first words of the self-test"

    run_virtual(main)


def test_a_new_model_is_built_beside_and_takes_over_when_it_is_whole(memory: Memory) -> None:
    def half(asked: Asked) -> Reply:
        is_large = len(texts_of(asked)) == BATCH_SIZE
        return embed_asked(asked) if is_large or "better" not in asked.body else error_reply(401)

    async def main() -> None:
        async with served(ModelServer(embed_asked)) as server:
            await memory.at(server).embed()
            server.replies = half
            memory.at(server, "better")
            await asyncio.gather(memory.embed(), return_exceptions=True)
            server.asked.clear()
            hits = await memory.search("the wine of the harbor")
            assert hits.cosines
            assert f"by the vectors of {MODEL} until those of better" in (hits.note or "")
            assert [asked.body.count(MODEL) for asked in server.asked] == [1]
            server.replies = embed_asked
            await memory.embed()
            hits = await memory.search("the wine of the harbor")
            assert (bool(hits.cosines), hits.note) == (True, None)
            spaces = open_vectors(memory.folder).list_spaces()
            assert [space.model for space in spaces] == ["better"]

    run_virtual(main)


def test_vectors_that_say_nothing_count_nothing_and_are_not_asked_for(memory: Memory) -> None:
    """Each text has a vector of its own, whatever it says."""

    def noise(asked: Asked) -> Reply:
        vectors = [
            [float(b) - 127.5 for b in bytes.fromhex(chunk_digest(t))] for t in texts_of(asked)
        ]
        return answered([{"index": at, "embedding": each} for at, each in enumerate(vectors)])

    async def main() -> None:
        async with served(ModelServer(noise)) as server:
            done = await memory.at(server).embed()
            assert done.weight <= 0.3
            store = open_vectors(memory.folder)
            (space,) = store.list_spaces()
            store.activate(space, 0.0, 1.0, ())
            n_asked = len(server.asked)
            assert await memory.search("the wine of the harbor") == VectorHits()
            assert len(server.asked) == n_asked

    run_virtual(main)


def test_a_search_whose_endpoint_fails_says_so_in_a_line_and_soon(memory: Memory) -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        async with served(ModelServer(embed_asked)) as server:
            await memory.at(server).embed()
            for name, row in ROWS.items():
                server.replies = row.replies  # three vectors for one question, where all is well
                server.asked.clear()
                began = loop.time()
                hits = await memory.search("the wine of the harbor")
                assert loop.time() - began <= 3.1, name
                assert hits.cosines == {}, name
                assert (hits.note or "").startswith("searched by words alone: "), name
                assert len((hits.note or "").splitlines()) == 1, name

    run_virtual(main)


def test_an_endpoint_that_failed_is_left_alone_for_a_while(memory: Memory) -> None:
    async def main() -> None:
        async with served(ModelServer(embed_asked)) as server:
            await memory.at(server).embed()
            server.replies = (error_reply(500),)
            server.asked.clear()
            searching = memory.searching()
            first = await searching.search("wine", no_new)
            assert "HTTP 500" in (first.note or "")
            assert await searching.search("harbor", no_new) == first
            assert len(server.asked) == 1

    run_virtual(main)


def test_another_server_is_not_told_of_the_old_model(memory: Memory) -> None:
    async def main() -> None:
        async with (
            served(ModelServer(embed_asked)) as old,
            served(ModelServer(embed_asked)) as new,
        ):
            await memory.at(old).embed()
            hits = await memory.at(new).search("the wine of the harbor")
            assert "not embedded yet" in (hits.note or "")
            assert new.asked == []

    run_virtual(main)


def test_a_question_goes_out_without_secrets(memory: Memory) -> None:
    async def main() -> None:
        async with served(ModelServer(embed_asked)) as server:
            await memory.at(server).embed()
            await memory.search(f"why does {PASSWORD} fail?")
            assert "why does" in sent(server)[-1]
            assert all(PASSWORD not in asked.body for asked in server.asked)

    run_virtual(main)


def test_what_the_workspace_keeps_secret_goes_nowhere(memory: Memory) -> None:
    async def main() -> None:
        (memory.workspace / ".env").write_text("DEPLOY_TOKEN=correct-horse-battery\n", "utf-8")
        memory.write(f"{PAGE}\n- the keeper deploys with correct-horse-battery\n")
        async with served(ModelServer(embed_asked)) as server:
            await memory.at(server).embed()
            await memory.search("is correct-horse-battery in use?")
            assert any("keeper deploys" in text for text in sent(server))
            assert all("correct-horse" not in asked.body for asked in server.asked)

    run_virtual(main)


def test_one_ullage_embeds_a_memory_at_a_time(memory: Memory) -> None:
    async def main() -> None:
        async with served(ModelServer(embed_asked)) as server:
            memory.at(server)
            with quick_lock(memory.folder / "vectors.lock"), pytest.raises(StateBusy):
                await memory.embed()
            assert server.asked == []

    run_virtual(main)


def test_nothing_is_said_or_sent_where_no_endpoint_is_named(memory: Memory) -> None:
    memory.settings = EmbeddingSettings()
    with closing(memory.open()) as opened:
        assert plan_vectors(opened) is None
        answer = search_memory(opened, "Who keeps the wine of the harbor?", by="user", today=TODAY)
    assert (answer.results[0].by, answer.note) == ("words", None)
    assert not list(memory.folder.glob("vectors*"))


def test_half_of_an_endpoint_is_told_of(memory: Memory) -> None:
    memory.settings = EmbeddingSettings(model="m")
    hits = run_virtual(lambda: memory.search("wine"))
    assert hits.note == "searched by words alone: set `memory.embeddings.baseUrl` as well"


def test_without_numpy_words_answer_and_a_line_says_why(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "numpy", None)
    hits = run_virtual(lambda: memory.search("wine"))
    assert "vectors need NumPy" in (hits.note or "")
    with pytest.raises(StorageError, match="pip install"):
        memory.plan()


def test_damaged_vectors_are_told_once_and_words_answer(memory: Memory) -> None:
    async def main() -> None:
        async with served(ModelServer(embed_asked)) as server:
            await memory.at(server).embed()
            (memory.folder / "vectors.db").write_bytes(b"nothing of a database" * 500)
            assert "thrown away" in ((await memory.search("wine")).note or "")
            assert "not embedded yet" in ((await memory.search("wine")).note or "")

    run_virtual(main)


async def test_what_is_new_is_embedded_along_with_a_question(memory: Memory) -> None:
    def search(query: str) -> MemoryAnswer:
        with closing(memory.open()) as opened:
            return search_memory(opened, query, by="user", today=TODAY)

    async with served(ModelServer(embed_asked)) as server:
        await memory.at(server).embed()
        memory.write(f"{PAGE}\n- a pelican was seen\n- two pelicans were seen")
        server.asked.clear()
        answer = await asyncio.to_thread(search, "pelican")
        assert {"- a pelican was seen", "- two pelicans were seen"} >= {answer.results[0].text}
        (asked,) = server.asked
        assert sorted(texts_of(asked)[1:]) == ["- a pelican was seen", "- two pelicans were seen"]
        assert memory.plan().digests == ()
        await asyncio.to_thread(search, "pelican")
        assert texts_of(server.asked[-1]) == ["pelican"]


async def test_what_has_no_vector_yet_counts_by_its_words(memory: Memory) -> None:
    """Today's log would come last wherever vectors count more than words."""
    async with served(ModelServer(embed_asked)) as server:
        await memory.at(server).embed()
        server.asked.clear()
        fresh = "- wine 7 of the harbor was sold today"
        memory.write(f"{PAGE}\n{fresh}")
        with closing(memory.open()) as opened:
            near = await VectorSearch(memory.settings, memory.places, memory.folder).search(
                "the wine of the harbor sold today", no_new
            )
            near = msgspec.structs.replace(near, weight=0.7)
            question = "the wine of the harbor sold today"
            ranked = opened.read(lambda index: rank_chunks(index, question, near, 6))
            (first,) = opened.read(
                lambda index: tuple(index.read_chunks([ranked[0].chunk_id]).values())
            )
        assert (first.text, ranked[0].by) == (fresh, "words")


async def test_a_search_gives_what_words_and_vectors_find(memory: Memory) -> None:
    """In real time and a thread, as the program searches; this model knows other words for all."""
    items = [" ".join(f"{n}{letter}term" for letter in "abcdefgh") for n in range(60)]
    memory.write("# Notes\n\n" + "\n".join(f"- {item}" for item in items))

    def knowing(asked: Asked) -> Reply:
        vectors = [vector_of(text.replace("synonym", "term"), 256) for text in texts_of(asked)]
        return answered([{"index": at, "embedding": each} for at, each in enumerate(vectors)])

    def search(query: str) -> MemoryAnswer:
        with closing(memory.open()) as opened:
            return search_memory(opened, query, by="user", today=TODAY)

    async with served(ModelServer(knowing)) as server:
        await memory.at(server).embed()
        both = await asyncio.to_thread(search, "7aterm 7bterm 7cterm 7dterm")
        assert both.note is None
        assert (both.results[0].text, both.results[0].by) == (f"- {items[7]}", "both")
        near = await asyncio.to_thread(search, "7asynonym 7bsynonym 7csynonym 7dsynonym")
        assert (near.results[0].text, near.results[0].by) == (f"- {items[7]}", "vectors")
        far = await asyncio.to_thread(search, "zebra quantum 9aterm xylophone unicorn")
        assert far.results == ()
        server.replies = (error_reply(500),)
        alone = await asyncio.to_thread(search, "7aterm 7bterm 7cterm 7dterm")
        assert (alone.results[0].text, alone.results[0].by) == (f"- {items[7]}", "words")
        assert "searched by words alone" in (alone.note or "")
