"""Counts kept by content: no text is counted twice, and a damaged cache changes nothing."""

from pathlib import Path

import pytest

from ullage.store.gauge.token_counts import WRITTEN_CHARS, TokenCounts


class Counter:
    """Counts characters, and how often it was asked."""

    def __init__(self) -> None:
        self.n_asked = 0

    def __call__(self, text: str, encoding: str) -> int:
        self.n_asked += 1
        return len(text) + (encoding == "other")


def test_a_text_is_counted_once_even_by_later_runs(tmp_path: Path) -> None:
    counter = Counter()
    first = TokenCounts("one", tmp_path, counter)
    assert [first("abc"), first("abc"), first("")] == [3, 3, 0]
    first.save()
    second = TokenCounts("one", tmp_path, counter)
    assert second("abc") == 3
    second.save()
    assert counter.n_asked == 1


def test_lines_of_a_followed_session_are_kept_together(tmp_path: Path) -> None:
    counts = TokenCounts("one", tmp_path, Counter())
    for text in ("first", "a line", "a" * WRITTEN_CHARS):
        counts(text)
        counts.save()
        is_kept = TokenCounts("one", tmp_path, Counter()).known("a line") is not None
        assert is_kept == (len(text) == WRITTEN_CHARS)


def test_encodings_are_kept_apart(tmp_path: Path) -> None:
    counter = Counter()
    for encoding, expected in (("one", 3), ("other", 4), ("one", 3)):
        counts = TokenCounts(encoding, tmp_path, counter)
        assert counts("abc") == expected
        counts.save()
    assert counter.n_asked == 2


def test_no_text_is_in_the_cache(tmp_path: Path) -> None:
    counts = TokenCounts("one", tmp_path, Counter())
    counts("canary-7f3a")
    counts.save()
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert files
    assert all(b"canary" not in path.read_bytes() for path in files)


@pytest.mark.parametrize("damage", [b"", b"not a database at all" * 100, b"SQLite format 3\0" * 9])
def test_a_damaged_cache_is_counted_anew(tmp_path: Path, damage: bytes) -> None:
    folder = tmp_path / "index"
    folder.mkdir()
    (folder / "tokens.sqlite").write_bytes(damage)
    counts = TokenCounts("one", tmp_path, Counter())
    assert counts("abc") == 3
    counts.save()
    again = TokenCounts("one", tmp_path, Counter())
    assert again("abc") == 3
    again.save()


def test_a_cache_whose_tables_are_no_text_is_counted_anew(tmp_path: Path) -> None:
    counts = TokenCounts("one", tmp_path, Counter())
    counts("abc")
    counts.save()
    path = tmp_path / "index" / "tokens.sqlite"
    path.write_bytes(path.read_bytes().replace(b"CREATE TABLE counts", b"CREATE TABLE co\xc5nts"))
    again = TokenCounts("one", tmp_path, Counter())
    assert (again.known("abc"), again("abc")) == (None, 3)
    again.save()


def test_a_state_folder_that_cannot_be_written_changes_no_count(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    counts = TokenCounts("one", tmp_path / "file" / "state", Counter())
    assert counts("abc") == 3
    counts.save()
    assert counts("abcd") == 4


def test_a_lone_surrogate_has_a_count_of_its_own(tmp_path: Path) -> None:
    counts = TokenCounts("one", tmp_path, Counter())
    assert (counts("\ud800"), counts("?"), counts("\ud800x")) == (1, 1, 2)
    counts.save()
