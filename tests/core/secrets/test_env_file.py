"""`.env` files are read as dotenv reads them, and whatever stands in one is no fault."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ullage.core.secrets.env_file import read_assignments

TEXT = r"""
# a comment
PLAIN=value
export EXPORTED = spaced value
COMMENTED=value # not part of it
HASH=val#ue
SINGLE='it''s $RAW \n'
DOUBLE="a \"quoted\" line\nand more"
LINES="-----BEGIN
END-----"
EMPTY=
dotted.name=x
not an assignment
LAST=end"""


def test_every_kind_of_assignment_is_read() -> None:
    assert read_assignments(TEXT) == {
        "PLAIN": "value",
        "EXPORTED": "spaced value",
        "COMMENTED": "value",
        "HASH": "val#ue",
        "SINGLE": "it",
        "DOUBLE": 'a "quoted" line\nand more',
        "LINES": "-----BEGIN\nEND-----",
        "EMPTY": "",
        "dotted.name": "x",
        "LAST": "end",
    }


def test_an_open_quote_is_part_of_the_value() -> None:
    assert read_assignments("A=\"open\nB='open too\nC=c") == {
        "A": '"open',
        "B": "'open too",
        "C": "c",
    }


@given(st.text("A=\"'\\\n# \r\x00ü", max_size=60))
def test_whatever_stands_in_a_file_is_no_fault(text: str) -> None:
    read_assignments(text)


@pytest.mark.parametrize("unit", ["A='\n", 'A="\\\n', "A=\n", 'A="x\\"\n', "A"])
def test_a_file_of_open_quotes_takes_time_by_its_length(unit: str) -> None:
    # Quadratic would be 64 times the time of an eighth, at least where it matters: above 0.1 s.
    text = unit * (65_536 // len(unit))
    eighth_s = cpu_s(text[: len(text) // 8])
    assert cpu_s(text) < 16 * eighth_s + 0.1


def cpu_s(text: str) -> float:
    began_s = time.process_time()
    read_assignments(text)
    return time.process_time() - began_s
