"""Small inputs that would take all memory or minutes of any reader that trusts them."""

import json

import pytest

from pi_files import PiFile
from running import Place
from ullage.core.transcript.entries import MemoryLines
from ullage.store.transcript.reader import BLOCK_BYTES, FileLines

N_BLANK = 50_000_000


@pytest.mark.parametrize("blank", [b"\n", b" \t\r\n"], ids=ascii)
def test_fifty_megabytes_of_blank_lines_are_a_few_lines(place: Place, blank: bytes) -> None:
    data = b"{}\n" + blank * (N_BLANK // len(blank)) + b"{}\n"
    lines = FileLines(place.write("blank.jsonl", data))
    for read in (lines.forward, lines.backward):
        sizes = [len(line.raw) for line in read()]
        assert sum(sizes) == len(data)
        assert len(sizes) < N_BLANK // BLOCK_BYTES * 2 + 5
    for read in (MemoryLines(data).forward, MemoryLines(data).backward):
        assert sum(1 for _ in read()) == 3


def test_lines_behind_blank_ones_are_told_by_their_number(place: Place) -> None:
    pi = PiFile(cwd=str(place.cwd))
    pi.raw(b"\n" * 1000)
    pi.raw(b"no JSON\n")
    path = place.write("s.jsonl", pi.data)
    told = json.loads(place.run("doctor", "--session", path, "--json").stdout)
    assert [finding["line"] for finding in told["findings"]] == [1002]
