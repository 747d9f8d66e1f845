"""Offsets and positions are the same places, in UTF-16 units."""

from hypothesis import given
from hypothesis import strategies as st

from ullage.core.text.positions import Position, Positions, utf16_length, utf16_offset

TEXTS = st.text(alphabet=st.sampled_from("ab\n\r\u2028\x0bé😀"), max_size=40)


@given(TEXTS, st.data())
def test_a_position_leads_back_to_its_offset(text: str, data: st.DataObject) -> None:
    positions = Positions(text)
    offset = data.draw(st.integers(min_value=0, max_value=len(text)))
    if 0 < offset < len(text) and text[offset - 1 : offset + 1] == "\r\n":
        offset -= 1  # No editor stands between the two.
    assert positions.offset(positions.position(offset)) == offset


@given(TEXTS)
def test_lines_end_where_editors_end_them(text: str) -> None:
    positions = Positions(text)
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    assert [positions.line_text(at) for at in range(positions.n_lines)] == lines


def test_an_emoji_takes_two_columns() -> None:
    positions = Positions("a😀b\nc")
    assert positions.position(2) == Position(0, 3)
    assert positions.offset(Position(0, 3)) == 2
    assert positions.offset(Position(0, 99)) == 3
    assert positions.offset(Position(7, 0)) == 5


@given(TEXTS)
def test_units_are_those_of_utf_16(text: str) -> None:
    assert utf16_length(text) == len(text.encode("utf-16-le")) // 2
    assert utf16_offset(text, utf16_length(text)) == len(text)
