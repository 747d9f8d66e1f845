"""The outline of a transcript, its standing in the context, and its running totals."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from factories import assistant, user
from ullage.core.documents.in_context import add_up_tokens
from ullage.core.documents.outline import (
    EMPTY_OUTLINE,
    count_editor_lines,
    cut_sections,
    extend_outline,
    find_row_at_line,
    find_row_at_offset,
    list_rows_between,
)
from ullage.core.gauge.gauge import Gauge
from ullage.core.gauge.window import Window
from ullage.core.transcript.context import ContextItem, Sketch
from ullage.core.transcript.entries import Line, MemoryLines, Problem, Usage


def sketch(line: Line) -> Sketch | Problem | None:
    raw = line.raw.strip()
    if not raw:
        return None
    if raw.startswith(b"!"):
        return Problem(offset=line.offset, message="wrong")
    item = user(raw.decode()) if raw.startswith(b"u") else None
    return Sketch(
        entry_id=raw.decode(),
        parent_id=None,
        item=item,
        is_compaction=raw.startswith(b"c"),
        at_ms=None,
    )


def clean(text: str) -> str:
    return text.replace("secret", "***")


DATA = b"u1 secret\nx2\n\nc3\r\n!\nu4\nx5\n"


def test_a_line_has_a_row_unless_it_is_blank_and_titles_are_masked() -> None:
    outline = extend_outline(EMPTY_OUTLINE, MemoryLines(DATA).forward(), sketch, clean)
    assert [(row.line, row.kind, row.title) for row in outline.rows] == [
        (0, "user", "u1 ***"),
        (1, "note", ""),
        (3, "compaction", ""),
        (4, "unreadable", ""),
        (5, "user", "u4"),
        (6, "note", ""),
    ]
    assert outline.n_lines == 7
    assert [(one.head.line, one.last_line) for one in cut_sections(outline)] == [
        (0, 1),
        (3, 4),
        (5, 6),
    ]
    found = find_row_at_offset(outline, DATA.index(b"u4"))
    assert found is not None
    assert found.line == 5
    assert find_row_at_offset(outline, 1) is None
    assert find_row_at_line(outline, 2) is None
    assert find_row_at_line(outline, 99) is None
    assert [row.line for row in list_rows_between(outline, 2, 4)] == [3, 4]


@given(st.integers(0, len(DATA)))
def test_an_outline_that_grows_is_like_one_made_at_once(at: int) -> None:
    lines = tuple(MemoryLines(DATA).forward())
    first = tuple(line for line in lines if line.offset < at)
    grown = extend_outline(EMPTY_OUTLINE, first, sketch, clean)
    grown = extend_outline(grown, lines[len(first) :], sketch, clean)
    assert grown == extend_outline(EMPTY_OUTLINE, lines, sketch, clean)


@pytest.mark.parametrize(
    ("raw", "n_lines"), [(b"a\n", 1), (b"a\r\n", 1), (b"a\rb\n", 2), (b"\r\r\n", 2), (b"a", 1)]
)
def test_lines_are_counted_as_editors_count_them(raw: bytes, n_lines: int) -> None:
    assert count_editor_lines(raw) == n_lines


def gauge(n_tokens: int | None) -> Gauge:
    window = Window(n_tokens=1_000, source="setting", detail="")
    return Gauge(
        used_tokens=n_tokens,
        used_source="counted",
        n_reported=0,
        n_noted=0,
        n_counted=0,
        window=window,
        utilization=None,
    )


def reported(n_total: int) -> ContextItem:
    item = assistant("x" * 40)
    usage = Usage(n_input=n_total, n_output=0, n_cache_read=0, n_cache_write=0, n_total=n_total)
    message = msgspec.structs.replace(item.message, usage=usage)
    return msgspec.structs.replace(item, message=message)


def test_totals_are_exact_where_usage_was_reported() -> None:
    items = [user("x" * 40), reported(500), user("x" * 40), reported(700), user("x" * 40)]
    assert add_up_tokens(items, gauge(710)) == (490, 500, 510, 700, 710)


def test_without_any_usage_the_last_total_is_what_the_gauge_says() -> None:
    assert add_up_tokens([user("x" * 40)] * 3, gauge(100)) == (80, 90, 100)
    assert add_up_tokens([user("x" * 40)] * 2, gauge(None)) == (10, 20)
