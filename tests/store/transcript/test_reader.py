"""Reading transcripts from disk: lines in both directions, and files that are none."""

import os
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blank_lines import joined
from ullage.core.transcript.entries import Line, MemoryLines
from ullage.errors import NotATranscript, Unreadable
from ullage.store.transcript import reader
from ullage.store.transcript.reader import FileLines, look_at

pieces = st.sampled_from(
    [b"\n", b"\n\n", b"\r\n", b"\r", b" ", b"\n" * 70, b"abc", b"\x0b", "\u2028".encode(), b"x" * 9]
)
contents = st.lists(pieces, min_size=1, max_size=12).map(b"".join)


@given(data=contents, block_bytes=st.integers(1, 12))
def test_a_file_has_the_lines_of_its_bytes_in_both_directions(
    data: bytes, block_bytes: int, tmp_path: Path
) -> None:
    path = tmp_path / "lines.jsonl"
    path.write_bytes(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader, "BLOCK_BYTES", block_bytes)
        lines = FileLines(path)
        expected = list(MemoryLines(data).forward())
        assert joined(lines.forward()) == expected
        assert joined(list(lines.backward())[::-1]) == expected
        for at, line in enumerate(expected):
            assert lines.read_line(line.offset, len(line.raw)) == line
            assert joined(lines.forward(line.offset)) == expected[at:]


def test_lines_that_are_written_later_are_not_read(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"one\n")
    lines = FileLines(path)
    with path.open("ab") as file:
        file.write(b"two\n")
    assert [line.raw for line in lines.forward()] == [b"one\n"]
    assert [line.raw for line in lines.backward()] == [b"one\n"]


def test_a_file_that_shrinks_while_it_is_read_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"one\ntwo\n")
    lines = FileLines(path)
    os.truncate(path, 3)
    with pytest.raises(Unreadable, match="became shorter"):
        list(lines.backward())


def test_a_line_longer_than_many_blocks_is_joined(tmp_path: Path) -> None:
    long = b"x" * (3 * reader.BLOCK_BYTES + 5)
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"a\n" + long + b"\nb\n")
    expected = [Line(0, b"a\n"), Line(2, long + b"\n"), Line(len(long) + 3, b"b\n")]
    assert list(FileLines(path).forward()) == expected
    assert list(FileLines(path).backward()) == expected[::-1]


def test_a_missing_file_is_unreadable_and_says_what_to_name(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match="does not exist: name a transcript"):
        FileLines(tmp_path / "missing.jsonl")


def test_a_folder_is_no_transcript(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match="is a folder"):
        FileLines(tmp_path)


def test_an_empty_file_is_no_transcript(tmp_path: Path) -> None:
    (tmp_path / "s.jsonl").touch()
    with pytest.raises(NotATranscript, match="is empty"):
        FileLines(tmp_path / "s.jsonl")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no named pipes in folders")
def test_a_named_pipe_is_refused_and_never_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "s.jsonl")
    with pytest.raises(Unreadable, match="not a regular file"):
        FileLines(tmp_path / "s.jsonl")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other permissions")
def test_a_path_below_a_file_is_unreadable(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x")
    with pytest.raises(Unreadable):
        FileLines(tmp_path / "file" / "s.jsonl")


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root may read anything")
def test_a_file_without_permission_is_unreadable(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"one\n")
    path.chmod(0)
    with pytest.raises(Unreadable, match="permissions"):
        list(FileLines(path).forward())


def test_a_loop_of_links_is_unreadable(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.symlink_to(path)
    with pytest.raises(Unreadable):
        look_at(path)


def test_a_name_that_no_file_can_have_is_unreadable(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match="null character"):
        FileLines(tmp_path / "a\0b.jsonl")
