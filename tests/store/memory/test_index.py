"""The index of memory: what is in it, who sees what when, and what is done with a damaged one."""

import random
import shutil
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path

import pytest

from ullage.errors import IndexDamaged, StateBusy, StorageError
from ullage.store.memory import index_file
from ullage.store.memory.index import IndexedChunk, MemoryIndex, SourceFile

WORDS = ("wine", "barrel", "harbor", "e0502", "λογος", "ร์ต", "it's", 'a"b')


def source(path: str, *, size: int = 1, changed_ns: int = 1, day: str = "2026-11-21") -> SourceFile:
    is_memory = path.startswith("memory/")
    return SourceFile(
        path=path, size=size, changed_ns=changed_ns, day=day, is_memory=is_memory, is_log=False
    )


def put(index: MemoryIndex, *gone: str, **texts: str) -> None:
    put_all(index, texts)
    index.update((), gone)


def put_all(index: MemoryIndex, texts: Mapping[str, str]) -> None:
    index.update([(source(f"memory/{name}.md"), text) for name, text in texts.items()], ())


def find(index: MemoryIndex, word: str, *, is_around: bool = False) -> list[IndexedChunk]:
    posting = index.find_postings([word])[word]
    ids = posting.in_context if is_around else posting.in_text
    return list(index.read_chunks(ids).values())


def texts(index: MemoryIndex, word: str) -> list[str]:
    return [chunk.text for chunk in find(index, word)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "index.db"


@pytest.fixture
def index(path: Path) -> Iterator[MemoryIndex]:
    with closing(MemoryIndex(path)) as opened:
        yield opened


def test_chunks_are_found_by_their_words_their_headings_and_what_stands_around(
    index: MemoryIndex,
) -> None:
    put(index, a="# Cellar\n\n- wine\n- barrel\n- harbor\n- anchor", b="wine too")
    (chunk, _) = find(index, "wine")
    assert (chunk.path, chunk.first_line, chunk.last_line) == ("memory/a.md", 3, 3)
    assert (chunk.heading, chunk.text, chunk.is_memory) == ("Cellar", "- wine", True)
    assert len(find(index, "cellar")) == 4
    around = [each.text for each in find(index, "wine", is_around=True)]
    assert around == ["- barrel", "- harbor"]
    assert index.count_chunks(["wine", "cellar", "nothing"]) == {
        "wine": 4, "cellar": 4, "nothing": 0,
    }  # fmt: skip
    assert index.size().n_chunks == 5


@pytest.mark.parametrize("word", WORDS)
def test_a_word_of_any_script_or_sign_is_found_as_it_is(index: MemoryIndex, word: str) -> None:
    index.update([(source("a.md"), "- " + "\n- ".join(WORDS[:6]))], ())
    expected = int(word in WORDS[:6])
    assert len(find(index, word)) == expected
    assert bool(index.count_chunks([word])[word]) == bool(expected)


def test_a_changed_file_is_there_with_its_new_text_alone(index: MemoryIndex) -> None:
    put(index, a="- wine", b="- barrel\n- harbor")
    put(index, b="- harbor\n- anchor", a="- rope")
    assert texts(index, "wine") == texts(index, "barrel") == []
    assert [texts(index, word) for word in ("rope", "harbor")] == [["- rope"], ["- harbor"]]
    assert index.size().n_chunks == 3
    # The last file is changed, whose number is free then.
    for n in range(3):
        put(index, a=f"- rope {n}x")
        assert texts(index, "rope") == [f"- rope {n}x"]
    assert index.count_chunks(["0x", "2x", "rope"]) == {"0x": 0, "2x": 1, "rope": 1}


def test_a_file_that_is_gone_or_has_another_name_is_there_no_more(index: MemoryIndex) -> None:
    put(index, a="- wine", b="- barrel")
    put(index, "memory/a.md", c="- wine")
    assert [chunk.path for chunk in find(index, "wine")] == ["memory/c.md"]
    put(index, "memory/b.md", "memory/c.md", "memory/unknown.md")
    assert (index.size().n_chunks, index.list_files()) == (0, {})
    assert index.size().mean_chars > 0


def test_what_was_seen_of_the_files_is_kept_beside_their_chunks(index: MemoryIndex) -> None:
    files = [source("a.md", size=3, changed_ns=7, day="2020-01-01"), source("memory/b.md")]
    index.update([(file, "text") for file in files], ())
    assert index.list_files() == {"a.md": (3, 7), "memory/b.md": (1, 1)}
    both = index.find_files(is_memory=None, since="")
    (old,) = index.find_files(is_memory=False, since="")
    (new,) = index.find_files(is_memory=None, since="2020-01-02")
    assert both == {old, new}
    assert index.find_files(is_memory=True, since="") == {new}
    assert index.find_files(is_memory=False, since="2020-01-02") == frozenset()


def test_an_index_is_there_for_the_next_who_opens_it(path: Path) -> None:
    with closing(MemoryIndex(path)) as first:
        put(first, a="- wine")
    with closing(MemoryIndex(path)) as second:
        assert not second.was_rebuilt
        assert texts(second, "wine") == ["- wine"]


def test_an_index_of_this_process_alone_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with closing(MemoryIndex(None)) as index:
        put(index, a="- wine")
        assert texts(index, "wine") == ["- wine"]
        index.throw_away()
        assert index.size().n_chunks == 0
    assert list(tmp_path.iterdir()) == []


def test_readers_see_a_change_whole_or_not_at_all(path: Path, index: MemoryIndex) -> None:
    put(index, a="- wine old", b="- wine old")

    def changing() -> Iterator[tuple[SourceFile, str]]:
        with closing(MemoryIndex(path)) as reader:
            for name in ("a", "b"):
                yield source(f"memory/{name}.md"), "- wine new"
                assert texts(reader, "wine") == ["- wine old"] * 2

    with closing(MemoryIndex(path)) as writer:
        writer.update(changing(), ())
    assert index.count_chunks(["wine", "old"]) == {"wine": 2, "old": 0}
    assert texts(index, "wine") == ["- wine new"] * 2


def test_who_reads_goes_on_with_one_state_while_another_writes(
    path: Path, index: MemoryIndex
) -> None:
    put(index, a="- wine")
    with closing(MemoryIndex(path)) as writer:
        with index.reading():
            assert index.count_chunks(["wine"]) == {"wine": 1}
            put(writer, a="- barrel")
            assert texts(index, "wine") == ["- wine"]
        assert index.count_chunks(["wine", "barrel"]) == {"wine": 0, "barrel": 1}
        assert texts(index, "wine") == []


def test_a_change_that_fails_in_its_midst_is_none(index: MemoryIndex) -> None:
    put(index, a="- wine")

    def failing() -> Iterator[tuple[SourceFile, str]]:
        yield source("memory/a.md"), "- barrel"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        index.update(failing(), ())
    assert texts(index, "wine") == ["- wine"]
    put(index, a="- barrel")
    assert texts(index, "barrel") == ["- barrel"]


def test_who_waits_too_long_for_another_writer_is_told(
    path: Path, index: MemoryIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_file, "WAIT_S", 0)
    with closing(MemoryIndex(path)) as waiting, closing(sqlite3.connect(path)) as writing:
        writing.execute("BEGIN IMMEDIATE")
        with pytest.raises(StateBusy, match="another Ullage is writing"):
            put(waiting, a="- wine")
        assert texts(waiting, "wine") == []
    put(index, a="- wine")
    assert texts(index, "wine") == ["- wine"]


def test_many_that_begin_at_once_begin_one_index(path: Path) -> None:
    rebuilt: list[bool] = []
    start = threading.Barrier(8)

    def begin(name: str) -> None:
        start.wait()
        with closing(MemoryIndex(path)) as index:
            put_all(index, {name: "- wine"})
            rebuilt.append(index.was_rebuilt)

    threads = [threading.Thread(target=begin, args=(name,)) for name in "abcdefgh"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert rebuilt == [False] * 8
    with closing(MemoryIndex(path)) as index:
        assert len(find(index, "wine")) == 8


def read_all(index: MemoryIndex) -> list[str]:
    index.size()
    index.list_files()
    index.count_chunks(WORDS)
    return [text for word in WORDS for text in texts(index, word)]


def write_text(path: Path) -> None:
    path.write_bytes(b"no database, but longer than a header of one" * 100)


def write_header(path: Path) -> None:
    path.write_bytes(b"SQLite format 3\0" + b"\xff" * 5000)


def write_foreign(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE file (id INTEGER)")


def write_other_version(path: Path) -> None:
    with closing(MemoryIndex(path)):
        pass
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 1")


@pytest.mark.parametrize(
    "prepare",
    [
        write_text,
        write_header,
        write_foreign,
        write_other_version,
    ],
    ids=["no database", "a damaged header", "of another program", "of another version"],
)
def test_what_is_no_index_is_replaced_and_that_is_told(
    path: Path, prepare: Callable[[Path], object]
) -> None:
    path.parent.mkdir()
    prepare(path)
    with closing(MemoryIndex(path)) as index:
        assert index.was_rebuilt
        put(index, a="- wine")
    with closing(MemoryIndex(path)) as index:
        assert not index.was_rebuilt
        assert texts(index, "wine") == ["- wine"]


def test_an_empty_file_is_an_index_not_begun(path: Path) -> None:
    path.parent.mkdir()
    path.touch()
    with closing(MemoryIndex(path)) as index:
        assert not index.was_rebuilt
        assert index.size().n_chunks == 0


def test_a_log_of_writes_without_its_index_is_of_no_harm(path: Path) -> None:
    index = MemoryIndex(path)
    put(index, a="- wine")
    log = path.with_name("index.db-wal")
    kept = log.read_bytes()
    index.close()
    path.unlink()
    log.write_bytes(kept)
    with closing(MemoryIndex(path)) as index:
        assert index.size().n_chunks == 0


def test_a_folder_in_its_place_is_left_alone_and_told(path: Path) -> None:
    (path / "mine").mkdir(parents=True)
    with pytest.raises(StorageError, match=r"cannot (write|use) .*index\.db"):
        MemoryIndex(path)
    assert (path / "mine").is_dir()


def test_a_file_for_the_state_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / "state").touch()
    with pytest.raises(StorageError, match="state"):
        MemoryIndex(tmp_path / "state" / "index.db")


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE chunk SET text = 'another'",
        "UPDATE chunk SET text = CAST(x'ff' AS TEXT), digest = CAST(x'ff' AS TEXT)",
        "UPDATE chunk SET first_line = 'one'",
        "UPDATE file SET path = x'00'",
        "DELETE FROM size",
        "DROP TABLE chunk",
    ],
)
def test_rows_that_were_never_written_so_are_damage(path: Path, sql: str) -> None:
    with closing(MemoryIndex(path)) as index:
        put(index, a="- wine")
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(sql)
    with closing(MemoryIndex(path)) as index:
        with pytest.raises(IndexDamaged, match="damaged"):
            read_all(index)
        index.throw_away()
        put(index, a="- wine")
        assert texts(index, "wine") == ["- wine"]


def damage_page(data: bytearray, dice: random.Random) -> None:
    at = dice.randrange(len(data) // 4096) * 4096
    data[at : at + 4096] = dice.choice((bytes(4096), dice.randbytes(4096)))


def damage_bits(data: bytearray, dice: random.Random) -> None:
    for at in dice.choices(range(len(data)), k=60):
        data[at] ^= 1 << dice.randrange(8)


def cut(data: bytearray, dice: random.Random) -> None:
    del data[dice.randrange(len(data)) :]


@pytest.mark.parametrize("damage", [damage_page, damage_bits, cut])
def test_whatever_is_damaged_nothing_is_handed_out_that_was_not_written(
    path: Path, damage: Callable[[bytearray, random.Random], None]
) -> None:
    dice = random.Random(7)
    written = {f"- {a} {b} {n}" for n in range(20) for a in WORDS[:4] for b in WORDS[:4]}
    with closing(MemoryIndex(path)) as index:
        put_all(index, {f"f{n}": "\n".join(sorted(written)[n::5]) for n in range(5)})
    whole = path.read_bytes()
    n_damaged = 0
    for _ in range(40):
        shutil.rmtree(path.parent)
        path.parent.mkdir()
        data = bytearray(whole)
        damage(data, dice)
        path.write_bytes(data)
        try:
            with closing(MemoryIndex(path)) as index:
                n_damaged += index.was_rebuilt
                assert written.issuperset(read_all(index))
                put(index, f0="- new")
        except IndexDamaged:
            n_damaged += 1
    assert n_damaged > 10
