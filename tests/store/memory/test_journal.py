"""The journal of memory is only added to, survives what is cut or damaged, and stays small."""

from concurrent.futures import ThreadPoolExecutor
from datetime import date, timedelta
from pathlib import Path

import pytest

from ullage.core.memory.journal import (
    SMALL_BYTES,
    Asker,
    Begun,
    Event,
    FileSeen,
    LinesWritten,
    Recall,
    RecallCount,
    Stored,
    count_recalls,
    fold_events,
    hash_query,
)
from ullage.errors import StateUnwritable, StorageError
from ullage.store.files.places import Places
from ullage.store.memory.journal import (
    OriginReader,
    hold_journal,
    journal_path,
    read_journal,
    record_events,
    record_recall,
)

AT = "2026-11-21T10:00:00+01:00"
TODAY = date.today()
LINES = LinesWritten(origin="user", session="a:b", at=AT, lines=("d1", "d2"))
SEEN = FileSeen(path="MEMORY.md", sha256="0" * 64, at=AT, how="first")
STORED = Stored(kind="fact", by="agent", path="DREAMS.md", line="d9", session="", at=AT)


def recall(n_days_ago: int, *chunks: str, query: str = "q", by: Asker = "agent") -> Recall:
    day = (TODAY - timedelta(days=n_days_ago)).isoformat()
    return Recall(day=day, by=by, query=hash_query(query), hits=tuple((c, 0.5) for c in chunks))


@pytest.fixture
def path(tmp_path: Path, places: Places) -> Path:
    return journal_path(tmp_path, places)


def test_what_is_recorded_is_read_in_order(tmp_path: Path, places: Places, path: Path) -> None:
    assert read_journal(tmp_path, places).events == ()
    record_recall(recall(0, "c1"), tmp_path, places)
    record_events((LINES, SEEN, STORED, Begun(at=AT)), tmp_path, places)
    journal = read_journal(tmp_path, places)
    assert journal.events == (recall(0, "c1"), LINES, SEEN, STORED, Begun(at=AT))
    assert journal.problem is None
    assert path.stat().st_mode & 0o077 == 0 or path.drive


def test_no_query_and_no_text_stands_in_it(tmp_path: Path, places: Places, path: Path) -> None:
    record_recall(recall(0, "c1", query="where is the key of Anna"), tmp_path, places)
    assert b"Anna" not in path.read_bytes()
    assert hash_query("Where is  the key") == hash_query("where is the KEY")


def test_a_torn_line_is_ignored_wherever_it_was_cut_and_glued_to_nothing(
    tmp_path: Path, places: Places, path: Path
) -> None:
    record_events((LINES,), tmp_path, places)
    n_before = path.stat().st_size
    record_events((SEEN,), tmp_path, places)
    data = path.read_bytes()
    for end in range(len(data)):
        path.write_bytes(data[:end])
        torn = read_journal(tmp_path, places)
        assert torn.events == ((LINES,) if end >= n_before else ())
        assert torn.problem is None
        record_recall(recall(0, "c1"), tmp_path, places)
        record_events((STORED,), tmp_path, places)
        journal = read_journal(tmp_path, places)
        assert journal.events == (*torn.events, recall(0, "c1"), STORED)
        assert journal.problem is None


def test_a_damaged_line_is_passed_over_and_told(tmp_path: Path, places: Places, path: Path) -> None:
    record_events((LINES, SEEN), tmp_path, places)
    path.write_bytes(path.read_bytes().replace(b'"lines"', b'"\xff\xfelines"', 1))
    record_events((STORED,), tmp_path, places)
    journal = read_journal(tmp_path, places)
    assert journal.events == (SEEN, STORED)
    assert journal.n_damaged == 1
    assert journal.problem is not None
    assert "1 damaged line" in journal.problem


@pytest.mark.parametrize("is_torn", [False, True])
def test_a_newer_versions_journal_is_left_alone(
    tmp_path: Path, places: Places, path: Path, is_torn: bool
) -> None:
    path.parent.mkdir(parents=True)
    newer = b'{"type":"journal","version":2,"folded":0}\n{"new":1}' + b"\n" * (not is_torn)
    path.write_bytes(newer)
    journal = read_journal(tmp_path, places)
    assert journal.events == ()
    assert journal.problem is not None
    assert "newer version" in journal.problem
    with pytest.raises(StorageError, match="newer version"):
        OriginReader(tmp_path, places).read()
    with pytest.raises(StorageError, match="newer version"):
        record_recall(recall(0, "c1"), tmp_path, places)
    assert path.read_bytes() == newer


def test_origins_are_those_of_the_journal_whatever_became_of_it(
    tmp_path: Path, places: Places, path: Path
) -> None:
    reader = OriginReader(tmp_path, places)

    def read() -> set[str]:
        origins = reader.read()
        assert origins == read_journal(tmp_path, places).read_origins()
        return set(origins.lines)

    assert read() == set()
    record_events((LINES, SEEN), tmp_path, places)
    first = path.read_bytes()
    assert read() == {"d1", "d2"}
    with path.open("ab") as file:
        file.write(b'{"type":"lines","origin":"us')
    assert read() == {"d1", "d2"}
    more = LinesWritten(origin="file", session="", at=AT, lines=("d2", "d3"))
    record_events((more, STORED, Begun(at=AT)), tmp_path, places)
    assert read() == {"d1", "d2", "d3"}
    path.write_bytes(first.replace(b"d1", b"d4"))  # shorter, with the same head
    assert read() == {"d4", "d2"}
    path.write_bytes(first.replace(b'"folded":0', b'"folded":9').replace(b"d1", b"d5") * 2)
    assert read() == {"d5", "d2"}
    path.write_bytes(first.partition(b"\n")[2])  # without a head
    assert read() == {"d1", "d2"}
    path.unlink()
    assert read() == set()


def test_a_journal_that_cannot_be_read_is_a_problem(
    tmp_path: Path, places: Places, path: Path
) -> None:
    path.mkdir(parents=True)
    assert "cannot be read" in (read_journal(tmp_path, places).problem or "")
    with pytest.raises(StateUnwritable):
        record_events((LINES,), tmp_path, places)


def test_many_that_write_at_once_lose_nothing(tmp_path: Path, places: Places) -> None:
    def write(n: int) -> None:
        record_recall(recall(0, f"c{n}"), tmp_path, places)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(100)))
    recalls = read_journal(tmp_path, places).list_recalls()
    assert sorted(r.hits[0][0] for r in recalls if isinstance(r, Recall)) == sorted(
        f"c{n}" for n in range(100)
    )


def test_old_recalls_become_counts_and_the_journal_stays_small(
    tmp_path: Path, places: Places, path: Path
) -> None:
    old = [recall(200 + n % 50, *"abcdef", query=str(n)) for n in range(SMALL_BYTES // 100)]
    record_events((LINES, SEEN, Begun(at=AT)), tmp_path, places)
    record_events(old, tmp_path, places)
    record_events((STORED,), tmp_path, places)
    assert path.stat().st_size < 5_000
    journal = read_journal(tmp_path, places)
    counts = [event for event in journal.events if isinstance(event, RecallCount)]
    assert [count.chunk for count in counts] == list("abcdef")
    assert {(c.n_recalls, c.n_queries, c.n_days) for c in counts} == {(len(old), len(old), 50)}
    assert {LINES, SEEN, Begun(at=AT), STORED} <= set(journal.events)


def test_what_is_damaged_stays_when_the_journal_is_folded(
    tmp_path: Path, places: Places, path: Path
) -> None:
    record_events((LINES,), tmp_path, places)
    with path.open("ab") as file:
        file.write(b"{broken}\n")
    record_events([recall(200, *"abcdef")] * (SMALL_BYTES // 100), tmp_path, places)
    assert path.stat().st_size < 5_000
    assert b"\n{broken}\n" in path.read_bytes()
    assert read_journal(tmp_path, places).n_damaged == 1


def test_a_fold_says_as_much_as_before() -> None:
    again = LinesWritten(origin="tool", session="c:d", at=AT, lines=("d2", "d3"))
    better = LinesWritten(origin="user", session="e:f", at=AT, lines=("d3",))
    accepted = FileSeen(path="MEMORY.md", sha256="1" * 64, at=AT, how="accepted")
    recalls = (recall(91, "a", "b"), recall(91, "a", by="user"), recall(90, "a"))
    events: tuple[Event, ...] = (LINES, SEEN, again, *recalls, Begun(at=AT), accepted, better)
    folded = fold_events(events, TODAY)
    assert [e for e in folded if isinstance(e, FileSeen)] == [accepted]
    lines = [line for e in folded if isinstance(e, LinesWritten) for line in e.lines]
    assert lines == ["d1", "d2", "d3"]
    counts = [e for e in folded if isinstance(e, RecallCount)]
    assert sorted((c.chunk, c.by) for c in counts) == [
        ("a", "agent"),
        ("a", "user"),
        ("b", "agent"),
    ]
    assert [e for e in folded if isinstance(e, Recall)] == [recall(90, "a")]
    assert fold_events(folded, TODAY) == folded


def test_too_many_young_recalls_are_counted_as_well() -> None:
    events = [recall(n % 80, *"abcdef", query=str(n)) for n in range(SMALL_BYTES // 80)]
    folded = fold_events(events, TODAY)
    single = [event for event in folded if isinstance(event, Recall)]
    assert 0 < len(single) < len(events) / 2
    assert {event.day for event in single} < {event.day for event in events}


def test_counts_of_counts_add_up() -> None:
    recalls = [recall(n, "a", query=str(n % 3)) for n in range(6)]
    once = count_recalls(recalls)
    assert [(c.n_recalls, c.n_queries, c.n_days, c.total_score) for c in once] == [(6, 3, 6, 3.0)]
    (twice,) = count_recalls((*once, recall(7, "a")))
    assert (twice.n_recalls, twice.n_queries, twice.n_days) == (7, 4, 7)
    assert (twice.first_day, twice.last_day) == (recall(7).day, recall(0).day)


def test_a_held_journal_is_written_by_no_other(tmp_path: Path, places: Places) -> None:
    with (
        hold_journal(tmp_path, places),
        ThreadPoolExecutor(1) as pool,
        pytest.raises(StorageError, match="another Ullage"),
    ):
        pool.submit(record_events, (LINES,), tmp_path, places).result()
