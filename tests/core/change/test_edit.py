"""Lines of bytes, in both directions, and of bytes that are not written yet."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from blank_lines import is_blank_line, joined
from ullage.core.change.edit import (
    Append,
    AppendedLines,
    LineChange,
    LinesBefore,
    NewSession,
    Rewrite,
    apply_to_lines,
)
from ullage.core.transcript.entries import Line, MemoryLines

pieces = st.sampled_from(
    [b"\n", b"\n\n", b"\r\n", b"\r", b" ", b"\n" * 70, b"abc", b"\x0b", "\u2028".encode(), b"x" * 9]
)
contents = st.lists(pieces, max_size=12).map(b"".join)


@given(contents)
def test_backward_is_the_reverse_of_forward_and_joins_to_the_bytes(data: bytes) -> None:
    lines = list(MemoryLines(data).forward())
    assert list(MemoryLines(data).backward()) == lines[::-1]
    assert b"".join(line.raw for line in lines) == data
    assert joined(lines) == lines
    one_each = [line for line in lines if not is_blank_line(line)]
    assert all(line.raw.count(b"\n") == (not line.is_torn) for line in one_each)
    assert not any(line.is_torn for line in lines[:-1])


@given(contents, contents)
def test_appended_lines_read_like_the_longer_file(base: bytes, appended: bytes) -> None:
    base += b"\n"
    lines = AppendedLines(MemoryLines(base), appended)
    whole = MemoryLines(base + appended)
    assert joined(lines.forward()) == list(whole.forward())
    assert joined(list(lines.backward())[::-1]) == list(whole.forward())
    assert lines.size_bytes == whole.size_bytes
    for line in whole.forward():
        assert joined(lines.forward(line.offset)) == list(whole.forward(line.offset))


@given(contents, st.data())
def test_rewritten_lines_read_like_the_new_file(base: bytes, data: st.DataObject) -> None:
    base += b"\n"
    old = list(MemoryLines(base).forward())
    new_of = {
        line.offset: data.draw(st.sampled_from([b"", b"y\n", b"longer than before\n"]))
        for line in data.draw(st.lists(st.sampled_from(old), unique=True))
    }
    change = Rewrite(
        changes=tuple(
            LineChange(offset=line.offset, old=line.raw, new=new_of[line.offset])
            for line in old
            if line.offset in new_of
        ),
        appended=data.draw(st.sampled_from([b"", b"receipt\n"])),
    )
    rewritten = b"".join(new_of.get(line.offset, line.raw) for line in old) + change.appended
    lines, whole = apply_to_lines(MemoryLines(base), change), MemoryLines(rewritten)
    assert lines.size_bytes == len(rewritten)
    assert joined(lines.forward()) == list(whole.forward())
    assert joined(list(lines.backward())[::-1]) == list(whole.forward())
    for line in whole.forward():
        assert joined(lines.forward(line.offset)) == list(whole.forward(line.offset))


def test_each_change_reads_like_the_file_that_it_leads_to() -> None:
    base = MemoryLines(b"a\nb\n")
    appended = apply_to_lines(base, Append(data=b"c\n"))
    new = apply_to_lines(base, NewSession(session_id="s", name="s.jsonl", data=b"d\n"))
    assert [line.raw for line in appended.forward()] == [b"a\n", b"b\n", b"c\n"]
    assert [line.raw for line in new.forward()] == [b"d\n"]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", []),
        (b"a", [Line(0, b"a")]),
        (b"a\n", [Line(0, b"a\n")]),
        (b"a\n\nb", [Line(0, b"a\n"), Line(2, b"\n"), Line(3, b"b")]),
        (b"a\rb\n", [Line(0, b"a\rb\n")]),
        (b"a\r\nb\r\n", [Line(0, b"a\r\n"), Line(3, b"b\r\n")]),
        ("a\u2028b\n".encode(), [Line(0, "a\u2028b\n".encode())]),
        (b"a\x0bb\x0cc\x1cd\n", [Line(0, b"a\x0bb\x0cc\x1cd\n")]),
    ],
)
def test_only_a_line_feed_ends_a_line(data: bytes, expected: list[Line]) -> None:
    assert list(MemoryLines(data).forward()) == expected


@given(contents, contents)
def test_the_lines_before_an_offset_read_like_the_shorter_file(base: bytes, later: bytes) -> None:
    base += b"\n"
    assume(
        not later or any(line.offset == len(base) for line in MemoryLines(base + later).forward())
    )
    lines = LinesBefore(MemoryLines(base + later), len(base))
    whole = MemoryLines(base)
    assert lines.size_bytes == whole.size_bytes
    assert joined(lines.forward()) == list(whole.forward())
    assert joined(list(lines.backward())[::-1]) == list(whole.forward())
    for line in whole.forward():
        assert joined(lines.forward(line.offset)) == list(whole.forward(line.offset))
