"""Rules and files of a workspace are quoted within their room."""

from hypothesis import given
from hypothesis import strategies as st

from ullage.core.checkpoint.workspace_text import Quotation, count_bytes, write_quotations

MARK = "[… the rest is left out]"


def quoted(*texts: str) -> list[Quotation]:
    return [Quotation(heading=f"File {n}:", text=text) for n, text in enumerate(texts)]


def test_each_line_is_quoted_below_what_it_is() -> None:
    assert write_quotations(quoted("a\n\n> b"), 100) == ("File 0:\n> a\n>\n> > b",)


def test_what_does_not_fit_is_cut_behind_a_line_with_a_mark() -> None:
    (block,) = write_quotations(quoted("12345678\n" * 20), 70)
    assert block == f"File 0:\n> 12345678\n> 12345678\n> 12345678\n{MARK}"


def test_a_text_without_room_for_a_line_is_left_out() -> None:
    assert write_quotations(quoted("x" * 500, "short"), 100) == ("File 1:\n> short",)


def test_the_first_has_half_or_what_the_others_leave() -> None:
    long = "line\n" * 400
    first, second = write_quotations(quoted(long, "short"), 1000)
    assert (len(first) > 900, second) == (True, "File 1:\n> short")
    first, second, third = write_quotations(quoted(long, long, long), 1000)
    assert 400 < count_bytes(first) <= 500
    assert 180 < count_bytes(second) <= 260
    assert 180 < count_bytes(third) <= 260


@given(st.lists(st.text(), max_size=4), st.integers(-10, 400))
def test_the_room_is_kept_and_no_line_is_anything_but_ours_or_quoted(
    texts: list[str], max_bytes: int
) -> None:
    blocks = write_quotations(quoted(*texts), max_bytes)
    assert sum(map(count_bytes, blocks)) <= max(0, max_bytes)
    for block in blocks:
        heading, *lines = block.split("\n")
        assert heading.startswith("File ")
        assert all(line.startswith(">") or line == MARK for line in lines)
