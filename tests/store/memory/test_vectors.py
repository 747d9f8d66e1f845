"""The file of vectors: kept by text and model, swapped whole, thrown away when damaged."""

import hashlib
import random
import sqlite3
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import msgspec
import pytest

from running import WAIT_S
from ullage.errors import StorageError
from ullage.store.memory.vectors import VectorSpace, VectorStore

SPACE = VectorSpace(
    id=0,
    model="m",
    dimensions=None,
    origin="http://127.0.0.1:1",
    answered_by="m",
    n_dimensions=4,
)


def digest_of(text: object) -> str:
    return hashlib.sha256(str(text).encode()).hexdigest()


A, B, C = map(digest_of, "abc")


@pytest.fixture
def store(tmp_path: Path) -> VectorStore:
    return VectorStore(tmp_path / "memory" / "vectors.db")


def filled(store: VectorStore, space: VectorSpace = SPACE) -> VectorSpace:
    """Begin a space and put two vectors into it."""
    space = store.add_space(space)
    store.put(space, {A: (3.0, 0.0, 0.0, 0.0), B: (0.0, 1e-8, 0.0, 0.0)})
    return space


def test_vectors_are_found_by_text_and_come_nearest_first(store: VectorStore) -> None:
    filled(store)
    (space,) = VectorStore(store.path).list_spaces()
    table = store.load(space)
    nearest = table.nearest((4.0, 3.0, 0.0, 0.0), 2)
    assert list(nearest) == [A, B]
    assert nearest[A] == pytest.approx(0.8, abs=1e-3)
    assert nearest[B] == pytest.approx(0.6, abs=1e-3)
    assert list(table.nearest_to(B, 1)) == [B]
    assert table.nearest_to(C, 1) == {}
    assert store.list_missing(space, (C, A, C, B)) == (C,)


@pytest.mark.parametrize("scale", [1e-200, 1e-30, 1.0, 1e30, 1e200])
def test_a_vector_of_any_length_keeps_its_direction(store: VectorStore, scale: float) -> None:
    space = store.add_space(SPACE)
    store.put(space, {A: (scale, scale, 0.0, -scale), B: (0.0, 0.0, scale, 0.0)})
    nearest = store.load(space).nearest((1.0, 1.0, 0.0, -1.0), 2)
    assert nearest[A] == pytest.approx(1.0, abs=1e-3)
    assert nearest[B] == pytest.approx(0.0, abs=1e-3)


def test_half_precision_changes_a_cosine_by_less_than_a_thousandth(store: VectorStore) -> None:
    space = store.add_space(msgspec.structs.replace(SPACE, n_dimensions=256))
    rng = random.Random(4)
    vectors = {digest_of(n): [rng.gauss(0, 1) for _ in range(256)] for n in range(50)}
    store.put(space, vectors)
    query = vectors[digest_of(0)]

    def cosine(vector: list[float]) -> float:
        dot = sum(a * b for a, b in zip(query, vector, strict=True))
        return dot / (sum(a * a for a in query) * sum(b * b for b in vector)) ** 0.5

    nearest = store.load(space).nearest(query, 50)
    assert all(abs(nearest[d] - cosine(vector)) < 1e-3 for d, vector in vectors.items())
    assert list(nearest.values()) == sorted(nearest.values(), reverse=True)


def test_a_new_space_is_filled_beside_the_one_that_is_searched(store: VectorStore) -> None:
    old = filled(store)
    store.activate(old, 0.5, 0.7, (A, B))
    new = store.add_space(msgspec.structs.replace(SPACE, model="better", n_dimensions=2))
    store.put(new, {A: (1.0, 0.0)})
    searched, building = store.list_spaces()
    assert (searched.model, searched.is_active, searched.weight) == ("m", True, 0.5)
    assert (building.model, building.is_active) == ("better", False)
    assert len(store.load(searched).nearest((1.0, 0.0, 0.0, 0.0), 9)) == 2
    store.activate(new, 0.6, 0.8, (A,))
    (searched,) = store.list_spaces()
    assert (searched.model, searched.weight, searched.close_score) == ("better", 0.6, 0.8)
    assert list(store.load(searched).nearest((1.0, 0.0), 9)) == [A]


def test_a_space_that_was_begun_and_given_up_goes(store: VectorStore) -> None:
    filled(store)
    filled(store, msgspec.structs.replace(SPACE, model="other"))
    assert [space.model for space in store.list_spaces()] == ["other"]


def test_what_another_process_adds_is_seen(store: VectorStore) -> None:
    space = filled(store)
    (before,) = store.list_spaces()
    table = store.load(before)
    assert store.load(before) is table
    VectorStore(store.path).put(space, {C: (0.0, 0.0, 1.0, 0.0)})
    (after,) = store.list_spaces()
    assert list(store.load(after).nearest((0.0, 0.0, 1.0, 0.0), 1)) == [C]


def test_vectors_of_texts_that_are_gone_stay_until_they_outnumber_the_others(
    store: VectorStore,
) -> None:
    space = filled(store)
    store.activate(space, 0.5, 0.7, (A,))
    assert store.list_missing(space, (A, B)) == ()
    store.put(space, {C: (0.0, 0.0, 1.0, 0.0)})
    store.activate(space, 0.5, 0.7, (A,))
    assert store.list_missing(space, (A, B, C)) == (B, C)


def test_nothing_is_made_by_looking(store: VectorStore) -> None:
    assert store.list_spaces() == ()
    assert not store.path.exists()


def test_processes_that_begin_at_once_take_nothing_from_each_other(tmp_path: Path) -> None:
    barrier = Barrier(6)

    def look(path: Path) -> tuple[VectorSpace, ...]:
        barrier.wait(WAIT_S)
        return VectorStore(path).list_spaces()

    with ThreadPoolExecutor(barrier.parties) as threads:
        for n in range(20):
            path = tmp_path / f"{n}.db"
            path.touch()
            assert [*threads.map(look, [path] * barrier.parties)] == [()] * barrier.parties
            assert path.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
def test_only_the_user_reads_it(store: VectorStore) -> None:
    filled(store)
    assert stat.S_IMODE(store.path.stat().st_mode) == 0o600


def break_header(path: Path) -> None:
    path.write_bytes(b"no database at all" * 100)


def break_pages(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[:200] + b"\xff" * (len(data) - 200))


def break_tables(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.executescript("DROP TABLE vector; DROP TABLE space;")
    connection.close()


def make_foreign(path: Path) -> None:
    path.unlink()
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE notes (text)")
    connection.commit()
    connection.close()


@pytest.mark.parametrize("damage", [break_header, break_pages, break_tables, make_foreign])
def test_a_damaged_file_is_thrown_away_and_told_once(store: VectorStore, damage) -> None:
    filled(store)
    damage(store.path)
    with pytest.raises(StorageError, match="thrown away") as raised:
        store.list_spaces()
    assert len(str(raised.value).splitlines()) == 1
    assert not store.path.exists()
    assert store.list_spaces() == ()
    filled(store)
    assert len(store.list_spaces()) == 1


def test_a_file_of_a_newer_version_is_left_alone(store: VectorStore) -> None:
    filled(store)
    connection = sqlite3.connect(store.path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    before = store.path.read_bytes()
    with pytest.raises(StorageError, match="newer version"):
        store.list_spaces()
    assert store.path.read_bytes() == before


def test_a_vector_of_another_length_is_left_out(store: VectorStore) -> None:
    space = filled(store)
    connection = sqlite3.connect(store.path)
    connection.execute("INSERT INTO vector VALUES (?, ?, ?)", (space.id, bytes.fromhex(C), b"abc"))
    connection.commit()
    connection.close()
    assert set(store.load(space).nearest((1.0, 0.0, 0.0, 0.0), 9)) == {A, B}


def test_a_batch_that_a_killed_process_did_not_finish_is_not_there(store: VectorStore) -> None:
    space = filled(store)
    script = (
        "import os, sqlite3, sys\n"
        "connection = sqlite3.connect(sys.argv[1])\n"
        "connection.execute('PRAGMA cache_size = 1')\n"
        "rows = ((1, os.urandom(32), bytes(8000)) for _ in range(500))\n"
        "connection.executemany('INSERT INTO vector VALUES (?, ?, ?)', rows)\n"
        "os.kill(os.getpid(), 9) if os.name != 'nt' else os._exit(9)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, store.path], timeout=WAIT_S, check=False)
    assert done.returncode
    assert store.list_missing(space, (A, B, C)) == (C,)
    assert len(store.load(space).nearest((1.0, 0.0, 0.0, 0.0), 9)) == 2
