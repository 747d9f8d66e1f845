"""A memory file as text, which gives the same bytes again."""

from pathlib import Path

import msgspec

from ullage.errors import LogRefused
from ullage.store.memory.unlinked import read_unlinked

_BOM = b"\xef\xbb\xbf"


class MemoryText(msgspec.Struct, frozen=True, kw_only=True):
    """The text of a memory file, and how it is written there.

    Where all lines end with CR LF, `text` has LF. Where only some do, the text is as it stands
    there, each CR at the end of its line: what is not touched keeps its bytes.
    """

    text: str
    line_end: str = "\n"
    """`\\n`, also of mixed lines, or `\\r\\n`."""
    has_bom: bool = False

    def encode(self) -> bytes:
        data = self.text.replace("\n", self.line_end).encode("utf-8", "replace")
        return _BOM + data if self.has_bom else data


def read_memory_text(path: Path) -> MemoryText | None:
    """Read a memory file; None where there is none.

    Raises:
        LogRefused: it is no regular file of a real folder, no UTF-8 text, or too large.
        StorageError: it cannot be read.
    """
    data = read_unlinked(path)
    return None if data is None else parse_memory_text(data, path)


def parse_memory_text(data: bytes, path: Path) -> MemoryText:
    """Give the text of a memory file's bytes.

    Raises:
        LogRefused: they are no UTF-8 text, or lines end with CR alone.
    """
    try:
        text = data.removeprefix(_BOM).decode()
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        # UTF-16 is one or the other.
        raise LogRefused(f"{path} is no UTF-8 text: save it as UTF-8, or move it away")
    if "\r" in text.replace("\r\n", ""):
        raise LogRefused(f"{path} has lines that end with CR alone: save it with LF or CR LF")
    has_crlf = "\r\n" in text and text.count("\r\n") == text.count("\n")
    return MemoryText(
        text=text.replace("\r\n", "\n") if has_crlf else text,
        line_end="\r\n" if has_crlf else "\n",
        has_bom=data.startswith(_BOM),
    )
