"""Whose a session is, which is read once and kept: it must not change while the file grows."""

from pathlib import Path

import pytest

from ullage.app.sessions.owner import owner_of
from ullage.core.transcript.entries import MemoryLines
from ullage.formats.registry import recognize

SAMPLES = Path(__file__).parents[2] / "samples"
TRANSCRIPTS = sorted(
    path for ending in ("jsonl", "json") for path in SAMPLES.glob(f"*/**/*.{ending}")
)
HEAD_BYTES = 2000
N_LINES = 60
"""More than the formats look at for a header."""


def find_owner(data: bytes) -> str | None:
    match = recognize(MemoryLines(data))
    return None if match is None else owner_of(match[1])


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: path.name)
def test_whose_a_session_is_does_not_change_while_it_grows(path: Path) -> None:
    data = path.read_bytes()
    ends = {*range(0, HEAD_BYTES, 7), len(data)}
    end = 0
    for line in data.split(b"\n")[:N_LINES]:
        end += len(line) + 1
        ends |= {end - 1, end}
    owners = [find_owner(data[:end]) for end in sorted(ends)]
    known = owners.index(owners[-1])
    assert owners == [None] * known + owners[-1:] * (len(owners) - known)
