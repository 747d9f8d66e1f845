"""A memory file that is read as text gives the same bytes again."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from ullage.errors import LogRefused
from ullage.store.memory import unlinked
from ullage.store.memory.memory_text import MemoryText, read_memory_text

PIECES = st.sampled_from(["a", "\n", "\r\n", "é", "\u2028", "\ufeff"])


@given(text=st.lists(PIECES).map("".join))
def test_a_text_gives_the_same_bytes_again(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    path = tmp_path_factory.mktemp("ws").resolve() / "MEMORY.md"
    path.write_bytes(text.encode())
    read = read_memory_text(path)
    assert read is not None
    assert read.encode() == text.encode()


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", MemoryText(text="")),
        (b"a\nb", MemoryText(text="a\nb")),
        (b"a\r\nb\r\n", MemoryText(text="a\nb\n", line_end="\r\n")),
        (b"a\r\nb\n", MemoryText(text="a\r\nb\n")),
        (b"\xef\xbb\xbfa\r\n", MemoryText(text="a\n", line_end="\r\n", has_bom=True)),
    ],
)
def test_a_file_is_read_with_its_line_ends(
    tmp_path: Path, data: bytes, expected: MemoryText
) -> None:
    path = tmp_path.resolve() / "MEMORY.md"
    path.write_bytes(data)
    assert read_memory_text(path) == expected


def test_a_new_line_ends_as_those_of_its_file(tmp_path: Path) -> None:
    path = tmp_path.resolve() / "MEMORY.md"
    path.write_bytes(b"\xef\xbb\xbfa\r\n")
    read = read_memory_text(path)
    assert read is not None
    assert replace(read, text=f"{read.text}b\n").encode() == b"\xef\xbb\xbfa\r\nb\r\n"


def test_no_file_has_no_text(tmp_path: Path) -> None:
    assert read_memory_text(tmp_path.resolve() / "memory" / "superseded.md") is None


@pytest.mark.parametrize("data", ["text".encode("utf-16"), b"a\0b\n", b"caf\xe9\n"])
def test_what_is_no_utf_8_is_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path.resolve() / "MEMORY.md"
    path.write_bytes(data)
    with pytest.raises(LogRefused, match="save it as UTF-8"):
        read_memory_text(path)


def test_a_link_a_folder_and_a_large_file_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path.resolve() / "MEMORY.md"
    path.mkdir()
    with pytest.raises(LogRefused, match="is a folder"):
        read_memory_text(path)
    path.rmdir()
    path.write_bytes(b"- a\n")
    monkeypatch.setattr(unlinked, "MAX_FILE_BYTES", 3)
    with pytest.raises(LogRefused, match="has 4 bytes, and 3 are read at most: make it smaller"):
        read_memory_text(path)
    try:
        path.with_name("DREAMS.md").symlink_to(path)
    except OSError:
        pytest.skip("the system lets us make no links")
    with pytest.raises(LogRefused, match="is a link"):
        read_memory_text(path.with_name("DREAMS.md"))
